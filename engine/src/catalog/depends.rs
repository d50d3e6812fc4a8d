//! What hangs on objects: comments, privileges, and who needs whom, as the server recorded it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::model::{Id, Object};
use super::queries as q;
use super::read::{Address, CLASS, EXTENSION, Growing, Reading, TRIGGER, TYPE};
use crate::connect::Session;
use crate::error::{Code, Error, Result};

/// OIDs below this are the server's own.
const FIRST_NORMAL: u32 = 16_384;
/// Members of publications: they lose a table, they do not need it.
const PUBLICATION_CLASSES: [u32; 2] = [6106, 6237];

pub(super) async fn comments(session: &Session, grow: &mut Growing) -> Result<()> {
    for row in session.query(q::COMMENTS, &[]).await? {
        let address: Address = (row.get(0), row.get(1), row.get(2));
        let text: String = row.get(3);
        if let Some((view, column)) = grow.view_columns.get(&(address.1, address.2)).cloned() {
            let of = Id::Column(view, column);
            grow.model
                .objects
                .insert(Id::Comment(Box::new(of)), Object::Comment { text });
        } else if let Some(id) = grow.ids.get(&address).cloned() {
            if hidden_relation(address, &id) {
                return Err(unsupported(&format!(
                    "comment on the relation behind {}",
                    id.describe()
                )));
            }
            grow.model
                .objects
                .insert(Id::Comment(Box::new(id)), Object::Comment { text });
        }
    }
    Ok(())
}

/// An index behind a constraint, or a sequence behind an identity column.
fn hidden_relation(address: Address, id: &Id) -> bool {
    address.0 == CLASS && address.2 == 0 && matches!(id, Id::Column(..) | Id::Constraint(..))
}

