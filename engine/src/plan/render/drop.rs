//! What goes.

use super::super::anticipate::stays_below;
use super::super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE};
use super::super::{ddl, privileges};
use super::Renderer;
use crate::catalog::{Id, Object};
use crate::error::{Error, Result};
use crate::name::quote;

impl Renderer<'_> {
    /// Why something that stays is dropped for a moment.
    fn again(&self, id: &Id) -> Option<String> {
        self.changes
            .created
            .contains(id)
            .then(|| format!("{} is made again", id.describe()))
    }

    pub(super) fn drop(&self, id: &Id) -> Result<Vec<Draft>> {
        let again = self.again(id);
        let gone = |text: &str| {
            again
                .clone()
                .unwrap_or_else(|| format!("{} {text}", id.describe()))
        };
        let statement = |sql: String, text: &str| Draft::new(sql, gone(text)).lock(ACCESS_EXCLUSIVE);
        let drop = format!("DROP {}", ddl::reference(id, self.from));
        // What comes back loses nothing but a moment.
        let back = |draft: Draft| {
            if again.is_some() {
                draft.warning()
            } else {
                draft.destructive()
            }
        };
        Ok(vec![match (id, self.observed(id)?) {
            (Id::Table(_), _) => statement(drop, "is removed with all its rows").destructive(),
            (Id::Column(table, name), Object::Column(column)) => {
                let only = if stays_below(self.from, self.to, table, name) {
                    "ONLY "
                } else {
                    ""
                };
                let draft = statement(
                    format!("ALTER TABLE {only}{table} DROP COLUMN {}", quote(name)),
                    "is removed with its values",
                );
                if column.generated.is_some() {
                    draft.warning()
                } else {
                    draft.destructive()
                }
            }
            (Id::Sequence(_), _) => statement(drop, "is removed with its position").destructive(),
            (Id::Enum(_) | Id::Domain(_) | Id::Composite(_) | Id::Range(_) | Id::Collation(_), _) => {
                Draft::new(drop, gone("is removed")).destructive()
            }
            (Id::Function(..), _) => back(Draft::new(drop, gone("is removed"))),
            (Id::View(_) | Id::Statistics(_), _) => back(statement(drop, "is removed")),
            (Id::MaterializedView(_), _) => back(statement(drop, "is removed with its rows")),
            (Id::Partition(child), Object::Partition { parent, .. }) => {
                self.detach(child, parent, gone("is detached and keeps its rows"))
            }
            (Id::Inherits(child, parent), _) => statement(
                format!("ALTER TABLE {child} NO INHERIT {parent}"),
                "ends: the rows are no longer seen through the parent",
            )
            .destructive(),
            (Id::Constraint(table, name), Object::Constraint(_)) => back(statement(
                format!("ALTER TABLE {table} DROP CONSTRAINT {}", quote(name)),
                "no longer protects the rows",
            )),
            (Id::DomainConstraint(domain, name), _) => back(Draft::new(
                format!("ALTER DOMAIN {domain} DROP CONSTRAINT {}", quote(name)),
                gone("no longer protects the values"),
            )),
            (Id::Index(name), Object::Index(index)) => {
                let draft = if self.atomic || index.partitioned {
                    statement(format!("DROP INDEX {name}"), "is removed")
                } else {
                    Draft::new(format!("DROP INDEX CONCURRENTLY {name}"), gone("is removed"))
                        .lock(SHARE_UPDATE_EXCLUSIVE)
                        .alone()
                };
                if index.unique && again.is_none() {
                    draft.destructive()
                } else {
                    draft.warning()
                }
            }
            (Id::Trigger(..) | Id::Rule(..), _) => back(statement(drop, "no longer fires")),
            (Id::Policy(..), _) => privileges::row_security(back(statement(drop, "no longer applies"))),
            (Id::Default(table, name), _) => {
                let sql = format!("ALTER TABLE {table} ALTER COLUMN {} DROP DEFAULT", quote(name));
                statement(sql, "is removed").warning()
            }
            (Id::SequenceOwner(name), _) => {
                statement(format!("ALTER SEQUENCE {name} OWNED BY NONE"), "ends").lock(SHARE_ROW_EXCLUSIVE)
            }
            (Id::ReplicaIdentity(table), _) => statement(
                format!("ALTER TABLE {table} REPLICA IDENTITY DEFAULT"),
                "is the primary key again",
            )
            .warning(),
            (Id::Cluster(table), _) => statement(format!("ALTER TABLE {table} SET WITHOUT CLUSTER"), "ends")
                .lock(SHARE_UPDATE_EXCLUSIVE),
            (Id::Comment(of), _) => self.comment(of, None),
            (Id::Privileges(of, role), object) => {
                let (now, wanted) = (
                    privileges::granted(Some(object)),
                    privileges::by_default(Some(object)),
                );
                return Ok(privileges::change(of, role, &now, &wanted, self.from));
            }
            _ => return Err(Error::internal("a plan drops what is never dropped")),
        }])
    }
}
