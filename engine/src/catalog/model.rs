//! What was read of a database: objects by identity, each with what the server says about it, and which object
//! needs which.
//!
//! Promises: two models are equal exactly when the objects in scope are; no OID, statistic, sequence position or
//! physical column order is in it, nor an owner that nobody declared.

use std::collections::{BTreeMap, BTreeSet};

use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use serde::Serialize;

use super::id::Id;
use super::object::Object;
use crate::error::{Error, Result};
use crate::name::Name;

/// A database's objects in scope.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// By identity.
    pub objects: BTreeMap<Id, Object>,
    /// What each object needs, as the server recorded it. Only objects of `objects` occur.
    pub needs: BTreeMap<Id, BTreeSet<Id>>,
    /// Constraints and indexes that a table has from the table that it is a partition of, or inherits from. They are the
    /// parent's; they become its own when it is detached.
    pub inherited: BTreeMap<Id, Object>,
    /// How a column's type is stored by itself, for servers that have no word for that (before PostgreSQL 16).
    pub usual_storage: BTreeMap<Id, String>,
    /// Columns by which a partitioned table divides its rows.
    pub key_columns: BTreeSet<Id>,
    /// Columns that a table has from a parent and by its own declaration: they stay when the parent's go.
    pub merged: BTreeSet<Id>,
    /// Objects outside the scope, or left out of it, that need one in it.
    pub outside_dependents: BTreeMap<Id, BTreeSet<String>>,
    /// Who owns each object that the reading user does not own itself.
    pub owners: BTreeMap<Id, String>,
    /// Objects whose owner is not among the reading user's roles.
    pub foreign: BTreeSet<Id>,
    /// Tables that no foreign key of the reading user may refer to.
    pub not_referable: BTreeSet<Id>,
    /// The reading user may not make schemas.
    pub no_new_schemas: bool,
    /// Columns of each table in physical order; for rendering, never compared.
    pub column_order: BTreeMap<Name, Vec<String>>,
    /// Materialized views that were never filled; a state, like rows, never compared.
    pub unfilled: BTreeSet<Id>,
    /// Versions of the extensions that there are: part of the fingerprint, not of the comparison.
    pub extension_versions: BTreeMap<String, String>,
    /// For people.
    pub notes: Vec<String>,
}

impl Model {
    /// Whether some object differs from the other model's in nothing but the text of an expression.
    #[must_use]
    pub fn differs_in_text(&self, other: &Self) -> bool {
        self.objects.iter().any(|(id, object)| {
            other
                .objects
                .get(id)
                .is_some_and(|o| o != object && o.without_text() == object.without_text())
        })
    }

    /// Everything that needs `id`, directly.
    #[must_use]
    pub fn dependents(&self) -> BTreeMap<&Id, BTreeSet<&Id>> {
        let mut dependents: BTreeMap<&Id, BTreeSet<&Id>> = BTreeMap::new();
        for (id, needs) in &self.needs {
            for need in needs {
                dependents.entry(need).or_default().insert(id);
            }
        }
        dependents
    }

    /// Whether `id` needs `other`, directly.
    #[must_use]
    pub fn needs(&self, id: &Id, other: &Id) -> bool {
        self.needs.get(id).is_some_and(|needs| needs.contains(other))
    }

    /// The tables whose columns this table has: of which it is a partition, or from which it inherits.
    pub fn parents<'a>(&'a self, table: &'a Name) -> impl Iterator<Item = &'a Name> {
        let partition = match self.objects.get(&Id::Partition(table.clone())) {
            Some(Object::Partition { parent, .. }) => Some(parent),
            _ => None,
        };
        let nobody = Name::new("", "");
        let from = Id::Inherits(table.clone(), nobody);
        let inherits = self.objects.range(from..).map_while(move |(id, _)| match id {
            Id::Inherits(child, parent) if child == table => Some(parent),
            _ => None,
        });
        partition.into_iter().chain(inherits)
    }

    /// The parents, theirs, and so on.
    #[must_use]
    pub fn ancestors<'a>(&'a self, table: &'a Name) -> BTreeSet<&'a Name> {
        let mut found: BTreeSet<&Name> = BTreeSet::new();
        let mut queue: Vec<&Name> = self.parents(table).collect();
        while let Some(parent) = queue.pop() {
            if found.insert(parent) {
                queue.extend(self.parents(parent));
            }
        }
        found
    }

    /// Whether the table has this column from a parent.
    #[must_use]
    pub fn has_from_parent(&self, table: &Name, column: &str) -> bool {
        self.parents(table).any(|parent| {
            self.objects
                .contains_key(&Id::Column(parent.clone(), column.to_owned()))
        })
    }

    /// The identity of this state. Owners are not part of it.
    ///
    /// # Errors
    /// Never in practice; the encoder's own error.
    pub fn fingerprint(&self, major: u32, scope: &[String]) -> Result<Digest> {
        #[derive(Serialize)]
        struct State<'a> {
            major: u32,
            scope: &'a [String],
            extensions: &'a BTreeMap<String, String>,
            objects: Vec<(String, &'a Object)>,
        }
        let objects = self
            .objects
            .iter()
            .filter(|(id, _)| !matches!(id, Id::Owner(_)))
            .map(|(id, object)| (id.describe(), object))
            .collect();
        canonical::digest(&State {
            major,
            scope,
            extensions: &self.extension_versions,
            objects,
        })
        .map_err(|_| Error::internal("a model has no JSON"))
    }

    /// The first object, in order, that is not the same on both sides.
    #[must_use]
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a Id> {
        self.objects
            .keys()
            .chain(other.objects.keys())
            .filter(|id| self.objects.get(*id) != other.objects.get(*id))
            .min()
    }
}
