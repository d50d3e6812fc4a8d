//! NOT NULL of a column, and the constraint that PostgreSQL 18 keeps for it.

use super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_UPDATE_EXCLUSIVE};
use crate::catalog::{Column, NotNull};
use crate::name::{Name, quote};

/// NOT NULL comes, or the constraint that PostgreSQL 18 keeps for it changes.
pub(super) fn changes(table: &Name, name: &str, old: &Column, new: &Column, atomic: bool) -> Vec<Draft> {
    let what = format!("column {name} of {table}");
    let usual = format!("{}_{name}_not_null", table.name);
    let called = |c: &Option<NotNull>| {
        let own = c.as_ref().and_then(|c| c.name.clone());
        own.unwrap_or_else(|| usual.clone())
    };
    let state = |c: &Option<NotNull>| c.as_ref().is_some_and(|c| c.not_valid);
    let alone = |c: &Option<NotNull>| c.as_ref().is_some_and(|c| c.no_inherit);
    let (was, is) = (&old.not_null_constraint, &new.not_null_constraint);
    let add = || {
        let end = |on: bool, text: &'static str| if on { text } else { "" };
        let draft = Draft::new(
            format!(
                "ALTER TABLE {table} ADD CONSTRAINT {} NOT NULL {}{}{}",
                quote(&called(is)),
                quote(name),
                end(alone(is), " NO INHERIT"),
                end(state(is), " NOT VALID")
            ),
            format!("{what} refuses NULL from now on"),
        )
        .warning()
        .lock(ACCESS_EXCLUSIVE);
        if state(is) {
            draft
        } else {
            draft.scans().data_dependent()
        }
    };
    match (old.not_null, new.not_null) {
        (false, true) if is.is_none() => return set_not_null(table, name, &what, atomic),
        (false, true) => return vec![add()],
        (true, true) if was != is => {}
        _ => return vec![],
    }
    let mut drafts = Vec::new();
    if state(is) && !state(was) {
        drafts.push(
            Draft::new(
                format!("ALTER TABLE {table} ALTER COLUMN {} DROP NOT NULL", quote(name)),
                format!("{what} is declared with rows that may be NULL"),
            )
            .destructive()
            .lock(ACCESS_EXCLUSIVE),
        );
        drafts.push(add());
        return drafts;
    }
    if called(was) != called(is) {
        drafts.push(
            Draft::new(
                format!(
                    "ALTER TABLE {table} RENAME CONSTRAINT {} TO {}",
                    quote(&called(was)),
                    quote(&called(is))
                ),
                format!("the constraint of {what} has another name"),
            )
            .lock(ACCESS_EXCLUSIVE),
        );
    }
    if alone(was) != alone(is) {
        let how = if alone(is) { "NO INHERIT" } else { "INHERIT" };
        drafts.push(
            Draft::new(
                format!(
                    "ALTER TABLE {table} ALTER CONSTRAINT {} {how}",
                    quote(&called(is))
                ),
                format!("the constraint of {what} is handed down otherwise"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE)
            .data_dependent(),
        );
    }
    if state(was) && !state(is) {
        drafts.push(
            Draft::new(
                format!("ALTER TABLE {table} VALIDATE CONSTRAINT {}", quote(&called(is))),
                format!("rows where {what} is NULL make it fail"),
            )
            .warning()
            .lock(SHARE_UPDATE_EXCLUSIVE)
            .scans()
            .data_dependent(),
        );
    }
    drafts
}

fn set_not_null(table: &Name, name: &str, what: &str, atomic: bool) -> Vec<Draft> {
    let column = quote(name);
    let reason = format!("rows where {what} is NULL make it fail");
    let set = Draft::new(
        format!("ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL"),
        reason.clone(),
    )
    .warning()
    .lock(ACCESS_EXCLUSIVE)
    .data_dependent();
    if atomic {
        return vec![set.scans()];
    }
    // A validated check spares SET NOT NULL its scan under the strong lock.
    let check = quote("ptah_not_null_check");
    vec![
        Draft::new(
            format!("ALTER TABLE {table} ADD CONSTRAINT {check} CHECK ({column} IS NOT NULL) NOT VALID"),
            format!("a temporary check keeps new NULLs out of {what}"),
        )
        .warning()
        .lock(ACCESS_EXCLUSIVE),
        Draft::new(format!("ALTER TABLE {table} VALIDATE CONSTRAINT {check}"), reason)
            .warning()
            .lock(SHARE_UPDATE_EXCLUSIVE)
            .scans()
            .data_dependent(),
        set,
        Draft::new(
            format!("ALTER TABLE {table} DROP CONSTRAINT {check}"),
            "the temporary check is no longer needed",
        )
        .lock(ACCESS_EXCLUSIVE),
    ]
}
