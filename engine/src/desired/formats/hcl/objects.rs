//! Blocks of extensions, functions, views, triggers, policies, privileges and rows.

use super::block::Node;
use super::read::{reference, relation};
use super::value::Value;
use super::without_effect;
use crate::desired::formats::objects::{
    Data, Extension, Function, Grant, Name, Objects, On, Parameters, Policy, Reference, Trigger, View,
};
use crate::desired::formats::{COMMANDS, EXTENSION, REFRESH, VOLATILITY, privilege, role};
use crate::error::Result;

pub(super) fn extension(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.name()?;
    node.bool("if_not_exists")?;
    super::refuse(node, EXTENSION)?;
    objects.extensions.push(Extension {
        name: name.name,
        schema: name.schema,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn function(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.name()?;
    let written = node.text("params")?;
    let mut arguments = Vec::new();
    for mut inner in node.blocks()? {
        if inner.kind != "arg" {
            return Err(inner.unknown());
        }
        if written.is_some() {
            return Err(inner.at.malformed("there is params too"));
        }
        inner.no_blocks()?;
        arguments.push((inner.label()?, inner.data_type("type")?, inner.at.clone()));
        inner.finish()?;
    }
    let Some(body) = node.text("as")? else {
        return Err(node.at.malformed("as is missing"));
    };
    let security = node.keyword("security", &["DEFINER", "INVOKER"])?;
    let volatility = node.keyword("volatility", VOLATILITY)?;
    objects.functions.push(Function {
        name,
        parameters: match (written, arguments.is_empty()) {
            (Some(written), _) => Parameters::Written(written),
            (None, true) => Parameters::None,
            (None, false) => Parameters::Named(arguments),
        },
        returns: node.word("return")?,
        language: node.word("lang")?,
        definer: security.is_some_and(|(security, _)| security == "DEFINER"),
        volatility: volatility.map_or("VOLATILE", |(volatility, _)| volatility),
        body,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn view(node: &mut Node<'_>, objects: &mut Objects, materialized: bool) -> Result<()> {
    let name = node.name()?;
    let Some(query) = node.text("as")? else {
        return Err(node.at.malformed("as is missing"));
    };
    let mut check_option = None;
    if materialized {
        super::refuse(node, &[("refresh_strategy", REFRESH)])?;
    } else {
        check_option = node.keyword("check_option", &["LOCAL", "CASCADED"])?;
    }
    objects.views.push(View {
        name,
        materialized,
        query,
        check_option: check_option.map(|(option, _)| option),
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn trigger(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.label()?;
    let table = node.relation("on")?;
    let mut when = None;
    for mut inner in node.blocks()? {
        let timing = match inner.kind.as_str() {
            "before" => "BEFORE",
            "after" => "AFTER",
            "instead_of" => "INSTEAD OF",
            _ => return Err(inner.unknown()),
        };
        if when.is_some() {
            return Err(inner
                .at
                .malformed("a trigger has one of before, after and instead_of"));
        }
        inner.no_label()?;
        inner.no_blocks()?;
        let mut events = Vec::new();
        for (attribute, event) in [
            ("insert", "INSERT"),
            ("update", "UPDATE"),
            ("delete", "DELETE"),
            ("truncate", "TRUNCATE"),
        ] {
            if inner.flag(attribute, false)? {
                events.push(event);
            }
        }
        if events.is_empty() {
            return Err(inner.at.malformed("no event in it is true"));
        }
        inner.finish()?;
        when = Some((timing, events));
    }
    let Some((timing, events)) = when else {
        return Err(node
            .at
            .malformed("a trigger has one of before, after and instead_of"));
    };
    let each = node.keyword("for", &["ROW", "STATEMENT"])?;
    let alias = node.keyword("foreach", &["ROW", "STATEMENT"])?;
    if let (Some(_), Some((_, at))) = (&each, &alias) {
        return Err(at.malformed("for says it already"));
    }
    let Some(body) = node.text("as")? else {
        return Err(node.at.malformed("as is missing"));
    };
    objects.triggers.push(Trigger {
        name,
        table,
        timing,
        events,
        per_row: each.or(alias).is_none_or(|(each, _)| each == "ROW"),
        body,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn policy(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    let name = node.label()?;
    let table = node.relation("on")?;
    let mut roles = Vec::new();
    if let Some((value, at)) = node.value("to")? {
        let items = match &value {
            Value::List(items) => items.to_vec(),
            one => vec![one.clone()],
        };
        for item in items {
            let name =
                role_name(&item).ok_or_else(|| at.malformed(format!("{} is not role.NAME", item.shown())))?;
            roles.push(role(&name));
        }
    }
    objects.policies.push(Policy {
        name,
        table,
        command: node.keyword("for", COMMANDS)?.map(|(command, _)| command),
        roles,
        using: node.sql("using")?,
        check: node.sql("check")?,
        comment: node.text("comment")?,
        at: node.at.clone(),
    });
    Ok(())
}

/// `role.x`, or its name bare or as a string.
fn role_name(value: &Value) -> Option<String> {
    match value {
        Value::Word(name) | Value::Text(name) if !name.is_empty() => Some(name.to_string()),
        Value::Reference(_) => reference(value, "role")
            .filter(|name| name.schema.is_none())
            .map(|name| name.name),
        _ => None,
    }
}

pub(super) fn permission(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    node.no_label()?;
    let Some((to, at)) = node.value("to")? else {
        return Err(node.at.malformed("to is missing"));
    };
    let name = role_name(&to).ok_or_else(|| at.malformed(format!("{} is not role.NAME", to.shown())))?;
    let Some((items, at)) = node.list("privileges")?.filter(|(items, _)| !items.is_empty()) else {
        return Err(node.at.malformed("privileges is missing or empty"));
    };
    let mut privileges = Vec::new();
    for item in &items {
        match item {
            Value::Word(word) | Value::Text(word) => privileges.push(privilege(word, &at)?),
            other => return Err(at.malformed(format!("{} is not a privilege", other.shown()))),
        }
    }
    let Some((target, at)) = node.value("for")? else {
        return Err(node.at.malformed("for is missing"));
    };
    let found = |name: Name| Reference { name, at: at.clone() };
    let on = if let Some(name) = reference(&target, "schema").filter(|name| name.schema.is_none()) {
        On::Schema(name.name)
    } else if let Some(name) = reference(&target, "sequence") {
        On::Sequence(found(name))
    } else if let Some(name) = relation(&target) {
        On::Relation(found(name))
    } else {
        return Err(at.malformed(format!(
            "{} is not table.NAME, view.NAME, schema.NAME or sequence.NAME",
            target.shown()
        )));
    };
    without_effect(node, "permission")?;
    objects.grants.push(Grant {
        role: role(&name),
        privileges,
        on,
        grantable: node.flag("grantable", false)?,
        at: node.at.clone(),
    });
    Ok(())
}

pub(super) fn data(node: &mut Node<'_>, objects: &mut Objects) -> Result<()> {
    node.no_label()?;
    let Some((table, at)) = node.value("table")? else {
        return Err(node.at.malformed("table is missing"));
    };
    let Some(name) = reference(&table, "table") else {
        return Err(at.malformed(format!("{} is not table.NAME", table.shown())));
    };
    let Some((keys, _)) = node.texts("keys")?.filter(|(keys, _)| !keys.is_empty()) else {
        return Err(node.at.malformed("keys is missing or empty"));
    };
    let Some(file) = node.text("file")?.filter(|file| !file.text.is_empty()) else {
        return Err(node.at.malformed("file is missing"));
    };
    objects.data.push(Data {
        table: Reference { name, at },
        keys,
        file,
        at: node.at.clone(),
    });
    Ok(())
}
