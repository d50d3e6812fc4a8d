//! What stands against a change before anything is sent: others that need what would go, and the user's own rights.

use super::change::{Changes, Sides, changes_type};
use crate::catalog::{Id, Model, Object};
use crate::error::{Code, Error, Result};

/// # Errors
/// `outside_dependency` when something outside the scope needs what is dropped or changes its type.
pub(super) fn check_outside(changes: &Changes, sides: &Sides<'_>) -> Result<()> {
    let observed = sides.observed;
    let breaks = changes
        .altered
        .iter()
        .filter(|id| changes_type(id, observed, sides.to));
    for id in changes.dropped.iter().chain(&changes.retyped).chain(breaks) {
        if let Some(other) = observed
            .outside_dependents
            .get(id)
            .and_then(|others| others.first())
        {
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
///
/// # Errors
/// `missing_privilege`, naming the object.
pub(super) fn check_privileges(changes: &Changes, from: &Model, to: &Model) -> Result<()> {
    let lacks = |what: String, of: &Id| {
        let message = format!("the target's user {what}");
        Err(Error::new(Code::MissingPrivilege, message).about(of.describe()))
    };
    let all = changes
        .dropped
        .iter()
        .chain(&changes.altered)
        .chain(&changes.retyped)
        .chain(&changes.created);
    for id in all {
        let created = changes.created.contains(id);
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
        if let (true, Some(name)) = (created && makes_a_name(id), id.name()) {
            let schema = Id::Schema(name.schema.clone());
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
        match (id, to.objects.get(id)) {
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

/// Whether the object takes a name in a schema, for which its maker needs CREATE there.
fn makes_a_name(id: &Id) -> bool {
    id.parent().is_none() && !matches!(id, Id::Trigger(..) | Id::Rule(..))
}
