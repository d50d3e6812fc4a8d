//! Documents in HCL.
//!
//! Promises: every block and attribute is read or refused by name, with file and line; nothing that a document says
//! is dropped but what [`WITHOUT_EFFECT`] lists.

mod block;
mod column;
mod eval;
mod functions;
mod lists;
mod objects;
mod read;
mod table;
mod template;
mod types;
mod value;
mod variables;

use block::{Lines, Node};
use eval::Scope;

use super::objects::{Objects, Schema};
use super::place::{At, Text};
use super::{Document, WITHOUT_EFFECT, refuse_server_schema};
use crate::error::Result;

/// Reads a document.
///
/// # Errors
/// `desired_syntax` for what is malformed or unknown, `unsupported_object` for what is not done here, each with file,
/// line, block and attribute.
pub(super) fn read(file: &str, text: &str) -> Result<Document> {
    let document = At::document(file);
    let body = hcl_edit::parser::parse_body(text).map_err(|error| {
        let line = error.location().line();
        document.at_line(line).malformed(error.message())
    })?;
    let lines = Lines::of(text);
    let root = Node::document(&body, &lines, Scope::new(), document);
    let scope = variables::read(&root)?;
    let root = root.in_scope(scope);
    let mut objects = Objects::default();
    root.finish()?;
    for mut node in root.blocks()? {
        read_block(&mut node, &mut objects)?;
        node.finish()?;
    }
    Ok(Document { objects })
}

fn read_block(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    match node.kind.as_str() {
        // These were read before all others.
        "variable" | "locals" => {
            node.ask_all();
            return Ok(());
        }
        "table" => return table::read(node, objects),
        "function" => return objects::function(node, objects),
        "trigger" => return objects::trigger(node, objects),
        "composite" => return types::composite(node, objects),
        _ => {}
    }
    node.no_blocks()?;
    match node.kind.as_str() {
        "schema" => schema(node, objects),
        "enum" => types::enumeration(node, objects),
        "sequence" => types::sequence(node, objects),
        "domain" => types::domain(node, objects),
        "range" => types::range(node, objects),
        "extension" => objects::extension(node, objects),
        "view" => objects::view(node, objects, false),
        "materialized" => objects::view(node, objects, true),
        "policy" => objects::policy(node, objects),
        "permission" => objects::permission(node, objects),
        "data" => objects::data(node, objects),
        "role" => Err(node.at.refused(
            "roles are not created here: make it with the server's own means and leave the block out, role.NAME \
             works without it",
        )),
        "env" => Err(node.at.refused("this is a project file, not a schema")),
        _ => Err(node.unknown()),
    }
}

fn schema(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.label()?;
    refuse_server_schema(&name, &node.at)?;
    without_effect(node, "schema")?;
    let comment = node.text("comment")?;
    let same = objects.schemas.iter().find(|schema| schema.name == name);
    if let Some(first) = same {
        // A repeated block is as good as one, unless they say different things.
        let said = |comment: &Option<Text>| comment.as_ref().map(|comment| comment.text.clone());
        if comment.is_some() && said(&first.comment) != said(&comment) {
            return Err(super::names::declared_twice(&node.at, &first.at));
        }
        return Ok(());
    }
    objects.schemas.push(Schema {
        name,
        comment,
        at: node.at.clone(),
    });
    Ok(())
}

/// Takes the attributes that change nothing on PostgreSQL.
fn without_effect(node: &mut Node<'_>, kind: &str) -> Result<()> {
    for (found, attribute, _) in WITHOUT_EFFECT {
        if *found == kind {
            node.value(attribute)?;
        }
    }
    Ok(())
}

/// Refuses attributes that another server has.
fn refuse(node: &mut Node<'_>, attributes: &[(&'static str, &str)]) -> Result<()> {
    for (attribute, why) in attributes {
        match node.value(attribute)? {
            // What is switched off asks for nothing.
            None | Some((value::Value::Bool(false), _)) => {}
            Some((_, at)) => return Err(at.refused(why)),
        }
    }
    Ok(())
}
