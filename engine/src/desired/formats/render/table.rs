//! Tables, their constraints and their indexes.

use super::types::default;
use super::{Rendered, columns, comment};
use crate::desired::formats::names::Names;
use crate::desired::formats::objects::{
    Column, Constraint, ConstraintKind, Identity, Index, Name, Part, PartKind, Table,
};
use crate::desired::formats::pieces;
use crate::error::Result;
use crate::name::quote;

pub(super) fn render(table: &Table, names: &Names, out: &mut Vec<Rendered>) -> Result<()> {
    let name = table.name.sql();
    let mut made = Rendered::new("CREATE TABLE", &table.at).push(&format!(" {name} ("));
    let mut comma = "";
    for column in &table.columns {
        made = made.line(&column.at, comma);
        made = column_clauses(made, column, &table.name, names)?;
        comma = ", ";
    }
    let primary: Vec<&str> = table
        .columns
        .iter()
        .filter(|column| column.primary)
        .map(|column| column.name.as_str())
        .collect();
    if !primary.is_empty() {
        let primary: Vec<String> = primary.into_iter().map(str::to_owned).collect();
        made = made.push(&format!("{comma}PRIMARY KEY {}", columns(&primary)));
        comma = ", ";
    }
    for constraint in &table.constraints {
        if !matches!(constraint.kind, ConstraintKind::Foreign { .. }) {
            made = made.line(&constraint.at, comma);
            made = constraint_clause(made, constraint, &table.name, names)?;
            comma = ", ";
        }
    }
    made = made.push("\n)");
    if let Some(partition) = &table.partition {
        let parts = partition.parts.iter().map(part).collect::<Result<Vec<_>>>()?;
        made = made.push(&format!(
            " PARTITION BY {} ({})",
            partition.method,
            parts.join(", ")
        ));
    }
    if let Some(custom) = &table.custom {
        made = made.line(&custom.at, "").piece(custom, &pieces::tail(custom)?);
    }
    out.push(made);
    comment(out, &format!("TABLE {name}"), table.comment.as_ref());
    for column in &table.columns {
        let object = format!("COLUMN {name}.{}", quote(&column.name));
        comment(out, &object, column.comment.as_ref());
        if let Some(expression) = &column.unique_expr {
            let made = Rendered::new("CREATE UNIQUE INDEX", &expression.at).push(&format!(" ON {name} ("));
            let made = made.piece(expression, &pieces::enclosed(expression)?);
            out.push(made.push(")"));
        }
    }
    for constraint in &table.constraints {
        if !matches!(constraint.kind, ConstraintKind::Foreign { .. }) {
            constraint_comment(&table.name, constraint, out);
        }
    }
    for index in &table.indexes {
        self::index(&table.name, index, out)?;
    }
    if let Some(at) = &table.row_security {
        let made = Rendered::new("ALTER TABLE", at);
        out.push(made.push(&format!(" {name} ENABLE ROW LEVEL SECURITY")));
    }
    Ok(())
}

/// The foreign keys of a table, which may name tables that come after it.
pub(super) fn foreign_keys(table: &Table, names: &Names, out: &mut Vec<Rendered>) -> Result<()> {
    for constraint in &table.constraints {
        if matches!(constraint.kind, ConstraintKind::Foreign { .. }) {
            add_constraint(&table.name, Some(table), constraint, names, out)?;
        }
    }
    Ok(())
}

/// A constraint on a table that is there already.
pub(super) fn add_constraint(
    owner: &Name,
    table: Option<&Table>,
    constraint: &Constraint,
    names: &Names,
    out: &mut Vec<Rendered>,
) -> Result<()> {
    if let (
        Some(table),
        ConstraintKind::Foreign {
            columns,
            on_delete,
            on_update,
            ..
        },
    ) = (table, &constraint.kind)
        && [on_delete, on_update].contains(&&Some("SET NULL"))
        && let Some(column) = table
            .columns
            .iter()
            .find(|column| columns.contains(&column.name) && (column.not_null || column.primary))
    {
        let why = format!("SET NULL cannot be done: {} is NOT NULL", quote(&column.name));
        return Err(constraint.at.malformed(why));
    }
    let made = Rendered::new("ALTER TABLE", &constraint.at).push(&format!(" {} ADD ", owner.sql()));
    out.push(constraint_clause(made, constraint, owner, names)?);
    constraint_comment(owner, constraint, out);
    Ok(())
}

fn constraint_comment(owner: &Name, constraint: &Constraint, out: &mut Vec<Rendered>) {
    if let Some(name) = &constraint.name {
        let object = format!("CONSTRAINT {} ON {}", quote(name), owner.sql());
        comment(out, &object, constraint.comment.as_ref());
    }
}

fn column_clauses(made: Rendered, column: &Column, table: &Name, names: &Names) -> Result<Rendered> {
    let data_type = names.data_type(&column.data_type, Some(table))?;
    let mut made = made.push(&format!("{} {data_type}", quote(&column.name)));
    if let Some(collation) = &column.collation {
        made = made.push(&format!(" COLLATE {}", quote(collation.text.trim())));
    }
    if let Some(identity) = &column.identity {
        made = identity_clause(made, identity)?;
    }
    if let Some((expression, stored)) = &column.generated {
        let kind = if *stored { "STORED" } else { "VIRTUAL" };
        made = made
            .push(" GENERATED ALWAYS AS ")
            .piece(expression, &pieces::enclosed(expression)?)
            .push(&format!(" {kind}"));
    }
    if let Some(value) = &column.default {
        made = default(made, value)?;
    }
    if column.not_null {
        made = made.push(" NOT NULL");
    }
    if column.unique {
        made = made.push(" UNIQUE");
    }
    if let Some((name, check)) = &column.check {
        if let Some(name) = name {
            made = made.push(&format!(" CONSTRAINT {}", quote(name)));
        }
        made = made.push(" CHECK ").piece(check, &pieces::enclosed(check)?);
    }
    Ok(made)
}

