//! Documents in YAML.
//!
//! Promises: every key is read or refused by name, with file and line.

mod column;
mod fields;
pub(in crate::desired) mod node;
mod objects;
mod table;

use std::collections::BTreeMap;

use fields::Fields;

use super::objects::{Name, Objects, Schema};
use super::place::At;
use super::{Document, refuse_server_schema};
use crate::error::Result;

/// Reads a document.
///
/// # Errors
/// `desired_syntax` for what is malformed or unknown, `unsupported_object` for what is not done here, each with file,
/// line, and the keys around it.
pub(super) fn read(file: &str, text: &str) -> Result<Document> {
    let document = At::document(file);
    let mut objects = Objects::default();
    let Some(root) = node::parse(&document, text)? else {
        return Ok(Document { objects });
    };
    let mut fields = Fields::document(&document, &root)?;
    objects::enums(&mut fields, &mut objects)?;
    table::read_all(&mut fields, &mut objects)?;
    objects::read_all(&mut fields, &mut objects)?;
    fields.finish()?;
    add_schemas(&mut objects)?;
    Ok(Document { objects })
}

/// YAML has no schemas of its own: one that a name has is declared by that.
fn add_schemas(objects: &mut Objects) -> Result<()> {
    let mut schemas: BTreeMap<String, At> = BTreeMap::new();
    let mut add = |name: &Name, at: &At| {
        if let Some(schema) = &name.schema {
            schemas.entry(schema.clone()).or_insert_with(|| at.clone());
        }
    };
    objects.enums.iter().for_each(|made| add(&made.name, &made.at));
    objects.tables.iter().for_each(|made| add(&made.name, &made.at));
    objects
        .functions
        .iter()
        .for_each(|made| add(&made.name, &made.at));
    objects.views.iter().for_each(|made| add(&made.name, &made.at));
    for extension in &objects.extensions {
        let name = Name::new(extension.schema.clone(), &*extension.name);
        if name.schema.as_deref() != Some("pg_catalog") {
            add(&name, &extension.at);
        }
    }
    for (name, at) in schemas {
        refuse_server_schema(&name, &at)?;
        objects.schemas.push(Schema {
            name,
            comment: None,
            at,
        });
    }
    Ok(())
}
