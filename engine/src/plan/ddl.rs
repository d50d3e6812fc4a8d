//! How each object is spelled in SQL.

use std::fmt::Write as _;

use crate::catalog::{Column, Function, Id, Identity, Model, NotNull, Object, Policy, Sequence, View};
use crate::error::{Error, Result};
use crate::name::{Name, literal, quote};

/// The word by which SQL names this kind of object.
pub(super) fn word(id: &Id) -> &'static str {
    match id {
        Id::Schema(_) => "SCHEMA",
        Id::Extension(_) => "EXTENSION",
        Id::Collation(_) => "COLLATION",
        Id::Enum(_) | Id::Composite(_) | Id::Range(_) => "TYPE",
        Id::Domain(_) => "DOMAIN",
        Id::Sequence(_) | Id::SequenceOwner(_) => "SEQUENCE",
        Id::Function(..) => "FUNCTION",
        Id::Column(..) | Id::Default(..) => "COLUMN",
        Id::Constraint(..) | Id::DomainConstraint(..) => "CONSTRAINT",
        Id::Index(_) => "INDEX",
        Id::View(_) => "VIEW",
        Id::MaterializedView(_) => "MATERIALIZED VIEW",
        Id::Statistics(_) => "STATISTICS",
        Id::Rule(..) => "RULE",
        Id::Trigger(..) => "TRIGGER",
        Id::Policy(..) => "POLICY",
        Id::Comment(of) | Id::Owner(of) | Id::Privileges(of, _) => word(of),
        _ => "TABLE",
    }
}

/// `TABLE schema.name`, `FUNCTION schema.name(arguments)`, …: as `DROP` and `COMMENT ON` name an object.
pub(super) fn reference(id: &Id, model: &Model) -> String {
    let word = word(id);
    match id {
        Id::Schema(name) | Id::Extension(name) => format!("{word} {}", quote(name)),
        Id::Function(name, arguments) => match model.objects.get(id) {
            Some(Object::Function(f)) => format!("{} {name}({})", f.word, f.signature),
            _ => format!("{word} {name}({arguments})"),
        },
        Id::Column(name, part) | Id::Default(name, part) => format!("{word} {name}.{}", quote(part)),
        Id::DomainConstraint(name, part) => format!("{word} {} ON DOMAIN {name}", quote(part)),
        Id::Constraint(name, part)
        | Id::Rule(name, part)
        | Id::Trigger(name, part)
        | Id::Policy(name, part) => format!("{word} {} ON {name}", quote(part)),
        Id::Comment(of) | Id::Owner(of) | Id::Privileges(of, _) => reference(of, model),
        _ => format!("{word} {}", id.path()),
    }
}

/// A type, collation or domain; `inside` are the constraints that a domain is made with.
///
/// # Errors
/// A defect of this program: an object of another kind.
pub(super) fn create_type(name: &Name, object: &Object, inside: &[String]) -> Result<String> {
    Ok(match object {
        Object::Enum { labels: all } => format!("CREATE TYPE {name} AS ENUM ({})", labels(all)),
        Object::Collation { definition } => format!("CREATE COLLATION {name} ({definition})"),
        Object::Range { definition } => format!("CREATE TYPE {name} AS RANGE ({definition})"),
        Object::Composite { attributes } => {
            let lines = attributes
                .iter()
                .map(|a| attribute(&a.name, &a.data_type, a.collation.as_deref()));
            format!("CREATE TYPE {name} AS ({})", lines.collect::<Vec<_>>().join(", "))
        }
        Object::Domain(domain) => {
            let mut text = format!("CREATE DOMAIN {name} AS {}", domain.data_type);
            if let Some(collation) = &domain.collation {
                let _ = write!(text, " COLLATE {collation}");
            }
            if let Some(expression) = &domain.default {
                let _ = write!(text, " DEFAULT {expression}");
            }
            if domain.not_null {
                if let Some(name) = &domain.not_null_name {
                    let _ = write!(text, " CONSTRAINT {}", quote(name));
                }
                text.push_str(" NOT NULL");
            }
            for constraint in inside {
                let _ = write!(text, " {constraint}");
            }
            text
        }
        _ => return Err(Error::internal("an object is of another kind than its identity")),
    })
}

