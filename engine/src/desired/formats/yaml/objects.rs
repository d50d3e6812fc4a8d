//! What stands beside tables in YAML.

use super::fields::{Fields, dotted, list};
use super::node::Kind;
use crate::desired::formats::objects::{
    Enum, Extension, Function, Grant, Objects, On, Parameters, Policy, Trigger, View,
};
use crate::desired::formats::{COMMANDS, EXTENSION, REFRESH, VOLATILITY, keyword, privilege, role};
use crate::error::Result;

/// A list of values, or a map with `values`.
pub(super) fn enums(document: &mut Fields, objects: &mut Objects) -> Result<()> {
    for (name, line, node) in document.entries("enums")? {
        let at = document.at.block(line, &format!("enum {name:?}"));
        let values = match &node.kind {
            Kind::Map(_) => {
                let mut fields = Fields::inner(&at, &node)?;
                let values = fields.list("values")?;
                fields.finish()?;
                values
            }
            _ => list(&node, &at)?,
        };
        if values.is_empty() {
            return Err(at.malformed("it has no values"));
        }
        objects.enums.push(Enum {
            name: dotted(&name, &at)?,
            values: values.into_iter().map(|value| value.text).collect(),
            at,
        });
    }
    Ok(())
}

pub(super) fn read_all(document: &mut Fields, objects: &mut Objects) -> Result<()> {
    for mut fields in document.maps("extensions", "extension")? {
        fields.bool("if_not_exists")?;
        fields.refuse(EXTENSION)?;
        objects.extensions.push(Extension {
            name: fields.plain_name()?,
            schema: fields.text("schema")?.map(|schema| schema.text),
            at: fields.at.clone(),
        });
        fields.finish()?;
    }
    for mut fields in document.maps("functions", "function")? {
        objects.functions.push(function(&mut fields)?);
        fields.finish()?;
    }
    for (key, materialized) in [("views", false), ("matviews", true)] {
        for mut fields in document.maps(key, if materialized { "matview" } else { "view" })? {
            objects.views.push(view(&mut fields, materialized)?);
            fields.finish()?;
        }
    }
    for mut fields in document.maps("triggers", "trigger")? {
        objects.triggers.push(trigger(&mut fields)?);
        fields.finish()?;
    }
    for mut fields in document.maps("rls_policies", "policy")? {
        objects.policies.push(policy(&mut fields)?);
        fields.finish()?;
    }
    if let Some(fields) = document.maps("roles", "role")?.first() {
        return Err(fields.at.refused(
            "roles are not created here: make it with the server's own means and leave it out, its name works without",
        ));
    }
    for mut fields in document.maps("grants", "grant")? {
        objects.grants.push(grant(&mut fields)?);
        fields.finish()?;
    }
    Ok(())
}

fn function(fields: &mut Fields) -> Result<Function> {
    fields.leave(&["struct_name"])?;
    let parameters = match (fields.text("parameters")?, fields.text("params")?) {
        (Some(_), Some(second)) => return Err(second.at.malformed("there is parameters too")),
        (one, other) => one.or(other),
    };
    let security = fields.keyword("security", &["DEFINER", "INVOKER"])?;
    Ok(Function {
        name: fields.name()?,
        parameters: parameters.map_or(Parameters::None, Parameters::Written),
        returns: fields.text("returns")?,
        language: fields.text("language")?,
        definer: security == Some("DEFINER"),
        volatility: fields.keyword("volatility", VOLATILITY)?.unwrap_or("VOLATILE"),
        body: fields.required("body")?,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
    })
}

fn view(fields: &mut Fields, materialized: bool) -> Result<View> {
    fields.leave(&["struct_name"])?;
    let mut checked = false;
    if materialized {
        fields.refuse(&[("refresh_strategy", REFRESH)])?;
    } else {
        checked = fields.flag("with_check", false)?;
    }
    Ok(View {
        name: fields.name()?,
        materialized,
        query: fields.required("body")?,
        check_option: checked.then_some("CASCADED"),
        comment: fields.text("comment")?,
        at: fields.at.clone(),
    })
}

fn trigger(fields: &mut Fields) -> Result<Trigger> {
    fields.leave(&["struct_name"])?;
    let timing = fields.keyword("timing", &["BEFORE", "AFTER", "INSTEAD OF"])?;
    let Some(timing) = timing else {
        return Err(fields.at.malformed("timing is missing"));
    };
    let event = fields.required("event")?;
    let among = ["INSERT", "UPDATE", "DELETE", "TRUNCATE"];
    let mut events = Vec::new();
    let words: Vec<&str> = event.text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        match (at % 2, keyword(word, &among)) {
            (0, Some(found)) => events.push(found),
            (1, None) if word.eq_ignore_ascii_case("or") && at + 1 < words.len() => {}
            _ => {
                let why = format!(
                    "{:?} is not made of {} with OR between",
                    event.text,
                    among.join(", ")
                );
                return Err(event.at.malformed(why));
            }
        }
    }
    let each = fields.keyword("for", &["ROW", "STATEMENT"])?;
    Ok(Trigger {
        name: fields.plain_name()?,
        table: fields.relation("table")?,
        timing,
        events,
        per_row: each != Some("STATEMENT"),
        body: fields.required("body")?,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
    })
}

fn policy(fields: &mut Fields) -> Result<Policy> {
    fields.leave(&["struct_name"])?;
    Ok(Policy {
        name: fields.plain_name()?,
        table: fields.relation("table")?,
        command: fields.keyword("for", COMMANDS)?,
        roles: fields.names("to")?.iter().map(|name| role(name)).collect(),
        using: fields.text("using")?,
        check: fields.text("with_check")?,
        comment: fields.text("comment")?,
        at: fields.at.clone(),
    })
}

fn grant(fields: &mut Fields) -> Result<Grant> {
    fields.leave(&["struct_name", "comment"])?;
    let mut words = fields.list("privilege")?;
    words.extend(fields.list("privileges")?);
    if words.is_empty() {
        return Err(fields.at.malformed("privileges is missing"));
    }
    let mut privileges = Vec::new();
    for word in words {
        privileges.push(privilege(&word.text, &word.at)?);
    }
    let on = match fields.text("on_schema")? {
        Some(schema) => {
            if let Some(table) = fields.text("on_table")? {
                return Err(table.at.malformed("there is on_schema too"));
            }
            On::Schema(schema.text)
        }
        None => On::Relation(fields.relation("on_table")?),
    };
    Ok(Grant {
        role: role(&fields.required("role")?.text),
        privileges,
        on,
        grantable: fields.flag("with_option", false)?,
        at: fields.at.clone(),
    })
}
