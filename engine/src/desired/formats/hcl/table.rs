//! Tables in HCL.

use super::block::Node;
use super::value::Value;
use super::{column, refuse, without_effect};
use crate::desired::formats::names::declared_twice;
use crate::desired::formats::objects::{
    Constraint, ConstraintKind, Index, Name, Objects, Part, PartKind, Partition, Reference, Table,
};
use crate::desired::formats::place::{At, Text};
use crate::desired::formats::{check, constraint, deferral, foreign_action};
use crate::error::Result;

const OTHER_SERVER: &str = "PostgreSQL has no such option of a table";

pub(super) fn read(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.name()?;
    without_effect(node, "table")?;
    refuse(
        node,
        &[
            ("auto_increment", OTHER_SERVER),
            ("charset", OTHER_SERVER),
            ("collate", OTHER_SERVER),
        ],
    )?;
    let mut table = Table {
        columns: vec![],
        constraints: vec![],
        indexes: vec![],
        partition: None,
        row_security: None,
        custom: node.sql("custom")?,
        comment: node.text("comment")?,
        at: node.at.clone(),
        name,
    };
    if let Some((checks, at)) = node.list("checks")? {
        for check in checks {
            let check = match &check {
                Value::Text(text) | Value::Sql(text) => Text::new(&**text, &at),
                other => return Err(at.malformed(format!("{} stands where SQL is wanted", other.shown()))),
            };
            table.constraints.push(unnamed(ConstraintKind::Check(check), &at));
        }
    }
    let mut unnamed_checks = 0_usize;
    for mut inner in node.blocks()? {
        match inner.kind.as_str() {
            "column" => {
                let column = column::read(&mut inner)?;
                table.columns.push(column);
            }
            "primary_key" => {
                let key = primary_key(&mut inner)?;
                let is_key = |one: &Constraint| matches!(one.kind, ConstraintKind::Primary { .. });
                if let Some(first) = table.constraints.iter().find(|one| is_key(one)) {
                    return Err(declared_twice(&inner.at, &first.at));
                }
                table.constraints.push(unnamed(key, &inner.at));
            }
            "index" => table.indexes.push(index(&mut inner)?),
            "unique" => {
                let made = unique(&mut inner)?;
                table.constraints.push(made);
            }
            "foreign_key" => {
                let made = foreign_key(&mut inner)?;
                table.constraints.push(made);
            }
            "check" => {
                let made = own_check(&mut inner, &table.name, &mut unnamed_checks)?;
                table.constraints.push(made);
            }
            "constraint" => {
                let made = own_constraint(&mut inner)?;
                table.constraints.push(made);
            }
            "partition" if table.partition.is_none() => table.partition = Some(partition(&mut inner)?),
            "partition" => return Err(inner.at.malformed("a table has one such block at most")),
            "row_security" => {
                inner.no_label()?;
                inner.no_blocks()?;
                without_effect(&mut inner, "row_security")?;
                if !inner.flag("enabled", false)? {
                    return Err(inner.at.malformed("enabled is not true"));
                }
                table.row_security = Some(inner.at.clone());
            }
            "platform" => {
                if column::platform(&mut inner)?.is_some() {
                    return Err(inner.at.refused("a table has no type to override"));
                }
            }
            _ => return Err(inner.unknown()),
        }
        inner.finish()?;
    }
    check::table(&table)?;
    objects.tables.push(table);
    Ok(())
}

fn unnamed(kind: ConstraintKind, at: &At) -> Constraint {
    Constraint {
        name: None,
        kind,
        comment: None,
        at: at.clone(),
    }
}

fn primary_key(node: &mut Node<'_>) -> Result<ConstraintKind> {
    node.no_label()?;
    node.keyword("type", &["BTREE"])?;
    let include = node.columns("include")?.unwrap_or_default();
    let listed = node.columns("columns")?;
    let mut columns = Vec::new();
    for mut on in node.blocks()? {
        if on.kind != "on" || listed.is_some() {
            return Err(on.unknown());
        }
        on.no_blocks()?;
        refuse(
            &mut on,
            &[
                ("prefix", "PostgreSQL has no keys over a part of a column"),
                ("desc", "PostgreSQL has no descending primary keys"),
            ],
        )?;
        let Some(column) = on.column("column")? else {
            return Err(on.at.malformed("column is missing"));
        };
        columns.push(column);
        on.finish()?;
    }
    let columns = listed.unwrap_or(columns);
    if columns.is_empty() {
        return Err(node.at.malformed("it has no column"));
    }
    Ok(ConstraintKind::Primary { columns, include })
}

