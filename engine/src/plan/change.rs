//! Which objects are made, altered, dropped, or dropped and made again.
//!
//! Promises: a table or a plain column is never dropped to be made again; whatever hangs on something that must
//! go for a moment is named, goes with it, and comes back.

use std::collections::BTreeSet;

use super::retype::must_retype;
use crate::catalog::{Column, Id, Model, Object};
use crate::error::{Code, Error, Result};

/// The sets that a plan is made of. An object in both `dropped` and `created` is made again.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) dropped: BTreeSet<Id>,
    pub(super) altered: BTreeSet<Id>,
    pub(super) created: BTreeSet<Id>,
    /// Types and collations that are replaced by a new one of the same name.
    pub(super) retyped: BTreeSet<Id>,
}

enum How {
    InPlace,
    Again,
}

/// Both states, and the first as the server's own following will have it.
pub(super) struct Sides<'a> {
    /// As observed.
    pub(super) observed: &'a Model,
    /// As observed, with what follows from the changes of parents.
    pub(super) from: &'a Model,
    pub(super) to: &'a Model,
    pub(super) major: u32,
    pub(super) atomic: bool,
}

impl Changes {
    /// # Errors
    /// `unsupported_change`, `outside_dependency`, `missing_privilege`, each naming the object.
    pub(super) fn between(sides: &Sides<'_>) -> Result<Self> {
        let (from, to) = (sides.from, sides.to);
        let mut changes = Self::default();
        for (id, object) in &from.objects {
            match to.objects.get(id) {
                // What a declaration does not name any more is not dropped with all that it holds.
                None if matches!(id, Id::Schema(_) | Id::Extension(_) | Id::Owner(_)) => {}
                None => {
                    changes.dropped.insert(id.clone());
                }
                Some(wanted) if wanted == object => {}
                Some(wanted) => match how(id, object, wanted, sides.major)? {
                    How::InPlace => {
                        changes.altered.insert(id.clone());
                    }
                    How::Again => {
                        changes.dropped.insert(id.clone());
                        changes.created.insert(id.clone());
                    }
                },
            }
        }
        changes.created.extend(
            to.objects
                .keys()
                .filter(|id| !from.objects.contains_key(*id))
                .cloned(),
        );
        changes.choose_retyped(sides);
        changes.spread(sides)?;
        super::permission::check_outside(&changes, sides)?;
        super::permission::check_privileges(&changes, from, to)?;
        Ok(changes)
    }

    fn choose_retyped(&mut self, sides: &Sides<'_>) {
        let chosen: Vec<Id> = self
            .altered
            .iter()
            .filter(|id| must_retype(id, self, sides))
            .cloned()
            .collect();
        self.retyped.extend(chosen);
        // A domain takes no constraint while a column holds it within an array, a composite type or a range.
        let narrowed: BTreeSet<Id> = self
            .created
            .iter()
            .filter_map(|id| match id {
                Id::DomainConstraint(domain, _) => Some(Id::Domain(domain.clone())),
                _ => None,
            })
            .chain(
                self.altered
                    .iter()
                    .filter(|id| matches!(id, Id::Domain(_)))
                    .cloned(),
            )
            .filter(|domain| sides.from.objects.contains_key(domain) && sides.to.objects.contains_key(domain))
            .collect();
        for domain in narrowed {
            let within = sides.observed.needs.iter().any(|(id, needs)| {
                needs.contains(&domain)
                    && match sides.observed.objects.get(id) {
                        Some(Object::Column(column)) => column.data_type != domain.path(),
                        _ => matches!(id, Id::Composite(_) | Id::Range(_)),
                    }
            });
            if within {
                self.retyped.insert(domain);
            }
        }
    }

