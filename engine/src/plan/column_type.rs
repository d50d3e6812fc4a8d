//! The type of a column, and what a change of it does to values.

use ptah_contract::drift::Severity;

use super::draft::{ACCESS_EXCLUSIVE, Draft};
use crate::catalog::Column;
use crate::name::{Name, quote};

/// The cast to text of a type, or of an array of it.
fn text_of(data_type: &str) -> &'static str {
    if data_type.ends_with("[]") {
        "::text[]"
    } else {
        "::text"
    }
}

/// The statement that changes a column's type or collation; it loses nothing without saying so.
pub(super) fn change(table: &Name, name: &str, old: &Column, new: &Column, through_text: bool) -> Draft {
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
