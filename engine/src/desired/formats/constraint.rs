//! Constraints as the `constraint` block of HCL and the `constraints` of YAML write them.

use super::objects::{ConstraintKind, Reference};
use super::place::{At, Text};
use super::{dotted_name, foreign_action, keyword};
use crate::error::Result;

/// Everything that can be said of one.
pub(super) struct Written {
    pub(super) kind: Option<Text>,
    pub(super) columns: Vec<String>,
    pub(super) include: Vec<String>,
    pub(super) nulls_distinct: Option<(bool, At)>,
    pub(super) method: Option<Text>,
    pub(super) elements: Option<Text>,
    pub(super) condition: Option<Text>,
    pub(super) check: Option<Text>,
    pub(super) foreign_table: Option<Text>,
    pub(super) foreign: Vec<String>,
    pub(super) on_delete: Option<Text>,
    pub(super) on_update: Option<Text>,
}

impl Written {
    /// The constraint, which takes everything that is said.
    ///
    /// # Errors
    /// Something is missing, or said of a kind that does not have it.
    pub(super) fn read(mut self, at: &At) -> Result<ConstraintKind> {
        let Some(word) = self.kind.take() else {
            return Err(at.malformed("type is missing"));
        };
        let among = ["PRIMARY KEY", "UNIQUE", "FOREIGN KEY", "CHECK", "EXCLUDE"];
        let Some(kind) = keyword(&word.text, &among) else {
            let why = format!("{:?} is none of {}", word.text, among.join(", "));
            return Err(word.at.malformed(why));
        };
        let missing = |what: &str| at.malformed(format!("{what} is missing"));
        let made = match kind {
            "CHECK" => ConstraintKind::Check(self.check.take().ok_or_else(|| missing("check"))?),
            "EXCLUDE" => ConstraintKind::Exclude {
                method: self.method.take().ok_or_else(|| missing("using"))?,
                elements: self.elements.take().ok_or_else(|| missing("elements"))?,
                condition: self.condition.take(),
            },
            _ if self.columns.is_empty() => return Err(missing("columns")),
            "PRIMARY KEY" => ConstraintKind::Primary {
                columns: std::mem::take(&mut self.columns),
                include: std::mem::take(&mut self.include),
            },
            "UNIQUE" => ConstraintKind::Unique {
                columns: std::mem::take(&mut self.columns),
                include: std::mem::take(&mut self.include),
                nulls_not_distinct: self.nulls_distinct.take().is_some_and(|(distinct, _)| !distinct),
            },
            _ => self.foreign_key(at)?,
        };
        self.nothing_left(kind, at)?;
        Ok(made)
    }

    fn foreign_key(&mut self, at: &At) -> Result<ConstraintKind> {
        let Some(table) = self.foreign_table.take() else {
            return Err(at.malformed("foreign_table is missing"));
        };
        let Some(name) = dotted_name(&table.text) else {
            return Err(table.at.malformed("it is not TABLE or SCHEMA.TABLE"));
        };
        if self.foreign.len() != self.columns.len() {
            return Err(at.malformed("there are not as many foreign columns as columns"));
        }
        Ok(ConstraintKind::Foreign {
            columns: std::mem::take(&mut self.columns),
            table: Reference { name, at: table.at },
            foreign: std::mem::take(&mut self.foreign),
            on_delete: foreign_action(self.on_delete.take())?,
            on_update: foreign_action(self.on_update.take())?,
            deferral: "",
        })
    }

    fn nothing_left(&self, kind: &str, at: &At) -> Result<()> {
        let texts = [
            &self.method,
            &self.elements,
            &self.condition,
            &self.check,
            &self.foreign_table,
            &self.on_delete,
            &self.on_update,
        ];
        let why = format!("{kind} has no such part");
        if let Some(text) = texts.into_iter().flatten().next() {
            return Err(text.at.malformed(why));
        }
        if let Some((_, at)) = &self.nulls_distinct {
            return Err(at.malformed(why));
        }
        if self.columns.is_empty() && self.include.is_empty() && self.foreign.is_empty() {
            Ok(())
        } else {
            Err(at.malformed(format!("{kind} has no such columns")))
        }
    }
}
