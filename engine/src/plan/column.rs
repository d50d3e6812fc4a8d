//! Changes of a column in place.

use ptah_contract::drift::Severity;

use super::ddl;
use super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_UPDATE_EXCLUSIVE};
use crate::catalog::{Column, Identity, NotNull};
use crate::name::{Name, quote};

/// In which way a column is changed.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// All statements run in one transaction.
    pub(super) atomic: bool,
    /// Between the types there is no cast but that of their texts.
    pub(super) through_text: bool,
}

/// The cast to text of a type, or of an array of it.
fn text_of(data_type: &str) -> &'static str {
    if data_type.ends_with("[]") {
        "::text[]"
    } else {
        "::text"
    }
}

/// One statement per aspect, in the order in which the server takes them.
pub(super) fn alter(table: &Name, name: &str, old: &Column, new: &Column, how: How) -> Vec<Draft> {
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
        add(change_type(table, name, old, new, how.through_text));
    }
    if old.not_null && !new.not_null {
        let sql = format!("{head} DROP NOT NULL");
        add(
            Draft::new(sql, format!("{what} admits NULL: a protection is removed"))
                .destructive()
                .lock(ACCESS_EXCLUSIVE),
        );
    }
    drafts.extend(not_null(table, name, old, new, atomic));
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
        let word = new.storage.as_deref().unwrap_or("DEFAULT");
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

/// NOT NULL comes, or the constraint that PostgreSQL 18 keeps for it changes.
fn not_null(table: &Name, name: &str, old: &Column, new: &Column, atomic: bool) -> Vec<Draft> {
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

fn change_type(table: &Name, name: &str, old: &Column, new: &Column, through_text: bool) -> Draft {
    let column = quote(name);
    let collate = new
        .collation
        .as_ref()
        .map(|c| format!(" COLLATE {c}"))
        .unwrap_or_default();
    let head = format!(
        "ALTER TABLE {table} ALTER COLUMN {column} TYPE {}{collate}",
        new.data_type
    );
    let (from, to) = (&old.data_type, &new.data_type);
    let change = if from == to {
        "its collation".to_owned()
    } else {
        format!("from {from} to {to}")
    };
    match widening(from, to) {
        Some(rewrites) => Draft::new(
            head,
            format!("changes the type of column {name} of {table} {change}; every value fits"),
        )
        .severity(Severity::Warning)
        .lock(ACCESS_EXCLUSIVE)
        .rewrites(rewrites || old.collation != new.collation),
        None => Draft::new(
            if new.generated.is_some() || keeps_length(from, to) {
                head
            } else {
                format!(
                    "{head} USING {column}{}::{to}",
                    if through_text { text_of(from) } else { "" }
                )
            },
            format!(
                "changes the type of column {name} of {table} {change}; values may be altered or refused"
            ),
        )
        .destructive()
        .lock(ACCESS_EXCLUSIVE)
        .rewrites(true)
        .data_dependent(),
    }
}

/// Whether the server casts by assignment, and then refuses a value that is too long; an explicit cast cuts it off.
fn keeps_length(from: &str, to: &str) -> bool {
    let family = |name: &str| {
        let bare = name.split('(').next().unwrap_or_default();
        match bare.trim_end_matches("[]") {
            "character varying" | "character" | "text" | "bpchar" => Some("text"),
            "bit" | "bit varying" => Some("bits"),
            _ => None,
        }
    };
    family(from).is_some() && family(from) == family(to)
}

/// Whether every value of one type is a value of the other, spelled the same; and if so, whether rows are written
/// again. What is not on the list counts as narrowing.
pub(super) fn widening(from: &str, to: &str) -> Option<bool> {
    if from == to {
        return Some(false);
    }
    let integers = ["smallint", "integer", "bigint"];
    let place = |name: &str| integers.iter().position(|i| *i == name);
    if let (Some(a), Some(b)) = (place(from), place(to)) {
        return (a < b).then_some(true);
    }
    if place(from).is_some() && to == "numeric" {
        return Some(true);
    }
    match (from, to) {
        ("real", "double precision") => return Some(true),
        ("character varying", "text") | ("text", "character varying") => return Some(false),
        _ => {}
    }
    let limit = |name: &str, word: &str| -> Option<u32> {
        name.strip_prefix(word)?
            .strip_prefix('(')?
            .strip_suffix(')')?
            .parse()
            .ok()
    };
    if let Some(a) = limit(from, "character varying") {
        let fits = to == "text"
            || to == "character varying"
            || limit(to, "character varying").is_some_and(|b| a <= b);
        return fits.then_some(false);
    }
    let numeric = |name: &str| -> Option<(u32, u32)> {
        let (p, s) = name
            .strip_prefix("numeric(")?
            .strip_suffix(')')?
            .split_once(',')?;
        Some((p.parse().ok()?, s.parse().ok()?))
    };
    match (numeric(from), numeric(to)) {
        (Some(_), None) if to == "numeric" => Some(false),
        (Some((p, s)), Some((q, t))) if s == t && p <= q => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::widening;

    #[test]
    fn only_what_keeps_every_value_counts_as_widening() {
        for (from, to, expected) in [
            ("integer", "bigint", Some(true)),
            ("bigint", "integer", None),
            ("integer", "numeric", Some(true)),
            ("character varying(10)", "character varying(20)", Some(false)),
            ("character varying(20)", "character varying(10)", None),
            ("character varying(20)", "text", Some(false)),
            ("character varying", "text", Some(false)),
            ("text", "character varying(5)", None),
            ("numeric(10,2)", "numeric(12,2)", Some(false)),
            ("numeric(10,2)", "numeric(12,4)", None),
            ("numeric(10,2)", "numeric", Some(false)),
            ("real", "double precision", Some(true)),
            ("double precision", "real", None),
            ("text", "integer", None),
            ("timestamp with time zone", "timestamp without time zone", None),
            ("character(5)", "text", None),
        ] {
            assert_eq!(widening(from, to), expected, "{from} -> {to}");
        }
    }
}
