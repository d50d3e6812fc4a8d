//! Tables in YAML.

use super::column::{self, platform};
use super::fields::Fields;
use crate::desired::formats::objects::{
    Constraint, ConstraintKind, Index, Objects, Part, PartKind, Reference, Table,
};
use crate::desired::formats::{check, constraint};
use crate::error::Result;

pub(super) fn read_all(document: &mut Fields, objects: &mut Objects) -> Result<()> {
    for mut fields in document.maps("tables", "table")? {
        let table = table(&mut fields, objects)?;
        fields.finish()?;
        check::table(&table)?;
        objects.tables.push(table);
    }
    for mut fields in document.maps("indexes", "index")? {
        let table = fields.relation("table")?;
        let index = index(&mut fields)?;
        fields.finish()?;
        objects.indexes.push((table, index));
    }
    for mut fields in document.maps("constraints", "constraint")? {
        let table = fields.relation("table")?;
        let constraint = own_constraint(&mut fields)?;
        fields.finish()?;
        objects.constraints.push((table, constraint));
    }
    for key in ["rls_enabled_tables", "rls_enabled"] {
        for mut fields in document.maps(key, key)? {
            fields.leave(&["struct_name", "comment"])?;
            let (text, at) = match fields.text("table")? {
                Some(table) => (table.text, table.at),
                None => (fields.key.clone(), fields.at.clone()),
            };
            let name = super::fields::dotted(&text, &at)?;
            fields.finish()?;
            objects.row_security.push(Reference { name, at });
        }
    }
    Ok(())
}

fn table(fields: &mut Fields, objects: &mut Objects) -> Result<Table> {
    let name = fields.name()?;
    fields.leave(&["engine"])?;
    let struct_name = fields.text("struct_name")?.map(|name| name.text);
    let struct_name = struct_name.unwrap_or_else(|| fields.key.clone());
    for key in ["platform", "overrides"] {
        if let Some(changed) = platform(fields, key)? {
            return Err(changed.at.refused("a table has no type to override"));
        }
    }
    let mut table = Table {
        columns: vec![],
        constraints: vec![],
        indexes: vec![],
        partition: None,
        row_security: fields
            .bool("rls_enabled")?
            .filter(|(wanted, _)| *wanted)
            .map(|(_, at)| at),
        custom: fields.text("custom_sql")?,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
        name,
    };
    let mut foreign = Vec::new();
    for key in ["columns", "fields"] {
        for mut column in fields.maps(key, "column")? {
            let found = column::read(&mut column, &table.name, &struct_name, objects)?;
            column.finish()?;
            table.columns.push(found.column);
            table.indexes.extend(found.index);
            foreign.extend(found.foreign);
        }
    }
    let key = fields.names("primary_key")?;
    if !key.is_empty() {
        if let Some(column) = table.columns.iter().find(|column| column.primary) {
            return Err(column
                .at
                .malformed("it is primary, and the table has primary_key too"));
        }
        table.constraints.push(unnamed(
            ConstraintKind::Primary {
                columns: key,
                include: vec![],
            },
            fields,
        ));
    }
    for check in fields.checks()? {
        let at = check.at.clone();
        table.constraints.push(Constraint {
            name: None,
            kind: ConstraintKind::Check(check),
            comment: None,
            at,
        });
    }
    for mut one in fields.maps("constraints", "constraint")? {
        if let Some(other) = one.text("table")? {
            let own = super::fields::dotted(&other.text, &other.at)?;
            if own != table.name {
                return Err(other.at.malformed("it stands in another table"));
            }
        }
        table.constraints.push(own_constraint(&mut one)?);
        one.finish()?;
    }
    for mut one in fields.maps("indexes", "index")? {
        if let Some(other) = one.text("table")? {
            let own = super::fields::dotted(&other.text, &other.at)?;
            if own != table.name {
                return Err(other.at.malformed("it stands in another table"));
            }
        }
        table.indexes.push(index(&mut one)?);
        one.finish()?;
    }
    table.constraints.extend(foreign);
    Ok(table)
}

fn unnamed(kind: ConstraintKind, fields: &Fields) -> Constraint {
    Constraint {
        name: None,
        kind,
        comment: None,
        at: fields.at.clone(),
    }
}

fn index(fields: &mut Fields) -> Result<Index> {
    let name = fields.plain_name()?;
    fields.refuse(&[("granularity", "PostgreSQL has no such option of an index")])?;
    let mut columns = fields.list("fields")?;
    let alias = fields.list("columns")?;
    match (columns.first(), alias.first()) {
        (Some(_), Some(second)) => return Err(second.at.malformed("there is fields too")),
        (None, None) => return Err(fields.at.malformed("fields is missing")),
        _ => columns.extend(alias),
    }
    let class = fields.text("ops")?;
    let condition = match (fields.text("where")?, fields.text("condition")?) {
        (Some(_), Some(second)) => return Err(second.at.malformed("there is where too")),
        (one, other) => one.or(other),
    };
    Ok(Index {
        name: Some(name),
        unique: fields.flag("unique", false)?,
        method: fields.text("type")?,
        parts: columns
            .into_iter()
            .map(|column| Part {
                what: PartKind::Column(column.text),
                operator_class: class.clone(),
                descending: false,
                nulls_first: None,
            })
            .collect(),
        include: vec![],
        nulls_distinct: None,
        pages_per_range: None,
        condition,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
    })
}

fn own_constraint(fields: &mut Fields) -> Result<Constraint> {
    let name = fields.plain_name()?;
    let foreign = fields.text("foreign_column")?.map(|column| column.text);
    let kind = constraint::Written {
        kind: fields.text("type")?,
        columns: fields.names("columns")?,
        include: vec![],
        nulls_distinct: None,
        method: fields.text("using")?,
        elements: fields.text("elements")?,
        condition: fields.text("condition")?,
        check: fields.text("check")?,
        foreign_table: fields.text("foreign_table")?,
        foreign: foreign.into_iter().collect(),
        on_delete: fields.text("on_delete")?,
        on_update: fields.text("on_update")?,
    }
    .read(&fields.at)?;
    Ok(Constraint {
        name: Some(name),
        kind,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
    })
}
