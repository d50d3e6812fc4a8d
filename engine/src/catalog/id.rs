//! What an object is called, and what it is part of.

use super::model::Model;
use super::object::Object;
use crate::name::{Name, quote};

/// The identity of an object. The order of the variants is the order of creation among objects that do not need each
/// other, and the reverse of the order in which they are dropped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A schema.
    Schema(String),
    /// An extension.
    Extension(String),
    /// A collation.
    Collation(Name),
    /// An enum type.
    Enum(Name),
    /// A domain.
    Domain(Name),
    /// A composite type that is no table's row type.
    Composite(Name),
    /// A range type with its multirange and its constructors.
    Range(Name),
    /// A sequence; one of an identity column belongs to the column.
    Sequence(Name),
    /// A function, procedure or aggregate, told by the types of its arguments.
    Function(Name, String),
    /// A table, partitioned or not.
    Table(Name),
    /// That a table is a partition.
    Partition(Name),
    /// That a table inherits from another.
    Inherits(Name, Name),
    /// A column of a table.
    Column(Name, String),
    /// That a column owns a sequence.
    SequenceOwner(Name),
    /// The default of a column of a table or view.
    Default(Name, String),
    /// A check constraint of a domain.
    DomainConstraint(Name, String),
    /// A constraint of a table, but NOT NULL.
    Constraint(Name, String),
    /// A view.
    View(Name),
    /// A materialized view.
    MaterializedView(Name),
    /// An index that no constraint owns.
    Index(Name),
    /// By what rows of a table are told apart in a change stream.
    ReplicaIdentity(Name),
    /// The index that `CLUSTER` follows.
    Cluster(Name),
    /// An extended statistics object.
    Statistics(Name),
    /// A rule on a table or view.
    Rule(Name, String),
    /// A trigger on a table or view.
    Trigger(Name, String),
    /// A row-security policy of a table.
    Policy(Name, String),
    /// The comment on an object, or on a column of a view or composite type.
    Comment(Box<Id>),
    /// The declared owner of an object.
    Owner(Box<Id>),
    /// What a role (or everybody, the empty name) may do with an object beyond what the server grants by itself.
    Privileges(Box<Id>, String),
    /// What a role grants on objects that it makes later.
    DefaultPrivileges(Box<DefaultPrivileges>),
}

/// One grantee's part of a role's default privileges.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefaultPrivileges {
    /// Whose objects; empty for the target's user.
    pub role: String,
    /// In which schema; empty for all.
    pub schema: String,
    /// `TABLES`, `SEQUENCES`, `FUNCTIONS`, `TYPES` or `SCHEMAS`.
    pub kind: String,
    /// Who gets them; empty for everybody.
    pub grantee: String,
}

