//! Changes of a column in place.

use super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_UPDATE_EXCLUSIVE};
use super::{column_type, ddl, not_null};
use crate::catalog::{Column, Identity};
use crate::name::{Name, quote};

/// In which way a column is changed.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// All statements run in one transaction.
    pub(super) atomic: bool,
    /// Between the types there is no cast but that of their texts.
    pub(super) through_text: bool,
    /// How the server stores the type by itself, as `SET STORAGE` takes it.
    pub(super) usual_storage: &'a str,
}

/// One statement per aspect, in the order in which the server takes them.
pub(super) fn alter(table: &Name, name: &str, old: &Column, new: &Column, how: How<'_>) -> Vec<Draft> {
    let atomic = how.atomic;
    let head = format!("ALTER TABLE {table} ALTER COLUMN {}", quote(name));
    let what = format!("column {name} of {table}");
    let mut drafts = Vec::new();
    let mut add = |draft: Draft| drafts.push(draft);
    if old.identity.is_some() && new.identity.is_none() {
        let sql = format!("{head} DROP IDENTITY");
        add(Draft::new(
            sql,
            format!("{what} no longer numbers itself; its position is lost"),
        )
        .destructive()
        .lock(ACCESS_EXCLUSIVE));
    }
    match (&old.generated, &new.generated) {
        (Some(_), None) => {
            let sql = format!("{head} DROP EXPRESSION");
            add(
                Draft::new(sql, format!("{what} keeps its values and is no longer computed"))
                    .warning()
                    .lock(ACCESS_EXCLUSIVE),
            );
        }
        (Some(a), Some(b)) if a != b => {
            let sql = format!("{head} SET EXPRESSION AS ({b})");
            add(Draft::new(sql, format!("{what} is computed anew"))
                .warning()
                .lock(ACCESS_EXCLUSIVE)
                .rewrites(!new.is_virtual)
                .data_dependent());
        }
        _ => {}
    }
    if old.data_type != new.data_type || old.collation != new.collation {
        add(column_type::change(table, name, old, new, how.through_text));
    }
    if old.not_null && !new.not_null {
        let sql = format!("{head} DROP NOT NULL");
        add(
            Draft::new(sql, format!("{what} admits NULL: a protection is removed"))
                .destructive()
                .lock(ACCESS_EXCLUSIVE),
        );
    }
    drafts.extend(not_null::changes(table, name, old, new, atomic));
    let mut add = |draft: Draft| drafts.push(draft);
    match (&old.identity, &new.identity) {
        (None, Some(identity)) => {
            let sql = format!("{head} ADD {}", ddl::identity(identity));
            add(Draft::new(
                sql,
                format!("{what} numbers itself, from the sequence's start, whatever rows hold"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE));
        }
        (Some(a), Some(b)) if a != b => alter_identity(table, name, a, b).into_iter().for_each(add),
        _ => {}
    }
    let mut add = |draft: Draft| drafts.push(draft);
    // With a new type the server forgets how values are stored.
    let forgotten = old.data_type != new.data_type;
    if old.storage != new.storage || (forgotten && new.storage.is_some()) {
        let word = new.storage.as_deref().unwrap_or(how.usual_storage);
        add(Draft::new(
            format!("{head} SET STORAGE {word}"),
            format!("{what} is stored otherwise from now on"),
        )
        .lock(ACCESS_EXCLUSIVE));
    }
    if old.compression != new.compression || (forgotten && new.compression.is_some()) {
        let word = new.compression.as_deref().unwrap_or("default");
        add(Draft::new(
            format!("{head} SET COMPRESSION {word}"),
            format!("{what} is compressed otherwise from now on"),
        )
        .lock(ACCESS_EXCLUSIVE));
    }
    if old.statistics != new.statistics {
        let target = new.statistics.unwrap_or(-1);
        add(Draft::new(
            format!("{head} SET STATISTICS {target}"),
            format!("{what} is sampled otherwise"),
        )
        .lock(SHARE_UPDATE_EXCLUSIVE));
    }
    let key = |option: &String| option.split('=').next().unwrap_or_default().to_owned();
    let set: Vec<String> = new
        .options
        .iter()
        .filter(|o| !old.options.contains(o))
        .cloned()
        .collect();
    let kept: Vec<String> = new.options.iter().map(key).collect();
    let reset: Vec<String> = old
        .options
        .iter()
        .map(key)
        .filter(|k| !kept.contains(k))
        .collect();
    for how in [
        (!set.is_empty()).then(|| format!("SET {}", ddl::options(&set))),
        (!reset.is_empty()).then(|| format!("RESET ({})", reset.join(", "))),
    ] {
        drafts.extend(how.map(|how| {
            Draft::new(format!("{head} {how}"), format!("{what} is sampled otherwise"))
                .lock(SHARE_UPDATE_EXCLUSIVE)
        }));
    }
    drafts
}

fn alter_identity(table: &Name, name: &str, old: &Identity, new: &Identity) -> Vec<Draft> {
    let head = format!("ALTER TABLE {table} ALTER COLUMN {}", quote(name));
    let what = format!("column {name} of {table}");
    let mut drafts = Vec::new();
    if old.sequence_name != new.sequence_name {
        let usual = Name::new(&table.schema, format!("{}_{name}_seq", table.name)).sql();
        let (was, is) = (
            old.sequence_name.as_ref().unwrap_or(&usual),
            new.sequence_name.as_ref().unwrap_or(&usual),
        );
        // Only the last part of a name can be renamed; the schema is the table's.
        let short = is.rsplit_once('.').map_or(is.as_str(), |(_, last)| last);
        drafts.push(
            Draft::new(
                format!("ALTER SEQUENCE {was} RENAME TO {short}"),
                format!("the sequence of {what} has another name"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE),
        );
    }
    if old.generation != new.generation {
        drafts.push(
            Draft::new(
                format!("{head} SET GENERATED {}", new.generation),
                format!("{what} numbers itself otherwise"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE),
        );
    }
    if old.sequence != new.sequence {
        let s = &new.sequence;
        let cycle = if s.cycle { "CYCLE" } else { "NO CYCLE" };
        let sql = format!(
            "{head} SET INCREMENT BY {} SET MINVALUE {} SET MAXVALUE {} SET START WITH {} SET CACHE {} SET {cycle}{}",
            s.increment,
            s.min,
            s.max,
            s.start,
            s.cache,
            if super::render::restarts(&old.sequence, s) {
                " RESTART"
            } else {
                ""
            }
        );
        drafts.push(
            Draft::new(sql, format!("{what} numbers itself with other limits"))
                .warning()
                .lock(ACCESS_EXCLUSIVE)
                .data_dependent(),
        );
    }
    drafts
}
