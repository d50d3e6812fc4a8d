//! A node of the order into statements.
//!
//! Promises: names are qualified and quoted, `CASCADE` and `IF EXISTS` occur nowhere, and severity comes from
//! the change itself.

use std::collections::BTreeSet;

use ptah_contract::plan_document::PrivilegeChange;

use super::change::Changes;
use super::column;
use super::ddl;
use super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE};
use super::order::{Act, Node};
use super::privileges;
use crate::catalog::{Column, Id, Model, Object};
use crate::error::{Error, Result};
use crate::name::{Name, literal, quote};

pub(super) struct Renderer<'a> {
    pub(super) changes: &'a Changes,
    pub(super) from: &'a Model,
    pub(super) to: &'a Model,
    pub(super) atomic: bool,
}

impl Renderer<'_> {
    pub(super) fn node(&self, node: &Node, covers: &BTreeSet<Id>) -> Result<Vec<Draft>> {
        match node.0 {
            Act::Drop => self.drop(&node.1),
            Act::Alter => self.alter(&node.1),
            Act::Create => self.create(&node.1, covers),
        }
    }

    fn observed(&self, id: &Id) -> Result<&Object> {
        self.from
            .objects
            .get(id)
            .ok_or_else(|| Error::internal("a plan drops what is not there"))
    }

    fn declared(&self, id: &Id) -> Result<&Object> {
        self.to
            .objects
            .get(id)
            .ok_or_else(|| Error::internal("a plan makes what nobody declares"))
    }

    /// Why something that stays is dropped for a moment.
    fn again(&self, id: &Id) -> Option<String> {
        self.changes
            .created
            .contains(id)
            .then(|| format!("{} is made again", id.describe()))
    }

    fn drop(&self, id: &Id) -> Result<Vec<Draft>> {
        let again = self.again(id);
        let gone = |text: &str| {
            again
                .clone()
                .unwrap_or_else(|| format!("{} {text}", id.describe()))
        };
        let statement = |sql: String, text: &str| Draft::new(sql, gone(text)).lock(ACCESS_EXCLUSIVE);
        let drop = format!("DROP {}", ddl::reference(id, self.from));
        Ok(vec![match (id, self.observed(id)?) {
            (Id::Table(_), _) => statement(drop, "is removed with all its rows").destructive(),
            (Id::Column(table, name), Object::Column(column)) => {
                let draft = statement(
                    format!("ALTER TABLE {table} DROP COLUMN {}", quote(name)),
                    "is removed with its values",
                );
                if column.generated.is_some() {
                    draft.warning()
                } else {
                    draft.destructive()
                }
            }
            (Id::Sequence(_), _) => statement(drop, "is removed with its position").destructive(),
            (Id::Enum(_), _) => Draft::new(drop, gone("is removed")).destructive(),
            (Id::Function(..), _) => {
                let draft = Draft::new(drop, gone("is removed"));
                if again.is_some() {
                    draft.warning()
                } else {
                    draft.destructive()
                }
            }
            (Id::View(_), _) => {
                let draft = statement(drop, "is removed");
                if again.is_some() {
                    draft.warning()
                } else {
                    draft.destructive()
                }
            }
            (Id::Constraint(table, name), Object::Constraint(_)) => {
                let sql = format!("ALTER TABLE {table} DROP CONSTRAINT {}", quote(name));
                let draft = statement(sql, "no longer protects the rows");
                if again.is_some() {
                    draft.warning()
                } else {
                    draft.destructive()
                }
            }
            (Id::Index(name), Object::Index { unique, .. }) => {
                let draft = if self.atomic {
                    statement(format!("DROP INDEX {name}"), "is removed")
                } else {
                    Draft::new(format!("DROP INDEX CONCURRENTLY {name}"), gone("is removed"))
                        .lock(SHARE_UPDATE_EXCLUSIVE)
                        .alone()
                };
                if *unique && again.is_none() {
                    draft.destructive()
                } else {
                    draft.warning()
                }
            }
            (Id::Trigger(..), _) => {
                let draft = statement(drop, "no longer fires");
                if again.is_some() {
                    draft.warning()
                } else {
                    draft.destructive()
                }
            }
            (Id::Default(table, name), _) => {
                let sql = format!("ALTER TABLE {table} ALTER COLUMN {} DROP DEFAULT", quote(name));
                statement(sql, "is removed").warning()
            }
            (Id::SequenceOwner(name), _) => {
                statement(format!("ALTER SEQUENCE {name} OWNED BY NONE"), "ends").lock(SHARE_ROW_EXCLUSIVE)
            }
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

    fn comment(&self, of: &Id, text: Option<&str>) -> Draft {
        let model = if text.is_some() { self.to } else { self.from };
        let text = text.map_or_else(|| "NULL".to_owned(), literal);
        let draft = Draft::new(
            format!("COMMENT ON {} IS {text}", ddl::reference(of, model)),
            format!("changes the comment on {}", of.describe()),
        );
        if of.table(model).is_some() {
            draft.lock(SHARE_UPDATE_EXCLUSIVE)
        } else {
            draft
        }
    }

    fn create(&self, id: &Id, covers: &BTreeSet<Id>) -> Result<Vec<Draft>> {
        let reason = if self.changes.dropped.contains(id) {
            format!("{} is made again", id.describe())
        } else {
            format!("{} is new", id.describe())
        };
        let on_new_table = id
            .table(self.to)
            .is_some_and(|t| self.changes.created.contains(&Id::Table(t.clone())));
        Ok(vec![match (id, self.declared(id)?) {
            (Id::Schema(name), _) => Draft::new(format!("CREATE SCHEMA {}", quote(name)), reason),
            (Id::Extension(name), Object::Extension { schema }) => Draft::new(
                format!("CREATE EXTENSION {} WITH SCHEMA {}", quote(name), quote(schema)),
                format!("{reason}; the server may demand more than the owner's rights"),
            )
            .warning(),
            (Id::Enum(name), Object::Enum { labels }) => Draft::new(
                format!("CREATE TYPE {name} AS ENUM ({})", ddl::labels(labels)),
                reason,
            ),
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
            (Id::Table(name), Object::Table { unlogged, options }) => {
                return self.create_table(name, *unlogged, options, covers, &reason);
            }
            (Id::Column(table, name), Object::Column(column)) => {
                return Ok(self.add_column(table, name, column, covers, &reason));
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
            (Id::Constraint(table, name), Object::Constraint(_)) => {
                return self.add_constraint(table, name, id, reason, on_new_table);
            }
            (
                Id::Index(_),
                Object::Index {
                    definition, unique, ..
                },
            ) => {
                let online = !self.atomic && !on_new_table;
                let sql = if online {
                    definition.replacen(" INDEX ", " INDEX CONCURRENTLY ", 1)
                } else {
                    definition.clone()
                };
                let lock = if online { SHARE_UPDATE_EXCLUSIVE } else { SHARE };
                let mut draft = Draft::new(sql, reason).lock(lock).scans();
                if online {
                    draft = draft.alone();
                }
                match (on_new_table, unique) {
                    (true, _) => draft,
                    // An expression may fail on a row, so every index over rows can.
                    (false, true) => draft.warning().data_dependent(),
                    (false, false) => draft.data_dependent(),
                }
            }
            (Id::View(name), Object::View(view)) => Draft::new(ddl::create_view(name, view, false), reason),
            (
                Id::Trigger(table, name),
                Object::Trigger {
                    definition, enabled, ..
                },
            ) => {
                let mut drafts = vec![Draft::new(definition.clone(), reason).lock(SHARE_ROW_EXCLUSIVE)];
                if enabled != "O" {
                    drafts.push(self.enable(table, name, enabled));
                }
                return Ok(drafts);
            }
            (Id::Comment(of), Object::Comment { text }) => self.comment(of, Some(text)),
            (Id::Privileges(of, role), object) => {
                let (now, wanted) = (
                    privileges::by_default(Some(object)),
                    privileges::granted(Some(object)),
                );
                return Ok(privileges::change(of, role, &now, &wanted, self.to));
            }
            _ => return Err(Error::internal("an object is of another kind than its identity")),
        }])
    }

    fn enable(&self, table: &Name, name: &str, enabled: &str) -> Draft {
        let how = match enabled {
            "D" => "DISABLE",
            "R" => "ENABLE REPLICA",
            "A" => "ENABLE ALWAYS",
            _ => "ENABLE",
        };
        let sql = format!("ALTER TABLE {table} {how} TRIGGER {}", quote(name));
        let draft = Draft::new(sql, format!("trigger {name} of {table} fires otherwise"))
            .warning()
            .lock(SHARE_ROW_EXCLUSIVE);
        if enabled == "D" {
            draft.destructive()
        } else {
            draft
        }
    }

    fn create_table(
        &self,
        name: &Name,
        unlogged: bool,
        options: &[String],
        covers: &BTreeSet<Id>,
        reason: &str,
    ) -> Result<Vec<Draft>> {
        let order = self
            .to
            .column_order
            .get(name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut lines = Vec::new();
        let mut later = Vec::new();
        for part in order {
            let Object::Column(column) = self.declared(&Id::Column(name.clone(), part.clone()))? else {
                continue;
            };
            lines.push(ddl::column(part, column, self.default(name, part, covers)));
            later.extend(self.settings(name, part, column));
        }
        for id in covers {
            if let (Id::Constraint(_, part), Object::Constraint(constraint)) = (id, self.declared(id)?) {
                lines.push(format!("CONSTRAINT {} {}", quote(part), constraint.definition));
            }
        }
        let body = if lines.is_empty() {
            " ()".to_owned()
        } else {
            format!(" (\n  {}\n)", lines.join(",\n  "))
        };
        let unlogged = if unlogged { "UNLOGGED " } else { "" };
        let with = if options.is_empty() {
            String::new()
        } else {
            format!(" WITH {}", ddl::options(options))
        };
        let mut drafts = vec![Draft::new(
            format!("CREATE {unlogged}TABLE {name}{body}{with}"),
            reason,
        )];
        drafts.extend(later);
        Ok(drafts)
    }

    fn default(&self, table: &Name, column: &str, covers: &BTreeSet<Id>) -> Option<&str> {
        let id = Id::Default(table.clone(), column.to_owned());
        match self.to.objects.get(&id) {
            Some(Object::Default { expression }) if covers.contains(&id) => Some(expression),
            _ => None,
        }
    }

    /// What neither `CREATE TABLE` nor `ADD COLUMN` takes in every supported version.
    fn settings(&self, table: &Name, name: &str, column: &Column) -> Vec<Draft> {
        let plain = Column {
            storage: None,
            statistics: None,
            ..column.clone()
        };
        column::alter(table, name, &plain, column, self.atomic)
    }

    fn add_column(
        &self,
        table: &Name,
        name: &str,
        column: &Column,
        covers: &BTreeSet<Id>,
        reason: &str,
    ) -> Vec<Draft> {
        let default = self.default(table, name, covers);
        let sql = format!(
            "ALTER TABLE {table} ADD COLUMN {}",
            ddl::column(name, column, default)
        );
        // A call may be volatile, and then each row gets its own value.
        let computed = column.generated.is_some() && !column.is_virtual
            || column.identity.is_some()
            || default.is_some_and(|d| d.contains('('));
        let fails =
            column.not_null && default.is_none() && column.identity.is_none() && column.generated.is_none();
        let mut draft = Draft::new(sql, reason).lock(ACCESS_EXCLUSIVE).rewrites(computed);
        if fails {
            draft = Draft::new(
                draft.finish().sql,
                format!("{reason}; it fails when the table has rows"),
            )
            .lock(ACCESS_EXCLUSIVE)
            .warning()
            .data_dependent();
        } else if computed {
            draft = draft.warning().data_dependent();
        }
        let mut drafts = vec![draft];
        drafts.extend(self.settings(table, name, column));
        drafts
    }

    fn add_constraint(
        &self,
        table: &Name,
        name: &str,
        id: &Id,
        reason: String,
        on_new: bool,
    ) -> Result<Vec<Draft>> {
        let Object::Constraint(constraint) = self.declared(id)? else {
            return Err(Error::internal("an object is of another kind than its identity"));
        };
        let add = format!(
            "ALTER TABLE {table} ADD CONSTRAINT {} {}",
            quote(name),
            constraint.definition
        );
        let foreign = constraint.class == "f";
        let lock = if foreign {
            SHARE_ROW_EXCLUSIVE
        } else {
            ACCESS_EXCLUSIVE
        };
        let unvalidated = constraint.definition.ends_with(" NOT VALID");
        if on_new || unvalidated {
            return Ok(vec![Draft::new(add, reason).lock(lock)]);
        }
        let reason = format!("{reason}; rows that break it make it fail");
        if !self.atomic && matches!(constraint.class.as_str(), "c" | "f") {
            return Ok(vec![
                Draft::new(format!("{add} NOT VALID"), reason.clone())
                    .warning()
                    .lock(lock),
                self.validate(table, name, reason),
            ]);
        }
        Ok(vec![
            Draft::new(add, reason)
                .warning()
                .lock(lock)
                .scans()
                .data_dependent(),
        ])
    }

    fn validate(&self, table: &Name, name: &str, reason: String) -> Draft {
        Draft::new(
            format!("ALTER TABLE {table} VALIDATE CONSTRAINT {}", quote(name)),
            reason,
        )
        .warning()
        .lock(SHARE_UPDATE_EXCLUSIVE)
        .scans()
        .data_dependent()
    }

    fn alter(&self, id: &Id) -> Result<Vec<Draft>> {
        let reason = format!("{} changes", id.describe());
        Ok(vec![match (id, self.observed(id)?, self.declared(id)?) {
            (Id::Enum(name), Object::Enum { labels: old }, Object::Enum { labels: new }) => {
                if self.changes.retyped.contains(id) {
                    return Ok(self.retype(id, name, old, new));
                }
                return Ok(add_labels(name, old, new));
            }
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
                    drafts.push(
                        Draft::new(format!("ALTER SEQUENCE {name}{options}"), reason)
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
            (
                Id::Table(name),
                Object::Table {
                    unlogged: was,
                    options: old,
                },
                Object::Table {
                    unlogged,
                    options: new,
                },
            ) => return Ok(alter_table(name, (*was, old), (*unlogged, new), &reason)),
            (Id::Column(table, name), Object::Column(old), Object::Column(new)) => {
                return Ok(column::alter(table, name, old, new, self.atomic));
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
            (Id::Constraint(table, name), _, _) => {
                self.validate(table, name, format!("{reason}; rows that break it make it fail"))
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
            (Id::Trigger(table, name), _, Object::Trigger { enabled, .. }) => {
                self.enable(table, name, enabled)
            }
            (Id::Comment(of), _, Object::Comment { text }) => self.comment(of, Some(text)),
            (Id::Privileges(of, role), old, new) => {
                let (now, wanted) = (privileges::granted(Some(old)), privileges::granted(Some(new)));
                return Ok(privileges::change(of, role, &now, &wanted, self.to));
            }
            _ => return Err(Error::internal("an object is of another kind than its identity")),
        }])
    }

    /// A new type of the same name, and every column moved to it by the label's text.
    fn retype(&self, id: &Id, name: &Name, old: &[String], new: &[String]) -> Vec<Draft> {
        let aside = Name::new(
            &name.schema,
            format!("{}__ptah_old", name.name.chars().take(40).collect::<String>()),
        );
        let removed = old.iter().any(|label| !new.contains(label));
        let mut drafts = vec![
            Draft::new(
                format!("ALTER TYPE {name} RENAME TO {}", quote(&aside.name)),
                format!("enum {name} is replaced: its values cannot be changed in place"),
            ),
            Draft::new(
                format!("CREATE TYPE {name} AS ENUM ({})", ddl::labels(new)),
                format!("enum {name} is made again"),
            ),
        ];
        for (column_id, needs) in &self.from.needs {
            let (Id::Column(table, column), true) = (column_id, needs.contains(id)) else {
                continue;
            };
            let stays = self
                .to
                .needs
                .get(column_id)
                .is_some_and(|needs| needs.contains(id));
            let Some(Object::Column(known)) = self.from.objects.get(column_id) else {
                continue;
            };
            if !stays || self.changes.dropped.contains(column_id) {
                continue;
            }
            let array = if known.data_type.ends_with("[]") { "[]" } else { "" };
            let quoted = quote(column);
            let draft = Draft::new(
                format!(
                    "ALTER TABLE {table} ALTER COLUMN {quoted} TYPE {t} USING {quoted}::text{array}::{t}",
                    t = known.data_type
                ),
                format!("column {column} of {table} moves to the new enum {name}"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE)
            .rewrites(true)
            .touching([table.sql(), column_id.path()]);
            drafts.push(if removed {
                draft.destructive().data_dependent()
            } else {
                draft
            });
        }
        let drop = Draft::new(
            format!("DROP TYPE {aside}"),
            format!("nothing uses the old enum {name} any more"),
        );
        drafts.push(if removed { drop.destructive() } else { drop });
        drafts
    }
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

fn alter_table(name: &Name, old: (bool, &[String]), new: (bool, &[String]), reason: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if old.0 != new.0 {
        let word = if new.0 { "UNLOGGED" } else { "LOGGED" };
        let draft = Draft::new(format!("ALTER TABLE {name} SET {word}"), reason)
            .lock(ACCESS_EXCLUSIVE)
            .rewrites(true);
        drafts.push(if new.0 {
            draft.destructive()
        } else {
            draft.warning()
        });
    }
    let key = |option: &String| {
        option
            .split_once('=')
            .map_or(option.clone(), |(key, _)| key.to_owned())
    };
    let changed: Vec<String> = new.1.iter().filter(|o| !old.1.contains(o)).cloned().collect();
    let kept: BTreeSet<String> = new.1.iter().map(key).collect();
    let reset: Vec<String> = old.1.iter().map(key).filter(|k| !kept.contains(k)).collect();
    if !changed.is_empty() {
        let sql = format!("ALTER TABLE {name} SET {}", ddl::options(&changed));
        drafts.push(Draft::new(sql, reason).lock(ACCESS_EXCLUSIVE));
    }
    if !reset.is_empty() {
        let sql = format!("ALTER TABLE {name} RESET ({})", reset.join(", "));
        drafts.push(Draft::new(sql, reason).lock(ACCESS_EXCLUSIVE));
    }
    drafts
}
