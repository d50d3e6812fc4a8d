//! Blocks of types and sequences.

use super::block::Node;
use super::read::reference;
use super::value::Value;
use crate::desired::formats::objects::{
    Composite, Default, Domain, Enum, Name, Objects, Range, Reference, Sequence, Type,
};
use crate::desired::formats::place::{At, Text};
use crate::desired::formats::{default_value, sequence_clauses, sequence_owner};
use crate::error::Result;

pub(super) fn enumeration(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.name()?;
    let values = match node.texts("values")? {
        Some((values, _)) if !values.is_empty() => values,
        _ => return Err(node.at.malformed("values is missing or empty")),
    };
    objects.enums.push(Enum {
        name,
        values,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn sequence(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.name()?;
    node.bool("if_not_exists")?;
    let kind = node.keyword(
        "type",
        &["SMALLINT", "INTEGER", "BIGINT", "INT", "INT2", "INT4", "INT8"],
    )?;
    let clauses = sequence_clauses(
        kind.map(|(kind, _)| kind),
        [
            node.integer("increment")?,
            node.integer("min_value")?,
            node.integer("max_value")?,
            node.integer("start")?,
            node.integer("cache")?,
        ],
        node.flag("cycle", false)?,
    );
    let owned_by = match node.value("owned_by")? {
        None => None,
        Some((value, at)) => owner(&value, &at)?,
    };
    objects.sequences.push(Sequence {
        name,
        clauses,
        owned_by,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

/// `table.t.column.c`, or `"t.c"`, or `"NONE"`.
fn owner(value: &Value, at: &At) -> Result<Option<(Reference, String)>> {
    let wrong = || at.malformed("it is not table.NAME.column.NAME, nor a string \"table.column\"");
    match value {
        Value::Text(text) | Value::Sql(text) => sequence_owner(text, at),
        Value::Reference(parts) => {
            let split = parts.len().saturating_sub(2);
            let (table, column) = parts.split_at(split);
            let table = Value::Reference(std::rc::Rc::new(table.to_vec()));
            match (reference(&table, "table"), column) {
                (Some(name), [kind, column]) if kind == "column" => {
                    Ok(Some((Reference { name, at: at.clone() }, column.clone())))
                }
                _ => Err(wrong()),
            }
        }
        _ => Err(wrong()),
    }
}

pub(super) fn domain(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    objects.domains.push(Domain {
        name: node.name()?,
        base: node.data_type("type")?,
        not_null: !node.flag("null", true)?,
        default: default(node)?,
        check: node.sql("check")?,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

/// A value or an expression; null is no default.
pub(super) fn default(node: &mut Node<'_>) -> Result<Option<Default>> {
    let Some((value, at)) = node.value("default")? else {
        return Ok(None);
    };
    Ok(Some(match value {
        Value::Sql(text) => Default::Expression(node.with_lines("default", &text, &at)),
        Value::Text(text) => Default::Value(default_value(&text)),
        Value::Number(text) => Default::Value(text.to_string()),
        Value::Bool(value) => Default::Value(value.to_string()),
        other => {
            return Err(at.malformed(format!(
                "{} stands where a value or sql(\"…\") is wanted",
                other.shown()
            )));
        }
    }))
}

pub(super) fn composite(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.name()?;
    let mut fields: Vec<(String, Type, At)> = Vec::new();
    for mut field in node.blocks()? {
        if field.kind != "field" {
            return Err(field.unknown());
        }
        let label = field.label()?;
        if let Some((_, _, first)) = fields.iter().find(|(name, _, _)| *name == label) {
            return Err(crate::desired::formats::names::declared_twice(&field.at, first));
        }
        field.no_blocks()?;
        fields.push((label, field.data_type("type")?, field.at.clone()));
        field.finish()?;
    }
    if fields.is_empty() {
        return Err(node.at.malformed("it has no field"));
    }
    objects.composites.push(Composite {
        name,
        fields,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn range(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name: Name = node.name()?;
    let mut options: Vec<(&'static str, Text)> = Vec::new();
    for (attribute, option) in [
        ("subtype_opclass", "SUBTYPE_OPCLASS"),
        ("collation", "COLLATION"),
        ("canonical", "CANONICAL"),
        ("subtype_diff", "SUBTYPE_DIFF"),
    ] {
        if let Some(value) = node.word(attribute)? {
            options.push((option, value));
        }
    }
    objects.ranges.push(Range {
        name,
        subtype: node.data_type("subtype")?,
        options,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}