pub(super) async fn privileges(session: &Session, user: &str, grow: &mut Growing) -> Result<()> {
    let mut found: BTreeMap<(Id, String), (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for row in session.query(q::PRIVILEGES, &[&user]).await? {
        let address: Address = (row.get(0), row.get(1), row.get(2));
        let (role, privilege, actual): (String, String, bool) = (row.get(3), row.get(4), row.get(5));
        if let Some((view, column)) = grow.view_columns.get(&(address.1, address.2)) {
            return Err(unsupported(&format!(
                "privileges on column {column} of view {view}"
            )));
        }
        let Some(id) = grow.ids.get(&address).cloned() else {
            continue;
        };
        if hidden_relation(address, &id) {
            return Err(unsupported(&format!(
                "privileges on the sequence behind {}",
                id.describe()
            )));
        }
        let entry = found.entry((id, role)).or_default();
        if actual {
            entry.0.insert(privilege)
        } else {
            entry.1.insert(privilege)
        };
    }
    for ((id, role), (granted, by_default)) in found {
        if granted != by_default {
            let object = Object::Privileges { granted, by_default };
            grow.model
                .objects
                .insert(Id::Privileges(Box::new(id), role), object);
        }
    }
    Ok(())
}

/// Fills `needs` and `outside_dependents`, then takes out what the selectors hide.
pub(super) async fn depends(session: &Session, reading: &Reading<'_>, grow: &mut Growing) -> Result<()> {
    let rows: Vec<(Address, Address, String)> = session
        .query(q::DEPENDS, &[])
        .await?
        .iter()
        .map(|row| {
            (
                (row.get(0), row.get(1), row.get(2)),
                (row.get(3), row.get(4), row.get(5)),
                row.get(6),
            )
        })
        .collect();
    for (from, to, kind) in &rows {
        if let (true, Some(id)) = (kind == "e" && to.0 == EXTENSION, grow.ids.get(to).cloned()) {
            grow.ids.entry(*from).or_insert(id);
        }
    }
    for row in session.query(q::DERIVED_TYPES, &[]).await? {
        if let Some(id) = grow.ids.get(&(TYPE, row.get(1), 0)).cloned() {
            grow.ids.entry((TYPE, row.get(0), 0)).or_insert(id);
        }
    }
    let internal: HashSet<u32> = session
        .query(q::INTERNAL_TRIGGERS, &[])
        .await?
        .iter()
        .map(|r| r.get(0))
        .collect();
    let mut outward: Vec<(Id, Address)> = Vec::new();
    let mut inward: Vec<(Id, Address)> = Vec::new();
    for (from, to, kind) in rows {
        if kind == "e"
            || (from.0 == TRIGGER && internal.contains(&from.1))
            || PUBLICATION_CLASSES.contains(&from.0)
        {
            continue;
        }
        match (grow.find(from).cloned(), grow.find(to).cloned()) {
            (Some(mut id), Some(need)) => {
                if let (Id::Sequence(name), Id::Column(..), "a") = (&id, &need, kind.as_str()) {
                    id = Id::SequenceOwner(name.clone());
                }
                // An extension's members need each other; that is the extension's business.
                if id != need && !matches!(id, Id::Extension(_)) {
                    grow.model.needs.entry(id).or_default().insert(need);
                }
            }
            (Some(id), None) if to.1 >= FIRST_NORMAL && kind == "n" => outward.push((id, to)),
            (None, Some(need)) if kind != "i" => inward.push((need, from)),
            _ => {}
        }
    }
    structural(grow);
    if let Some((id, to)) = outward.first() {
        let other = describe(session, &[*to]).await?.pop().unwrap_or_default();
        return Err(outside(&id.describe(), &other));
    }
    let names = describe(session, &inward.iter().map(|(_, from)| *from).collect::<Vec<_>>()).await?;
    for ((need, _), name) in inward.into_iter().zip(names) {
        grow.model
            .outside_dependents
            .entry(need)
            .or_default()
            .insert(name);
    }
    hide(reading, grow)
}

/// What is a part of what: the server keeps these in other catalogs than `pg_depend`.
fn structural(grow: &mut Growing) {
    let ids: Vec<Id> = grow.model.objects.keys().cloned().collect();
    for id in ids {
        let mut needs: Vec<Id> = id.parent().into_iter().collect();
        match &id {
            Id::Enum(name)
            | Id::Sequence(name)
            | Id::Table(name)
            | Id::View(name)
            | Id::Function(name, _) => {
                needs.push(Id::Schema(name.schema.clone()));
            }
            Id::Index(_) => needs.extend(id.table(&grow.model).cloned().map(Id::Table)),
            Id::Trigger(name, _) => needs.extend([Id::Table(name.clone()), Id::View(name.clone())]),
            Id::SequenceOwner(_) => {
                if let Some(Object::SequenceOwner { table, column }) = grow.model.objects.get(&id) {
                    needs.push(Id::Column(table.clone(), column.clone()));
                }
            }
            Id::Comment(of) => {
                if let Id::Column(name, _) = &**of {
                    needs.push(Id::View(name.clone()));
                }
            }
            Id::Extension(_) => {
                if let Some(Object::Extension { schema }) = grow.model.objects.get(&id) {
                    needs.push(Id::Schema(schema.clone()));
                }
            }
            _ => {}
        }
        let known = needs
            .into_iter()
            .filter(|need| grow.model.objects.contains_key(need))
            .collect::<Vec<_>>();
        grow.model.needs.entry(id).or_default().extend(known);
    }
}

fn hide(reading: &Reading<'_>, grow: &mut Growing) -> Result<()> {
    let model = &mut grow.model;
    let hidden: BTreeSet<Id> = model
        .objects
        .keys()
        .filter(|id| reading.exclude.hides(id, model))
        .cloned()
        .collect();
    if hidden.is_empty() {
        return Ok(());
    }
    let needs = std::mem::take(&mut model.needs);
    for (id, wanted) in needs {
        for need in wanted {
            match (hidden.contains(&id), hidden.contains(&need)) {
                (false, false) => {
                    model.needs.entry(id.clone()).or_default().insert(need);
                }
                (true, false) => {
                    model
                        .outside_dependents
                        .entry(need)
                        .or_default()
                        .insert(id.describe());
                }
                (false, true) => {
                    return Err(outside(
                        &id.describe(),
                        &format!("{}, which is excluded", need.describe()),
                    ));
                }
                (true, true) => {}
            }
        }
    }
    model.objects.retain(|id, _| !hidden.contains(id));
    for id in hidden {
        if let Id::Column(table, column) = &id
            && let Some(order) = model.column_order.get_mut(table)
        {
            order.retain(|c| c != column);
        }
    }
    Ok(())
}

async fn describe(session: &Session, addresses: &[Address]) -> Result<Vec<String>> {
    if addresses.is_empty() {
        return Ok(vec![]);
    }
    let classes: Vec<u32> = addresses.iter().map(|a| a.0).collect();
    let objects: Vec<u32> = addresses.iter().map(|a| a.1).collect();
    let parts: Vec<i32> = addresses.iter().map(|a| a.2).collect();
    let rows = session.query(q::DESCRIBE, &[&classes, &objects, &parts]).await?;
    Ok(rows
        .iter()
        .map(|row| row.get::<_, Option<String>>(0).unwrap_or_default())
        .collect())
}

fn unsupported(object: &str) -> Error {
    Error::new(
        Code::UnsupportedObject,
        format!("{object} cannot be handled in this build"),
    )
    .about(object)
}

fn outside(object: &str, other: &str) -> Error {
    let message = format!("{object} needs {other}, which is outside the scope");
    Error::new(Code::OutsideDependency, message).about(object)
}
