//! A node of the order into statements.
//!
//! Promises: names are qualified and quoted, `CASCADE` and `IF EXISTS` occur nowhere, and severity comes from
//! the change itself.

mod alter;
mod create;
mod drop;
mod table;

use std::collections::BTreeSet;

pub(super) use alter::restarts;

use super::change::Changes;
use super::draft::{ACCESS_EXCLUSIVE, Draft, SHARE_ROW_EXCLUSIVE, SHARE_UPDATE_EXCLUSIVE};
use super::order::{Act, Node};
use super::{ddl, privileges, retype};
use crate::catalog::{Id, Model, Object};
use crate::error::{Error, Result};
use crate::name::{Name, literal, quote};

pub(super) struct Renderer<'a> {
    pub(super) changes: &'a Changes,
    /// As the server's own following will have it.
    pub(super) from: &'a Model,
    pub(super) to: &'a Model,
    pub(super) atomic: bool,
    /// Constraints that there were, whatever follows from the changes of parents.
    pub(super) checks: BTreeSet<Id>,
}

impl Renderer<'_> {
    pub(super) fn node(&self, node: &Node, covers: &BTreeSet<Id>) -> Result<Vec<Draft>> {
        let id = &node.1;
        match node.0 {
            Act::Drop => self.drop(id),
            Act::Aside => {
                let inside = self.inside(covers)?;
                retype::step_aside(id, self.from, self.to, &inside)
            }
            Act::Alter => self.alter(id),
            Act::Create => self.create(id, covers),
            Act::Clear => match id {
                Id::DefaultPrivileges(_) => self.default_privileges(id),
                Id::Owner(of) => self.owner(of),
                _ => retype::clear(id, self.from, self.to),
            },
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

    /// The constraints that are made together with a domain.
    fn inside(&self, covers: &BTreeSet<Id>) -> Result<Vec<String>> {
        let mut inside = Vec::new();
        for id in covers {
            if let (Id::DomainConstraint(_, name), Object::DomainConstraint { definition }) =
                (id, self.declared_or_type(id)?)
            {
                inside.push(format!("CONSTRAINT {} {definition}", quote(name)));
            }
        }
        Ok(inside)
    }

    fn declared_or_type(&self, id: &Id) -> Result<&Object> {
        if id.is_type() {
            self.to
                .objects
                .get(id)
                .or_else(|| self.from.objects.get(id))
                .ok_or_else(|| Error::internal("a plan replaces what is not there"))
        } else {
            self.declared(id)
        }
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

    fn owner(&self, of: &Id) -> Result<Vec<Draft>> {
        let Object::Owner { role } = self.declared(&Id::Owner(Box::new(of.clone())))? else {
            return Err(Error::internal("an object is of another kind than its identity"));
        };
        let sql = format!("ALTER {} OWNER TO {}", ddl::reference(of, self.to), quote(role));
        Ok(vec![super::privileges::owner(sql, of, role)])
    }

    fn default_privileges(&self, id: &Id) -> Result<Vec<Draft>> {
        let Id::DefaultPrivileges(of) = id else {
            return Err(Error::internal("an object is of another kind than its identity"));
        };
        let (old, new) = (self.from.objects.get(id), self.to.objects.get(id));
        let now = old.or(new).map(|_| match old {
            Some(_) => privileges::granted(old),
            None => privileges::by_default(new),
        });
        let wanted = match new {
            Some(_) => privileges::granted(new),
            None => privileges::by_default(old),
        };
        Ok(privileges::change_default(of, &now.unwrap_or_default(), &wanted))
    }

    fn enable(&self, table: &Name, name: &str, what: &str, enabled: &str) -> Draft {
        let how = match enabled {
            "D" => "DISABLE",
            "R" => "ENABLE REPLICA",
            "A" => "ENABLE ALWAYS",
            _ => "ENABLE",
        };
        let sql = format!("ALTER TABLE {table} {how} {what} {}", quote(name));
        let reason = format!("{} {name} of {table} fires otherwise", what.to_lowercase());
        let lock = if what == "RULE" {
            ACCESS_EXCLUSIVE
        } else {
            SHARE_ROW_EXCLUSIVE
        };
        let draft = Draft::new(sql, reason).warning().lock(lock);
        if enabled == "D" {
            draft.destructive()
        } else {
            draft
        }
    }
}
