//! What comes.

use std::collections::BTreeSet;

use ptah_contract::plan_document::PrivilegeChange;

use super::super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE};
use super::super::{ddl, privileges};
use super::Renderer;
use crate::catalog::{Id, Index, Object};
use crate::error::{Error, Result};
use crate::name::quote;

impl Renderer<'_> {
    pub(super) fn create(&self, id: &Id, covers: &BTreeSet<Id>) -> Result<Vec<Draft>> {
        let mut drafts = self.made(id, covers)?;
        drafts.extend(privileges::unasked(id, self.from, self.to));
        Ok(drafts)
    }

    fn made(&self, id: &Id, covers: &BTreeSet<Id>) -> Result<Vec<Draft>> {
        let reason = if self.changes.dropped.contains(id) {
            format!("{} is made again", id.describe())
        } else {
            format!("{} is new", id.describe())
        };
        let on_new_table = id.table(self.to).is_some_and(|t| {
            let created = &self.changes.created;
            created.contains(&Id::Table(t.clone())) || created.contains(&Id::MaterializedView(t.clone()))
        });
        Ok(vec![match (id, self.declared(id)?) {
            (Id::Schema(name), _) => Draft::new(format!("CREATE SCHEMA {}", quote(name)), reason),
            (Id::Extension(name), Object::Extension { schema }) => Draft::new(
                format!("CREATE EXTENSION {} WITH SCHEMA {}", quote(name), quote(schema)),
                format!("{reason}; the server may demand more than the owner's rights"),
            )
            .warning(),
            (
                Id::Enum(name)
                | Id::Domain(name)
                | Id::Composite(name)
                | Id::Range(name)
                | Id::Collation(name),
                object,
            ) => Draft::new(ddl::create_type(name, object, &self.inside(covers)?)?, reason),
            (Id::Sequence(name), Object::Sequence(sequence)) => {
                Draft::new(ddl::create_sequence(name, sequence), reason)
            }
            (Id::Function(..), Object::Function(function)) => {
                let draft = Draft::new(ddl::create_function(function, false), reason);
                if function.security_definer {
                    draft.privilege(PrivilegeChange::SecurityDefiner)
                } else {
                    draft
                }
            }
            (Id::Table(name), Object::Table(table)) => {
                return self.create_table(name, table, covers, &reason);
            }
            (Id::Partition(child), Object::Partition { parent, bound }) => {
                return self.attach(child, parent, bound, reason);
            }
            (Id::Inherits(child, parent), _) => return self.inherit(child, parent, reason),
            (Id::Column(table, name), Object::Column(column)) => {
                return self.add_column(table, name, column, covers, &reason);
            }
            (Id::Default(table, name), Object::Default { expression }) => Draft::new(
                format!(
                    "ALTER TABLE {table} ALTER COLUMN {} SET DEFAULT {expression}",
                    quote(name)
                ),
                reason,
            )
            .lock(ACCESS_EXCLUSIVE),
            (Id::SequenceOwner(name), Object::SequenceOwner { table, column }) => Draft::new(
                format!("ALTER SEQUENCE {name} OWNED BY {table}.{}", quote(column)),
                reason,
            )
            .lock(SHARE_ROW_EXCLUSIVE),
            (Id::DomainConstraint(domain, name), Object::DomainConstraint { definition }) => Draft::new(
                format!(
                    "ALTER DOMAIN {domain} ADD CONSTRAINT {} {definition}",
                    quote(name)
                ),
                format!("{reason}; values that break it make it fail"),
            )
            .warning()
            .scans()
            .data_dependent(),
            (Id::Constraint(table, name), Object::Constraint(constraint)) => {
                return Ok(self.add_constraint(table, name, constraint, reason, on_new_table));
            }
            (Id::Index(_), Object::Index(index)) => {
                return Ok(self.create_index(id, index, &reason, on_new_table));
            }
            (Id::ReplicaIdentity(table), Object::ReplicaIdentity { how }) => Draft::new(
                format!("ALTER TABLE {table} REPLICA IDENTITY {how}"),
                format!("changes of rows of {table} are told apart otherwise"),
            )
            .lock(ACCESS_EXCLUSIVE),
            (Id::Cluster(table), Object::Cluster { index }) => Draft::new(
                format!("ALTER TABLE {table} CLUSTER ON {}", quote(index)),
                format!("CLUSTER follows another index of {table}"),
            )
            .lock(SHARE_UPDATE_EXCLUSIVE),
            (Id::View(name), Object::View(view)) => Draft::new(ddl::create_view(name, view, false), reason),
            (Id::MaterializedView(name), Object::MaterializedView(view)) => {
                let filled = if self.from.objects.contains_key(id) {
                    !self.from.unfilled.contains(id)
                } else {
                    !self.to.unfilled.contains(id)
                };
                let draft = Draft::new(ddl::create_materialized_view(name, view, filled), reason);
                if filled {
                    draft.warning().data_dependent()
                } else {
                    draft
                }
            }
            (
                Id::Statistics(name),
                Object::Statistics {
                    definition, target, ..
                },
            ) => {
                let mut drafts = vec![Draft::new(definition.clone(), reason).lock(SHARE_UPDATE_EXCLUSIVE)];
                drafts.extend(target.map(|target| self.statistics_target(name, Some(&target))));
                return Ok(drafts);
            }
            (Id::Rule(table, name), Object::Rule { definition, enabled }) => {
                let sql = definition.trim_end().trim_end_matches(';').to_owned();
                let mut drafts = vec![Draft::new(sql, reason).warning().lock(ACCESS_EXCLUSIVE)];
                if enabled != "O" {
                    drafts.push(self.enable(table, name, "RULE", enabled));
                }
                return Ok(drafts);
            }
            (
                Id::Trigger(table, name),
                Object::Trigger {
                    definition, enabled, ..
                },
            ) => {
                let mut drafts = vec![Draft::new(definition.clone(), reason).lock(SHARE_ROW_EXCLUSIVE)];
                if enabled != "O" {
                    drafts.push(self.enable(table, name, "TRIGGER", enabled));
                }
                return Ok(drafts);
            }
            (Id::Policy(table, name), Object::Policy(policy)) => privileges::row_security(
                Draft::new(
                    format!(
                        "CREATE POLICY {} ON {table}{}",
                        quote(name),
                        ddl::policy(policy, false)
                    ),
                    reason,
                )
                .warning()
                .lock(ACCESS_EXCLUSIVE),
            ),
            (Id::Comment(of), Object::Comment { text }) => self.comment(of, Some(text)),
            (Id::Owner(of), _) => return self.owner(of),
            (Id::DefaultPrivileges(_), _) => return self.default_privileges(id),
            (Id::Privileges(of, role), object) => {
                let now = if self.changes.created.contains(of) {
                    privileges::at_creation(of, role, self.from)
                } else {
                    privileges::by_default(Some(object))
                };
                let wanted = privileges::granted(Some(object));
                return Ok(privileges::change(of, role, &now, &wanted, self.to));
            }
            _ => return Err(Error::internal("an object is of another kind than its identity")),
        }])
    }

    fn create_index(&self, id: &Id, index: &Index, reason: &str, on_new_table: bool) -> Vec<Draft> {
        let online = !self.atomic && !on_new_table && !index.partitioned;
        let sql = if online {
            index.definition.replacen(" INDEX ", " INDEX CONCURRENTLY ", 1)
        } else if index.partitioned {
            // The partitions get theirs with it.
            index.definition.replacen(" ON ONLY ", " ON ", 1)
        } else {
            index.definition.clone()
        };
        let lock = if online { SHARE_UPDATE_EXCLUSIVE } else { SHARE };
        let mut draft = Draft::new(sql, reason).lock(lock).scans();
        if online {
            draft = draft.alone();
        }
        let draft = match (on_new_table, index.unique) {
            (true, _) => draft,
            // An expression may fail on a row, so every index over rows can.
            (false, true) => draft.warning().data_dependent(),
            (false, false) => draft.data_dependent(),
        };
        let mut drafts = vec![draft];
        drafts.extend(self.index_statistics(id, &[], &index.statistics));
        drafts
    }

    /// Statistics targets of an index's expressions.
    pub(super) fn index_statistics(&self, id: &Id, old: &[(i16, i32)], new: &[(i16, i32)]) -> Vec<Draft> {
        let mut wanted: Vec<(i16, i32)> = new.iter().filter(|t| !old.contains(t)).copied().collect();
        let kept = |number: i16| new.iter().any(|(other, _)| *other == number);
        wanted.extend(old.iter().filter(|(n, _)| !kept(*n)).map(|(n, _)| (*n, -1)));
        wanted
            .into_iter()
            .map(|(number, target)| {
                Draft::new(
                    format!(
                        "ALTER INDEX {} ALTER COLUMN {number} SET STATISTICS {target}",
                        id.path()
                    ),
                    format!("column {number} of {} is sampled otherwise", id.describe()),
                )
                .lock(SHARE_UPDATE_EXCLUSIVE)
            })
            .collect()
    }

    pub(super) fn statistics_target(&self, name: &crate::name::Name, target: Option<&i32>) -> Draft {
        Draft::new(
            format!("ALTER STATISTICS {name} SET STATISTICS {}", target.unwrap_or(&-1)),
            format!("statistics {name} sample otherwise"),
        )
        .lock(SHARE_UPDATE_EXCLUSIVE)
    }
}
