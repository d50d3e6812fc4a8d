//! Two models into the statements that lead from one to the other. Pure: no connection, no clock.

use std::collections::{BTreeMap, BTreeSet};

use ptah_contract::plan_document::Statement;

use super::anticipate::anticipate;
use super::change::{Changes, Sides};
use super::order::{Act, order};
use super::render::Renderer;
use crate::catalog::{Id, Model, Object};
use crate::error::Result;
use crate::name::Name;

/// The statements, in order. `atomic` says that all of them run in one transaction.
///
/// # Errors
/// `unsupported_change`, `outside_dependency`, `missing_privilege`.
pub(crate) fn statements(observed: &Model, to: &Model, major: u32, atomic: bool) -> Result<Vec<Statement>> {
    let from = &anticipate(observed, to);
    let changes = Changes::between(&Sides {
        observed,
        from,
        to,
        major,
        atomic,
    })?;
    let ordered = order(&changes, from, to)?;
    let renderer = Renderer {
        changes: &changes,
        from,
        to,
        atomic,
        checks: observed
            .objects
            .keys()
            .filter(|id| matches!(id, Id::Constraint(..)))
            .cloned()
            .collect(),
    };
    let dependents = from.dependents();
    let mut statements = Vec::new();
    for node in &ordered.nodes {
        let covers = &ordered.covers[node];
        let mut objects = touched(&node.1, covers, from, to);
        for id in covers {
            objects.extend(reached(node.0, id, from, to, &dependents));
        }
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
                .map(Name::sql),
        );
    }
    names
}

/// Tables that a statement about something else locks, binds or lets down.
fn reached(
    act: Act,
    id: &Id,
    from: &Model,
    to: &Model,
    dependents: &BTreeMap<&Id, BTreeSet<&Id>>,
) -> Vec<String> {
    let mut tables: BTreeSet<&Name> = BTreeSet::new();
    for model in [from, to] {
        // A foreign key puts triggers on the table that it refers to.
        if let Some(Object::Constraint(constraint)) = model.objects.get(id) {
            tables.extend(&constraint.references);
        }
        // A partition comes and goes under its table's lock.
        if let Some(Object::Partition { parent, .. }) = model.objects.get(id) {
            tables.insert(parent);
        }
        if let Id::Inherits(_, parent) = id {
            tables.insert(parent);
        }
    }
    if act != Act::Create {
        // What a column, a default, a constraint or a trigger of a table stands on.
        if id.is_type() || matches!(id, Id::Sequence(_) | Id::Function(..) | Id::Collation(_)) {
            let parts = dependents.get(id).into_iter().flatten();
            tables.extend(parts.filter_map(|part| part.table(from)));
        }
        // What was read through a view is no longer read.
        if let (Act::Drop, Id::View(_) | Id::MaterializedView(_)) = (act, id) {
            let read = from.needs.get(id).into_iter().flatten();
            tables.extend(read.filter_map(|part| part.table(from)));
        }
    }
    tables.into_iter().map(Name::sql).collect()
}
