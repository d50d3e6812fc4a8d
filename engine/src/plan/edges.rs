//! What has to happen before what.

use std::collections::{BTreeMap, BTreeSet};

use super::anticipate::own;
use super::change::Changes;
use super::order::{Act, Node};
use crate::catalog::{Id, Model, Object};
use crate::name::Name;

/// `before -> after`.
pub(super) fn edges(
    changes: &Changes,
    from: &Model,
    to: &Model,
    carrier: &BTreeMap<Node, Node>,
) -> BTreeSet<(Node, Node)> {
    let mut edges = BTreeSet::new();
    let mut edge = |before: Node, after: Node| {
        if let (Some(before), Some(after)) = (carrier.get(&before), carrier.get(&after))
            && before != after
            // What goes with a type that stepped aside goes after it stepped aside.
            && (before.0, after.0) != (Act::Clear, Act::Aside)
        {
            edges.insert((before.clone(), after.clone()));
        }
    };
    // What needs something is gone, or has let go of it, before that is dropped or changed.
    for (id, needs) in &from.needs {
        for need in needs.iter().flat_map(|need| with_origin(need, from)) {
            if from.merged.contains(id) && matches!((id, need), (Id::Column(..), Id::Column(..))) {
                // A column that is a table's own as well goes after its parent's.
                edge((Act::Drop, need.clone()), (Act::Drop, id.clone()));
                continue;
            }
            for act in [Act::Drop, Act::Aside, Act::Alter] {
                edge((Act::Drop, id.clone()), (act, need.clone()));
            }
            for act in [Act::Alter, Act::Clear] {
                edge((act, id.clone()), (Act::Drop, need.clone()));
                edge((act, id.clone()), (Act::Clear, need.clone()));
            }
        }
    }
    // What something needs is there, and as it shall be, before that is made or changed.
    for (id, needs) in &to.needs {
        for need in needs.iter().flat_map(|need| with_origin(need, to)) {
            for before in [Act::Aside, Act::Alter, Act::Create] {
                for after in [Act::Aside, Act::Alter, Act::Create] {
                    edge((before, need.clone()), (after, id.clone()));
                }
            }
        }
    }
    partitions(changes, from, to, &mut edge);
    persistence(from, to, &mut edge);
    // A name is free before it is taken again, be it by another kind of object.
    let mut freed: BTreeMap<String, Vec<&Id>> = BTreeMap::new();
    for id in &changes.dropped {
        edge((Act::Drop, id.clone()), (Act::Create, id.clone()));
        if let Some(name) = relation_name(id, from) {
            freed.entry(name).or_default().push(id);
        }
    }
    for id in &changes.created {
        for freed in relation_name(id, to)
            .and_then(|name| freed.get(&name))
            .into_iter()
            .flatten()
        {
            edge((Act::Drop, (*freed).clone()), (Act::Create, id.clone()));
        }
    }
    edges
}

/// A logged table cannot refer to an unlogged one, at no moment.
fn persistence(from: &Model, to: &Model, edge: &mut impl FnMut(Node, Node)) {
    let unlogged = |model: &Model, id: &Id| match model.objects.get(id) {
        Some(Object::Table(table)) => Some(table.unlogged),
        _ => None,
    };
    for (id, object) in &from.objects {
        let (Id::Constraint(table, _), Object::Constraint(constraint)) = (id, object) else {
            continue;
        };
        let Some(other) = constraint.references.clone().map(Id::Table) else {
            continue;
        };
        let table = Id::Table(table.clone());
        if unlogged(from, &table) == unlogged(to, &table) || unlogged(from, &other) == unlogged(to, &other) {
            continue;
        }
        if unlogged(to, &table) == Some(true) {
            edge((Act::Alter, table), (Act::Alter, other));
        } else {
            edge((Act::Alter, other), (Act::Alter, table));
        }
    }
}

/// A column or default, and those above that it comes from: with them it comes and goes, without a change of its own.
fn with_origin<'a>(id: &'a Id, model: &'a Model) -> impl Iterator<Item = &'a Id> {
    let above = match id {
        Id::Column(..) | Id::Default(..) => model.needs.get(id),
        _ => None,
    };
    let same = move |other: &&Id| std::mem::discriminant(*other) == std::mem::discriminant(id);
    std::iter::once(id).chain(above.into_iter().flatten().filter(same))
}

/// A partition is detached before what it keeps is touched, and attached when it and its table are complete.
fn partitions(changes: &Changes, from: &Model, to: &Model, edge: &mut impl FnMut(Node, Node)) {
    for id in &changes.dropped {
        let (Id::Partition(child) | Id::Inherits(child, _)) = id else {
            continue;
        };
        let columns = columns_of(child, from, to);
        for part in own(from, child).map(|(id, _)| id).chain(&columns) {
            for act in [Act::Drop, Act::Alter] {
                edge((Act::Drop, id.clone()), (act, part.clone()));
            }
        }
    }
    for id in &changes.created {
        let (Id::Partition(child) | Id::Inherits(child, _)) = id else {
            continue;
        };
        let tables = [child].into_iter().chain(to.parents(child));
        for column in tables.flat_map(|table| columns_of(table, from, to)) {
            for act in [Act::Drop, Act::Alter, Act::Create] {
                edge((act, column.clone()), (Act::Create, id.clone()));
            }
        }
    }
}

fn columns_of(table: &Name, from: &Model, to: &Model) -> BTreeSet<Id> {
    [from, to]
        .into_iter()
        .filter_map(|model| model.column_order.get(table))
        .flatten()
        .map(|column| Id::Column(table.clone(), column.clone()))
        .collect()
}

/// Tables, views, indexes, sequences and types share one set of names in a schema; so do a table's constraints.
fn relation_name(id: &Id, model: &Model) -> Option<String> {
    match id {
        Id::Table(name)
        | Id::View(name)
        | Id::MaterializedView(name)
        | Id::Index(name)
        | Id::Sequence(name)
        | Id::Enum(name)
        | Id::Domain(name)
        | Id::Composite(name)
        | Id::Range(name) => Some(name.sql()),
        Id::Constraint(table, part) => match model.objects.get(id) {
            Some(Object::Constraint(c)) if matches!(c.class.as_str(), "p" | "u" | "x") => {
                Some(Name::new(&table.schema, part).sql())
            }
            _ => None,
        },
        _ => None,
    }
}
