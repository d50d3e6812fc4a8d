//! What the server would report late or not by name: names that a table uses twice, and columns that it does not have.

use std::collections::BTreeMap;

use super::names::declared_twice;
use super::objects::{ConstraintKind, PartKind, Table};
use super::place::At;
use crate::error::Result;

/// Checks one table.
///
/// # Errors
/// A column, a constraint or an index that is declared twice; a key or an index over a column that is not there.
pub(super) fn table(table: &Table) -> Result<()> {
    let mut columns: BTreeMap<&str, &At> = BTreeMap::new();
    for column in &table.columns {
        once(&mut columns, &column.name, &column.at)?;
    }
    let mut constraints: BTreeMap<&str, &At> = BTreeMap::new();
    for one in &table.constraints {
        if let Some(name) = &one.name {
            once(&mut constraints, name, &one.at)?;
        }
    }
    let mut indexes: BTreeMap<&str, &At> = BTreeMap::new();
    for one in &table.indexes {
        if let Some(name) = &one.name {
            once(&mut indexes, name, &one.at)?;
        }
    }
    let known = |name: &str, at: &At| {
        if columns.contains_key(name) {
            Ok(())
        } else {
            Err(at.malformed(format!("the table has no column {name:?}")))
        }
    };
    for one in &table.constraints {
        let (columns, include): (&[String], &[String]) = match &one.kind {
            ConstraintKind::Primary { columns, include }
            | ConstraintKind::Unique { columns, include, .. } => (columns, include),
            ConstraintKind::Foreign { columns, .. } => (columns, &[]),
            ConstraintKind::Check(_) | ConstraintKind::Exclude { .. } => (&[], &[]),
        };
        columns
            .iter()
            .chain(include)
            .try_for_each(|name| known(name, &one.at))?;
    }
    for index in &table.indexes {
        let parts = index.parts.iter().filter_map(|part| column_of(&part.what));
        let include = index.include.iter().map(String::as_str);
        parts.chain(include).try_for_each(|name| known(name, &index.at))?;
    }
    let parts = table.partition.iter().flat_map(|partition| &partition.parts);
    parts
        .filter_map(column_of)
        .try_for_each(|name| known(name, &table.at))
}

fn column_of(part: &PartKind) -> Option<&str> {
    match part {
        PartKind::Column(name) => Some(name),
        PartKind::Expression(_) => None,
    }
}

fn once<'a>(seen: &mut BTreeMap<&'a str, &'a At>, name: &'a str, at: &'a At) -> Result<()> {
    match seen.insert(name, at) {
        None => Ok(()),
        Some(first) => Err(declared_twice(at, first)),
    }
}
