//! Two models into the statements that lead from one to the other. Pure: no connection, no clock.

use std::collections::BTreeSet;

use ptah_contract::plan_document::Statement;

use super::change::Changes;
use super::order::order;
use super::render::Renderer;
use crate::catalog::{Id, Model};
use crate::error::Result;

/// The statements, in order. `atomic` says that all of them run in one transaction.
///
/// # Errors
/// `unsupported_change`, `outside_dependency`, `missing_privilege`.
pub(crate) fn statements(from: &Model, to: &Model, major: u32, atomic: bool) -> Result<Vec<Statement>> {
    let changes = Changes::between(from, to, major, atomic)?;
    let ordered = order(&changes, from, to)?;
    let renderer = Renderer {
        changes: &changes,
        from,
        to,
        atomic,
    };
    let mut statements = Vec::new();
    for node in &ordered.nodes {
        let covers = &ordered.covers[node];
        let objects = touched(&node.1, covers, from, to);
        for draft in renderer.node(node, covers)? {
            statements.push(draft.touching(objects.iter().cloned()).finish());
        }
    }
    Ok(statements)
}

/// Qualified names of the objects and of the tables that they belong to. What is made or dropped together with
/// the object that it is part of is not named beside it.
fn touched(node: &Id, covers: &BTreeSet<Id>, from: &Model, to: &Model) -> Vec<String> {
    let mut names = Vec::new();
    for id in covers {
        let part = id.parent().is_some() && covers.contains(node) && id != node;
        if !part {
            names.push(id.path());
        }
        names.extend(
            [from, to]
                .into_iter()
                .filter_map(|model| id.table(model))
                .map(crate::name::Name::sql),
        );
    }
    names
}
