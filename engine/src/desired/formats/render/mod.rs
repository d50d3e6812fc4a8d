//! Documents as the statements that make what they declare.
//!
//! Promises: a kind comes before those that need it, so that few statements have to wait for another; foreign keys
//! come after all tables; what stands in a document's text passed [`pieces`](super::pieces).

mod objects;
mod sql;
mod table;
mod types;

pub(in crate::desired) use sql::Rendered;
pub(super) use types::is_serial;

use super::Document;
use super::names::Names;
use super::place::Text;
use crate::error::Result;
use crate::name::{literal, quote};

/// The statements of all documents, document by document.
///
/// # Errors
/// `desired_syntax` for a name that is declared twice or leads to two objects, and for text that is not the piece of
/// SQL that its place wants; `unsupported_object` for what PostgreSQL does not have.
pub(super) fn render(documents: &[Document]) -> Result<Vec<Rendered>> {
    let names = Names::of(documents)?;
    let mut out = Vec::new();
    for document in documents {
        let objects = &document.objects;
        for schema in &objects.schemas {
            let made = Rendered::new("CREATE SCHEMA", &schema.at);
            out.push(made.push(&format!(" IF NOT EXISTS {}", quote(&schema.name))));
            comment(
                &mut out,
                &format!("SCHEMA {}", quote(&schema.name)),
                schema.comment.as_ref(),
            );
        }
        types::render(objects, &names, &mut out)?;
        for table in &objects.tables {
            table::render(table, &names, &mut out)?;
        }
        for (owner, index) in &objects.indexes {
            let owner = names.relation(owner, None)?;
            table::index(&owner, index, &mut out)?;
        }
        for (owner, constraint) in &objects.constraints {
            let owner = names.relation(owner, None)?;
            table::add_constraint(&owner, None, constraint, &names, &mut out)?;
        }
        for table in &objects.tables {
            table::foreign_keys(table, &names, &mut out)?;
        }
        objects::render(objects, &names, &mut out)?;
    }
    Ok(out)
}

/// `COMMENT ON` the object, when there is one.
fn comment(out: &mut Vec<Rendered>, object: &str, text: Option<&Text>) {
    if let Some(text) = text {
        let made = Rendered::new("COMMENT ON", &text.at);
        out.push(
            made.push(&format!(" {object} IS "))
                .piece(text, &literal(&text.text)),
        );
    }
}

/// Names in quotes, between parentheses.
fn columns(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
    format!("({})", names.join(", "))
}