fn index(node: &mut Node<'_>) -> Result<Index> {
    let name = node.label()?;
    refuse(
        node,
        &[
            ("parser", "PostgreSQL has no full-text indexes of this kind"),
            ("granularity", "PostgreSQL has no such option of an index"),
        ],
    )?;
    let shared = node.word("ops")?;
    let mut parts: Vec<Part> = Vec::new();
    let listed = node.columns("columns")?;
    for mut on in node.blocks()? {
        if on.kind != "on" || listed.is_some() {
            return Err(on.unknown());
        }
        parts.push(index_part(&mut on, shared.as_ref())?);
        on.finish()?;
    }
    for column in listed.unwrap_or_default() {
        parts.push(Part {
            what: PartKind::Column(column),
            operator_class: shared.clone(),
            descending: false,
            nulls_first: None,
        });
    }
    if parts.is_empty() {
        return Err(node.at.malformed("it has no column"));
    }
    let unique = node.flag("unique", false)?;
    let nulls_distinct = node.bool("nulls_distinct")?;
    if let Some((_, at)) = nulls_distinct.as_ref().filter(|_| !unique) {
        return Err(at.malformed("the index is not unique"));
    }
    let pages = [node.integer("page_per_range")?, node.integer("pages_per_range")?];
    Ok(Index {
        name: Some(name),
        unique,
        method: node.word("type")?,
        parts,
        include: node.columns("include")?.unwrap_or_default(),
        nulls_distinct: nulls_distinct.map(|(distinct, _)| distinct),
        pages_per_range: match pages {
            [Some(_), Some(_)] => return Err(node.at.malformed("page_per_range is said twice")),
            [one, other] => one.or(other),
        },
        condition: node.sql("where")?,
        comment: node.text("comment")?,
        at: node.at.clone(),
    })
}

fn index_part(on: &mut Node<'_>, shared: Option<&Text>) -> Result<Part> {
    on.no_label()?;
    on.no_blocks()?;
    refuse(
        on,
        &[("prefix", "PostgreSQL has no indexes over a part of a column")],
    )?;
    let what = match (on.column("column")?, on.sql("expr")?) {
        (Some(column), None) => PartKind::Column(column),
        (None, Some(expression)) => PartKind::Expression(expression),
        _ => return Err(on.at.malformed("it has either column or expr")),
    };
    let nulls = (on.flag("nulls_first", false)?, on.flag("nulls_last", false)?);
    Ok(Part {
        what,
        operator_class: on.word("ops")?.or_else(|| shared.cloned()),
        descending: on.flag("desc", false)?,
        nulls_first: match nulls {
            (true, true) => return Err(on.at.malformed("nulls come first or last, not both")),
            (true, false) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        },
    })
}

fn unique(node: &mut Node<'_>) -> Result<Constraint> {
    let name = node.label()?;
    node.no_blocks()?;
    let columns = node.columns("columns")?.unwrap_or_default();
    if columns.is_empty() {
        return Err(node.at.malformed("it has no column"));
    }
    Ok(Constraint {
        name: Some(name),
        kind: ConstraintKind::Unique {
            columns,
            include: node.columns("include")?.unwrap_or_default(),
            nulls_not_distinct: !node.flag("nulls_distinct", true)?,
        },
        comment: None,
        at: node.at.clone(),
    })
}

