//! What the server says about each kind of object.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::name::Name;

/// What the server says about an object. Equal exactly when nothing has to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Object {
    /// Nothing but that it is there.
    Schema,
    /// Its schema; versions are noted, not compared.
    Extension { schema: String },
    /// What stands in the parentheses of `CREATE COLLATION`.
    Collation { definition: String },
    /// Its labels in order.
    Enum { labels: Vec<String> },
    /// What it is a domain over, and what it adds.
    Domain(Domain),
    /// Its attributes in order.
    Composite { attributes: Vec<Attribute> },
    /// What stands in the parentheses of `CREATE TYPE … AS RANGE`.
    Range { definition: String },
    /// Its options.
    Sequence(Sequence),
    /// Its definition and what decides whether it can be replaced in place.
    Function(Function),
    /// What is not in its columns.
    Table(Table),
    /// Of which table, and for which rows.
    Partition { parent: Name, bound: String },
    /// Nothing but that it is so.
    Inherits,
    /// A column.
    Column(Column),
    /// The owning table and column.
    SequenceOwner { table: Name, column: String },
    /// The expression.
    Default { expression: String },
    /// `pg_get_constraintdef`.
    DomainConstraint { definition: String },
    /// `pg_get_constraintdef` and what that leaves out.
    Constraint(Constraint),
    /// `pg_get_viewdef`, columns and options.
    View(View),
    /// The same of a materialized view.
    MaterializedView(View),
    /// `pg_get_indexdef` and what that leaves out.
    Index(Index),
    /// As `ALTER TABLE … REPLICA IDENTITY` takes it.
    ReplicaIdentity { how: String },
    /// The index's name.
    Cluster { index: String },
    /// `pg_get_statisticsobjdef`.
    Statistics {
        table: Name,
        definition: String,
        target: Option<i32>,
    },
    /// `pg_get_ruledef` and `ev_enabled`.
    Rule { definition: String, enabled: String },
    /// `pg_get_triggerdef` and `tgenabled`.
    Trigger {
        definition: String,
        enabled: String,
        on_view: bool,
    },
    /// What it admits to whom.
    Policy(Policy),
    /// The text.
    Comment { text: String },
    /// The role.
    Owner { role: String },
    /// Privileges; a star marks the grant option.
    Privileges {
        granted: BTreeSet<String>,
        by_default: BTreeSet<String>,
    },
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Domain {
    /// `format_type` of what it is a domain over.
    pub data_type: String,
    /// When it is not the type's own.
    pub collation: Option<String>,
    /// The expression.
    pub default: Option<String>,
    /// Whether NULL is refused.
    pub not_null: bool,
    /// The name of that, where the server keeps one and it is not `<domain>_not_null` (PostgreSQL 17).
    pub not_null_name: Option<String>,
}

/// An attribute of a composite type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// `format_type`.
    pub data_type: String,
    /// When it is not the type's own.
    pub collation: Option<String>,
}

/// A sequence's options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

/// A function, procedure or aggregate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// `pg_get_functiondef`, or our own spelling of an aggregate.
    pub definition: String,
    /// `FUNCTION`, `PROCEDURE` or `AGGREGATE`.
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

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// Whether it is lost in a crash.
    pub unlogged: bool,
    /// `reloptions`, sorted, those of the TOAST table with `toast.` before them.
    pub options: Vec<String>,
    /// `pg_get_partkeydef` of a partitioned table.
    pub partition_key: Option<String>,
    /// Whether policies decide who sees which rows.
    pub row_security: bool,
    /// Whether they hold for the owner as well.
    pub force_row_security: bool,
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
    /// The NOT NULL constraint where the server keeps one and it is not the usual (PostgreSQL 18).
    pub not_null_constraint: Option<NotNull>,
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
    /// `attoptions`, sorted.
    pub options: Vec<String>,
}

/// A NOT NULL constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotNull {
    /// When it is not `<table>_<column>_not_null`.
    pub name: Option<String>,
    /// Whether rows that were there before may break it.
    pub not_valid: bool,
    /// Whether tables that inherit do not have it.
    pub no_inherit: bool,
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
    /// `p`, `u`, `x`, `c` or `f`.
    pub class: String,
    /// `pg_get_constraintdef`.
    pub definition: String,
    /// The other table of a foreign key.
    pub references: Option<Name>,
    /// `reloptions` of the index behind it, sorted.
    pub index_options: Vec<String>,
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

/// An index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// Its table or materialized view.
    pub table: Name,
    /// `pg_get_indexdef`.
    pub definition: String,
    /// Whether it keeps equal keys out.
    pub unique: bool,
    /// Whether it was built to its end.
    pub valid: bool,
    /// Whether it is one of a partitioned table, which holds no entries itself.
    pub partitioned: bool,
    /// Statistics targets by number of the column.
    pub statistics: Vec<(i16, i32)>,
}

/// A row-security policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Whether rows are admitted by any such policy, or must be by every one.
    pub permissive: bool,
    /// `ALL`, `SELECT`, …
    pub command: String,
    /// Sorted; empty for everybody.
    pub roles: Vec<String>,
    /// The expression over rows that are there.
    pub using: Option<String>,
    /// The expression over rows that are written.
    pub check: Option<String>,
}

impl Object {
    /// The same with the text of its expressions left out: what may change when a server reads its own print.
    #[must_use]
    pub fn without_text(&self) -> Self {
        let mut object = self.clone();
        match &mut object {
            Self::Default { expression } => expression.clear(),
            Self::Constraint(constraint) if matches!(constraint.class.as_str(), "c" | "x") => {
                constraint.definition.clear();
            }
            Self::DomainConstraint { definition }
            | Self::Statistics { definition, .. }
            | Self::Rule { definition, .. }
            | Self::Trigger { definition, .. } => definition.clear(),
            Self::Partition { bound, .. } => bound.clear(),
            Self::Table(table) => table.partition_key.iter_mut().for_each(String::clear),
            Self::Index(index) => index.definition.clear(),
            Self::View(view) | Self::MaterializedView(view) => view.definition.clear(),
            Self::Function(function) => function.definition.clear(),
            Self::Column(column) => column.generated.iter_mut().for_each(String::clear),
            Self::Domain(domain) => domain.default.iter_mut().for_each(String::clear),
            Self::Policy(policy) => {
                for text in [&mut policy.using, &mut policy.check].into_iter().flatten() {
                    text.clear();
                }
            }
            _ => {}
        }
        object
    }

    /// The expressions and bodies in it.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Default { expression } => vec![expression],
            Self::Constraint(constraint) => vec![&constraint.definition],
            Self::DomainConstraint { definition }
            | Self::Statistics { definition, .. }
            | Self::Rule { definition, .. }
            | Self::Trigger { definition, .. } => vec![definition],
            Self::Partition { bound, .. } => vec![bound],
            Self::Index(index) => vec![&index.definition],
            Self::View(view) | Self::MaterializedView(view) => vec![&view.definition],
            Self::Function(function) => vec![&function.definition],
            Self::Column(column) => column.generated.as_deref().into_iter().collect(),
            Self::Domain(domain) => domain.default.as_deref().into_iter().collect(),
            Self::Policy(policy) => [&policy.using, &policy.check]
                .into_iter()
                .filter_map(|text| text.as_deref())
                .collect(),
            _ => vec![],
        }
    }
}