impl Id {
    /// The word for people.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Schema(_) => "schema",
            Self::Extension(_) => "extension",
            Self::Collation(_) => "collation",
            Self::Enum(_) => "enum",
            Self::Domain(_) => "domain",
            Self::Composite(_) => "composite type",
            Self::Range(_) => "range type",
            Self::Sequence(_) => "sequence",
            Self::Function(..) => "function",
            Self::Table(_) => "table",
            Self::Partition(_) => "partition",
            Self::Inherits(..) => "inheritance",
            Self::Column(..) => "column",
            Self::SequenceOwner(_) => "sequence owner",
            Self::Default(..) => "default",
            Self::DomainConstraint(..) => "domain constraint",
            Self::Constraint(..) => "constraint",
            Self::View(_) => "view",
            Self::MaterializedView(_) => "materialized view",
            Self::Index(_) => "index",
            Self::ReplicaIdentity(_) => "replica identity",
            Self::Cluster(_) => "clustering",
            Self::Statistics(_) => "statistics",
            Self::Rule(..) => "rule",
            Self::Trigger(..) => "trigger",
            Self::Policy(..) => "policy",
            Self::Comment(_) => "comment",
            Self::Owner(_) => "owner",
            Self::Privileges(..) => "privileges",
            Self::DefaultPrivileges(_) => "default privileges",
        }
    }

    /// The qualified name, without the kind.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Schema(name) | Self::Extension(name) => quote(name),
            Self::Function(name, arguments) => format!("{}({arguments})", name.sql()),
            Self::Column(name, part)
            | Self::Default(name, part)
            | Self::DomainConstraint(name, part)
            | Self::Constraint(name, part)
            | Self::Rule(name, part)
            | Self::Trigger(name, part)
            | Self::Policy(name, part) => format!("{}.{}", name.sql(), quote(part)),
            Self::Inherits(child, parent) => format!("{} from {}", child.sql(), parent.sql()),
            Self::Comment(of) | Self::Owner(of) | Self::Privileges(of, _) => of.path(),
            Self::DefaultPrivileges(d) if d.schema.is_empty() => d.kind.to_lowercase(),
            Self::DefaultPrivileges(d) => format!("{}.{}", quote(&d.schema), d.kind.to_lowercase()),
            _ => self.name().map(Name::sql).unwrap_or_default(),
        }
    }

    /// The schema-qualified name of what this is or is part of.
    #[must_use]
    pub fn name(&self) -> Option<&Name> {
        match self {
            Self::Schema(_) | Self::Extension(_) | Self::DefaultPrivileges(_) => None,
            Self::Collation(name)
            | Self::Enum(name)
            | Self::Domain(name)
            | Self::Composite(name)
            | Self::Range(name)
            | Self::Sequence(name)
            | Self::Function(name, _)
            | Self::Table(name)
            | Self::Partition(name)
            | Self::Inherits(name, _)
            | Self::Column(name, _)
            | Self::SequenceOwner(name)
            | Self::Default(name, _)
            | Self::DomainConstraint(name, _)
            | Self::Constraint(name, _)
            | Self::View(name)
            | Self::MaterializedView(name)
            | Self::Index(name)
            | Self::ReplicaIdentity(name)
            | Self::Cluster(name)
            | Self::Statistics(name)
            | Self::Rule(name, _)
            | Self::Trigger(name, _)
            | Self::Policy(name, _) => Some(name),
            Self::Comment(of) | Self::Owner(of) | Self::Privileges(of, _) => of.name(),
        }
    }

    /// Kind and qualified name.
    #[must_use]
    pub fn describe(&self) -> String {
        let who = |role: &str| {
            if role.is_empty() {
                "PUBLIC".to_owned()
            } else {
                quote(role)
            }
        };
        match self {
            Self::Comment(of) => format!("comment on {}", of.describe()),
            Self::Owner(of) => format!("owner of {}", of.describe()),
            Self::Privileges(of, role) => format!("privileges of {} on {}", who(role), of.describe()),
            Self::DefaultPrivileges(d) => {
                let on = if d.schema.is_empty() {
                    String::new()
                } else {
                    format!(" in schema {}", quote(&d.schema))
                };
                let by = if d.role.is_empty() {
                    String::new()
                } else {
                    format!(" that {} makes", quote(&d.role))
                };
                format!(
                    "default privileges of {} on {}{by}{on}",
                    who(&d.grantee),
                    d.kind.to_lowercase()
                )
            }
            _ => format!("{} {}", self.kind(), self.path()),
        }
    }

    /// What vanishes together with this when that is dropped: the object that it is part of.
    #[must_use]
    pub fn parent(&self) -> Option<Id> {
        match self {
            Self::Column(table, _)
            | Self::Constraint(table, _)
            | Self::Policy(table, _)
            | Self::Partition(table)
            | Self::Inherits(table, _)
            | Self::ReplicaIdentity(table)
            | Self::Cluster(table) => Some(Self::Table(table.clone())),
            Self::Default(table, column) => Some(Self::Column(table.clone(), column.clone())),
            Self::DomainConstraint(domain, _) => Some(Self::Domain(domain.clone())),
            Self::Comment(of) | Self::Owner(of) | Self::Privileges(of, _) => Some((**of).clone()),
            Self::SequenceOwner(sequence) => Some(Self::Sequence(sequence.clone())),
            _ => None,
        }
    }

    /// What else it may be part of: a column, rule or trigger of this name stands on one of these.
    #[must_use]
    pub fn carriers(&self) -> Vec<Id> {
        match self {
            Self::Rule(name, _) | Self::Trigger(name, _) => {
                vec![Self::Table(name.clone()), Self::View(name.clone())]
            }
            Self::Default(name, _) => vec![Self::View(name.clone())],
            Self::Comment(of) | Self::Privileges(of, _) => match &**of {
                Self::Column(name, _) => vec![
                    Self::View(name.clone()),
                    Self::MaterializedView(name.clone()),
                    Self::Composite(name.clone()),
                ],
                _ => vec![],
            },
            _ => vec![],
        }
    }

    /// The table (or materialized view) that a change of this changes.
    #[must_use]
    pub fn table<'a>(&'a self, model: &'a Model) -> Option<&'a Name> {
        match self {
            Self::Table(name)
            | Self::MaterializedView(name)
            | Self::Partition(name)
            | Self::Inherits(name, _)
            | Self::Column(name, _)
            | Self::Default(name, _)
            | Self::Constraint(name, _)
            | Self::ReplicaIdentity(name)
            | Self::Cluster(name)
            | Self::Rule(name, _)
            | Self::Trigger(name, _)
            | Self::Policy(name, _) => Some(name),
            Self::Index(_) | Self::Statistics(_) => match model.objects.get(self) {
                Some(Object::Index(index)) => Some(&index.table),
                Some(Object::Statistics { table, .. }) => Some(table),
                _ => None,
            },
            Self::SequenceOwner(_) => match model.objects.get(self) {
                Some(Object::SequenceOwner { table, .. }) => Some(table),
                _ => None,
            },
            Self::Comment(of) | Self::Owner(of) | Self::Privileges(of, _) => of.table(model),
            _ => None,
        }
    }

    /// Whether this is a type that columns can have and that only a new type of its name can change.
    #[must_use]
    pub fn is_type(&self) -> bool {
        matches!(
            self,
            Self::Enum(_) | Self::Domain(_) | Self::Composite(_) | Self::Range(_)
        )
    }
}
