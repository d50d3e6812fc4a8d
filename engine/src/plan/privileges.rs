//! Grants and revocations.

use std::collections::BTreeSet;

use ptah_contract::plan_document::PrivilegeChange;

use super::ddl;
use super::draft::{ACCESS_EXCLUSIVE, Draft};
use crate::catalog::{DefaultPrivileges, Id, Model, Object, Table};
use crate::name::{Name, quote};

/// From one set of privileges on an object to another; a star marks the grant option.
pub(super) fn change(
    of: &Id,
    role: &str,
    now: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
    model: &Model,
) -> Vec<Draft> {
    difference(role, now, wanted, "", &of.describe(), |list| on(list, of, model))
}

/// The same of default privileges.
pub(super) fn change_default(
    of: &DefaultPrivileges,
    now: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
) -> Vec<Draft> {
    let mut head = "ALTER DEFAULT PRIVILEGES ".to_owned();
    if !of.role.is_empty() {
        head.push_str(&format!("FOR ROLE {} ", quote(&of.role)));
    }
    if !of.schema.is_empty() {
        head.push_str(&format!("IN SCHEMA {} ", quote(&of.schema)));
    }
    let what = format!("{} that are made later", of.kind.to_lowercase());
    difference(&of.grantee, now, wanted, &head, &what, |list| {
        format!("{} ON {}", list.join(", "), of.kind)
    })
}

fn difference(
    role: &str,
    now: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
    head: &str,
    what: &str,
    on: impl Fn(&[String]) -> String,
) -> Vec<Draft> {
    let grantee = match role {
        "" => "PUBLIC".to_owned(),
        role => quote(role),
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
            let sql = format!("{head}REVOKE {option}{} FROM {grantee}", on(&list));
            let reason = format!("{grantee} loses privileges on {what}");
            drafts.push(
                Draft::new(sql, reason)
                    .warning()
                    .privilege(PrivilegeChange::Revoke),
            );
        }
    }
    for (list, option) in [(granted, ""), (passed, " WITH GRANT OPTION")] {
        if !list.is_empty() {
            let sql = format!("{head}GRANT {} TO {grantee}{option}", on(&list));
            let reason = format!("{grantee} gains privileges on {what}");
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
        Id::View(name) | Id::MaterializedView(name) => {
            format!("{} ON TABLE {name}", privileges.join(", "))
        }
        Id::Function(..) => {
            let reference = ddl::reference(of, model);
            // `GRANT` knows an aggregate as a function; its direct and ordered arguments are one list to it.
            let reference = reference
                .strip_prefix("AGGREGATE ")
                .map(|rest| {
                    format!(
                        "FUNCTION {}",
                        rest.replace(" ORDER BY ", ", ").replace("(*)", "()")
                    )
                })
                .unwrap_or(reference);
            format!("{} ON {reference}", privileges.join(", "))
        }
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

/// The privileges that the server gives on every new object of this kind.
fn preset(of: &Id, role: &str) -> BTreeSet<String> {
    let word = match of {
        Id::Function(..) => "EXECUTE",
        Id::Enum(_) | Id::Domain(_) | Id::Composite(_) | Id::Range(_) => "USAGE",
        _ => return BTreeSet::new(),
    };
    if role.is_empty() {
        BTreeSet::from([word.to_owned()])
    } else {
        BTreeSet::new()
    }
}

/// Under which name default privileges speak of this kind of object.
fn kind_of(of: &Id) -> Option<&'static str> {
    Some(match of {
        Id::Table(_) | Id::View(_) | Id::MaterializedView(_) => "TABLES",
        Id::Sequence(_) => "SEQUENCES",
        Id::Function(..) => "FUNCTIONS",
        Id::Enum(_) | Id::Domain(_) | Id::Composite(_) | Id::Range(_) => "TYPES",
        Id::Schema(_) => "SCHEMAS",
        _ => return None,
    })
}

fn defaults<'a>(of: &'a Id, from: &'a Model) -> impl Iterator<Item = (&'a DefaultPrivileges, &'a Object)> {
    let schema = of.name().map(|name| name.schema.as_str());
    from.objects.iter().filter_map(move |(id, object)| match id {
        Id::DefaultPrivileges(d)
            if d.role.is_empty()
                && Some(d.kind.as_str()) == kind_of(of)
                && (d.schema.is_empty() || Some(d.schema.as_str()) == schema) =>
        {
            Some((&**d, object))
        }
        _ => None,
    })
}

/// What a role may do with an object right after the target's user made it, under the default privileges of `from`.
pub(super) fn at_creation(of: &Id, role: &str, from: &Model) -> BTreeSet<String> {
    let mut all = preset(of, role);
    for (default, object) in defaults(of, from).filter(|(d, _)| d.grantee == role) {
        if default.schema.is_empty() {
            all = granted(Some(object));
        } else {
            all.extend(granted(Some(object)));
        }
    }
    all
}

/// Takes back, or gives, what default privileges did to a new object and nobody declared.
pub(super) fn unasked(of: &Id, from: &Model, to: &Model) -> Vec<Draft> {
    let grantees: BTreeSet<&str> = defaults(of, from).map(|(d, _)| d.grantee.as_str()).collect();
    grantees
        .into_iter()
        .filter(|role| {
            !to.objects
                .contains_key(&Id::Privileges(Box::new(of.clone()), (*role).to_owned()))
        })
        .flat_map(|role| {
            let now = at_creation(of, role, from);
            change(of, role, &now, &preset(of, role), to)
        })
        .collect()
}

/// Marks a statement that changes who sees which rows.
pub(super) fn row_security(draft: Draft) -> Draft {
    draft.privilege(PrivilegeChange::RowSecurityPolicy)
}

/// Whether policies apply to a table, and to its owner.
pub(super) fn row_security_of(name: &Name, old: Option<&Table>, new: &Table) -> Vec<Draft> {
    let (was, was_forced) = old.map_or((false, false), |t| (t.row_security, t.force_row_security));
    let mut drafts = Vec::new();
    for (was, is, on, off, what) in [
        (
            was,
            new.row_security,
            "ENABLE",
            "DISABLE",
            "policies decide who sees which rows",
        ),
        (
            was_forced,
            new.force_row_security,
            "FORCE",
            "NO FORCE",
            "policies hold for the owner as well",
        ),
    ] {
        if was == is {
            continue;
        }
        let word = if is { on } else { off };
        let reason = if is {
            format!("{what} of {name} from now on")
        } else {
            format!("{what} of {name} no longer: a protection is removed")
        };
        let draft = Draft::new(format!("ALTER TABLE {name} {word} ROW LEVEL SECURITY"), reason)
            .lock(ACCESS_EXCLUSIVE)
            .privilege(PrivilegeChange::RowSecurityPolicy);
        drafts.push(if is { draft.warning() } else { draft.destructive() });
    }
    drafts
}

/// A change of owner.
pub(super) fn owner(sql: String, of: &Id, role: &str) -> Draft {
    Draft::new(
        sql,
        format!("{} belongs to {} from now on", of.describe(), quote(role)),
    )
    .warning()
    .lock(ACCESS_EXCLUSIVE)
    .privilege(PrivilegeChange::Ownership)
}