    /// What hangs on something dropped or changed in type goes with it.
    fn spread(&mut self, sides: &Sides<'_>) -> Result<()> {
        let (from, to) = (sides.from, sides.to);
        let dependents = sides.observed.dependents();
        let mut queue: Vec<Id> = self.dropped.iter().cloned().collect();
        queue.extend(self.retyped.iter().cloned());
        queue.extend(
            sides
                .observed
                .objects
                .keys()
                .filter(|id| changes_type(id, sides.observed, to))
                .cloned(),
        );
        // Parts of partitions and heirs that go and come back with the parent's.
        let mut carried: BTreeSet<Id> = BTreeSet::new();
        let mut seen: BTreeSet<(Id, bool)> = BTreeSet::new();
        while let Some(id) = queue.pop() {
            if sides.observed.key_columns.contains(&id) && to.objects.contains_key(&id) {
                let message = format!(
                    "{} cannot be changed: rows are divided into partitions by it",
                    id.describe()
                );
                return Err(Error::new(Code::UnsupportedChange, message).about(id.describe()));
            }
            let dropped = self.dropped.contains(&id) || carried.contains(&id);
            if !seen.insert((id.clone(), dropped)) {
                continue;
            }
            for dependent in dependents.get(&id).into_iter().flatten() {
                let dependent = *dependent;
                if self.dropped.contains(dependent) || carried.contains(dependent) {
                    continue;
                }
                if handed_down(dependent, &id) {
                    // Gone with its parent's, as anticipated, or it stays as the table's own.
                    if dropped && !from.objects.contains_key(dependent) {
                        carried.insert(dependent.clone());
                        queue.push(dependent.clone());
                        continue;
                    }
                    if dropped && !self.created.contains(&id) {
                        continue;
                    }
                }
                let lets_go = self.altered.contains(dependent)
                    && !to.needs(dependent, &id)
                    && matches!(
                        dependent,
                        Id::Default(..) | Id::Function(..) | Id::View(_) | Id::Column(..) | Id::Policy(..)
                    )
                    // A new expression could mean the function that is still to go.
                    && !(dropped && generated(dependent, from));
                let inherited = is_inherited(dependent, to);
                let again = if dropped {
                    !lets_go
                } else if self.retyped.contains(&id) {
                    if let Id::Column(..) = dependent {
                        if !lets_go && !generated(dependent, from) {
                            queue.push(dependent.clone());
                            if !inherited {
                                self.altered.insert(dependent.clone());
                            }
                        }
                        generated(dependent, from)
                    } else if dependent.is_type() {
                        if self.retyped.insert(dependent.clone()) {
                            queue.push(dependent.clone());
                        }
                        false
                    } else {
                        !lets_go
                    }
                } else {
                    matches!(
                        dependent,
                        Id::View(_)
                            | Id::MaterializedView(_)
                            | Id::Function(..)
                            | Id::Trigger(..)
                            | Id::Rule(..)
                            | Id::Policy(..)
                            | Id::Default(..)
                    ) || generated(dependent, from)
                        || parts_with(dependent, &id, sides)
                };
                if !again {
                    continue;
                }
                if inherited && matches!(dependent, Id::Column(..) | Id::Default(..)) {
                    carried.insert(dependent.clone());
                    queue.push(dependent.clone());
                    continue;
                }
                if !can_come_back(dependent, from) {
                    let message = format!(
                        "{} cannot be changed while {} needs it; change both in two steps",
                        id.describe(),
                        dependent.describe()
                    );
                    return Err(Error::new(Code::UnsupportedChange, message).about(id.describe()));
                }
                self.altered.remove(dependent);
                self.dropped.insert(dependent.clone());
                if to.objects.contains_key(dependent) {
                    self.created.insert(dependent.clone());
                }
                queue.push(dependent.clone());
            }
        }
        for id in &self.retyped {
            self.altered.remove(id);
        }
        Ok(())
    }
}

/// Whether one is the same column, or its default, of a table below the other's.
fn handed_down(dependent: &Id, of: &Id) -> bool {
    match (dependent, of) {
        (Id::Column(below, a), Id::Column(above, b)) | (Id::Default(below, a), Id::Default(above, b)) => {
            below != above && a == b
        }
        _ => false,
    }
}

/// Whether a foreign key stands between columns that cannot be compared while only one of them has its new type.
fn parts_with(dependent: &Id, column: &Id, sides: &Sides<'_>) -> bool {
    let Some(Object::Constraint(constraint)) = sides.observed.objects.get(dependent) else {
        return false;
    };
    let (Some(Object::Column(old)), Some(Object::Column(new))) =
        (sides.observed.objects.get(column), sides.to.objects.get(column))
    else {
        return false;
    };
    let family = |data_type: &str| {
        let bare = data_type.split('(').next().unwrap_or_default().to_owned();
        match bare.as_str() {
            "smallint" | "integer" | "bigint" => "integers".to_owned(),
            "text" | "character varying" => "texts".to_owned(),
            _ => bare,
        }
    };
    constraint.class == "f" && family(&old.data_type) != family(&new.data_type)
}