fn identity_clause(made: Rendered, identity: &Identity) -> Result<Rendered> {
    let when = if identity.always { "ALWAYS" } else { "BY DEFAULT" };
    let made = made.push(&format!(" GENERATED {when} AS IDENTITY"));
    let mut options = Vec::new();
    options.extend(identity.start.map(|start| format!("START WITH {start}")));
    options.extend(identity.increment.map(|step| format!("INCREMENT BY {step}")));
    if let Some(written) = &identity.options {
        // The parentheses are ours.
        let written = pieces::enclosed(written)?;
        options.push(written[1..written.len() - 1].to_owned());
    }
    if options.is_empty() {
        return Ok(made);
    }
    Ok(made.push(&format!(" ({})", options.join(" "))))
}

fn constraint_clause(
    made: Rendered,
    constraint: &Constraint,
    owner: &Name,
    names: &Names,
) -> Result<Rendered> {
    let made = match &constraint.name {
        Some(name) => made.push(&format!("CONSTRAINT {} ", quote(name))),
        None => made,
    };
    let including = |include: &[String]| {
        if include.is_empty() {
            String::new()
        } else {
            format!(" INCLUDE {}", columns(include))
        }
    };
    Ok(match &constraint.kind {
        ConstraintKind::Primary {
            columns: key,
            include,
        } => made.push(&format!("PRIMARY KEY {}{}", columns(key), including(include))),
        ConstraintKind::Unique {
            columns: key,
            include,
            nulls_not_distinct,
        } => {
            let nulls = if *nulls_not_distinct {
                "NULLS NOT DISTINCT "
            } else {
                ""
            };
            made.push(&format!("UNIQUE {nulls}{}{}", columns(key), including(include)))
        }
        ConstraintKind::Foreign {
            columns: own,
            table,
            foreign,
            on_delete,
            on_update,
            deferral,
        } => {
            let table = names.relation(table, Some(owner))?.sql();
            let (own, foreign) = (columns(own), columns(foreign));
            let mut made = made.push(&format!("FOREIGN KEY {own} REFERENCES {table} {foreign}"));
            for (event, action) in [("DELETE", on_delete), ("UPDATE", on_update)] {
                if let Some(action) = action {
                    made = made.push(&format!(" ON {event} {action}"));
                }
            }
            made.push(deferral)
        }
        ConstraintKind::Check(check) => made.push("CHECK ").piece(check, &pieces::enclosed(check)?),
        ConstraintKind::Exclude {
            method,
            elements,
            condition,
        } => {
            let mut made = made
                .push(&format!("EXCLUDE USING {} ", pieces::name(method)?))
                .piece(elements, &pieces::enclosed(elements)?);
            if let Some(condition) = condition {
                made = made
                    .push(" WHERE ")
                    .piece(condition, &pieces::enclosed(condition)?);
            }
            made
        }
    })
}

/// An index of a table.
pub(super) fn index(table: &Name, index: &Index, out: &mut Vec<Rendered>) -> Result<()> {
    let kind = if index.unique {
        "CREATE UNIQUE INDEX"
    } else {
        "CREATE INDEX"
    };
    let mut made = Rendered::new(kind, &index.at);
    if let Some(name) = &index.name {
        made = made.push(&format!(" {}", quote(name)));
    }
    made = made.push(&format!(" ON {}", table.sql()));
    if let Some(method) = &index.method {
        made = made.push(&format!(" USING {}", pieces::name(method)?));
    }
    let parts = index.parts.iter().map(index_part).collect::<Result<Vec<_>>>()?;
    made = made.push(&format!(" ({})", parts.join(", ")));
    if !index.include.is_empty() {
        made = made.push(&format!(" INCLUDE {}", columns(&index.include)));
    }
    made = match index.nulls_distinct {
        Some(false) => made.push(" NULLS NOT DISTINCT"),
        _ => made,
    };
    if let Some(pages) = index.pages_per_range {
        made = made.push(&format!(" WITH (pages_per_range = {pages})"));
    }
    if let Some(condition) = &index.condition {
        made = made
            .push(" WHERE ")
            .piece(condition, &pieces::enclosed(condition)?);
    }
    out.push(made);
    if let Some(name) = &index.name {
        let name = Name::new(table.schema.clone(), &**name);
        comment(out, &format!("INDEX {}", name.sql()), index.comment.as_ref());
    }
    Ok(())
}

fn index_part(wanted: &Part) -> Result<String> {
    let mut sql = part(&wanted.what)?;
    if let Some(class) = &wanted.operator_class {
        sql = format!("{sql} {}", pieces::operator_class(class)?);
    }
    if wanted.descending {
        sql.push_str(" DESC");
    }
    match wanted.nulls_first {
        Some(true) => sql.push_str(" NULLS FIRST"),
        Some(false) => sql.push_str(" NULLS LAST"),
        None => {}
    }
    Ok(sql)
}

fn part(what: &PartKind) -> Result<String> {
    match what {
        PartKind::Column(name) => Ok(quote(name)),
        PartKind::Expression(piece) => pieces::enclosed(piece),
    }
}
