//! Words and names as documents write them, and which of them PostgreSQL has.

use super::objects::{Name, Reference};
use super::place::{At, Text};
use crate::error::Result;
use crate::name::quote;

/// What is taken and has no effect on PostgreSQL: kind of block, attribute, and why that does no harm.
pub(super) const WITHOUT_EFFECT: &[(&str, &str, &str)] = &[
    (
        "schema",
        "charset",
        "a database has one encoding, given when it was made",
    ),
    (
        "schema",
        "collate",
        "a database has one default collation, given when it was made",
    ),
    ("table", "engine", "there is one engine"),
    (
        "table",
        "strict",
        "every table holds only values of its columns' types",
    ),
    (
        "table",
        "without_rowid",
        "how rows are stored, without a meaning of its own",
    ),
    (
        "column",
        "charset",
        "a database has one encoding, given when it was made",
    ),
    (
        "row_security",
        "comment",
        "there is no object that could carry it",
    ),
    ("permission", "comment", "there is no object that could carry it"),
];

/// What is refused of an extension.
pub(super) const EXTENSION: &[(&str, &str)] = &[
    ("version", "the version is the one that the server has"),
    ("comment", "an extension brings its own comment"),
];

/// Why a materialized view has no strategy.
pub(super) const REFRESH: &str =
    "nothing refreshes materialized views here: do that on a schedule of your own";

pub(super) const VOLATILITY: &[&str] = &["IMMUTABLE", "STABLE", "VOLATILE"];

/// What a policy can be for.
pub(super) const COMMANDS: &[&str] = &["ALL", "SELECT", "INSERT", "UPDATE", "DELETE"];

/// A word as one of some keywords: in any case, with underscores or blanks between its parts.
pub(super) fn keyword(word: &str, among: &[&'static str]) -> Option<&'static str> {
    let normal = |word: &str| {
        let parts: Vec<&str> = word
            .split([' ', '_', '\t'])
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(" ").to_uppercase()
    };
    let wanted = normal(word);
    among.iter().copied().find(|keyword| normal(keyword) == wanted)
}

/// `NAME` or `SCHEMA.NAME`.
pub(super) fn dotted_name(text: &str) -> Option<Name> {
    match text.split('.').collect::<Vec<_>>()[..] {
        [name] if !name.is_empty() => Some(Name::new(None, name)),
        [schema, name] if !schema.is_empty() && !name.is_empty() => {
            Some(Name::new(Some(schema.to_owned()), name))
        }
        _ => None,
    }
}

/// A default that is a value. One that is written as a literal of SQL is what that says.
pub(super) fn default_value(text: &str) -> String {
    let inner = text
        .trim()
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    match inner {
        Some(inner) if !inner.replace("''", "").contains('\'') => inner.replace("''", "'"),
        _ => text.to_owned(),
    }
}

/// The clauses of `CREATE SEQUENCE`: type, then increment, least, greatest, first value, cache, and whether it cycles.
pub(super) fn sequence_clauses(
    data_type: Option<&str>,
    [increment, least, greatest, start, cache]: [Option<i64>; 5],
    cycle: bool,
) -> Vec<String> {
    let mut clauses: Vec<String> = data_type.iter().map(|name| format!("AS {name}")).collect();
    for (clause, number) in [
        ("INCREMENT BY", increment),
        ("MINVALUE", least),
        ("MAXVALUE", greatest),
        ("START WITH", start),
        ("CACHE", cache),
    ] {
        clauses.extend(number.map(|number| format!("{clause} {number}")));
    }
    clauses.extend(cycle.then(|| "CYCLE".to_owned()));
    clauses
}

/// `table.column` or `schema.table.column`; none for `NONE`.
pub(super) fn sequence_owner(text: &str, at: &At) -> Result<Option<(Reference, String)>> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    // What the reference stores when it was given a reference of HCL.
    let parts: Vec<&str> = text.split('.').collect();
    let parts = match &parts[..] {
        ["table", rest @ .., "column", _] if !rest.is_empty() && rest.len() <= 2 => {
            let mut parts: Vec<&str> = rest.to_vec();
            parts.extend(text.rsplit('.').next());
            parts
        }
        _ => parts,
    };
    let (table, column) = match parts[..] {
        [table, column] => (Name::new(None, table), column),
        [schema, table, column] => (Name::new(Some(schema.to_owned()), table), column),
        _ => return Err(at.malformed("it is not TABLE.COLUMN or SCHEMA.TABLE.COLUMN")),
    };
    let reference = Reference {
        name: table,
        at: at.clone(),
    };
    Ok(Some((reference, column.to_owned())))
}

/// What happens to a row whose foreign row goes or changes.
pub(super) fn foreign_action(word: Option<Text>) -> Result<Option<&'static str>> {
    let among = ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"];
    let Some(word) = word.filter(|word| !word.text.is_empty()) else {
        return Ok(None);
    };
    match keyword(&word.text, &among) {
        Some(action) => Ok(Some(action)),
        None => {
            let why = format!("{:?} is none of {}", word.text, among.join(", "));
            Err(word.at.malformed(why))
        }
    }
}

/// When a foreign key is checked. One that says when, may be deferred.
pub(super) fn deferral(deferrable: bool, initially: Option<&str>) -> &'static str {
    match (deferrable, initially) {
        (_, Some("DEFERRED")) => " DEFERRABLE INITIALLY DEFERRED",
        (_, Some(_)) | (true, None) => " DEFERRABLE INITIALLY IMMEDIATE",
        (false, None) => "",
    }
}

/// A privilege that can be granted on a table, a schema or a sequence.
pub(super) fn privilege(word: &str, at: &At) -> Result<&'static str> {
    let among = [
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "TRUNCATE",
        "REFERENCES",
        "TRIGGER",
        "MAINTAIN",
        "USAGE",
        "CREATE",
        "ALL",
        "ALL PRIVILEGES",
    ];
    keyword(word, &among)
        .ok_or_else(|| at.malformed(format!("{word:?} is not a privilege of a whole object")))
}

/// A role as SQL needs it.
pub(super) fn role(name: &str) -> String {
    if name.eq_ignore_ascii_case("public") {
        "PUBLIC".to_owned()
    } else {
        quote(name)
    }
}

/// The server's own schemas cannot be declared.
pub(super) fn refuse_server_schema(name: &str, at: &At) -> Result<()> {
    if matches!(name, "pg_catalog" | "information_schema") {
        return Err(at.refused("this schema is the server's own; an extension there says it as a string"));
    }
    Ok(())
}
