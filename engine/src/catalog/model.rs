//! What was read of a database: objects by identity, each with what the server says about it, and which object
//! needs which.
//!
//! Promises: two models are equal exactly when the objects in scope are; no OID, statistic, sequence position or
//! physical column order is in it, nor an owner.

use std::collections::{BTreeMap, BTreeSet};

use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::name::{Name, quote};

/// The identity of an object. The order of the variants is the order of creation among equals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A schema.
    Schema(String),
    /// An extension.
    Extension(String),
    /// An enum type.
    Enum(Name),
    /// A sequence; one of an identity column belongs to the column.
    Sequence(Name),
    /// A function or procedure, told by the types of its arguments.
    Function(Name, String),
    /// A table.
    Table(Name),
    /// A column of a table.
    Column(Name, String),
    /// That a column owns a sequence.
    SequenceOwner(Name),
    /// The default of a column.
    Default(Name, String),
    /// A primary key, unique, check or foreign key constraint of a table.
    Constraint(Name, String),
    /// An index that no constraint owns.
    Index(Name),
    /// A view.
    View(Name),
    /// A trigger on a table or view.
    Trigger(Name, String),
    /// The comment on an object, or on a view's column.
    Comment(Box<Id>),
    /// What a role (or everybody, the empty name) may do with an object beyond what the server grants by itself.
    Privileges(Box<Id>, String),
}

/// What the server says about an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Object {
    /// Nothing but that it is there.
    Schema,
    /// Its schema; versions are noted, not compared.
    Extension { schema: String },
    /// Its labels in order.
    Enum { labels: Vec<String> },
    /// Its options.
    Sequence(Sequence),
    /// Its definition and what decides whether it can be replaced in place.
    Function(Function),
    /// What is not in its columns.
    Table { unlogged: bool, options: Vec<String> },
    /// A column.
    Column(Column),
    /// The owning table and column.
    SequenceOwner { table: Name, column: String },
    /// The expression.
    Default { expression: String },
    /// `pg_get_constraintdef`.
    Constraint(Constraint),
    /// `pg_get_indexdef`.
    Index {
        table: Name,
        definition: String,
        unique: bool,
        valid: bool,
    },
    /// `pg_get_viewdef`, columns and options.
    View(View),
    /// `pg_get_triggerdef` and `tgenabled`.
    Trigger {
        definition: String,
        enabled: String,
        on_view: bool,
    },
    /// The text.
    Comment { text: String },
    /// Privileges; a star marks the grant option.
    Privileges {
        granted: BTreeSet<String>,
        by_default: BTreeSet<String>,
    },
}

/// A sequence's options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sequence {
    /// `integer`, …
    pub data_type: String,
    /// First value.
    pub start: i64,
    /// Step.
    pub increment: i64,
    /// Lowest value.
    pub min: i64,
    /// Highest value.
    pub max: i64,
    /// How many a session takes at once.
    pub cache: i64,
    /// Whether it starts over.
    pub cycle: bool,
    /// Whether it is unlogged.
    pub unlogged: bool,
}

/// A function or procedure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// `pg_get_functiondef`.
    pub definition: String,
    /// `FUNCTION` or `PROCEDURE`.
    pub word: String,
    /// Arguments as `DROP`, `COMMENT` and `GRANT` name them.
    pub signature: String,
    /// Arguments and result without defaults: while these are equal the server replaces in place.
    pub shape: String,
    /// How many arguments have a default.
    pub defaults: i16,
    /// Runs with its owner's rights.
    pub security_definer: bool,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Column {
    /// `format_type`.
    pub data_type: String,
    /// When it is not the type's own.
    pub collation: Option<String>,
    /// Whether NULL is refused.
    pub not_null: bool,
    /// The constraint's name and state where the server keeps one and it is not the usual (PostgreSQL 18).
    pub not_null_name: Option<String>,
    /// The expression of a generated column.
    pub generated: Option<String>,
    /// Computed when read, not stored (PostgreSQL 18).
    pub is_virtual: bool,
    /// Identity: `ALWAYS` or `BY DEFAULT`, with its sequence.
    pub identity: Option<Identity>,
    /// When it is not the type's own.
    pub storage: Option<String>,
    /// When one is set.
    pub compression: Option<String>,
    /// When one is set.
    pub statistics: Option<i32>,
}

/// An identity column's sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// `ALWAYS` or `BY DEFAULT`.
    pub generation: String,
    /// Its sequence's name when it is not `<table>_<column>_seq`.
    pub sequence_name: Option<String>,
    /// Its options.
    pub sequence: Sequence,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Constraint {
    /// `p`, `u`, `c` or `f`.
    pub class: String,
    /// `pg_get_constraintdef`.
    pub definition: String,
    /// The other table of a foreign key.
    pub references: Option<Name>,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// `pg_get_viewdef`.
    pub definition: String,
    /// Name, type and collation of each column in order.
    pub columns: Vec<(String, String, Option<String>)>,
    /// `reloptions`, sorted.
    pub options: Vec<String>,
}

