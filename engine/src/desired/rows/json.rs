//! `managed-data.json`, as an artifact holds it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Error as _, MapAccess, Visitor};

use super::{Cell, DeclaredRows, Tag};
use crate::desired::formats::{At, DataBlock};
use crate::error::Result;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    #[serde(default)]
    schema: Option<String>,
    table: String,
    keys: Vec<String>,
    columns: Vec<String>,
    rows: Vec<Row>,
}

/// A map that refuses a key that it has already.
struct Row(BTreeMap<String, Cell>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tagged {
    tag: Name,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Str,
    Int,
    Float,
    Bool,
    Timestamp,
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Columns;
        impl<'de> Visitor<'de> for Columns {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of columns")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Row, A::Error> {
                let mut row = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Option<Tagged>>()? {
                    let cell = match value {
                        None => Cell::Null,
                        Some(value) => Cell::Value(value.tag.into(), value.text),
                    };
                    if row.insert(name, cell).is_some() {
                        return Err(A::Error::custom("a column stands in a row twice"));
                    }
                }
                Ok(Row(row))
            }
        }
        deserializer.deserialize_map(Columns)
    }
}

impl From<Name> for Tag {
    fn from(name: Name) -> Self {
        match name {
            Name::Str => Self::Text,
            Name::Int => Self::Integer,
            Name::Float => Self::Float,
            Name::Bool => Self::Bool,
            Name::Timestamp => Self::Timestamp,
        }
    }
}

/// Reads the layer.
///
/// # Errors
/// `desired_syntax` with the file: not JSON, an unknown member, a table twice, a row without its key.
pub(in crate::desired) fn read(file: &str, text: &str, blocks: &[DataBlock]) -> Result<Vec<DeclaredRows>> {
    let at = At::document(file);
    let layer: Layer = serde_json::from_str(text).map_err(|error| {
        at.at_line(error.line().max(1))
            .malformed(format!("it is not declared rows: {error}"))
    })?;
    let mut sets: Vec<DeclaredRows> = Vec::new();
    for set in layer.sets {
        let schema = set.schema.filter(|schema| !schema.is_empty());
        let rows = DeclaredRows {
            columns: vec![],
            rows: set.rows.into_iter().map(|row| row.0).collect(),
            keys: set.keys,
            table: set.table,
            schema,
        };
        let block = blocks
            .iter()
            .find(|block| block.schema == rows.schema && block.table == rows.table);
        let rows = rows.checked(&at, block.and_then(|block| block.columns.as_deref()))?;
        if rows.columns != set.columns {
            return Err(at.malformed(format!(
                "columns of {} are not those of its rows, sorted",
                rows.shown()
            )));
        }
        let same = |other: &DeclaredRows| other.schema == rows.schema && other.table == rows.table;
        if sets.iter().any(same) {
            return Err(at.malformed(format!("{} stands there twice", rows.shown())));
        }
        sets.push(rows);
    }
    super::agree(&sets, blocks, &at)?;
    Ok(sets)
}
