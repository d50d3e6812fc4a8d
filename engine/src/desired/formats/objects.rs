//! What a document declares, as HCL and YAML both can say it. Nothing is normalised: the server does that.

use super::place::{At, Text};
use crate::name::quote;

/// A name with its schema, when the document gives one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) schema: Option<String>,
    pub(super) name: String,
}

impl Name {
    pub(super) fn new(schema: Option<String>, name: impl Into<String>) -> Self {
        Self {
            schema,
            name: name.into(),
        }
    }

    /// As SQL needs it.
    pub(super) fn sql(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quote(schema), quote(&self.name)),
            None => quote(&self.name),
        }
    }
}

/// Everything that one document declares, each kind in the order of the document.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) schemas: Vec<Schema>,
    pub(super) extensions: Vec<Extension>,
    pub(super) enums: Vec<Enum>,
    pub(super) domains: Vec<Domain>,
    pub(super) composites: Vec<Composite>,
    pub(super) ranges: Vec<Range>,
    pub(super) sequences: Vec<Sequence>,
    pub(super) tables: Vec<Table>,
    /// Indexes and constraints that stand outside their tables.
    pub(super) indexes: Vec<(Reference, Index)>,
    pub(super) constraints: Vec<(Reference, Constraint)>,
    pub(super) row_security: Vec<Reference>,
    pub(super) functions: Vec<Function>,
    pub(super) views: Vec<View>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) policies: Vec<Policy>,
    pub(super) grants: Vec<Grant>,
    pub(super) data: Vec<Data>,
}

/// Another object, by name; without a schema it is the one object of that name that the documents declare.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) name: Name,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Schema {
    pub(super) name: String,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Extension {
    pub(super) name: String,
    pub(super) schema: Option<String>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Enum {
    pub(super) name: Name,
    pub(super) values: Vec<String>,
    pub(super) at: At,
}

/// A type as it was written, or an enum that the documents declare.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Written(Text),
    Enum(Reference),
}

#[derive(Debug)]
pub(super) enum Default {
    /// A value, which the server casts.
    Value(String),
    Expression(Text),
}

#[derive(Debug)]
pub(super) struct Domain {
    pub(super) name: Name,
    pub(super) base: Type,
    pub(super) not_null: bool,
    pub(super) default: Option<Default>,
    pub(super) check: Option<Text>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Composite {
    pub(super) name: Name,
    pub(super) fields: Vec<(String, Type, At)>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Range {
    pub(super) name: Name,
    pub(super) subtype: Type,
    /// `SUBTYPE_OPCLASS` and its like, each with a name.
    pub(super) options: Vec<(&'static str, Text)>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) name: Name,
    /// Clauses with their numbers, and `AS type`, in the order of the grammar.
    pub(super) clauses: Vec<String>,
    /// A table and a column.
    pub(super) owned_by: Option<(Reference, String)>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: Name,
    pub(super) columns: Vec<Column>,
    pub(super) constraints: Vec<Constraint>,
    pub(super) indexes: Vec<Index>,
    pub(super) partition: Option<Partition>,
    pub(super) row_security: Option<At>,
    /// What follows the closing parenthesis of the statement.
    pub(super) custom: Option<Text>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) data_type: Type,
    pub(super) not_null: bool,
    pub(super) primary: bool,
    pub(super) unique: bool,
    pub(super) unique_expr: Option<Text>,
    pub(super) default: Option<Default>,
    pub(super) check: Option<(Option<String>, Text)>,
    pub(super) collation: Option<Text>,
    /// An expression, and whether it is stored.
    pub(super) generated: Option<(Text, bool)>,
    pub(super) identity: Option<Identity>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Identity {
    pub(super) always: bool,
    pub(super) start: Option<i64>,
    pub(super) increment: Option<i64>,
    pub(super) options: Option<Text>,
}

#[derive(Debug)]
pub(super) struct Constraint {
    pub(super) name: Option<String>,
    pub(super) kind: ConstraintKind,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) enum ConstraintKind {
    Primary {
        columns: Vec<String>,
        include: Vec<String>,
    },
    Unique {
        columns: Vec<String>,
        include: Vec<String>,
        nulls_not_distinct: bool,
    },
    Foreign {
        columns: Vec<String>,
        table: Reference,
        foreign: Vec<String>,
        on_delete: Option<&'static str>,
        on_update: Option<&'static str>,
        deferral: &'static str,
    },
    Check(Text),
    Exclude {
        method: Text,
        elements: Text,
        condition: Option<Text>,
    },
}

#[derive(Debug)]
pub(super) struct Index {
    pub(super) name: Option<String>,
    pub(super) unique: bool,
    pub(super) method: Option<Text>,
    pub(super) parts: Vec<Part>,
    pub(super) include: Vec<String>,
    pub(super) nulls_distinct: Option<bool>,
    pub(super) pages_per_range: Option<i64>,
    pub(super) condition: Option<Text>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) what: PartKind,
    pub(super) operator_class: Option<Text>,
    pub(super) descending: bool,
    pub(super) nulls_first: Option<bool>,
}

#[derive(Debug)]
pub(super) enum PartKind {
    Column(String),
    Expression(Text),
}

#[derive(Debug)]
pub(super) struct Partition {
    pub(super) method: &'static str,
    pub(super) parts: Vec<PartKind>,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Name,
    pub(super) parameters: Parameters,
    pub(super) returns: Option<Text>,
    pub(super) language: Option<Text>,
    pub(super) definer: bool,
    pub(super) volatility: &'static str,
    pub(super) body: Text,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) enum Parameters {
    None,
    Written(Text),
    Named(Vec<(String, Type, At)>),
}

#[derive(Debug)]
pub(super) struct View {
    pub(super) name: Name,
    pub(super) materialized: bool,
    pub(super) query: Text,
    /// `LOCAL` or `CASCADED`.
    pub(super) check_option: Option<&'static str>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Trigger {
    pub(super) name: String,
    pub(super) table: Reference,
    pub(super) timing: &'static str,
    pub(super) events: Vec<&'static str>,
    pub(super) per_row: bool,
    pub(super) body: Text,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) table: Reference,
    pub(super) command: Option<&'static str>,
    /// As SQL needs them.
    pub(super) roles: Vec<String>,
    pub(super) using: Option<Text>,
    pub(super) check: Option<Text>,
    pub(super) comment: Option<Text>,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) struct Grant {
    /// As SQL needs it.
    pub(super) role: String,
    pub(super) privileges: Vec<&'static str>,
    pub(super) on: On,
    pub(super) grantable: bool,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) enum On {
    Relation(Reference),
    Schema(String),
    Sequence(Reference),
}

/// Rows of a table, in a file or in the artifact.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) table: Reference,
    pub(super) keys: Vec<String>,
    pub(super) file: Text,
    pub(super) at: At,
}