fn foreign_key(node: &mut Node<'_>) -> Result<Constraint> {
    let name = node.label()?;
    node.no_blocks()?;
    let columns = node.columns("columns")?.unwrap_or_default();
    let Some((value, at)) = node.value("ref_columns")? else {
        return Err(node.at.malformed("ref_columns is missing"));
    };
    let items = match &value {
        Value::List(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    let mut table: Option<Name> = None;
    let mut foreign = Vec::new();
    for item in &items {
        let Some((found, column)) = table_column(item) else {
            let shown = item.shown();
            return Err(at.malformed(format!("{shown} is not table.NAME.column.NAME")));
        };
        if table.get_or_insert_with(|| found.clone()) != &found {
            return Err(at.malformed("the columns are those of more than one table"));
        }
        foreign.push(column);
    }
    let Some(table) = table.filter(|_| columns.len() == foreign.len()) else {
        return Err(node.at.malformed("there are not as many columns as ref_columns"));
    };
    let deferrable = node.flag("deferrable", false)?;
    let initially = node.keyword("initially", &["DEFERRED", "IMMEDIATE"])?;
    let mut action = |attribute| foreign_action(node.word(attribute)?);
    Ok(Constraint {
        name: Some(name),
        kind: ConstraintKind::Foreign {
            columns,
            on_delete: action("on_delete")?,
            on_update: action("on_update")?,
            table: Reference { name: table, at },
            foreign,
            deferral: deferral(deferrable, initially.map(|(initially, _)| initially)),
        },
        comment: None,
        at: node.at.clone(),
    })
}

/// `table.t.column.c` or `table.s.t.column.c`.
fn table_column(value: &Value) -> Option<(Name, String)> {
    let Value::Reference(parts) = value else {
        return None;
    };
    match &parts[..] {
        [kind, name, word, column] if kind == "table" && word == "column" => {
            Some((Name::new(None, &**name), column.clone()))
        }
        [kind, schema, name, word, column] if kind == "table" && word == "column" => {
            Some((Name::new(Some(schema.clone()), &**name), column.clone()))
        }
        _ => None,
    }
}

/// The name that the reference gives where the block has none.
fn own_check(node: &mut Node<'_>, table: &Name, unnamed: &mut usize) -> Result<Constraint> {
    node.no_blocks()?;
    let name = match &node.labels[..] {
        [name] => name.clone(),
        [] => {
            *unnamed += 1;
            match *unnamed {
                1 => format!("{}_check", table.name),
                more => format!("{}_check_{more}", table.name),
            }
        }
        _ => return Err(node.at.malformed("it takes one label at most")),
    };
    let Some(expression) = node.sql("expr")? else {
        return Err(node.at.malformed("expr is missing"));
    };
    Ok(Constraint {
        name: Some(name),
        kind: ConstraintKind::Check(expression),
        comment: None,
        at: node.at.clone(),
    })
}

/// The `constraint` block, which is written like the constraints of YAML.
fn own_constraint(node: &mut Node<'_>) -> Result<Constraint> {
    let name = node.label()?;
    node.no_blocks()?;
    let kind = constraint::Written {
        kind: node.word("type")?,
        columns: node
            .texts("columns")?
            .map(|(columns, _)| columns)
            .unwrap_or_default(),
        include: node
            .texts("include")?
            .map(|(columns, _)| columns)
            .unwrap_or_default(),
        nulls_distinct: node.bool("nulls_distinct")?,
        method: node.word("using")?,
        elements: node.sql("elements")?,
        condition: node.sql("condition")?,
        check: node.sql("check")?,
        foreign_table: node.text("foreign_table")?,
        foreign: node
            .texts("foreign_columns")?
            .map(|(columns, _)| columns)
            .unwrap_or_default(),
        on_delete: node.word("on_delete")?,
        on_update: node.word("on_update")?,
    }
    .read(&node.at)?;
    Ok(Constraint {
        name: Some(name),
        kind,
        comment: node.text("comment")?,
        at: node.at.clone(),
    })
}

fn partition(node: &mut Node<'_>) -> Result<Partition> {
    node.no_label()?;
    let Some((method, _)) = node.keyword("type", &["RANGE", "LIST", "HASH"])? else {
        return Err(node.at.malformed("type is missing"));
    };
    let listed = node.columns("columns")?;
    let mut parts = Vec::new();
    for mut by in node.blocks()? {
        if by.kind != "by" || listed.is_some() {
            return Err(by.unknown());
        }
        by.no_blocks()?;
        parts.push(match (by.column("column")?, by.sql("expr")?) {
            (Some(column), None) => PartKind::Column(column),
            (None, Some(expression)) => PartKind::Expression(expression),
            _ => return Err(by.at.malformed("it has either column or expr")),
        });
        by.finish()?;
    }
    parts.extend(listed.into_iter().flatten().map(PartKind::Column));
    if parts.is_empty() {
        return Err(node.at.malformed("it has no column"));
    }
    Ok(Partition { method, parts })
}
