//! Objects that only get another name.
//!
//! A rename is declared by a comment, or follows from what is there: a constraint, an index or an owned sequence that is
//! the same but for its name. Promises: nothing is dropped that a rename would keep; a declared rename of something that is
//! not there under its old name changes nothing, so that a file may keep its comments.

use std::collections::{BTreeMap, BTreeSet};

use ptah_contract::plan_document::Statement;

use super::anticipate::nameless;
use super::ddl;
use super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_UPDATE_EXCLUSIVE};
use crate::catalog::{Id, Model, Object};
use crate::desired::{Kind, Part, Renamed};
use crate::error::{Code, Error, Result};
use crate::name::{Name, quote};

/// One object under its old and its new name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rename {
    old: Id,
    new: Id,
}

/// The declared renames of things that are there under their old names; whole objects before their parts.
///
/// # Errors
/// `unsupported_change` when both names are taken, or both are declared.
pub(super) fn declared(renamed: &[Renamed], from: &Model, to: &Model) -> Result<Vec<Rename>> {
    let mut found: Vec<Rename> = Vec::new();
    let mut parts: Vec<&Renamed> = Vec::new();
    for one in renamed {
        if one.part.is_some() {
            parts.push(one);
            continue;
        }
        for new in to.objects.keys().filter(|id| is(one, id)) {
            let Some(name) = new.name() else { continue };
            let old = with_name(new, &Name::new(&name.schema, &one.old));
            found.extend(checked(old, new.clone(), from, to, &one.place)?);
        }
    }
    let tables: BTreeMap<Name, Name> = found
        .iter()
        .filter_map(|rename| match (&rename.old, &rename.new) {
            (Id::Table(old), Id::Table(new)) => Some((new.clone(), old.clone())),
            _ => None,
        })
        .collect();
    let mut wanted: Vec<(Rename, &str)> = Vec::new();
    for one in parts {
        for table in to.objects.keys().filter(|id| is(one, id)) {
            let Some(name) = table.name() else { continue };
            let before = tables.get(name).unwrap_or(name);
            let part = |name: &Name, part: &str| match &one.part {
                Some(Part::Constraint(_)) => Id::Constraint(name.clone(), part.to_owned()),
                _ => Id::Column(name.clone(), part.to_owned()),
            };
            let (Some(Part::Column(new)) | Some(Part::Constraint(new))) = &one.part else {
                continue;
            };
            // A column that comes from a parent is renamed with the parent's.
            let handed_down = matches!(one.part, Some(Part::Column(_))) && to.has_from_parent(name, new);
            if handed_down || !from.objects.contains_key(&part(before, &one.old)) {
                continue;
            }
            // After the tables are renamed.
            let rename = Rename {
                old: part(name, &one.old),
                new: part(name, new),
            };
            wanted.push((rename, &one.place));
        }
    }
    found.extend(in_turn(wanted, from, to, &tables)?);
    Ok(found)
}

/// Renames of parts, each when its new name is free: one may take the name that another gives up.
fn in_turn(
    mut wanted: Vec<(Rename, &str)>,
    from: &Model,
    to: &Model,
    tables: &BTreeMap<Name, Name>,
) -> Result<Vec<Rename>> {
    let mut taken: BTreeSet<Id> = BTreeSet::new();
    for id in from.objects.keys() {
        let renamed = tables.iter().find(|(_, old)| id.name() == Some(old));
        taken.insert(renamed.map_or_else(|| id.clone(), |(new, _)| with_name(id, new)));
    }
    // Done before: both are there, and both are declared.
    while let Some(at) = wanted.iter().position(|(rename, _)| {
        let moves_on = wanted.iter().any(|(other, _)| other.old == rename.new);
        taken.contains(&rename.new) && to.objects.contains_key(&rename.old) && !moves_on
    }) {
        wanted.remove(at);
    }
    let all: BTreeSet<Id> = wanted.iter().map(|(rename, _)| rename.new.clone()).collect();
    // The old name is declared as well, and not as another part's new one: it may be this or that.
    let unclear = |rename: &Rename| to.objects.contains_key(&rename.old) && !all.contains(&rename.old);
    if let Some((rename, place)) = wanted.iter().find(|(rename, _)| unclear(rename)) {
        return Err(ambiguous(&rename.old, &rename.new, place));
    }
    let mut found = Vec::new();
    while let Some(at) = wanted.iter().position(|(rename, _)| !taken.contains(&rename.new)) {
        let (rename, _) = wanted.remove(at);
        taken.remove(&rename.old);
        taken.insert(rename.new.clone());
        found.push(rename);
    }
    match wanted.first() {
        None => Ok(found),
        Some((rename, place)) => Err(ambiguous(&rename.old, &rename.new, place)),
    }
}

