//! What changes in place.

use std::collections::BTreeSet;

use ptah_contract::plan_document::PrivilegeChange;

use super::super::change::without_timing;
use super::super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE};
use super::super::{column, ddl, privileges, retype};
use super::Renderer;
use crate::catalog::{Attribute, Constraint, Domain, Id, Object, Sequence, Table};
use crate::error::{Error, Result};
use crate::name::{Name, literal, quote};

impl Renderer<'_> {
    pub(super) fn alter(&self, id: &Id) -> Result<Vec<Draft>> {
        let reason = format!("{} changes", id.describe());
        Ok(vec![match (id, self.observed(id)?, self.declared(id)?) {
            (Id::Enum(name), Object::Enum { labels: old }, Object::Enum { labels: new }) => {
                return Ok(add_labels(name, old, new));
            }
            (Id::Domain(name), Object::Domain(old), Object::Domain(new)) => {
                return Ok(alter_domain(name, old, new, &reason));
            }
            (
                Id::Composite(name),
                Object::Composite { attributes: old },
                Object::Composite { attributes: new },
            ) => return Ok(alter_composite(name, old, new, &reason)),
            (Id::Sequence(name), Object::Sequence(old), Object::Sequence(new)) => {
                let mut drafts = Vec::new();
                if old.unlogged != new.unlogged {
                    let word = if new.unlogged { "UNLOGGED" } else { "LOGGED" };
                    drafts.push(
                        Draft::new(format!("ALTER SEQUENCE {name} SET {word}"), reason.clone()).warning(),
                    );
                }
                let options = ddl::all_sequence_options(new);
                if ddl::all_sequence_options(old) != options {
                    let restart = if restarts(old, new) { " RESTART" } else { "" };
                    drafts.push(
                        Draft::new(format!("ALTER SEQUENCE {name}{options}{restart}"), reason)
                            .warning()
                            .data_dependent(),
                    );
                }
                return Ok(drafts);
            }
            (Id::Function(..), _, Object::Function(new)) => {
                let draft = Draft::new(
                    ddl::create_function(new, true),
                    format!("{reason}; others may call it"),
                )
                .warning()
                .privilege(PrivilegeChange::FunctionReplacement);
                if new.security_definer {
                    draft.privilege(PrivilegeChange::SecurityDefiner)
                } else {
                    draft
                }
            }
            (Id::Table(name), Object::Table(old), Object::Table(new)) => {
                return Ok(alter_table(name, old, new, &reason));
            }
            (Id::Column(table, name), Object::Column(old), Object::Column(new)) => {
                let mut drafts = Vec::new();
                drafts.extend(retype::move_column(
                    self.changes,
                    self.from,
                    self.to,
                    table,
                    name,
                )?);
                let how = column::How {
                    atomic: self.atomic,
                    through_text: self.through_text(&old.data_type, &new.data_type),
                    usual_storage: self.usual_storage(id),
                };
                drafts.extend(column::alter(table, name, old, new, how));
                return Ok(drafts);
            }
            (Id::SequenceOwner(name), _, Object::SequenceOwner { table, column }) => Draft::new(
                format!("ALTER SEQUENCE {name} OWNED BY {table}.{}", quote(column)),
                reason,
            )
            .lock(SHARE_ROW_EXCLUSIVE),
            (Id::Default(table, name), _, Object::Default { expression }) => Draft::new(
                format!(
                    "ALTER TABLE {table} ALTER COLUMN {} SET DEFAULT {expression}",
                    quote(name)
                ),
                reason,
            )
            .lock(ACCESS_EXCLUSIVE),
            (Id::DomainConstraint(domain, name), _, _) => Draft::new(
                format!("ALTER DOMAIN {domain} VALIDATE CONSTRAINT {}", quote(name)),
                format!("{reason}; values that break it make it fail"),
            )
            .warning()
            .scans()
            .data_dependent(),
            (Id::Constraint(table, name), Object::Constraint(old), Object::Constraint(new)) => {
                return Ok(self.alter_constraint(table, name, old, new, &reason));
            }
            (Id::Index(_), Object::Index(old), Object::Index(new)) => {
                return Ok(self.index_statistics(id, &old.statistics, &new.statistics));
            }
            (Id::ReplicaIdentity(_) | Id::Cluster(_), _, _) => return self.create(id, &BTreeSet::new()),
            (Id::Statistics(name), _, Object::Statistics { target, .. }) => {
                self.statistics_target(name, target.as_ref())
            }
            (Id::View(name), Object::View(old), Object::View(new)) => {
                let draft = Draft::new(ddl::create_view(name, new, true), reason)
                    .warning()
                    .lock(ACCESS_EXCLUSIVE);
                let invoker = |options: &[String]| {
                    options
                        .iter()
                        .any(|o| o == "security_invoker=true" || o == "security_invoker=on")
                };
                if invoker(&old.options) && !invoker(&new.options) {
                    draft.privilege(PrivilegeChange::SecurityDefiner)
                } else {
                    draft
                }
            }
            (Id::MaterializedView(name), Object::MaterializedView(old), Object::MaterializedView(new)) => {
                return Ok(options(
                    &format!("MATERIALIZED VIEW {name}"),
                    &old.options,
                    &new.options,
                    &reason,
                ));
            }
            (
                Id::Rule(table, name),
                Object::Rule {
                    definition: old,
                    enabled: was,
                },
                Object::Rule { definition, enabled },
            ) => {
                let mut drafts = Vec::new();
                if old != definition {
                    let sql = definition.trim_end().trim_end_matches(';');
                    let sql = sql.replacen("CREATE RULE", "CREATE OR REPLACE RULE", 1);
                    drafts.push(Draft::new(sql, reason).warning().lock(ACCESS_EXCLUSIVE));
                }
                if was != enabled {
                    drafts.push(self.enable(table, name, "RULE", enabled));
                }
                return Ok(drafts);
            }
            (Id::Trigger(table, name), _, Object::Trigger { enabled, .. }) => {
                self.enable(table, name, "TRIGGER", enabled)
            }
            (Id::Policy(table, name), _, Object::Policy(policy)) => privileges::row_security(
                Draft::new(
                    format!(
                        "ALTER POLICY {} ON {table}{}",
                        quote(name),
                        ddl::policy(policy, true)
                    ),
                    reason,
                )
                .warning()
                .lock(ACCESS_EXCLUSIVE),
            ),
            (Id::Comment(of), _, Object::Comment { text }) => self.comment(of, Some(text)),
            (Id::Privileges(of, role), old, new) => {
                let (now, wanted) = (privileges::granted(Some(old)), privileges::granted(Some(new)));
                return Ok(privileges::change(of, role, &now, &wanted, self.to));
            }
            _ => return Err(Error::internal("an object is of another kind than its identity")),
        }])
    }

    /// Whether one of the two is an enum or a range of ours, which casts to nothing but text.
    fn through_text(&self, old: &str, new: &str) -> bool {
        let ours = |model: &crate::catalog::Model, data_type: &str| {
            model.objects.keys().any(|id| {
                matches!(id, Id::Enum(_) | Id::Range(_)) && id.path() == data_type.trim_end_matches("[]")
            })
        };
        ours(self.from, old) || ours(self.to, new)
    }

    pub(super) fn usual_storage(&self, column: &Id) -> &str {
        self.to
            .usual_storage
            .get(column)
            .map_or("DEFAULT", String::as_str)
    }

    fn alter_constraint(
        &self,
        table: &Name,
        name: &str,
        old: &Constraint,
        new: &Constraint,
        reason: &str,
    ) -> Vec<Draft> {
        let mut drafts = Vec::new();
        if old.definition != new.definition {
            if old.definition.ends_with(" NOT VALID") {
                drafts.push(self.validate(table, name, format!("{reason}; rows that break it make it fail")));
            } else {
                let timing = new.definition[without_timing(&new.definition).len()..].trim_start();
                let timing = match timing {
                    "" => "NOT DEFERRABLE",
                    "DEFERRABLE" => "DEFERRABLE INITIALLY IMMEDIATE",
                    timing => timing,
                };
                drafts.push(
                    Draft::new(
                        format!("ALTER TABLE {table} ALTER CONSTRAINT {} {timing}", quote(name)),
                        format!("constraint {name} of {table} is checked at another time"),
                    )
                    .warning()
                    .lock(ACCESS_EXCLUSIVE),
                );
            }
        }
        let index = Name::new(&table.schema, name);
        drafts.extend(options(
            &format!("INDEX {index}"),
            &old.index_options,
            &new.index_options,
            reason,
        ));
        drafts
    }
}

