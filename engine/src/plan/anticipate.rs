//! What the server changes by itself: a change of a table reaches its partitions and the tables that inherit from it, a
//! partition that is detached keeps what it had, and one that is attached merges what its table has.
//!
//! Promises: the observed state as it will be when those changes have run, so that what still differs from the desired
//! state needs a statement of its own, and nothing else does.

use std::collections::BTreeSet;

use crate::catalog::{Column, Id, Model, Object};
use crate::name::Name;

/// The observed state with what follows from the changes of parents.
pub(crate) fn anticipate(from: &Model, to: &Model) -> Model {
    let mut seen = from.clone();
    let tables: BTreeSet<&Name> = from
        .objects
        .keys()
        .chain(to.objects.keys())
        .filter_map(|id| match id {
            Id::Partition(child) | Id::Inherits(child, _) => Some(child),
            _ => None,
        })
        .collect();
    for child in tables {
        let table = Id::Table(child.clone());
        if !from.objects.contains_key(&table) || !to.objects.contains_key(&table) {
            continue;
        }
        let before: BTreeSet<&Name> = from.parents(child).collect();
        let after: BTreeSet<&Name> = to.parents(child).collect();
        for parent in before.intersection(&after) {
            follow(&mut seen, from, to, child, parent);
        }
        if after.is_empty() {
            keep(&mut seen, from, child);
        } else {
            merge(&mut seen, from, to, child);
        }
    }
    seen
}

/// A parent's columns and defaults change, and with them those of the table that has them from it.
fn follow(seen: &mut Model, from: &Model, to: &Model, child: &Name, parent: &Name) {
    let columns = |model: &Model| -> BTreeSet<String> {
        let order = model.column_order.get(parent);
        order.into_iter().flatten().cloned().collect()
    };
    for name in columns(from).union(&columns(to)) {
        let (mine, theirs) = (
            Id::Column(child.clone(), name.clone()),
            Id::Column(parent.clone(), name.clone()),
        );
        let of = |model: &Model, id: &Id| match model.objects.get(id) {
            Some(Object::Column(column)) => Some(column.clone()),
            _ => None,
        };
        match (of(from, &theirs), of(to, &theirs)) {
            (Some(_), None) if stays_below(from, to, parent, name) => {
                seen.merged.insert(mine.clone());
                continue;
            }
            (Some(_), None) if !from.merged.contains(&mine) => {
                for gone in [&mine, &Id::Default(child.clone(), name.clone())] {
                    seen.objects.remove(gone);
                }
                continue;
            }
            (None, Some(new)) if of(from, &mine).is_none() => {
                seen.objects.insert(mine, Object::Column(handed_down(&new)));
            }
            (Some(old), Some(new)) => {
                if let Some(Object::Column(column)) = seen.objects.get_mut(&mine) {
                    overlay(column, &old, &new);
                }
            }
            _ => {}
        }
        let (mine, theirs) = (
            Id::Default(child.clone(), name.clone()),
            Id::Default(parent.clone(), name.clone()),
        );
        let (old, new) = (from.objects.get(&theirs), to.objects.get(&theirs));
        if old != new {
            match new {
                Some(new) => seen.objects.insert(mine, new.clone()),
                None => seen.objects.remove(&mine),
            };
        }
    }
}

/// Whether a column leaves a table and stays in one that inherits from it: then each of those is asked for itself.
pub(super) fn stays_below(from: &Model, to: &Model, parent: &Name, column: &str) -> bool {
    from.objects.keys().any(|id| match id {
        Id::Inherits(child, of) => {
            of == parent
                && to
                    .objects
                    .contains_key(&Id::Column(child.clone(), column.to_owned()))
        }
        _ => false,
    })
}

/// A column as a table gets it from its parent.
pub(super) fn handed_down(column: &Column) -> Column {
    let own = column
        .not_null_constraint
        .as_ref()
        .is_some_and(|constraint| constraint.no_inherit);
    Column {
        identity: None,
        not_null: column.not_null && !own,
        not_null_constraint: None,
        statistics: None,
        options: vec![],
        ..column.clone()
    }
}

/// What of a parent's change of a column reaches the tables below.
fn overlay(column: &mut Column, old: &Column, new: &Column) {
    if (&old.data_type, &old.collation) != (&new.data_type, &new.collation) {
        column.data_type.clone_from(&new.data_type);
        column.collation.clone_from(&new.collation);
    }
    if old.not_null != new.not_null {
        column.not_null = handed_down(new).not_null;
    }
    if (&old.generated, old.is_virtual) != (&new.generated, new.is_virtual) {
        column.generated.clone_from(&new.generated);
        column.is_virtual = new.is_virtual;
    }
    if old.storage != new.storage {
        column.storage.clone_from(&new.storage);
    }
    if old.statistics != new.statistics {
        column.statistics = new.statistics;
    }
}

/// A table that is let go keeps what it had from its parent, as its own.
fn keep(seen: &mut Model, from: &Model, child: &Name) {
    for (id, object) in own(from, child) {
        seen.objects.insert(id.clone(), object.clone());
        let needs = [Id::Table(child.clone())];
        seen.needs.entry(id.clone()).or_default().extend(needs);
    }
}

/// Constraints and indexes that a table has from its parents.
pub(crate) fn own<'a>(model: &'a Model, child: &'a Name) -> impl Iterator<Item = (&'a Id, &'a Object)> {
    model
        .inherited
        .iter()
        .filter(move |(id, object)| match (id, object) {
            (Id::Constraint(table, _), _) => table == child,
            (_, Object::Index(index)) => &index.table == child,
            _ => false,
        })
}

/// What a table has already, and shall have from its parent, becomes the parent's.
fn merge(seen: &mut Model, from: &Model, to: &Model, child: &Name) {
    let shall: Vec<&Object> = own(to, child).map(|(_, object)| object).collect();
    let has: Vec<Id> = from
        .objects
        .iter()
        .filter(|(id, object)| {
            let merges = match object {
                // A check is told by its name, all else by what it does.
                Object::Constraint(c) if c.class == "c" => to.inherited.get(id) == Some(object),
                Object::Constraint(_) => shall.contains(object),
                Object::Index(index) => shall.iter().any(|other| match other {
                    Object::Index(other) => {
                        index.table == other.table
                            && nameless(&index.definition) == nameless(&other.definition)
                    }
                    _ => false,
                }),
                _ => false,
            };
            id.table(from) == Some(child) && !to.objects.contains_key(id) && merges
        })
        .map(|(id, _)| id.clone())
        .collect();
    for id in has {
        seen.objects.remove(&id);
    }
}

/// An index's definition from its table on.
pub(super) fn nameless(definition: &str) -> &str {
    definition
        .find(" ON ")
        .and_then(|at| definition.get(at..))
        .unwrap_or(definition)
}