fn checked(old: Id, new: Id, from: &Model, to: &Model, place: &str) -> Result<Option<Rename>> {
    if !from.objects.contains_key(&old) || old == new {
        return Ok(None);
    }
    if from.objects.contains_key(&new) || to.objects.contains_key(&old) {
        return Err(ambiguous(&old, &new, place));
    }
    Ok(Some(Rename { old, new }))
}

fn ambiguous(old: &Id, new: &Id, place: &str) -> Error {
    let message = format!(
        "{place}: {} cannot take the name of {}: both are there or declared; take the comment away",
        old.describe(),
        new.describe()
    );
    Error::new(Code::UnsupportedChange, message).about(old.describe())
}

fn is(one: &Renamed, id: &Id) -> bool {
    let kind = match id {
        Id::Table(_) => Kind::Table,
        Id::View(_) => Kind::View,
        Id::MaterializedView(_) => Kind::MaterializedView,
        Id::Index(_) => Kind::Index,
        Id::Sequence(_) => Kind::Sequence,
        Id::Function(..) => Kind::Routine,
        _ if id.is_type() => Kind::Type,
        _ => return false,
    };
    let schema = one.schema.as_deref();
    kind == one.kind
        && id
            .name()
            .is_some_and(|name| name.name == one.name && schema.is_none_or(|schema| schema == name.schema))
}

/// Constraints, indexes and owned sequences that are there under another name.
pub(super) fn implied(from: &Model, to: &Model) -> Vec<Rename> {
    let gone = |id: &Id| !to.objects.contains_key(id);
    let fresh: Vec<(&Id, &Object)> = to
        .objects
        .iter()
        .filter(|(id, _)| !from.objects.contains_key(*id))
        .collect();
    let mut taken: BTreeSet<&Id> = BTreeSet::new();
    let mut found = Vec::new();
    for (new, object) in fresh {
        let same = |old: &Id, known: &Object| match (old, new, known, object) {
            (Id::Constraint(a, _), Id::Constraint(b, _), Object::Constraint(x), Object::Constraint(y)) => {
                a == b && x == y
            }
            (Id::Index(_), Id::Index(_), Object::Index(x), Object::Index(y)) => {
                x.table == y.table
                    && x.valid
                    && x.statistics == y.statistics
                    && nameless(&x.definition) == nameless(&y.definition)
                    && x.unique == y.unique
            }
            (Id::Sequence(a), Id::Sequence(b), Object::Sequence(x), Object::Sequence(y)) => {
                let owner =
                    |model: &Model, name: &Name| model.objects.get(&Id::SequenceOwner(name.clone())).cloned();
                let owned = owner(from, a);
                x == y && a.schema == b.schema && owned.is_some() && owned == owner(to, b)
            }
            _ => false,
        };
        let old = from
            .objects
            .iter()
            .find(|(old, known)| gone(old) && !taken.contains(*old) && same(old, known));
        if let Some((old, _)) = old {
            taken.insert(old);
            found.push(Rename {
                old: old.clone(),
                new: new.clone(),
            });
        }
    }
    found
}

impl Rename {
    pub(super) fn statement(&self, from: &Model) -> Statement {
        let reason = format!(
            "{} is called {} from now on; readers and writers that know the old name break",
            self.old.describe(),
            last(&self.new)
        );
        let new = quote(&last(&self.new));
        let (sql, lock) = match &self.old {
            Id::Column(table, name) => (
                format!("ALTER TABLE {table} RENAME COLUMN {} TO {new}", quote(name)),
                Some(ACCESS_EXCLUSIVE),
            ),
            Id::Constraint(table, name) => (
                format!("ALTER TABLE {table} RENAME CONSTRAINT {} TO {new}", quote(name)),
                Some(ACCESS_EXCLUSIVE),
            ),
            Id::Index(name) => (
                format!("ALTER INDEX {name} RENAME TO {new}"),
                Some(SHARE_UPDATE_EXCLUSIVE),
            ),
            old => {
                let relation = matches!(
                    old,
                    Id::Table(_) | Id::View(_) | Id::MaterializedView(_) | Id::Sequence(_)
                );
                (
                    format!("ALTER {} RENAME TO {new}", ddl::reference(old, from)),
                    relation.then_some(ACCESS_EXCLUSIVE),
                )
            }
        };
        let mut objects = vec![self.old.path(), self.new.path()];
        objects.extend(self.old.table(from).map(Name::sql));
        objects.extend(self.new.table(from).map(Name::sql));
        let draft = Draft::new(sql, reason).warning().touching(objects);
        match lock {
            Some(lock) => draft.lock(lock).finish(),
            None => draft.finish(),
        }
    }

