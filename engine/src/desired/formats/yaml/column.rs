//! Columns in YAML.

use super::fields::{Fields, scalar};
use crate::desired::formats::objects::{
    Column, Constraint, ConstraintKind, Default, Enum, Identity, Index, Name, Objects, Part, PartKind,
    Reference, Type,
};
use crate::desired::formats::place::Text;
use crate::desired::formats::render::is_serial;
use crate::desired::formats::{default_value, dotted_name, foreign_action};
use crate::error::Result;

/// A column, and what it asks of its table: a foreign key and an index.
pub(super) struct Found {
    pub(super) column: Column,
    pub(super) foreign: Option<Constraint>,
    pub(super) index: Option<Index>,
}

pub(super) fn read(
    fields: &mut Fields,
    table: &Name,
    struct_name: &str,
    objects: &mut Objects,
) -> Result<Found> {
    let name = fields.plain_name()?;
    let data_type = data_type(fields, table, struct_name, objects)?;
    let identity = identity(fields)?;
    for key in ["auto_increment", "auto_inc"] {
        if let Some((true, at)) = fields.bool(key)?
            && identity.is_none()
            && !is_serial(&data_type)
        {
            let why = "PostgreSQL has no such column: write identity_generation, or a serial type";
            return Err(at.refused(why));
        }
    }
    let kind = fields.keyword("generated_kind", &["STORED", "VIRTUAL"])?;
    let stored = fields.flag("stored", false)?;
    let generated = fields
        .text("generated")?
        .map(|expression| (expression, stored || kind != Some("VIRTUAL")));
    if generated.is_none() && (stored || kind.is_some()) {
        return Err(fields.at.malformed("generated is missing"));
    }
    fields.leave(&["charset"])?;
    let nullable = fields.flag("nullable", true)? && !fields.flag("not_null", false)?;
    let check_name = fields.text("check_name")?;
    let check = fields.text("check")?;
    if let (Some(name), None) = (&check_name, &check) {
        return Err(name.at.malformed("there is no check for it"));
    }
    let foreign = foreign(fields, table, &name)?;
    let index = fields.bool("index")?.filter(|(wanted, _)| *wanted);
    let column = Column {
        data_type,
        not_null: !nullable,
        primary: fields.flag("primary", false)?,
        unique: fields.flag("unique", false)?,
        unique_expr: fields.text("unique_expr")?,
        default: default(fields)?,
        check: check.map(|check| (check_name.map(|name| name.text), check)),
        collation: fields.text("collate")?,
        generated,
        identity,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
        name: name.clone(),
    };
    Ok(Found {
        column,
        foreign,
        index: index.map(|(_, at)| Index {
            name: None,
            unique: false,
            method: None,
            parts: vec![Part {
                what: PartKind::Column(name),
                operator_class: None,
                descending: false,
                nulls_first: None,
            }],
            include: vec![],
            nulls_distinct: None,
            pages_per_range: None,
            condition: None,
            comment: None,
            at,
        }),
    })
}

/// The type, which a list of values makes when none is named.
fn data_type(fields: &mut Fields, table: &Name, struct_name: &str, objects: &mut Objects) -> Result<Type> {
    let field_name = fields.text("field_name")?.map(|name| name.text);
    let field_name = field_name.unwrap_or_else(|| fields.key.clone());
    let values = fields.list("enum")?;
    let mut written = fields.text("type")?;
    for key in ["platform", "overrides"] {
        if let Some(changed) = platform(fields, key)? {
            written = Some(changed);
        }
    }
    let Some(first) = values.first() else {
        return match written {
            Some(written) => Ok(Type::Written(written)),
            None => Err(fields.at.malformed("type is missing")),
        };
    };
    if written.is_some_and(|written| written.text != "ENUM") {
        return Err(first.at.refused(
            "a list of values beside a type makes nothing here: leave the type out, or declare it among enums",
        ));
    }
    let name = format!(
        "enum_{}_{}",
        struct_name.to_lowercase(),
        field_name.to_lowercase()
    );
    let name = Name::new(table.schema.clone(), name);
    objects.enums.push(Enum {
        name: name.clone(),
        values: values.iter().map(|value| value.text.clone()).collect(),
        at: first.at.clone(),
    });
    Ok(Type::Enum(Reference {
        name,
        at: fields.at.clone(),
    }))
}

/// The type that a map of servers gives for PostgreSQL.
pub(super) fn platform(fields: &mut Fields, key: &'static str) -> Result<Option<Text>> {
    let mut changed = None;
    for server in fields.maps(key, "platform")? {
        let ours = matches!(server.key.as_str(), "postgres" | "postgresql");
        for (attribute, line, node) in server.all() {
            let at = server.at.attribute(line, &attribute);
            let text = scalar(&node, &at)?;
            match (ours, attribute.as_str()) {
                (false, _) => {}
                (true, "type") => changed = Some(text),
                (true, _) => return Err(at.refused("only a column's type is overridden here")),
            }
        }
    }
    Ok(changed)
}

fn identity(fields: &mut Fields) -> Result<Option<Identity>> {
    let when = fields.keyword("identity_generation", &["ALWAYS", "BY DEFAULT"])?;
    let start = fields.integer("identity_start")?;
    let increment = fields.integer("identity_increment")?;
    let options = fields.text("identity_options")?;
    if when.is_none() && start.is_none() && increment.is_none() && options.is_none() {
        return Ok(None);
    }
    Ok(Some(Identity {
        always: when == Some("ALWAYS"),
        start,
        increment,
        options,
    }))
}

fn default(fields: &mut Fields) -> Result<Option<Default>> {
    let value = fields.value("default")?;
    match (value, fields.text("default_expr")?) {
        (Some(value), Some(_)) => Err(value.at.malformed("there is default_expr too")),
        (Some(value), None) => Ok(Some(Default::Value(default_value(&value.text)))),
        (None, Some(expression)) => Ok(Some(Default::Expression(expression))),
        (None, None) => Ok(None),
    }
}

/// `table(column)`.
fn foreign(fields: &mut Fields, table: &Name, column: &str) -> Result<Option<Constraint>> {
    let name = fields.text("foreign_key_name")?;
    let on_delete = fields.text("on_delete")?;
    let on_update = fields.text("on_update")?;
    let Some(foreign) = fields.text("foreign")? else {
        return match [name, on_delete, on_update].into_iter().flatten().next() {
            Some(text) => Err(text.at.malformed("foreign is missing")),
            None => Ok(None),
        };
    };
    let parts = foreign
        .text
        .trim()
        .strip_suffix(')')
        .and_then(|text| text.split_once('('));
    let parts = parts.and_then(|(owner, column)| Some((dotted_name(owner.trim())?, column.trim())));
    let Some((owner, foreign_column)) = parts.filter(|(_, column)| !column.is_empty()) else {
        return Err(foreign.at.malformed("it is not TABLE(COLUMN)"));
    };
    Ok(Some(Constraint {
        name: Some(name.map_or_else(|| format!("fk_{}_{column}", table.name), |name| name.text)),
        kind: ConstraintKind::Foreign {
            columns: vec![column.to_owned()],
            table: Reference {
                name: owner,
                at: foreign.at.clone(),
            },
            foreign: vec![foreign_column.to_owned()],
            on_delete: foreign_action(on_delete)?,
            on_update: foreign_action(on_update)?,
            deferral: "",
        },
        comment: None,
        at: foreign.at,
    }))
}
