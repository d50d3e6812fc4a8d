//! A file of rows in YAML: a list of maps from column to value.

use std::collections::BTreeMap;

use super::{Cell, DeclaredRows, Tag};
use crate::desired::formats::node::{Kind, Node, parse};
use crate::desired::formats::{At, DataBlock};
use crate::error::Result;

/// Reads the rows that a data block names.
///
/// # Errors
/// `desired_syntax` with file and line.
pub(in crate::desired) fn read(file: &str, text: &str, block: &DataBlock) -> Result<DeclaredRows> {
    let at = At::document(file);
    let root = parse(&at, text)?;
    let items = match root.as_deref().map(|root| &root.kind) {
        None => &[][..],
        Some(Kind::List(items)) => items.as_slice(),
        Some(_) => return Err(at.malformed("rows are a list of maps")),
    };
    let mut rows = Vec::new();
    for item in items {
        let Kind::Map(columns) = &item.kind else {
            return Err(at.at_line(item.line).malformed("a row is a map of columns"));
        };
        let mut row = BTreeMap::new();
        for (name, line, value) in columns {
            row.insert(name.clone(), cell(value, &at.at_line(*line))?);
        }
        rows.push(row);
    }
    let rows = DeclaredRows {
        schema: block.schema.clone(),
        table: block.table.clone(),
        keys: block.keys.clone(),
        columns: vec![],
        rows,
    };
    rows.checked(&at, block.columns.as_deref())
}

fn cell(node: &Node, at: &At) -> Result<Cell> {
    let Kind::Scalar { text, plain, .. } = &node.kind else {
        return Err(at.malformed("a value is a single one"));
    };
    if node.is_null() {
        return Ok(Cell::Null);
    }
    let tag = if *plain { tag(text, at)? } else { Tag::Text };
    Ok(Cell::Value(tag, text.clone()))
}

/// What a value without quotes is. What readers of YAML disagree about is refused.
fn tag(text: &str, at: &At) -> Result<Tag> {
    if matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") {
        return Ok(Tag::Bool);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits && (digits == "0" || !digits.starts_with('0')) {
        return Ok(Tag::Integer);
    }
    let begins_like_a_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if is_timestamp(text) {
        return Ok(Tag::Timestamp);
    }
    let plain_float = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if plain_float && begins_like_a_number && digits.parse::<f64>().is_ok_and(f64::is_finite) && !all_digits {
        return Ok(Tag::Float);
    }
    let lower = digits.to_lowercase();
    let of = |digits: &str, radix: u32| {
        !digits.is_empty() && digits.chars().all(|c| c == '_' || c.is_digit(radix))
    };
    let odd_number = all_digits
        || matches!(lower.as_str(), ".inf" | ".nan")
        || [("0x", 16), ("0o", 8), ("0b", 2)]
            .iter()
            .any(|(prefix, radix)| lower.strip_prefix(prefix).is_some_and(|rest| of(rest, *radix)))
        || begins_like_a_number
            && lower.contains('_')
            && lower
                .bytes()
                .all(|byte| byte.is_ascii_digit() || b"_.e+-".contains(&byte));
    if odd_number {
        return Err(at.malformed(format!(
            "{text} is a number to some readers and a string to others: write it in quotes or as a plain number"
        )));
    }
    Ok(Tag::Text)
}

/// `2001-12-14`, and a time of day after it.
fn is_timestamp(text: &str) -> bool {
    let (date, rest) = match text.get(..10) {
        Some(date) => (date, &text[10..]),
        None => return false,
    };
    let form = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| {
                if wanted == b'0' {
                    byte.is_ascii_digit()
                } else {
                    byte == wanted
                }
            })
    };
    if !form(date, "0000-00-00") {
        return false;
    }
    let time = rest.strip_prefix(['T', 't', ' ']).and_then(|time| time.get(..8));
    rest.is_empty() || time.is_some_and(|time| form(time, "00:00:00"))
}