/// Whether a sequence has to start anew, because where it once started is outside its new bounds.
pub(in crate::plan) fn restarts(old: &Sequence, new: &Sequence) -> bool {
    !(new.min..=new.max).contains(&old.start)
}

fn add_labels(name: &Name, old: &[String], new: &[String]) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut previous: Option<&String> = None;
    for label in new {
        if !old.contains(label) {
            let place = match previous {
                Some(before) => format!("AFTER {}", literal(before)),
                None => old
                    .first()
                    .map(|first| format!("BEFORE {}", literal(first)))
                    .unwrap_or_default(),
            };
            let sql = format!("ALTER TYPE {name} ADD VALUE {} {place}", literal(label));
            drafts.push(Draft::new(sql.trim_end(), format!("enum {name} gets a value")).warning());
        }
        previous = Some(label);
    }
    drafts
}

fn alter_domain(name: &Name, old: &Domain, new: &Domain, reason: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if old.default != new.default {
        let how = new
            .default
            .as_ref()
            .map_or_else(|| "DROP DEFAULT".to_owned(), |text| format!("SET DEFAULT {text}"));
        drafts.push(Draft::new(format!("ALTER DOMAIN {name} {how}"), reason).warning());
    }
    let usual = format!("{}_not_null", name.name);
    let called = |domain: &Domain| quote(domain.not_null_name.as_ref().unwrap_or(&usual));
    match (old.not_null, new.not_null) {
        (true, true) if old.not_null_name != new.not_null_name => drafts.push(Draft::new(
            format!(
                "ALTER DOMAIN {name} RENAME CONSTRAINT {} TO {}",
                called(old),
                called(new)
            ),
            format!("the constraint of domain {name} has another name"),
        )),
        (true, false) => drafts.push(
            Draft::new(
                format!("ALTER DOMAIN {name} DROP NOT NULL"),
                format!("domain {name} admits NULL: a protection is removed"),
            )
            .destructive(),
        ),
        (false, true) => drafts.push(
            Draft::new(
                match &new.not_null_name {
                    Some(own) => format!("ALTER DOMAIN {name} ADD CONSTRAINT {} NOT NULL", quote(own)),
                    None => format!("ALTER DOMAIN {name} SET NOT NULL"),
                },
                format!("{reason}; a NULL in a column of it makes it fail"),
            )
            .warning()
            .scans()
            .data_dependent(),
        ),
        _ => {}
    }
    drafts
}

