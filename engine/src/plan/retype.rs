//! Types that only a new type of the same name can change: the old one is renamed, a new one made, every column moved to
//! it, and the old one dropped.

use super::change::{Changes, Sides, generated};
use super::column_type;
use super::ddl;
use super::draft::{ACCESS_EXCLUSIVE, Draft};
use crate::catalog::{Id, Model, Object};
use crate::error::{Code, Error, Result};
use crate::name::{Name, literal, quote};

/// Whether a changed type has to be replaced.
pub(super) fn must_retype(id: &Id, changes: &Changes, sides: &Sides<'_>) -> bool {
    let (from, to) = (sides.from, sides.to);
    match (from.objects.get(id), to.objects.get(id)) {
        (Some(Object::Enum { labels: old }), Some(Object::Enum { labels: new })) => {
            let mut rest = new.iter();
            let grows = old.iter().all(|label| rest.any(|l| l == label));
            let fresh: Vec<String> = new
                .iter()
                .filter(|label| !old.contains(label))
                .map(|label| literal(label))
                .collect();
            // The server refuses the use of a new value in the transaction that adds it.
            let used = |other: &Id| {
                to.objects.get(other).is_some_and(|object| {
                    let texts = object.texts();
                    texts.iter().any(|text| fresh.iter().any(|l| text.contains(l)))
                })
            };
            !grows || (sides.atomic && changes.created.iter().chain(&changes.altered).any(used))
        }
        (Some(Object::Domain(old)), Some(Object::Domain(new))) => {
            old.data_type != new.data_type || old.collation != new.collation
        }
        (Some(Object::Composite { attributes: old }), Some(Object::Composite { attributes: new })) => {
            let stays: Vec<&str> = old
                .iter()
                .filter(|a| new.iter().any(|b| a.name == b.name))
                .map(|a| a.name.as_str())
                .collect();
            let appended = new.iter().map(|b| b.name.as_str()).take(stays.len()).eq(stays);
            let changed = new.iter().any(|b| old.iter().any(|a| a.name == b.name && a != b));
            let in_rows = sides.observed.needs.iter().any(|(other, needs)| {
                needs.contains(id) && (matches!(other, Id::Column(..)) || other.is_type())
            });
            (in_rows && changed) || !appended
        }
        (Some(Object::Range { .. }), _) | (Some(Object::Collation { .. }), _) => true,
        _ => false,
    }
}

/// A name for the old type while both are there.
fn aside(name: &Name) -> Name {
    let short: String = name.name.chars().take(24).collect();
    Name::new(&name.schema, format!("{short}__ptah_old"))
}

/// The old type steps aside and the new one takes its name.
pub(super) fn step_aside(id: &Id, from: &Model, to: &Model, inside: &[String]) -> Result<Vec<Draft>> {
    let name = id.name().ok_or_else(|| Error::internal("a type has no name"))?;
    let word = ddl::word(id);
    let object = to
        .objects
        .get(id)
        .or_else(|| from.objects.get(id))
        .ok_or_else(|| Error::internal("a type is replaced by nothing"))?;
    if let Id::Range(_) = id {
        return replace_range(id, from, to, object);
    }
    Ok(vec![
        Draft::new(
            format!("ALTER {word} {name} RENAME TO {}", quote(&aside(name).name)),
            format!("{} is replaced: it cannot be changed in place", id.describe()),
        ),
        Draft::new(
            ddl::create_type(name, object, inside)?,
            format!("{} is made again", id.describe()),
        ),
    ])
}

/// A range type's constructors and multirange keep their names when it is renamed, so its values wait as texts.
fn replace_range(id: &Id, from: &Model, to: &Model, object: &Object) -> Result<Vec<Draft>> {
    let name = id.name().ok_or_else(|| Error::internal("a type has no name"))?;
    let mut drafts = Vec::new();
    for (column_id, needs) in &from.needs {
        let (Id::Column(table, column), Some(Object::Column(known))) =
            (column_id, from.objects.get(column_id))
        else {
            continue;
        };
        let stays = needs.contains(id) && to.needs(column_id, id) && !from.has_from_parent(table, column);
        if !stays || known.generated.is_some() {
            continue;
        }
        let array = if known.data_type.ends_with("[]") { "[]" } else { "" };
        let quoted = quote(column);
        drafts.push(
            Draft::new(
                format!(
                    "ALTER TABLE {table} ALTER COLUMN {quoted} TYPE text{array} USING {quoted}::text{array}"
                ),
                format!(
                    "column {column} of {table} waits as text for the new {}",
                    id.describe()
                ),
            )
            .warning()
            .lock(ACCESS_EXCLUSIVE)
            .rewrites(true)
            .touching([table.sql(), column_id.path()]),
        );
    }
    let drop = Draft::new(
        format!("DROP TYPE {name}"),
        format!("{} is replaced: it cannot be changed in place", id.describe()),
    );
    drafts.push(if loses(id, from, to) {
        drop.destructive()
    } else {
        drop.warning()
    });
    drafts.push(Draft::new(
        ddl::create_type(name, object, &[])?,
        format!("{} is made again", id.describe()),
    ));
    Ok(drafts)
}

