//! Tables: how they come, get columns and constraints, and become and cease to be parts of others.

use std::collections::BTreeSet;

use super::super::anticipate::{handed_down, own};
use super::super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE};
use super::super::{column, ddl, privileges};
use super::Renderer;
use crate::catalog::{Column, Constraint, Id, Object, Table};
use crate::error::Result;
use crate::name::{Name, quote};

impl Renderer<'_> {
    pub(super) fn create_table(
        &self,
        name: &Name,
        table: &Table,
        covers: &BTreeSet<Id>,
        reason: &str,
    ) -> Result<Vec<Draft>> {
        let partition_of = match self.to.objects.get(&Id::Partition(name.clone())) {
            Some(Object::Partition { parent, bound }) => Some((parent, bound)),
            _ => None,
        };
        let mut lines = Vec::new();
        let mut later = Vec::new();
        for part in self.to.column_order.get(name).into_iter().flatten() {
            let Object::Column(column) = self.declared(&Id::Column(name.clone(), part.clone()))? else {
                continue;
            };
            match self.what_parents_give(name, part) {
                Some((given, default)) => later.extend(self.beyond(name, part, &given, default, column)),
                None => {
                    lines.push(ddl::column(part, column, self.default(name, part, covers)));
                    later.extend(self.settings(name, part, column));
                }
            }
        }
        for id in covers {
            if let (Id::Constraint(_, part), Object::Constraint(constraint)) = (id, self.declared(id)?) {
                lines.push(format!("CONSTRAINT {} {}", quote(part), constraint.definition));
            }
        }
        let body = match (lines.is_empty(), partition_of.is_some()) {
            (true, true) => String::new(),
            (true, false) => " ()".to_owned(),
            _ => format!(" (\n  {}\n)", lines.join(",\n  ")),
        };
        let mut sql = format!(
            "CREATE {}TABLE {name}",
            if table.unlogged { "UNLOGGED " } else { "" }
        );
        if let Some((parent, bound)) = partition_of {
            sql.push_str(&format!(" PARTITION OF {parent}{body} {bound}"));
        } else {
            sql.push_str(&body);
            let parents: Vec<String> = self.to.parents(name).map(Name::sql).collect();
            if !parents.is_empty() {
                sql.push_str(&format!(" INHERITS ({})", parents.join(", ")));
            }
        }
        if let Some(key) = &table.partition_key {
            sql.push_str(&format!(" PARTITION BY {key}"));
        }
        if !table.options.is_empty() {
            sql.push_str(&format!(" WITH {}", ddl::options(&table.options)));
        }
        let draft = Draft::new(sql, reason);
        let mut drafts = vec![match partition_of {
            // The parent's queries have to look at one more table; its default partition is searched for rows.
            Some(_) => draft.lock(ACCESS_EXCLUSIVE).scans().data_dependent(),
            None => draft,
        }];
        drafts.extend(later);
        drafts.extend(privileges::row_security_of(name, None, table));
        Ok(drafts)
    }

    /// A column whose type stays.
    fn plainly(&self, table: &Name, name: &str) -> column::How<'_> {
        column::How {
            atomic: self.atomic,
            through_text: false,
            usual_storage: self.usual_storage(&Id::Column(table.clone(), name.to_owned())),
        }
    }

    /// What a new table has of this column from its parents, with the default; none when it is the table's own.
    fn what_parents_give(&self, table: &Name, name: &str) -> Option<(Column, Option<&str>)> {
        self.to.parents(table).find_map(|parent| {
            let Some(Object::Column(column)) =
                self.to.objects.get(&Id::Column(parent.clone(), name.to_owned()))
            else {
                return None;
            };
            let default = match self.to.objects.get(&Id::Default(parent.clone(), name.to_owned())) {
                Some(Object::Default { expression }) => Some(expression.as_str()),
                _ => None,
            };
            Some((handed_down(column), default))
        })
    }

    /// What a table's column has beyond what came from its parent.
    fn beyond(
        &self,
        table: &Name,
        name: &str,
        given: &Column,
        default: Option<&str>,
        column: &Column,
    ) -> Vec<Draft> {
        let mut drafts = column::alter(table, name, given, column, self.plainly(table, name));
        let id = Id::Default(table.clone(), name.to_owned());
        let wanted = match self.to.objects.get(&id) {
            Some(Object::Default { expression }) => Some(expression.as_str()),
            _ => None,
        };
        if wanted != default {
            let how = wanted.map_or_else(
                || "DROP DEFAULT".to_owned(),
                |expression| format!("SET DEFAULT {expression}"),
            );
            drafts.push(
                Draft::new(
                    format!("ALTER TABLE {table} ALTER COLUMN {} {how}", quote(name)),
                    format!("{} is not its parent's", id.describe()),
                )
                .lock(ACCESS_EXCLUSIVE),
            );
        }
        drafts
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
        let not_valid = column
            .not_null_constraint
            .as_ref()
            .is_some_and(|constraint| constraint.not_valid);
        let plain = Column {
            storage: None,
            statistics: None,
            options: vec![],
            not_null: column.not_null && !not_valid,
            ..column.clone()
        };
        column::alter(table, name, &plain, column, self.plainly(table, name))
    }

    pub(super) fn add_column(
        &self,
        table: &Name,
        name: &str,
        column: &Column,
        covers: &BTreeSet<Id>,
        reason: &str,
    ) -> Result<Vec<Draft>> {
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
        Ok(drafts)
    }

    pub(super) fn add_constraint(
        &self,
        table: &Name,
        name: &str,
        constraint: &Constraint,
        reason: String,
        on_new: bool,
    ) -> Vec<Draft> {
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
        let end = |text: &str| constraint.definition.ends_with(text);
        let mut drafts = if on_new || end(" NOT VALID") || end(" NOT ENFORCED") {
            vec![Draft::new(add, reason).lock(lock)]
        } else {
            let reason = format!("{reason}; rows that break it make it fail");
            let later = match constraint.class.as_str() {
                "c" => true,
                // The server takes no unvalidated foreign key of a partitioned table.
                "f" => self.partition_key(table).is_none(),
                _ => false,
            };
            if !self.atomic && later {
                vec![
                    Draft::new(format!("{add} NOT VALID"), reason.clone())
                        .warning()
                        .lock(lock),
                    self.validate(table, name, reason),
                ]
            } else if let (false, Some(online)) =
                (self.atomic, self.online_key(table, name, constraint, &reason))
            {
                online
            } else {
                vec![
                    Draft::new(add, reason)
                        .warning()
                        .lock(lock)
                        .scans()
                        .data_dependent(),
                ]
            }
        };
        if !constraint.index_options.is_empty() {
            let index = Name::new(&table.schema, name);
            drafts.extend(super::alter::options(
                &format!("INDEX {index}"),
                &[],
                &constraint.index_options,
                "its index is stored otherwise",
            ));
        }
        drafts
    }

    /// A key whose index is built beside running transactions first.
    fn online_key(
        &self,
        table: &Name,
        name: &str,
        constraint: &Constraint,
        reason: &str,
    ) -> Option<Vec<Draft>> {
        if self.partition_key(table).is_some() {
            return None;
        }
        let (head, rest) = match constraint.class.as_str() {
            "p" => ("PRIMARY KEY", constraint.definition.strip_prefix("PRIMARY KEY ")?),
            "u" => ("UNIQUE", constraint.definition.strip_prefix("UNIQUE ")?),
            _ => return None,
        };
        let (nulls, columns) = match rest.strip_prefix("NULLS NOT DISTINCT ") {
            Some(columns) => (" NULLS NOT DISTINCT", columns),
            None => ("", rest),
        };
        // What the index itself cannot say: when it is checked, and periods.
        let timing = ["DEFERRABLE INITIALLY DEFERRED", "DEFERRABLE"]
            .into_iter()
            .find(|timing| columns.ends_with(timing));
        let columns = timing
            .and_then(|timing| columns.strip_suffix(timing))
            .unwrap_or(columns)
            .trim_end();
        if columns.contains("WITHOUT OVERLAPS") {
            return None;
        }
        let quoted = quote(name);
        let timing = timing.map(|timing| format!(" {timing}")).unwrap_or_default();
        Some(vec![
            Draft::new(
                format!("CREATE UNIQUE INDEX CONCURRENTLY {quoted} ON {table} {columns}{nulls}"),
                reason,
            )
            .warning()
            .lock(SHARE_UPDATE_EXCLUSIVE)
            .scans()
            .data_dependent()
            .alone(),
            Draft::new(
                format!("ALTER TABLE {table} ADD CONSTRAINT {quoted} {head} USING INDEX {quoted}{timing}"),
                format!("the index becomes constraint {name} of {table}"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE),
        ])
    }

    pub(super) fn partition_key(&self, table: &Name) -> Option<&str> {
        match self.to.objects.get(&Id::Table(table.clone())) {
            Some(Object::Table(table)) => table.partition_key.as_deref(),
            _ => None,
        }
    }

    pub(super) fn validate(&self, table: &Name, name: &str, reason: String) -> Draft {
        Draft::new(
            format!("ALTER TABLE {table} VALIDATE CONSTRAINT {}", quote(name)),
            reason,
        )
        .warning()
        .lock(SHARE_UPDATE_EXCLUSIVE)
        .scans()
        .data_dependent()
    }

    /// Not `CONCURRENTLY`: that leaves a check of the bounds behind, under a name that the server chooses.
    pub(super) fn detach(&self, child: &Name, parent: &Name, reason: String) -> Draft {
        Draft::new(format!("ALTER TABLE {parent} DETACH PARTITION {child}"), reason)
            .warning()
            .lock(ACCESS_EXCLUSIVE)
    }

    pub(super) fn attach(
        &self,
        child: &Name,
        parent: &Name,
        bound: &str,
        reason: String,
    ) -> Result<Vec<Draft>> {
        let mut drafts = self.checks_of_parent(child);
        drafts.push(
            Draft::new(
                format!("ALTER TABLE {parent} ATTACH PARTITION {child} {bound}"),
                format!("{reason}; rows outside its bounds make it fail"),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE)
            .scans()
            .data_dependent(),
        );
        Ok(drafts)
    }

    pub(super) fn inherit(&self, child: &Name, parent: &Name, reason: String) -> Result<Vec<Draft>> {
        let mut drafts = self.checks_of_parent(child);
        drafts.push(
            Draft::new(format!("ALTER TABLE {child} INHERIT {parent}"), reason)
                .warning()
                .lock(ACCESS_EXCLUSIVE),
        );
        Ok(drafts)
    }

    /// A table has the checks of its parent before it is attached: the server adds none.
    fn checks_of_parent(&self, child: &Name) -> Vec<Draft> {
        let missing = own(self.to, child).filter_map(|(id, object)| match (id, object) {
            (Id::Constraint(_, name), Object::Constraint(c)) if c.class == "c" => {
                let parent_has = self.to.parents(child).any(|parent| {
                    let theirs = Id::Constraint(parent.clone(), name.clone());
                    self.from.objects.contains_key(&theirs) && !self.changes.dropped.contains(&theirs)
                });
                let has = self.has_check(child, name);
                (parent_has && !has).then_some((name, c))
            }
            _ => None,
        });
        missing
            .map(|(name, c)| {
                Draft::new(
                    format!(
                        "ALTER TABLE {child} ADD CONSTRAINT {} {}",
                        quote(name),
                        c.definition
                    ),
                    format!("{child} is held to what its parent demands; rows that break it make it fail"),
                )
                .warning()
                .lock(ACCESS_EXCLUSIVE)
                .scans()
                .data_dependent()
            })
            .collect()
    }

    fn has_check(&self, child: &Name, name: &str) -> bool {
        self.checks
            .contains(&Id::Constraint(child.clone(), name.to_owned()))
    }
}