/// `name type COLLATE collation`, as a composite type has it.
pub(super) fn attribute(name: &str, data_type: &str, collation: Option<&str>) -> String {
    let collate = collation.map(|c| format!(" COLLATE {c}")).unwrap_or_default();
    format!("{} {data_type}{collate}", quote(name))
}

/// `name IN (…)` of a policy: what comes after `CREATE POLICY name ON table` or `ALTER POLICY name ON table`.
pub(super) fn policy(policy: &Policy, altered: bool) -> String {
    let mut text = String::new();
    if !altered {
        if !policy.permissive {
            text.push_str(" AS RESTRICTIVE");
        }
        if policy.command != "ALL" {
            let _ = write!(text, " FOR {}", policy.command);
        }
    }
    let roles: Vec<String> = policy.roles.iter().map(|role| quote(role)).collect();
    if !roles.is_empty() {
        let _ = write!(text, " TO {}", roles.join(", "));
    } else if altered {
        text.push_str(" TO PUBLIC");
    }
    if let Some(using) = &policy.using {
        let _ = write!(text, " USING ({using})");
    }
    if let Some(check) = &policy.check {
        let _ = write!(text, " WITH CHECK ({check})");
    }
    text
}

/// The options that differ from what the server would choose.
pub(super) fn sequence_options(sequence: &Sequence) -> String {
    let up = sequence.increment > 0;
    let (lowest, highest) = match sequence.data_type.as_str() {
        "smallint" => (i64::from(i16::MIN), i64::from(i16::MAX)),
        "integer" => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let (min, max) = if up { (1, highest) } else { (lowest, -1) };
    let mut text = String::new();
    if sequence.increment != 1 {
        let _ = write!(text, " INCREMENT BY {}", sequence.increment);
    }
    if sequence.min != min {
        let _ = write!(text, " MINVALUE {}", sequence.min);
    }
    if sequence.max != max {
        let _ = write!(text, " MAXVALUE {}", sequence.max);
    }
    if sequence.start != if up { sequence.min } else { sequence.max } {
        let _ = write!(text, " START WITH {}", sequence.start);
    }
    if sequence.cache != 1 {
        let _ = write!(text, " CACHE {}", sequence.cache);
    }
    if sequence.cycle {
        text.push_str(" CYCLE");
    }
    text
}

/// All options: a change of type alone would move limits that nobody asked to move.
pub(super) fn all_sequence_options(sequence: &Sequence) -> String {
    format!(
        " AS {} INCREMENT BY {} MINVALUE {} MAXVALUE {} START WITH {} CACHE {}{} CYCLE",
        sequence.data_type,
        sequence.increment,
        sequence.min,
        sequence.max,
        sequence.start,
        sequence.cache,
        if sequence.cycle { "" } else { " NO" },
    )
}

pub(super) fn create_sequence(name: &Name, sequence: &Sequence) -> String {
    let unlogged = if sequence.unlogged { "UNLOGGED " } else { "" };
    let data_type = if sequence.data_type == "bigint" {
        String::new()
    } else {
        format!(" AS {}", sequence.data_type)
    };
    format!(
        "CREATE {unlogged}SEQUENCE {name}{data_type}{}",
        sequence_options(sequence)
    )
}

pub(super) fn identity(identity: &Identity) -> String {
    let mut options = String::new();
    if let Some(name) = &identity.sequence_name {
        let _ = write!(options, " SEQUENCE NAME {name}");
    }
    options.push_str(&sequence_options(&identity.sequence));
    let options = options.trim_start();
    let options = if options.is_empty() {
        String::new()
    } else {
        format!(" ({options})")
    };
    format!("GENERATED {} AS IDENTITY{options}", identity.generation)
}

/// `name type …`, as `CREATE TABLE` and `ADD COLUMN` take it.
pub(super) fn column(name: &str, column: &Column, default: Option<&str>) -> String {
    let mut text = format!("{} {}", quote(name), column.data_type);
    if let Some(compression) = &column.compression {
        let _ = write!(text, " COMPRESSION {compression}");
    }
    if let Some(collation) = &column.collation {
        let _ = write!(text, " COLLATE {collation}");
    }
    if let Some(expression) = &column.generated {
        let word = if column.is_virtual { "VIRTUAL" } else { "STORED" };
        let _ = write!(text, " GENERATED ALWAYS AS ({expression}) {word}");
    }
    if let Some(generated) = &column.identity {
        let _ = write!(text, " {}", identity(generated));
    }
    if let Some(expression) = default {
        let _ = write!(text, " DEFAULT {expression}");
    }
    let constraint = column.not_null_constraint.as_ref();
    if column.not_null && !constraint.is_some_and(|constraint| constraint.not_valid) {
        let _ = write!(text, " {}", not_null(column.not_null_constraint.as_ref()));
    }
    text
}

/// `NOT NULL`, with its name and what is unusual about it. One that is not valid cannot be made with its column.
fn not_null(constraint: Option<&NotNull>) -> String {
    let Some(constraint) = constraint else {
        return "NOT NULL".to_owned();
    };
    let name = constraint
        .name
        .as_ref()
        .map(|name| format!("CONSTRAINT {} ", quote(name)))
        .unwrap_or_default();
    let no_inherit = if constraint.no_inherit { " NO INHERIT" } else { "" };
    format!("{name}NOT NULL{no_inherit}")
}

/// `(fillfactor='70', …)`.
pub(super) fn options(options: &[String]) -> String {
    let pairs = options.iter().map(|option| match option.split_once('=') {
        Some((name, value)) => format!("{name}={}", literal(value)),
        None => option.clone(),
    });
    format!("({})", pairs.collect::<Vec<_>>().join(", "))
}

pub(super) fn create_view(name: &Name, view: &View, replace: bool) -> String {
    let or_replace = if replace { "OR REPLACE " } else { "" };
    let with = if view.options.is_empty() {
        String::new()
    } else {
        format!(" WITH {}", options(&view.options))
    };
    let columns: Vec<String> = view.columns.iter().map(|(name, ..)| quote(name)).collect();
    let columns = if columns.is_empty() {
        String::new()
    } else {
        format!(" ({})", columns.join(", "))
    };
    let query = view.definition.trim().trim_end_matches(';');
    format!("CREATE {or_replace}VIEW {name}{columns}{with} AS\n {query}")
}

pub(super) fn create_materialized_view(name: &Name, view: &View, filled: bool) -> String {
    let with = if view.options.is_empty() {
        String::new()
    } else {
        format!(" WITH {}", options(&view.options))
    };
    let columns: Vec<String> = view.columns.iter().map(|(name, ..)| quote(name)).collect();
    let query = view.definition.trim().trim_end_matches(';');
    let data = if filled { "" } else { "\nWITH NO DATA" };
    format!(
        "CREATE MATERIALIZED VIEW {name} ({}){with} AS\n {query}{data}",
        columns.join(", ")
    )
}

pub(super) fn create_function(function: &Function, replace: bool) -> String {
    let text = function.definition.trim_end();
    match text.strip_prefix("CREATE OR REPLACE ") {
        Some(rest) if !replace => format!("CREATE {rest}"),
        _ => text.to_owned(),
    }
}

pub(super) fn labels(labels: &[String]) -> String {
    labels
        .iter()
        .map(|label| literal(label))
        .collect::<Vec<_>>()
        .join(", ")
}
