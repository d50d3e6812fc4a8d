//! Columns in HCL.

use super::block::Node;
use super::types::default;
use super::{refuse, without_effect};
use crate::desired::formats::objects::{Column, Identity, Type};
use crate::desired::formats::place::Text;
use crate::desired::formats::render::is_serial;
use crate::error::Result;

pub(super) fn read(node: &mut Node<'_>) -> Result<Column> {
    let name = node.label()?;
    let mut data_type = node.data_type("type")?;
    let (mut generated, mut identity) = (None, None);
    for mut inner in node.blocks()? {
        match inner.kind.as_str() {
            "as" if generated.is_none() => {
                inner.no_label()?;
                inner.no_blocks()?;
                let Some(expression) = inner.sql("expr")? else {
                    return Err(inner.at.malformed("expr is missing"));
                };
                let kind = inner.keyword("type", &["STORED", "VIRTUAL"])?;
                generated = Some((expression, kind.is_none_or(|(kind, _)| kind == "STORED")));
            }
            "identity" if identity.is_none() => {
                inner.no_label()?;
                inner.no_blocks()?;
                let when = inner.keyword("generated", &["ALWAYS", "BY DEFAULT"])?;
                identity = Some(Identity {
                    always: when.is_some_and(|(when, _)| when == "ALWAYS"),
                    start: inner.integer("start")?,
                    increment: inner.integer("increment")?,
                    options: inner.sql("options")?,
                });
            }
            "as" | "identity" => return Err(inner.at.malformed("a column has one such block at most")),
            "platform" => {
                if let Some(changed) = platform(&mut inner)? {
                    data_type = Type::Written(changed);
                }
            }
            _ => return Err(inner.unknown()),
        }
        inner.finish()?;
    }
    if let Some(expression) = node.sql("as")? {
        if generated.is_some() {
            return Err(expression.at.malformed("there is a block of that name too"));
        }
        generated = Some((expression, true));
    }
    if generated.is_some() && identity.is_some() {
        return Err(node.at.malformed("a column cannot have both as and identity"));
    }
    // With an identity or a serial type it says the same once more.
    if let Some((true, at)) = node.bool("auto_increment")?
        && identity.is_none()
        && !is_serial(&data_type)
    {
        return Err(at.refused("PostgreSQL has no such column: write an identity block, or a serial type"));
    }
    without_effect(node, "column")?;
    refuse(
        node,
        &[
            ("on_update", "PostgreSQL has no such clause: write a trigger"),
            ("unsigned", "PostgreSQL has no unsigned types: write a check"),
            (
                "enum",
                "a column's own list of values makes no type here: declare an enum block and name it as the type",
            ),
        ],
    )?;
    let check_name = node.text("check_name")?;
    let check = node.sql("check")?;
    if let (Some(name), None) = (&check_name, &check) {
        return Err(name.at.malformed("there is no check for it"));
    }
    Ok(Column {
        name,
        data_type,
        not_null: !node.flag("null", false)?,
        primary: false,
        unique: node.flag("unique", false)?,
        unique_expr: node.sql("unique_expr")?,
        default: default(node)?,
        check: check.map(|check| (check_name.map(|name| name.text), check)),
        collation: node.text("collate")?,
        generated,
        identity,
        comment: node.text("comment")?,
        at: node.at.clone(),
    })
}

/// The type that a `platform` block gives on PostgreSQL. Blocks of other servers are checked and left.
pub(super) fn platform(node: &mut Node<'_>) -> Result<Option<Text>> {
    let server = node.label()?;
    let ours = matches!(server.as_str(), "postgres" | "postgresql");
    let mut changed = None;
    for mut inner in node.blocks()? {
        if inner.kind != "override" {
            return Err(inner.unknown());
        }
        let attribute = inner.label()?;
        inner.no_blocks()?;
        let Some(value) = inner.sql("value")? else {
            return Err(inner.at.malformed("value is missing"));
        };
        inner.finish()?;
        match (ours, attribute.as_str()) {
            (false, _) => {}
            (true, "type") if changed.is_none() => changed = Some(value),
            (true, "type") => return Err(inner.at.malformed("the type is overridden already")),
            (true, _) => {
                return Err(inner.at.refused(
                    "only a column's type is overridden here: write the attribute itself as PostgreSQL needs it",
                ));
            }
        }
    }
    Ok(changed)
}
