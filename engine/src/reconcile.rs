//! What a desired state leaves unsaid is as the target has it.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Id, Model, Object};
use crate::desired::{Coverage, UndescribedKind as Undescribed};
use crate::name::Name;

/// Fills in what a declaration does not say by itself: it is as the target has it. Returns notes for people.
///
/// An extension that nobody declares stays, with its comment. A schema is never dropped. What the server grants and
/// remarks on `public` in every new database is no declaration. Default privileges in all schemas stay unless some are
/// declared. Partitions stay unless at least one of their table is declared. `user` is the target's user, to whom
/// belongs what no statement gives to somebody else.
pub(crate) fn reconcile(
    to: &mut Model,
    from: &Model,
    major: u32,
    user: &str,
    coverage: &Coverage,
) -> Vec<String> {
    let mut notes = from.notes.clone();
    let everywhere = to
        .objects
        .keys()
        .any(|id| matches!(id, Id::DefaultPrivileges(d) if d.schema.is_empty()));
    for (id, object) in &from.objects {
        if to.objects.contains_key(id) {
            continue;
        }
        match id {
            Id::Extension(name) => {
                notes.push(format!("extension {name} is not declared and is left alone"));
                to.objects.insert(id.clone(), object.clone());
                let comment = Id::Comment(Box::new(id.clone()));
                if let Some(text) = from.objects.get(&comment) {
                    to.objects.insert(comment, text.clone());
                }
            }
            Id::Schema(_) => {
                to.objects.insert(id.clone(), object.clone());
            }
            Id::DefaultPrivileges(d) if d.schema.is_empty() && !everywhere => {
                notes.push(format!("{} are not declared and are left alone", id.describe()));
                to.objects.insert(id.clone(), object.clone());
            }
            _ => {}
        }
    }
    public_schema(to, from, major);
    not_described(to, from, coverage, &mut notes);
    partitions(to, from, &mut notes);
    owners(to, from, user);
    notes
}

/// What a coverage header leaves undescribed is as the target has it, in both directions.
fn not_described(to: &mut Model, from: &Model, coverage: &Coverage, notes: &mut Vec<String>) {
    let left: Vec<Id> = from
        .objects
        .keys()
        .chain(to.objects.keys())
        .filter(|id| is_left(id, coverage))
        .cloned()
        .collect();
    let mut count = 0;
    for id in left {
        let differs = to.objects.get(&id) != from.objects.get(&id);
        count += usize::from(differs && id.parent().is_none());
        match from.objects.get(&id) {
            Some(object) => {
                to.needs
                    .insert(id.clone(), from.needs.get(&id).cloned().unwrap_or_default());
                to.objects.insert(id, object.clone());
            }
            None => {
                to.objects.remove(&id);
            }
        }
    }
    if count > 0 {
        notes.push(format!("{count} objects are not described and are left alone"));
    }
}

fn is_left(id: &Id, coverage: &Coverage) -> bool {
    let schema = id.name().map(|name| name.schema.as_str());
    if let Some(schema) = schema
        && named(coverage, Undescribed::Schema, &[schema])
    {
        return true;
    }
    let kind = match id {
        Id::Composite(_) => Undescribed::Composite,
        Id::Domain(_) | Id::DomainConstraint(..) => Undescribed::Domain,
        Id::Extension(_) => Undescribed::Extension,
        Id::Policy(..) => Undescribed::Policy,
        Id::Range(_) => Undescribed::Range,
        Id::Schema(_) => Undescribed::Schema,
        Id::Sequence(_) | Id::SequenceOwner(_) => Undescribed::Sequence,
        Id::Comment(of) | Id::Owner(of) | Id::Privileges(of, _) => return is_left(of, coverage),
        _ => return false,
    };
    let bare = match id {
        Id::Schema(name) | Id::Extension(name) | Id::Policy(_, name) => name.clone(),
        _ => id.name().map(|name| name.name.clone()).unwrap_or_default(),
    };
    let qualified = schema.map(|schema| format!("{schema}.{bare}"));
    let names: Vec<&str> = std::iter::once(bare.as_str())
        .chain(qualified.as_deref())
        .collect();
    named(coverage, kind, &names)
}

