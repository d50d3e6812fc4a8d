//! Which objects are made, altered, dropped, or dropped and made again.
//!
//! Promises: a table or a plain column is never dropped to be made again; whatever hangs on something that must
//! go for a moment is named, goes with it, and comes back.

use std::collections::BTreeSet;

use crate::catalog::{Column, Id, Model, Object};
use crate::error::{Code, Error, Result};

/// The sets that a plan is made of. An object in both `dropped` and `created` is made again.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) dropped: BTreeSet<Id>,
    pub(super) altered: BTreeSet<Id>,
    pub(super) created: BTreeSet<Id>,
    /// Enum types that are replaced by a new one of the same name.
    pub(super) retyped: BTreeSet<Id>,
}

enum How {
    InPlace,
    Again,
}

impl Changes {
    /// # Errors
    /// `unsupported_change`, `outside_dependency`, `missing_privilege`, each naming the object.
    pub(super) fn between(from: &Model, to: &Model, major: u32, atomic: bool) -> Result<Self> {
        let mut changes = Self::default();
        for (id, object) in &from.objects {
            match to.objects.get(id) {
                // What a declaration does not name any more is not dropped with all that it holds.
                None if matches!(id, Id::Schema(_) | Id::Extension(_)) => {}
                None => {
                    changes.dropped.insert(id.clone());
                }
                Some(wanted) if wanted == object => {}
                Some(wanted) => match how(id, object, wanted, major)? {
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
        changes.choose_retyped(from, to, atomic);
        changes.spread(from, to)?;
        changes.check_outside(from, to)?;
        changes.check_privileges(from, to)?;
        Ok(changes)
    }

    /// An enum is replaced when a value goes or moves, and when a new value would be used in the transaction that
    /// adds it, which the server refuses.
    fn choose_retyped(&mut self, from: &Model, to: &Model, atomic: bool) {
        for id in &self.altered {
            let (Some(Object::Enum { labels: old }), Some(Object::Enum { labels: new })) =
                (from.objects.get(id), to.objects.get(id))
            else {
                continue;
            };
            let mut rest = new.iter();
            let grows = old.iter().all(|label| rest.any(|l| l == label));
            let fresh: Vec<String> = new
                .iter()
                .filter(|l| !old.contains(l))
                .map(|l| crate::name::literal(l))
                .collect();
            let used = |other: &Id| {
                to.objects
                    .get(other)
                    .and_then(text_of)
                    .is_some_and(|text| fresh.iter().any(|l| text.contains(l)))
            };
            if !grows || (atomic && self.created.iter().chain(&self.altered).any(used)) {
                self.retyped.insert(id.clone());
            }
        }
    }

    /// What hangs on something dropped or changed in type goes with it.
    fn spread(&mut self, from: &Model, to: &Model) -> Result<()> {
        let dependents = from.dependents();
        let mut queue: Vec<Id> = self.dropped.iter().cloned().collect();
        queue.extend(self.retyped.iter().cloned());
        queue.extend(
            self.altered
                .iter()
                .filter(|id| changes_type(id, from, to))
                .cloned(),
        );
        let mut seen: BTreeSet<(Id, bool)> = BTreeSet::new();
        while let Some(id) = queue.pop() {
            let dropped = self.dropped.contains(&id);
            if !seen.insert((id.clone(), dropped)) {
                continue;
            }
            for dependent in dependents.get(&id).into_iter().flatten() {
                let dependent = *dependent;
                if self.dropped.contains(dependent) {
                    continue;
                }
                let lets_go = self.altered.contains(dependent)
                    && !to.needs.get(dependent).is_some_and(|needs| needs.contains(&id))
                    && matches!(
                        dependent,
                        Id::Default(..) | Id::Function(..) | Id::View(_) | Id::Column(..)
                    );
                let again = if dropped {
                    !lets_go
                } else if self.retyped.contains(&id) {
                    if let Id::Column(..) = dependent {
                        if !lets_go && !generated(dependent, from) {
                            queue.push(dependent.clone());
                            self.altered.insert(dependent.clone());
                        }
                        generated(dependent, from)
                    } else {
                        !lets_go
                    }
                } else {
                    matches!(
                        dependent,
                        Id::View(_) | Id::Function(..) | Id::Trigger(..) | Id::Default(..)
                    ) || generated(dependent, from)
                };
                if again {
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
                    self.created.insert(dependent.clone());
                    queue.push(dependent.clone());
                }
            }
        }
        Ok(())
    }

    fn check_outside(&self, from: &Model, to: &Model) -> Result<()> {
        let breaks = self
            .altered
            .iter()
            .filter(|id| changes_type(id, from, to) || self.retyped.contains(id));
        for id in self.dropped.iter().chain(breaks) {
            if let Some(other) = from.outside_dependents.get(id).and_then(|others| others.first()) {
                let message = format!(
                    "{} cannot be changed: {other}, outside the scope, needs it",
                    id.describe()
                );
                return Err(Error::new(Code::OutsideDependency, message).about(id.describe()));
            }
        }
        Ok(())
    }

    /// What the server would refuse the URL's user is refused here, before anything is published or sent.
    fn check_privileges(&self, from: &Model, to: &Model) -> Result<()> {
        let lacks = |what: String, of: &Id| {
            let message = format!("the target's user {what}");
            Err(Error::new(Code::MissingPrivilege, message).about(of.describe()))
        };
        for id in self.dropped.iter().chain(&self.altered).chain(&self.created) {
            let created = self.created.contains(id);
            let model = if from.objects.contains_key(id) { from } else { to };
            let mut owned: Vec<Id> = vec![id.clone()];
            owned.extend(id.parent());
            owned.extend(id.table(model).cloned().map(Id::Table));
            if let Some(missing) = owned.iter().find(|id| from.foreign.contains(id)) {
                return lacks(
                    format!("does not own {}, which the plan changes", missing.describe()),
                    missing,
                );
            }
            match (id, to.objects.get(id)) {
                (Id::Enum(n) | Id::Sequence(n) | Id::Table(n) | Id::View(n) | Id::Function(n, _), _)
                    if created =>
                {
                    let schema = Id::Schema(n.schema.clone());
                    if from.foreign.contains(&schema) {
                        return lacks(
                            format!(
                                "lacks CREATE on {}, where {} would stand",
                                schema.describe(),
                                id.describe()
                            ),
                            &schema,
                        );
                    }
                }
                (Id::Schema(_), _) if created && from.no_new_schemas => {
                    return lacks(
                        format!(
                            "lacks CREATE on the database, where {} would stand",
                            id.describe()
                        ),
                        id,
                    );
                }
                (_, Some(Object::Constraint(constraint))) if created => {
                    let other = constraint.references.clone().map(Id::Table);
                    if let Some(other) = other.filter(|other| from.not_referable.contains(other)) {
                        return lacks(
                            format!(
                                "lacks REFERENCES on {}, which {} refers to",
                                other.describe(),
                                id.describe()
                            ),
                            &other,
                        );
                    }
                }
                _ => {}
            }
        }
        Ok(())
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

fn generated(id: &Id, model: &Model) -> bool {
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
        Id::Schema(_) | Id::Extension(_) | Id::Enum(_) | Id::Sequence(_) | Id::Table(_) => false,
        Id::Column(..) => generated(id, model),
        _ => true,
    }
}

fn text_of(object: &Object) -> Option<&str> {
    match object {
        Object::Default { expression } => Some(expression),
        Object::Constraint(constraint) => Some(&constraint.definition),
        Object::Index { definition, .. } | Object::Trigger { definition, .. } => Some(definition),
        Object::View(view) => Some(&view.definition),
        Object::Function(function) => Some(&function.definition),
        Object::Column(column) => column.generated.as_deref(),
        _ => None,
    }
}

fn how(id: &Id, old: &Object, new: &Object, major: u32) -> Result<How> {
    let refused = |why: &str| {
        let message = format!("{} cannot be changed: {why}", id.describe());
        Err(Error::new(Code::UnsupportedChange, message).about(id.describe()))
    };
    Ok(match (old, new) {
        (Object::Function(old), Object::Function(new)) => {
            let same = old.shape == new.shape && old.word == new.word && old.defaults <= new.defaults;
            if same { How::InPlace } else { How::Again }
        }
        (Object::Column(old), Object::Column(new)) => {
            if old.not_null_name != new.not_null_name && old.not_null && new.not_null {
                return refused("its NOT NULL constraint has another name or state");
            }
            match (&old.generated, &new.generated) {
                (None, Some(_)) => {
                    return refused(
                        "a column with values of its own cannot become a generated one; drop it first",
                    );
                }
                (Some(_), None) if old.is_virtual => {
                    return refused("its values were never stored; drop it first");
                }
                (Some(a), Some(b)) if (a != b && major < 17) || old.is_virtual != new.is_virtual => {
                    How::Again
                }
                _ => How::InPlace,
            }
        }
        (Object::Constraint(old), Object::Constraint(new)) => {
            let validated = old.definition.strip_suffix(" NOT VALID") == Some(&new.definition);
            if validated { How::InPlace } else { How::Again }
        }
        (Object::View(old), Object::View(new)) => {
            if new.columns.starts_with(&old.columns) {
                How::InPlace
            } else {
                How::Again
            }
        }
        (Object::Trigger { definition: a, .. }, Object::Trigger { definition: b, .. }) => {
            if a == b {
                How::InPlace
            } else {
                How::Again
            }
        }
        (Object::Index { .. }, Object::Index { .. }) => How::Again,
        (Object::Extension { .. }, Object::Extension { .. }) => {
            return refused("it stands in another schema");
        }
        _ => How::InPlace,
    })
}
