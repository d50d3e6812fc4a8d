//! Enums, domains, composite types, ranges and sequences.

use super::{Rendered, comment};
use crate::desired::formats::names::Names;
use crate::desired::formats::objects::{Default, Objects, Type};
use crate::desired::formats::pieces;
use crate::error::Result;
use crate::name::{literal, quote};

pub(super) fn render(objects: &Objects, names: &Names, out: &mut Vec<Rendered>) -> Result<()> {
    for made in &objects.enums {
        let values: Vec<String> = made.values.iter().map(|value| literal(value)).collect();
        let sql = format!(" {} AS ENUM ({})", made.name.sql(), values.join(", "));
        out.push(Rendered::new("CREATE TYPE", &made.at).push(&sql));
    }
    for domain in &objects.domains {
        let name = domain.name.sql();
        let base = names.data_type(&domain.base, Some(&domain.name))?;
        let mut made = Rendered::new("CREATE DOMAIN", &domain.at).push(&format!(" {name} AS {base}"));
        if let Some(value) = &domain.default {
            made = default(made, value)?;
        }
        if domain.not_null {
            made = made.push(" NOT NULL");
        }
        if let Some(check) = &domain.check {
            made = made
                .line(&check.at, "CHECK ")
                .piece(check, &pieces::enclosed(check)?);
        }
        out.push(made);
        comment(out, &format!("DOMAIN {name}"), domain.comment.as_ref());
    }
    for composite in &objects.composites {
        let name = composite.name.sql();
        let mut made = Rendered::new("CREATE TYPE", &composite.at).push(&format!(" {name} AS ("));
        for (index, (field, data_type, at)) in composite.fields.iter().enumerate() {
            let data_type = names.data_type(data_type, Some(&composite.name))?;
            let comma = if index == 0 { "" } else { ", " };
            made = made.line(at, &format!("{comma}{} {data_type}", quote(field)));
        }
        out.push(made.push(")"));
        comment(out, &format!("TYPE {name}"), composite.comment.as_ref());
    }
    for range in &objects.ranges {
        let name = range.name.sql();
        let subtype = names.data_type(&range.subtype, Some(&range.name))?;
        let made = Rendered::new("CREATE TYPE", &range.at);
        let mut made = made.push(&format!(" {name} AS RANGE (SUBTYPE = {subtype}"));
        for (option, value) in &range.options {
            let value = pieces::qualified(value)?;
            made = made.push(&format!(", {option} = {value}"));
        }
        out.push(made.push(")"));
        comment(out, &format!("TYPE {name}"), range.comment.as_ref());
    }
    for sequence in &objects.sequences {
        let name = sequence.name.sql();
        let mut made = Rendered::new("CREATE SEQUENCE", &sequence.at).push(&format!(" {name}"));
        for clause in &sequence.clauses {
            made = made.push(&format!(" {clause}"));
        }
        out.push(made);
        comment(out, &format!("SEQUENCE {name}"), sequence.comment.as_ref());
    }
    Ok(())
}

/// Appends `DEFAULT …`.
pub(super) fn default(made: Rendered, default: &Default) -> Result<Rendered> {
    Ok(match default {
        Default::Value(value) => made.push(&format!(" DEFAULT {}", literal(value))),
        Default::Expression(piece) => made.push(" DEFAULT ").piece(piece, &pieces::enclosed(piece)?),
    })
}

/// Whether a type makes a sequence of its own for the column.
pub(in crate::desired::formats) fn is_serial(data_type: &Type) -> bool {
    let Type::Written(text) = data_type else {
        return false;
    };
    let names = [
        "serial",
        "serial2",
        "serial4",
        "serial8",
        "smallserial",
        "bigserial",
    ];
    names
        .iter()
        .any(|name| text.text.trim().eq_ignore_ascii_case(name))
}