fn named(coverage: &Coverage, kind: Undescribed, names: &[&str]) -> bool {
    coverage.kinds.contains(&kind)
        || names
            .iter()
            .any(|name| coverage.objects.contains(&(kind, (*name).to_owned())))
}

/// What every new database has.
fn public_schema(to: &mut Model, from: &Model, major: u32) {
    let public = Id::Schema("public".into());
    let mut granted: BTreeSet<String> = BTreeSet::from(["USAGE".into()]);
    if major < 15 {
        granted.insert("CREATE".into());
    }
    let preset = [
        (
            Id::Comment(Box::new(public.clone())),
            Object::Comment {
                text: "standard public schema".into(),
            },
        ),
        (
            Id::Privileges(Box::new(public), String::new()),
            Object::Privileges {
                granted,
                by_default: BTreeSet::new(),
            },
        ),
    ];
    for (id, object) in preset {
        if to.objects.get(&id) == Some(&object) {
            to.objects.remove(&id);
            if let Some(as_found) = from.objects.get(&id) {
                to.objects.insert(id, as_found.clone());
            }
        }
    }
}

/// A partitioned table of which no partition is declared keeps those that it has, changed as it changes itself. Level by
/// level, since a partition may have partitions in turn.
fn partitions(to: &mut Model, from: &Model, notes: &mut Vec<String>) {
    let declared: BTreeSet<Name> = to.objects.values().filter_map(parent_of).cloned().collect();
    loop {
        let mut kept: BTreeSet<&Name> = BTreeSet::new();
        let mut count: BTreeMap<&Name, usize> = BTreeMap::new();
        for (id, object) in &from.objects {
            let (Id::Partition(child), Some(parent)) = (id, parent_of(object)) else {
                continue;
            };
            let divided = matches!(
                to.objects.get(&Id::Table(parent.clone())),
                Some(Object::Table(table)) if table.partition_key.is_some()
            );
            let there = to.objects.contains_key(&Id::Table(child.clone()));
            if divided && !declared.contains(parent) && !there {
                kept.insert(child);
                *count.entry(parent).or_default() += 1;
            }
        }
        if kept.is_empty() {
            return;
        }
        keep(to, from, &kept);
        notes.extend(count.iter().map(|(parent, children)| {
            format!("{children} partitions of {parent} are not declared and are left alone")
        }));
    }
}

fn parent_of(object: &Object) -> Option<&Name> {
    match object {
        Object::Partition { parent, .. } => Some(parent),
        _ => None,
    }
}

/// Partitions as they will be when their tables are as declared.
fn keep(to: &mut Model, from: &Model, kept: &BTreeSet<&Name>) {
    for child in kept {
        for id in [Id::Table((*child).clone()), Id::Partition((*child).clone())] {
            if let Some(object) = from.objects.get(&id) {
                to.objects.insert(id, object.clone());
            }
        }
    }
    let follows = super::plan::anticipate(from, to);
    for (id, object) in &follows.objects {
        if id.table(&follows).is_some_and(|table| kept.contains(table)) {
            let needs = follows.needs.get(id).cloned().unwrap_or_default();
            to.needs.insert(id.clone(), needs);
            to.objects.entry(id.clone()).or_insert_with(|| object.clone());
        }
    }
    for child in kept {
        if let Some(order) = from.column_order.get(*child) {
            to.column_order.insert((*child).clone(), order.clone());
        }
        let own = super::plan::own(from, child).map(|(id, object)| (id.clone(), object.clone()));
        to.inherited.extend(own);
    }
}

/// An owner is compared where one is declared: an object that a statement gave to somebody else than whoever loads.
fn owners(to: &mut Model, from: &Model, user: &str) {
    let declared: Vec<(Id, String)> = to
        .owners
        .iter()
        .filter(|(id, role)| {
            let now = from.owners.get(*id).map_or(user, String::as_str);
            *role != now && to.objects.contains_key(*id)
        })
        .map(|(id, role)| (id.clone(), role.clone()))
        .collect();
    for (id, role) in declared {
        let owner = Id::Owner(Box::new(id.clone()));
        to.needs.entry(owner.clone()).or_default().insert(id);
        to.objects.insert(owner, Object::Owner { role });
    }
}