/// A database's objects in scope.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// By identity.
    pub objects: BTreeMap<Id, Object>,
    /// What each object needs, as the server recorded it. Only objects of `objects` occur.
    pub needs: BTreeMap<Id, BTreeSet<Id>>,
    /// Objects outside the scope, or left out of it, that need one in it.
    pub outside_dependents: BTreeMap<Id, BTreeSet<String>>,
    /// Objects whose owner is not among the reading user's roles.
    pub foreign: BTreeSet<Id>,
    /// Tables that no foreign key of the reading user may refer to.
    pub not_referable: BTreeSet<Id>,
    /// The reading user may not make schemas.
    pub no_new_schemas: bool,
    /// Columns of each table in physical order; for rendering, never compared.
    pub column_order: BTreeMap<Name, Vec<String>>,
    /// Versions of the extensions that there are: part of the fingerprint, not of the comparison.
    pub extension_versions: BTreeMap<String, String>,
    /// For people.
    pub notes: Vec<String>,
}

impl Id {
    /// The word for people.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Schema(_) => "schema",
            Self::Extension(_) => "extension",
            Self::Enum(_) => "enum",
            Self::Sequence(_) => "sequence",
            Self::Function(..) => "function",
            Self::Table(_) => "table",
            Self::Column(..) => "column",
            Self::SequenceOwner(_) => "sequence owner",
            Self::Default(..) => "default",
            Self::Constraint(..) => "constraint",
            Self::Index(_) => "index",
            Self::View(_) => "view",
            Self::Trigger(..) => "trigger",
            Self::Comment(_) => "comment",
            Self::Privileges(..) => "privileges",
        }
    }

    /// The qualified name, without the kind.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Schema(name) | Self::Extension(name) => quote(name),
            Self::Enum(name) | Self::Sequence(name) | Self::Table(name) | Self::SequenceOwner(name) => {
                name.sql()
            }
            Self::Index(name) | Self::View(name) => name.sql(),
            Self::Function(name, arguments) => format!("{}({arguments})", name.sql()),
            Self::Column(name, part)
            | Self::Default(name, part)
            | Self::Constraint(name, part)
            | Self::Trigger(name, part) => format!("{}.{}", name.sql(), quote(part)),
            Self::Comment(of) | Self::Privileges(of, _) => of.path(),
        }
    }

    /// Kind and qualified name.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Comment(of) => format!("comment on {}", of.describe()),
            Self::Privileges(of, role) if role.is_empty() => {
                format!("privileges of PUBLIC on {}", of.describe())
            }
            Self::Privileges(of, role) => format!("privileges of {} on {}", quote(role), of.describe()),
            _ => format!("{} {}", self.kind(), self.path()),
        }
    }

    /// What vanishes together with this when that is dropped: the object that it is part of.
    #[must_use]
    pub fn parent(&self) -> Option<Id> {
        match self {
            Self::Column(table, _) | Self::Constraint(table, _) => Some(Self::Table(table.clone())),
            Self::Default(table, column) => Some(Self::Column(table.clone(), column.clone())),
            Self::Comment(of) | Self::Privileges(of, _) => Some((**of).clone()),
            Self::SequenceOwner(sequence) => Some(Self::Sequence(sequence.clone())),
            _ => None,
        }
    }

    /// The table that a change of this changes.
    #[must_use]
    pub fn table<'a>(&'a self, model: &'a Model) -> Option<&'a Name> {
        match self {
            Self::Table(name)
            | Self::Column(name, _)
            | Self::Default(name, _)
            | Self::Constraint(name, _)
            | Self::Trigger(name, _) => Some(name),
            Self::Index(_) => match model.objects.get(self) {
                Some(Object::Index { table, .. }) => Some(table),
                _ => None,
            },
            Self::SequenceOwner(_) => match model.objects.get(self) {
                Some(Object::SequenceOwner { table, .. }) => Some(table),
                _ => None,
            },
            Self::Comment(of) | Self::Privileges(of, _) => of.table(model),
            _ => None,
        }
    }
}

impl Object {
    /// The same with the text of its expression left out: what may change when a server reads its own print.
    #[must_use]
    pub fn without_text(&self) -> Self {
        let mut object = self.clone();
        match &mut object {
            Self::Default { expression } => expression.clear(),
            Self::Constraint(constraint) if constraint.class == "c" => constraint.definition.clear(),
            Self::Index { definition, .. } | Self::Trigger { definition, .. } => definition.clear(),
            Self::View(view) => view.definition.clear(),
            Self::Function(function) => function.definition.clear(),
            Self::Column(column) => column.generated.iter_mut().for_each(String::clear),
            _ => {}
        }
        object
    }
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

    /// The identity of this state.
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
