//! What hangs on objects: comments, privileges, and who needs whom, as the server recorded it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::id::{DefaultPrivileges, Id};
use super::super::object::Object;
use super::super::queries as q;
use super::{Address, CLASS, EXTENSION, Growing, PROCEDURE, Reading, TRIGGER, TYPE};
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
        if let Some(of) = loose_column(address, grow) {
            grow.model
                .objects
                .insert(Id::Comment(Box::new(of)), Object::Comment { text });
        } else {
            let made = grow.subject(address, |of| Id::Comment(Box::new(of)))?;
            // A table's row type is no type that can have a comment.
            let row_type = |id: &Id| address.0 == TYPE && !id.parent().is_some_and(|of| of.is_type());
            if let Some(id) = made.filter(|id| !row_type(id)) {
                grow.model.objects.insert(id, Object::Comment { text });
            }
        }
    }
    Ok(())
}

/// A column of a view or an attribute of a composite type, as something that can have a comment or privileges.
fn loose_column(address: Address, grow: &Growing) -> Option<Id> {
    if address.0 != CLASS {
        return None;
    }
    let (of, column) = grow.loose_columns.get(&(address.1, address.2))?;
    Some(Id::Column(of.clone(), column.clone()))
}

pub(super) async fn privileges(session: &Session, reading: &Reading<'_>, grow: &mut Growing) -> Result<()> {
    let mut found: BTreeMap<Id, (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    let mut note = |id: Id, privilege: String, actual: bool| {
        let (granted, by_default) = found.entry(id).or_default();
        if actual {
            granted.insert(privilege)
        } else {
            by_default.insert(privilege)
        }
    };
    for row in session.query(q::PRIVILEGES, &[&reading.user]).await? {
        let address: Address = (row.get(0), row.get(1), row.get(2));
        let role: String = row.get(3);
        let make = |of: Id| Id::Privileges(Box::new(of), role.clone());
        let id = match loose_column(address, grow) {
            Some(of) => Some(make(of)),
            None => grow.subject(address, make)?,
        };
        if let Some(id) = id {
            note(id, row.get(4), row.get(5));
        }
    }
    let rows = session
        .query(q::DEFAULT_PRIVILEGES, &[&reading.scope, &reading.user])
        .await?;
    for row in rows {
        let id = DefaultPrivileges {
            role: row.get(0),
            schema: row.get(1),
            kind: row.get(2),
            grantee: row.get(3),
        };
        note(Id::DefaultPrivileges(Box::new(id)), row.get(4), row.get(5));
    }
    for (id, (granted, by_default)) in found {
        if granted != by_default {
            let object = Object::Privileges { granted, by_default };
            grow.model.objects.insert(id, object);
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
    // A range type comes with a multirange, and both with constructors.
    for class in [TYPE, PROCEDURE] {
        for (from, to, kind) in &rows {
            let fresh = kind == "i" && from.0 == class && to.0 == TYPE && !grow.ids.contains_key(from);
            if let (true, Some(id @ Id::Range(_))) = (fresh, grow.ids.get(to).cloned()) {
                grow.shadow(*from, id);
            }
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
            // What a partition has from its table needs what that needs.
            || (grow.shadows.contains(&from) && !grow.behind.contains_key(&from))
        {
            continue;
        }
        match (grow.find(from).cloned(), grow.find(to).cloned()) {
            (Some(id), Some(need)) => {
                let id = dependent(id, &need, kind.as_str());
                // An extension's members need each other; that is the extension's business. A partitioned table is
                // recorded as needing the columns of its key, which are part of it.
                let part = matches!((&id, &need), (Id::Table(table), Id::Column(of, _)) if table == of);
                // Only the columns of a partition key are recorded as part of their table.
                if kind == "i" && matches!((&id, &need), (Id::Column(of, _), Id::Table(table)) if table == of)
                {
                    grow.model.key_columns.insert(id.clone());
                }
                if id != need && !part && !matches!(id, Id::Extension(_)) {
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

/// What of an object needs another: that it is a partition of it, inherits from it, or owns it, can end while both stay.
fn dependent(id: Id, need: &Id, kind: &str) -> Id {
    match (&id, need, kind) {
        (Id::Sequence(name), Id::Column(..), "a") => Id::SequenceOwner(name.clone()),
        (Id::Table(child), Id::Table(_), "a") => Id::Partition(child.clone()),
        (Id::Table(child), Id::Table(parent), _) if child != parent => {
            Id::Inherits(child.clone(), parent.clone())
        }
        _ => id,
    }
}

/// What is a part of what: the server keeps these in other catalogs than `pg_depend`.
fn structural(grow: &mut Growing) {
    let model = &grow.model;
    let mut all: Vec<(Id, Id)> = Vec::new();
    for (id, object) in &model.objects {
        let mut needs: Vec<Id> = id.parent().into_iter().collect();
        needs.extend(id.carriers());
        match id {
            Id::Index(_) | Id::Statistics(_) => {
                if let Some(table) = id.table(model) {
                    needs.extend([Id::Table(table.clone()), Id::MaterializedView(table.clone())]);
                }
            }
            Id::Column(table, column) => {
                let above = model.ancestors(table);
                needs.extend(
                    above
                        .into_iter()
                        .map(|table| Id::Column(table.clone(), column.clone())),
                );
            }
            Id::Default(table, column) => {
                let above = model.ancestors(table);
                needs.extend(
                    above
                        .into_iter()
                        .map(|table| Id::Default(table.clone(), column.clone())),
                );
            }
            Id::Inherits(_, parent) => needs.push(Id::Table(parent.clone())),
            Id::DefaultPrivileges(d) => needs.push(Id::Schema(d.schema.clone())),
            _ => {}
        }
        match object {
            Object::SequenceOwner { table, column } => {
                needs.push(Id::Column(table.clone(), column.clone()));
            }
            Object::Extension { schema } => needs.push(Id::Schema(schema.clone())),
            Object::Partition { parent, .. } => needs.push(Id::Table(parent.clone())),
            _ => {}
        }
        if id.parent().is_none()
            && let Some(name) = id.name()
        {
            needs.push(Id::Schema(name.schema.clone()));
        }
        all.extend(needs.into_iter().map(|need| (id.clone(), need)));
    }
    for (id, need) in all {
        if grow.model.objects.contains_key(&need) {
            grow.model.needs.entry(id).or_default().insert(need);
        }
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
    model
        .inherited
        .retain(|id, _| !id.parent().is_some_and(|table| hidden.contains(&table)));
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

fn outside(object: &str, other: &str) -> Error {
    let message = format!("{object} needs {other}, which is outside the scope");
    Error::new(Code::OutsideDependency, message).about(object)
}
