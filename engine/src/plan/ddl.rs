//! How each object is spelled in SQL.

use std::fmt::Write as _;

use crate::catalog::{Column, Function, Id, Identity, Model, Object, Sequence, View};
use crate::name::{Name, literal, quote};

/// `TABLE schema.name`, `FUNCTION schema.name(arguments)`, …: as `DROP` and `COMMENT ON` name an object.
pub(super) fn reference(id: &Id, model: &Model) -> String {
    match id {
        Id::Schema(name) => format!("SCHEMA {}", quote(name)),
        Id::Extension(name) => format!("EXTENSION {}", quote(name)),
        Id::Enum(name) => format!("TYPE {name}"),
        Id::Sequence(name) | Id::SequenceOwner(name) => format!("SEQUENCE {name}"),
        Id::Function(name, arguments) => match model.objects.get(id) {
            Some(Object::Function(f)) => format!("{} {name}({})", f.word, f.signature),
            _ => format!("FUNCTION {name}({arguments})"),
        },
        Id::Table(name) => format!("TABLE {name}"),
        Id::Column(name, part) | Id::Default(name, part) => format!("COLUMN {name}.{}", quote(part)),
        Id::Constraint(name, part) => format!("CONSTRAINT {} ON {name}", quote(part)),
        Id::Index(name) => format!("INDEX {name}"),
        Id::View(name) => format!("VIEW {name}"),
        Id::Trigger(name, part) => format!("TRIGGER {} ON {name}", quote(part)),
        Id::Comment(of) | Id::Privileges(of, _) => reference(of, model),
    }
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
    match (&column.not_null_name, column.not_null) {
        (Some(name), true) => {
            // `NOT VALID` and `NO INHERIT` follow the name, as they were read.
            let (name, rest) = name.split_once(' ').unwrap_or((name, ""));
            let _ = write!(text, " CONSTRAINT {} NOT NULL {rest}", quote(name));
        }
        (None, true) => text.push_str(" NOT NULL"),
        _ => {}
    }
    text.trim_end().to_owned()
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
