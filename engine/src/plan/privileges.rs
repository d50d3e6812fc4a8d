//! Grants and revocations.

use std::collections::BTreeSet;

use ptah_contract::plan_document::PrivilegeChange;

use super::ddl;
use super::draft::Draft;
use crate::catalog::{Id, Model, Object};
use crate::name::quote;

/// From one set of privileges to another; a star marks the grant option.
pub(super) fn change(
    of: &Id,
    role: &str,
    now: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
    model: &Model,
) -> Vec<Draft> {
    let grantee = if role.is_empty() {
        "PUBLIC".to_owned()
    } else {
        quote(role)
    };
    let bare = |set: &BTreeSet<String>| -> BTreeSet<String> {
        set.iter().map(|p| p.trim_end_matches('*').to_owned()).collect()
    };
    let starred = |set: &BTreeSet<String>| -> BTreeSet<String> {
        set.iter()
            .filter_map(|p| p.strip_suffix('*').map(str::to_owned))
            .collect()
    };
    let (has, wants) = (bare(now), bare(wanted));
    let (may_pass, shall_pass) = (starred(now), starred(wanted));
    let revoked: Vec<String> = has.difference(&wants).cloned().collect();
    let unpassed: Vec<String> = may_pass
        .difference(&shall_pass)
        .filter(|p| wants.contains(*p))
        .cloned()
        .collect();
    let passed: Vec<String> = shall_pass.difference(&may_pass).cloned().collect();
    let granted: Vec<String> = wants
        .difference(&has)
        .filter(|p| !shall_pass.contains(*p))
        .cloned()
        .collect();
    let mut drafts = Vec::new();
    for (list, option) in [(revoked, ""), (unpassed, "GRANT OPTION FOR ")] {
        if !list.is_empty() {
            let sql = format!("REVOKE {option}{} FROM {grantee}", on(&list, of, model));
            let reason = format!("{grantee} loses privileges on {}", of.describe());
            drafts.push(
                Draft::new(sql, reason)
                    .warning()
                    .privilege(PrivilegeChange::Revoke),
            );
        }
    }
    for (list, option) in [(granted, ""), (passed, " WITH GRANT OPTION")] {
        if !list.is_empty() {
            let sql = format!("GRANT {} TO {grantee}{option}", on(&list, of, model));
            let reason = format!("{grantee} gains privileges on {}", of.describe());
            drafts.push(
                Draft::new(sql, reason)
                    .warning()
                    .privilege(PrivilegeChange::Grant),
            );
        }
    }
    drafts
}

/// `SELECT, INSERT ON TABLE public.t`
fn on(privileges: &[String], of: &Id, model: &Model) -> String {
    match of {
        Id::Column(table, column) => {
            let column = quote(column);
            let list: Vec<String> = privileges.iter().map(|p| format!("{p} ({column})")).collect();
            format!("{} ON TABLE {table}", list.join(", "))
        }
        Id::View(name) => format!("{} ON TABLE {name}", privileges.join(", ")),
        _ => format!("{} ON {}", privileges.join(", "), ddl::reference(of, model)),
    }
}

/// The privileges that the server gives by itself.
pub(super) fn by_default(object: Option<&Object>) -> BTreeSet<String> {
    match object {
        Some(Object::Privileges { by_default, .. }) => by_default.clone(),
        _ => BTreeSet::new(),
    }
}

/// The privileges that there are.
pub(super) fn granted(object: Option<&Object>) -> BTreeSet<String> {
    match object {
        Some(Object::Privileges { granted, .. }) => granted.clone(),
        _ => BTreeSet::new(),
    }
}