/// Whether a table has this column, or its default, from a parent.
fn is_inherited(id: &Id, model: &Model) -> bool {
    match id {
        Id::Column(table, column) => model.has_from_parent(table, column),
        Id::Default(table, column) => {
            let mine = model.objects.get(id);
            model.parents(table).any(|parent| {
                let theirs = Id::Default(parent.clone(), column.clone());
                mine.is_some() && model.objects.get(&theirs) == mine
            })
        }
        _ => false,
    }
}

/// Whether the server has to read or write rows as another type.
pub(super) fn changes_type(id: &Id, from: &Model, to: &Model) -> bool {
    match (from.objects.get(id), to.objects.get(id)) {
        (Some(Object::Column(old)), Some(Object::Column(new))) => {
            old.data_type != new.data_type || old.collation != new.collation
        }
        _ => false,
    }
}

pub(super) fn generated(id: &Id, model: &Model) -> bool {
    matches!(
        model.objects.get(id),
        Some(Object::Column(Column {
            generated: Some(_),
            ..
        }))
    )
}

/// What can be dropped and made again without losing anything.
fn can_come_back(id: &Id, model: &Model) -> bool {
    match id {
        Id::Schema(_) | Id::Extension(_) | Id::Sequence(_) | Id::Table(_) | Id::Collation(_) => false,
        Id::Column(..) => generated(id, model),
        _ => !id.is_type(),
    }
}

fn how(id: &Id, old: &Object, new: &Object, major: u32) -> Result<How> {
    let refused = |why: &str| {
        let message = format!("{} cannot be changed: {why}", id.describe());
        Err(Error::new(Code::UnsupportedChange, message).about(id.describe()))
    };
    let when = |in_place: bool| if in_place { How::InPlace } else { How::Again };
    Ok(match (old, new) {
        (Object::Function(old), Object::Function(new)) => {
            when(old.shape == new.shape && old.word == new.word && old.defaults <= new.defaults)
        }
        (Object::Column(old), Object::Column(new)) => match (&old.generated, &new.generated) {
            (None, Some(_)) => {
                return refused(
                    "a column with values of its own cannot become a generated one; drop it first",
                );
            }
            (Some(_), None) if old.is_virtual => {
                return refused("its values were never stored; drop it first");
            }
            (Some(a), Some(b)) if (a != b && major < 17) || old.is_virtual != new.is_virtual => How::Again,
            _ => How::InPlace,
        },
        (Object::Table(old), Object::Table(new)) if old.partition_key != new.partition_key => {
            return refused("how its rows are divided into partitions cannot change without moving them all");
        }
        (Object::Constraint(old), Object::Constraint(new)) => {
            let validated = old.definition.strip_suffix(" NOT VALID") == Some(&new.definition);
            let same = old.definition == new.definition;
            let timing =
                old.class == "f" && without_timing(&old.definition) == without_timing(&new.definition);
            when(validated || same || timing)
        }
        (Object::DomainConstraint { definition: old }, Object::DomainConstraint { definition: new }) => {
            when(old.strip_suffix(" NOT VALID") == Some(new))
        }
        (Object::View(old), Object::View(new)) => when(new.columns.starts_with(&old.columns)),
        (Object::MaterializedView(old), Object::MaterializedView(new)) => {
            when(old.definition == new.definition && old.columns == new.columns)
        }
        (Object::Trigger { definition: a, .. }, Object::Trigger { definition: b, .. }) => when(a == b),
        (Object::Statistics { definition: a, .. }, Object::Statistics { definition: b, .. }) => when(a == b),
        (Object::Index(old), Object::Index(new)) => {
            when(old.definition == new.definition && old.valid == new.valid && old.table == new.table)
        }
        (Object::Policy(old), Object::Policy(new)) => {
            let keeps = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_some();
            when(
                old.permissive == new.permissive
                    && old.command == new.command
                    && keeps(&old.using, &new.using)
                    && keeps(&old.check, &new.check),
            )
        }
        (Object::Partition { .. }, Object::Partition { .. }) => How::Again,
        (Object::Extension { .. }, Object::Extension { .. }) => {
            return refused("it stands in another schema");
        }
        _ => How::InPlace,
    })
}

/// A foreign key without when it is checked, which can change in place.
pub(super) fn without_timing(definition: &str) -> &str {
    let mut text = definition;
    for end in [" INITIALLY DEFERRED", " DEFERRABLE"] {
        text = text.strip_suffix(end).unwrap_or(text);
    }
    text
}
