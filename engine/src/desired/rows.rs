//! Declared rows: which rows a table holds, by the key that tells them apart.
//!
//! Promises: strict reading of both spellings, the `managed-data.json` of an artifact and a YAML file beside the HCL
//! that names it; every row has its key, no key is there twice, and no table twice.

mod json;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use super::formats::{At, DataBlock};
use crate::error::Result;
use crate::name::quote;

pub(super) use json::read as read_json;
pub(super) use yaml::read as read_yaml;

/// The most rows of one table, since every row that is not declared would be a deletion.
const MOST_ROWS: usize = 10_000;
/// The most bytes of them.
const MOST_BYTES: usize = 16 << 20;

/// The rows that one table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredRows {
    /// The table's schema, when the document names one.
    pub schema: Option<String>,
    /// The table.
    pub table: String,
    /// What tells rows apart.
    pub keys: Vec<String>,
    /// Keys, and every column that any row names, in byte order.
    pub columns: Vec<String>,
    /// In the order of the author. A column that a row does not name is not declared for it.
    pub rows: Vec<BTreeMap<String, Cell>>,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// No value.
    Null,
    /// A value as it was written.
    Value(Tag, String),
}

/// What kind of value the author wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the kind of that name")]
pub enum Tag {
    Text,
    Integer,
    Float,
    Bool,
    Timestamp,
}

impl DeclaredRows {
    /// Sets the columns, once the rows and what they must hold are known to be right.
    fn checked(mut self, at: &At, table_columns: Option<&[String]>) -> Result<Self> {
        let table = self.shown();
        if self.keys.is_empty() {
            return Err(at.malformed(format!("the rows of {table} have no keys")));
        }
        let mut keys = BTreeSet::new();
        if let Some(twice) = self.keys.iter().find(|key| !keys.insert(key.as_str())) {
            return Err(at.malformed(format!("{twice:?} is a key of {table} twice")));
        }
        let bytes: usize = self
            .rows
            .iter()
            .flatten()
            .map(|(name, cell)| name.len() + cell.len())
            .sum();
        if self.rows.len() > MOST_ROWS || bytes > MOST_BYTES {
            return Err(at.refused(format!(
                "{table} has more than {MOST_ROWS} declared rows or {} MiB of them",
                MOST_BYTES >> 20
            )));
        }
        let mut seen = BTreeSet::new();
        let mut columns: BTreeSet<&str> = keys;
        for (index, row) in self.rows.iter().enumerate() {
            let number = index + 1;
            let mut key = Vec::new();
            for name in &self.keys {
                match row.get(name) {
                    Some(cell @ Cell::Value(..)) => key.push(cell),
                    Some(Cell::Null) => {
                        return Err(at.malformed(format!("row {number} of {table} has a null key {name:?}")));
                    }
                    None => {
                        return Err(at.malformed(format!("row {number} of {table} lacks the key {name:?}")));
                    }
                }
            }
            if !seen.insert(key) {
                return Err(at.malformed(format!("row {number} of {table} has the key of another")));
            }
            columns.extend(row.keys().map(String::as_str));
        }
        if let Some(known) = table_columns
            && let Some(unknown) = columns
                .iter()
                .find(|name| !known.iter().any(|known| known == *name))
        {
            return Err(at.malformed(format!("{table} has no column {unknown:?}")));
        }
        self.columns = columns.into_iter().map(str::to_owned).collect();
        Ok(self)
    }

    /// The table as SQL needs it.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quote(schema), quote(&self.table)),
            None => quote(&self.table),
        }
    }
}

impl Cell {
    fn len(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Value(_, text) => text.len(),
        }
    }
}

/// Holds the rows of an artifact against the blocks of its document: the same tables with the same keys.
///
/// # Errors
/// A table that one of the two lacks, or other keys.
pub(super) fn agree(sets: &[DeclaredRows], blocks: &[DataBlock], layer: &At) -> Result<()> {
    let same = |set: &DeclaredRows, block: &DataBlock| set.schema == block.schema && set.table == block.table;
    for block in blocks {
        match sets.iter().find(|set| same(set, block)) {
            None => {
                let why = format!("{} has no rows of it", layer.file());
                return Err(block.at.malformed(why));
            }
            Some(set) if set.keys != block.keys => {
                let why = format!("{} has other keys: {}", layer.file(), set.keys.join(", "));
                return Err(block.at.malformed(why));
            }
            Some(_) => {}
        }
    }
    match sets
        .iter()
        .find(|set| !blocks.iter().any(|block| same(set, block)))
    {
        None => Ok(()),
        Some(set) => Err(layer.malformed(format!("no data block names {}", set.shown()))),
    }
}