    /// The same identity after this rename.
    pub(super) fn follow(&self, id: &Id) -> Id {
        if *id == self.old {
            return self.new.clone();
        }
        match (id, &self.old, &self.new) {
            (Id::Comment(of), ..) => Id::Comment(Box::new(self.follow(of))),
            (Id::Owner(of), ..) => Id::Owner(Box::new(self.follow(of))),
            (Id::Privileges(of, role), ..) => Id::Privileges(Box::new(self.follow(of)), role.clone()),
            (Id::Default(table, column), Id::Column(t, old), Id::Column(_, new))
                if table == t && column == old =>
            {
                Id::Default(table.clone(), new.clone())
            }
            (_, Id::Table(old), Id::Table(new)) if id.name() == Some(old) && parts_of_tables(id) => {
                with_name(id, new)
            }
            _ => id.clone(),
        }
    }
}

/// The model after a rename, as far as identities go: texts are the server's.
pub(super) fn follow(model: &Model, rename: &Rename) -> Model {
    let ids = |set: &BTreeSet<Id>| set.iter().map(|id| rename.follow(id)).collect();
    Model {
        objects: model
            .objects
            .iter()
            .map(|(id, object)| (rename.follow(id), object.clone()))
            .collect(),
        outside_dependents: model
            .outside_dependents
            .iter()
            .map(|(id, others)| (rename.follow(id), others.clone()))
            .collect(),
        owners: model
            .owners
            .iter()
            .map(|(id, role)| (rename.follow(id), role.clone()))
            .collect(),
        foreign: ids(&model.foreign),
        not_referable: ids(&model.not_referable),
        unfilled: ids(&model.unfilled),
        ..model.clone()
    }
}

/// What was read after renames, with what only the target can tell.
pub(super) fn keep(found: Model, before: Model) -> Model {
    Model {
        outside_dependents: before.outside_dependents,
        owners: before.owners,
        foreign: before.foreign,
        not_referable: before.not_referable,
        no_new_schemas: before.no_new_schemas,
        unfilled: before.unfilled,
        extension_versions: before.extension_versions,
        notes: before.notes,
        ..found
    }
}

fn parts_of_tables(id: &Id) -> bool {
    !matches!(
        id,
        Id::Function(..) | Id::Statistics(_) | Id::Index(_) | Id::Collation(_)
    ) && !id.is_type()
}

/// The last part of an identity's name.
fn last(id: &Id) -> String {
    match id {
        Id::Column(_, part) | Id::Constraint(_, part) => part.clone(),
        _ => id.name().map(|name| name.name.clone()).unwrap_or_default(),
    }
}

/// The same kind of thing of another name.
fn with_name(id: &Id, name: &Name) -> Id {
    let name = name.clone();
    match id {
        Id::Enum(_) => Id::Enum(name),
        Id::Domain(_) => Id::Domain(name),
        Id::Composite(_) => Id::Composite(name),
        Id::Range(_) => Id::Range(name),
        Id::Sequence(_) => Id::Sequence(name),
        Id::Function(_, arguments) => Id::Function(name, arguments.clone()),
        Id::Table(_) => Id::Table(name),
        Id::Partition(_) => Id::Partition(name),
        Id::Inherits(_, parent) => Id::Inherits(name, parent.clone()),
        Id::Column(_, part) => Id::Column(name, part.clone()),
        Id::Default(_, part) => Id::Default(name, part.clone()),
        Id::Constraint(_, part) => Id::Constraint(name, part.clone()),
        Id::View(_) => Id::View(name),
        Id::MaterializedView(_) => Id::MaterializedView(name),
        Id::Index(_) => Id::Index(name),
        Id::ReplicaIdentity(_) => Id::ReplicaIdentity(name),
        Id::Cluster(_) => Id::Cluster(name),
        Id::Rule(_, part) => Id::Rule(name, part.clone()),
        Id::Trigger(_, part) => Id::Trigger(name, part.clone()),
        Id::Policy(_, part) => Id::Policy(name, part.clone()),
        other => other.clone(),
    }
}