fn alter_composite(name: &Name, old: &[Attribute], new: &[Attribute], reason: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut add = |how: String, loses: bool| {
        let draft = Draft::new(format!("ALTER TYPE {name} {how}"), reason).warning();
        drafts.push(if loses { draft.destructive() } else { draft });
    };
    for attribute in old.iter().filter(|a| !new.iter().any(|b| a.name == b.name)) {
        add(format!("DROP ATTRIBUTE {}", quote(&attribute.name)), true);
    }
    for attribute in new {
        let collation = attribute.collation.as_deref();
        match old.iter().find(|a| a.name == attribute.name) {
            Some(same) if same == attribute => {}
            Some(_) => {
                let collate = collation.map(|c| format!(" COLLATE {c}")).unwrap_or_default();
                let name = quote(&attribute.name);
                add(
                    format!("ALTER ATTRIBUTE {name} TYPE {}{collate}", attribute.data_type),
                    false,
                );
            }
            None => add(
                format!(
                    "ADD ATTRIBUTE {}",
                    ddl::attribute(&attribute.name, &attribute.data_type, collation)
                ),
                false,
            ),
        }
    }
    drafts
}

fn alter_table(name: &Name, old: &Table, new: &Table, reason: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if old.unlogged != new.unlogged {
        let word = if new.unlogged { "UNLOGGED" } else { "LOGGED" };
        let draft = Draft::new(format!("ALTER TABLE {name} SET {word}"), reason)
            .lock(ACCESS_EXCLUSIVE)
            .rewrites(true);
        drafts.push(if new.unlogged {
            draft.destructive()
        } else {
            draft.warning()
        });
    }
    drafts.extend(options(
        &format!("TABLE {name}"),
        &old.options,
        &new.options,
        reason,
    ));
    drafts.extend(privileges::row_security_of(name, Some(old), new));
    drafts
}

/// `ALTER <what> SET (…)` and `RESET (…)`.
pub(super) fn options(what: &str, old: &[String], new: &[String], reason: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let key = |option: &String| {
        option
            .split_once('=')
            .map_or(option.clone(), |(key, _)| key.to_owned())
    };
    let changed: Vec<String> = new.iter().filter(|o| !old.contains(o)).cloned().collect();
    let kept: BTreeSet<String> = new.iter().map(key).collect();
    let reset: Vec<String> = old.iter().map(key).filter(|k| !kept.contains(k)).collect();
    if !changed.is_empty() {
        let sql = format!("ALTER {what} SET {}", ddl::options(&changed));
        drafts.push(Draft::new(sql, reason).lock(option_lock(&changed, what)));
    }
    if !reset.is_empty() {
        let sql = format!("ALTER {what} RESET ({})", reset.join(", "));
        drafts.push(Draft::new(sql, reason).lock(option_lock(&reset, what)));
    }
    drafts
}

/// Most storage parameters of tables are set beside reads and writes (`ALTER TABLE`, "Notes" in the manual's list of
/// locks, and `reloptions.c` for each parameter).
fn option_lock(options: &[String], what: &str) -> &'static str {
    let strong = options
        .iter()
        .any(|o| o.starts_with("user_catalog_table") || o.starts_with("security_"));
    if strong || !(what.starts_with("TABLE") || what.starts_with("INDEX")) {
        ACCESS_EXCLUSIVE
    } else {
        SHARE_UPDATE_EXCLUSIVE
    }
}