/// The old type goes when nothing uses it any more.
pub(super) fn clear(id: &Id, from: &Model, to: &Model) -> Result<Vec<Draft>> {
    if let Id::Range(_) = id {
        return Ok(vec![]);
    }
    let name = id.name().ok_or_else(|| Error::internal("a type has no name"))?;
    let draft = Draft::new(
        format!("DROP {} {}", ddl::word(id), aside(name)),
        format!("nothing uses the old {} any more", id.describe()),
    );
    Ok(vec![if loses(id, from, to) {
        draft.destructive()
    } else {
        draft
    }])
}

/// Whether values of the old type may have no place in the new one.
fn loses(id: &Id, from: &Model, to: &Model) -> bool {
    match (from.objects.get(id), to.objects.get(id)) {
        (Some(Object::Enum { labels: old }), Some(Object::Enum { labels: new })) => {
            old.iter().any(|label| !new.contains(label))
        }
        (Some(Object::Domain(old)), Some(Object::Domain(new))) => {
            column_type::widening(&old.data_type, &new.data_type).is_none()
        }
        (Some(Object::Composite { attributes: old }), Some(Object::Composite { attributes: new })) => {
            old.iter().any(|a| {
                !new.iter()
                    .any(|b| a.name == b.name && column_type::widening(&a.data_type, &b.data_type).is_some())
            })
        }
        (Some(Object::Range { definition: old }), Some(Object::Range { definition: new })) => old != new,
        _ => false,
    }
}

/// Moves a column to the new types of the same names that its type needs; nothing when it needs none.
///
/// # Errors
/// `unsupported_change` for rows that no expression can move.
pub(super) fn move_column(
    changes: &Changes,
    from: &Model,
    to: &Model,
    table: &Name,
    name: &str,
) -> Result<Option<Draft>> {
    let id = Id::Column(table.clone(), name.to_owned());
    let (Some(Object::Column(old)), Some(Object::Column(new))) = (from.objects.get(&id), to.objects.get(&id))
    else {
        return Ok(None);
    };
    let moved = changes
        .retyped
        .iter()
        .find(|retyped| from.needs(&id, retyped) && to.needs(&id, retyped));
    let Some(of) = moved else { return Ok(None) };
    if generated(&id, from) || old.data_type != new.data_type || old.collation != new.collation {
        return Ok(None);
    }
    let column = quote(name);
    let t = &new.data_type;
    let collate = new
        .collation
        .as_ref()
        .map(|c| format!(" COLLATE {c}"))
        .unwrap_or_default();
    let mover = Mover { changes, from, to };
    let through = if matches!(to.objects.get(of), Some(Object::Collation { .. })) {
        String::new()
    } else {
        let Some(moved) = mover.expression(&column, t) else {
            let message = format!(
                "{} cannot be changed: rows hold arrays of {}",
                id.describe(),
                of.describe()
            );
            return Err(Error::new(Code::UnsupportedChange, message).about(id.describe()));
        };
        format!(" USING {moved}")
    };
    let draft = Draft::new(
        format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE {t}{collate}{through}"),
        format!("column {name} of {table} moves to the new {}", of.describe()),
    )
    .warning()
    .lock(ACCESS_EXCLUSIVE)
    .rewrites(true)
    .touching([table.sql(), id.path()]);
    Ok(Some(if loses(of, from, to) {
        draft.destructive().data_dependent()
    } else {
        draft
    }))
}

/// Writes values of old types as values of the new ones of the same names.
struct Mover<'a> {
    changes: &'a Changes,
    from: &'a Model,
    to: &'a Model,
}

impl Mover<'_> {
    /// The value of an expression as one of this type; none for arrays of composite types, which no expression can move.
    fn expression(&self, value: &str, data_type: &str) -> Option<String> {
        let bare = data_type.trim_end_matches("[]");
        let array = &data_type[bare.len()..];
        let retyped = self
            .changes
            .retyped
            .iter()
            .find(|id| id.is_type() && id.path() == bare);
        let Some(id) = retyped else {
            return Some(format!("{value}::{data_type}"));
        };
        match (self.from.objects.get(id), self.to.objects.get(id)) {
            (Some(Object::Domain(_)), Some(Object::Domain(domain))) => {
                let through = self.expression(value, &format!("{}{array}", domain.data_type))?;
                Some(format!("{through}::{data_type}"))
            }
            (Some(Object::Composite { attributes: a }), Some(Object::Composite { attributes: b })) => {
                if !array.is_empty() {
                    return None;
                }
                let mut values = Vec::new();
                for new in b {
                    values.push(match a.iter().find(|old| old.name == new.name) {
                        Some(_) => {
                            let part = format!("({value}).{}", quote(&new.name));
                            self.expression(&part, &new.data_type)?
                        }
                        None => format!("NULL::{}", new.data_type),
                    });
                }
                Some(format!(
                    "CASE WHEN {value} IS NOT DISTINCT FROM NULL THEN NULL ELSE ROW({})::{data_type} END",
                    values.join(", ")
                ))
            }
            _ => Some(format!("{value}::text{array}::{data_type}")),
        }
    }
}
