//! Documents that are not SQL: read, checked piece by piece, and turned into the statements that make what they
//! declare, which then take the way of SQL files.
//!
//! Promises: every statement is exactly one declaration, whatever a document's text says; an error names file, line,
//! block and attribute. No model stands between: what a document does not say is left to the server.

mod check;
mod constraint;
mod hcl;
mod names;
mod objects;
mod pieces;
mod place;
mod render;
mod words;
mod yaml;

use words::{
    COMMANDS, EXTENSION, REFRESH, VOLATILITY, WITHOUT_EFFECT, default_value, deferral, dotted_name,
    foreign_action, keyword, privilege, refuse_server_schema, role, sequence_clauses, sequence_owner,
};

use objects::Objects;
pub(super) use place::At;
pub(super) use render::Rendered;
pub(super) use yaml::node;

use super::admission::Extension;
use crate::error::Result;

/// A document that was read.
#[derive(Debug)]
pub(super) struct Document {
    objects: Objects,
}

/// A block that names rows.
pub(super) struct DataBlock {
    pub(super) schema: Option<String>,
    pub(super) table: String,
    pub(super) keys: Vec<String>,
    /// Relative to the document.
    pub(super) file: String,
    pub(super) at: At,
    /// The columns of the table, when the documents declare it.
    pub(super) columns: Option<Vec<String>>,
}

impl Document {
    /// Reads HCL.
    pub(super) fn hcl(file: &str, text: &str) -> Result<Self> {
        hcl::read(file, text)
    }

    /// Reads YAML.
    pub(super) fn yaml(file: &str, text: &str) -> Result<Self> {
        yaml::read(file, text)
    }

    /// The extensions that it asks for.
    pub(super) fn extensions(&self) -> Vec<Extension> {
        let extensions = self.objects.extensions.iter();
        extensions
            .map(|extension| Extension {
                name: extension.name.clone(),
                schema: extension.schema.clone(),
                place: format!("{}:{}", extension.at.file(), extension.at.line),
            })
            .collect()
    }
}

/// The statements of all documents.
///
/// # Errors
/// See [`render`].
pub(super) fn render(documents: &[Document]) -> Result<Vec<Rendered>> {
    render::render(documents)
}

/// The rows that the documents declare, with the table's own schema.
///
/// # Errors
/// A table that two schemas have, and two blocks for one table.
pub(super) fn data_blocks(documents: &[Document]) -> Result<Vec<DataBlock>> {
    let names = names::Names::of(documents)?;
    let mut found: Vec<DataBlock> = Vec::new();
    for data in documents.iter().flat_map(|document| &document.objects.data) {
        let name = names.relation(&data.table, None)?;
        let mut tables = documents.iter().flat_map(|document| &document.objects.tables);
        let table = tables.find(|table| table.name == name);
        let same = |block: &&DataBlock| block.schema == name.schema && block.table == name.name;
        if let Some(first) = found.iter().find(same) {
            return Err(names::declared_twice(&data.at, &first.at));
        }
        found.push(DataBlock {
            columns: table.map(|table| table.columns.iter().map(|column| column.name.clone()).collect()),
            schema: name.schema,
            table: name.name,
            keys: data.keys.clone(),
            file: data.file.text.clone(),
            at: data.at.clone(),
        });
    }
    Ok(found)
}
