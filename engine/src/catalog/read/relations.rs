//! Tables, views, sequences and columns.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::super::id::Id;
use super::super::object::{Attribute, Column, Identity, NotNull, Object, Sequence, Table, View};
use super::super::queries as q;
use super::{CLASS, CONSTRAINT, DEFAULT, Growing, REWRITE, TYPE};
use crate::connect::Session;
use crate::error::{Code, Error, Result};
use crate::name::Name;

pub(super) async fn relations(
    session: &Session,
    scope: &[String],
    me: &str,
    grow: &mut Growing,
) -> Result<()> {
    for row in session.query(q::RELATIONS, &[&scope]).await? {
        relation(&row, me, grow);
    }
    for row in session.query(q::VIEW_RULES, &[]).await? {
        if let Some(id) = grow.ids.get(&(CLASS, row.get(1), 0)).cloned() {
            grow.ids.insert((REWRITE, row.get(0), 0), id);
        }
    }
    inherits(session, scope, grow).await?;
    columns(session, scope, grow).await
}

fn relation(row: &Row, me: &str, grow: &mut Growing) {
    let oid: u32 = row.get(0);
    let name = Name::new(row.get::<_, &str>(1), row.get::<_, &str>(2));
    let (kind, unlogged, options): (&str, bool, Vec<String>) = (row.get(3), row.get(4), row.get(5));
    grow.relations.insert(oid, (name.clone(), kind.to_owned()));
    let view = || View {
        definition: row.get::<_, Option<String>>(6).unwrap_or_default(),
        columns: vec![],
        options: options.clone(),
    };
    let (id, object) = match kind {
        "v" => (Id::View(name), Object::View(view())),
        "m" => {
            let id = Id::MaterializedView(name);
            if !row.get::<_, bool>(16) {
                grow.model.unfilled.insert(id.clone());
            }
            (id, Object::MaterializedView(view()))
        }
        // An identity's is filled in with its column.
        "S" if row.get(10) => return,
        "S" => {
            let sequence = Sequence {
                unlogged,
                ..Sequence::default()
            };
            (Id::Sequence(name), Object::Sequence(sequence))
        }
        _ => {
            if let Some(how) = row.get::<_, Option<String>>(18) {
                let object = Object::ReplicaIdentity { how };
                grow.model
                    .objects
                    .insert(Id::ReplicaIdentity(name.clone()), object);
            }
            if let Some(bound) = row.get::<_, Option<String>>(17) {
                let parent = Name::new("", "");
                let object = Object::Partition { parent, bound };
                grow.model.objects.insert(Id::Partition(name.clone()), object);
                grow.partitions.insert(oid);
            }
            let table = Table {
                unlogged,
                options,
                partition_key: row.get(13),
                row_security: row.get(14),
                force_row_security: row.get(15),
            };
            (Id::Table(name), Object::Table(table))
        }
    };
    grow.own(&id, row.get(9), row.get(12), me);
    if !row.get::<_, bool>(11) {
        grow.model.not_referable.insert(id.clone());
    }
    for number in [row.get::<_, u32>(7), row.get::<_, u32>(8)] {
        if number != 0 {
            grow.ids.insert((TYPE, number, 0), id.clone());
        }
    }
    grow.add((CLASS, oid, 0), id, object);
}

/// # Errors
/// `outside_dependency` when one of the two is in scope and the other is not: changing the one would change the other.
async fn inherits(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    for row in session.query(q::INHERITS, &[&scope]).await? {
        let (child, parent): (u32, u32) = (row.get(0), row.get(1));
        grow.parents.entry(child).or_default().push(parent);
        if row.get(3) {
            continue;
        }
        let (from, to): (&str, &str) = (row.get(4), row.get(5));
        if row.get::<_, bool>(6) != row.get::<_, bool>(7) {
            let message = format!(
                "table {from} has its columns from table {to}, and only one of them is in a schema that the desired state names"
            );
            return Err(Error::new(Code::OutsideDependency, message).about(from));
        }
        let (child, parent) = (grow.table(child)?, grow.table(parent)?);
        if row.get(2) {
            if let Some(Object::Partition { parent: known, .. }) =
                grow.model.objects.get_mut(&Id::Partition(child))
            {
                *known = parent;
            }
        } else {
            grow.model
                .objects
                .insert(Id::Inherits(child, parent), Object::Inherits);
        }
    }
    Ok(())
}

async fn columns(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    let mut not_nulls: HashMap<(u32, i32), Row> = HashMap::new();
    if session.major() >= 18 {
        for row in session.query(q::NOT_NULLS, &[&scope]).await? {
            not_nulls.insert((row.get(0), i32::from(row.get::<_, i16>(1))), row);
        }
    }
    let mut by_number: HashMap<(u32, i32), Id> = HashMap::new();
    for row in session.query(q::COLUMNS, &[&scope]).await? {
        let (relation, number, name): (u32, i16, String) = (row.get(0), row.get(1), row.get(2));
        let number = i32::from(number);
        let Some((table, kind)) = grow.listed(relation) else {
            continue;
        };
        if matches!(kind.as_str(), "v" | "m" | "c") {
            loose(&row, (relation, number), table, kind.as_str(), grow);
            continue;
        }
        let id = Id::Column(table.clone(), name.clone());
        let mut column = column(&row);
        if grow.partitions.contains(&relation) && session.major() >= 17 {
            // A partition numbers its rows by the identity of the table that it is a partition of.
            column.identity = None;
        }
        if let Some(row) = not_nulls.get(&(relation, number)) {
            let address = (CONSTRAINT, row.get::<_, u32>(6), 0);
            if row.get(5) {
                grow.shadow(address, id.clone());
            } else {
                let own = Id::Constraint(table.clone(), row.get(2));
                grow.stands_behind(address, id.clone(), own);
            }
            column.not_null_constraint = not_null(row, &format!("{}_{name}_not_null", table.name));
            // One that rows may still break keeps NULL out of new rows all the same.
            column.not_null = true;
        }
        default(&row, &table, &name, &mut column, grow);
        if row.get(14) {
            grow.model.merged.insert(id.clone());
        }
        if session.major() < 16 {
            grow.model.usual_storage.insert(id.clone(), row.get(15));
        }
        grow.model.column_order.entry(table).or_default().push(name);
        by_number.insert((relation, number), id.clone());
        grow.add((CLASS, relation, number), id, Object::Column(column));
    }
    for row in session.query(q::SEQUENCES, &[&scope]).await? {
        sequence(&row, grow, &by_number)?;
    }
    Ok(())
}

/// A column of a view or an attribute of a composite type, which is part of it.
fn loose(row: &Row, address: (u32, i32), of: Name, kind: &str, grow: &mut Growing) {
    let (name, data_type, collation): (String, String, Option<String>) = (row.get(2), row.get(3), row.get(4));
    grow.loose_columns.insert(address, (of.clone(), name.clone()));
    if let (Some(oid), Some(expression)) = (row.get::<_, Option<u32>>(11), row.get::<_, Option<String>>(12)) {
        let id = Id::Default(of.clone(), name.clone());
        grow.add((DEFAULT, oid, 0), id, Object::Default { expression });
    }
    let id = match kind {
        "v" => Id::View(of),
        "m" => Id::MaterializedView(of),
        _ => Id::Composite(of),
    };
    match grow.model.objects.get_mut(&id) {
        Some(Object::View(view) | Object::MaterializedView(view)) => {
            view.columns.push((name, data_type, collation));
        }
        Some(Object::Composite { attributes }) => attributes.push(Attribute {
            name,
            data_type,
            collation,
        }),
        _ => {}
    }
}

fn not_null(row: &Row, usual: &str) -> Option<NotNull> {
    // What a table has from its parent is called as the parent says, which is compared there.
    if row.get(5) {
        return None;
    }
    let name: &str = row.get(2);
    let found = NotNull {
        name: (name != usual).then(|| name.to_owned()),
        not_valid: row.get(3),
        no_inherit: row.get(4),
    };
    (found.name.is_some() || found.not_valid || found.no_inherit).then_some(found)
}

fn default(row: &Row, table: &Name, name: &str, column: &mut Column, grow: &mut Growing) {
    if let (Some(oid), Some(expression)) = (row.get::<_, Option<u32>>(11), row.get::<_, Option<String>>(12)) {
        if row.get::<_, &str>(7).is_empty() {
            let default = Id::Default(table.clone(), name.to_owned());
            grow.add((DEFAULT, oid, 0), default, Object::Default { expression });
        } else {
            let id = Id::Column(table.clone(), name.to_owned());
            grow.ids.insert((DEFAULT, oid, 0), id);
            column.generated = Some(expression);
        }
    }
}

fn column(row: &Row) -> Column {
    let generation = match row.get::<_, &str>(6) {
        "a" => Some("ALWAYS"),
        "d" => Some("BY DEFAULT"),
        _ => None,
    };
    Column {
        data_type: row.get(3),
        collation: row.get(4),
        not_null: row.get(5),
        not_null_constraint: None,
        generated: None,
        is_virtual: row.get::<_, &str>(7) == "v",
        identity: generation.map(|g| Identity {
            generation: g.into(),
            sequence_name: None,
            sequence: Sequence::default(),
        }),
        storage: row.get(8),
        compression: row.get(9),
        statistics: row.get(10),
        options: row.get(13),
    }
}

fn sequence(row: &Row, grow: &mut Growing, columns: &HashMap<(u32, i32), Id>) -> Result<()> {
    let oid: u32 = row.get(0);
    let Some((name, _)) = grow.relations.get(&oid).cloned() else {
        return Ok(());
    };
    let mut sequence = Sequence {
        data_type: row.get(1),
        start: row.get(2),
        increment: row.get(3),
        min: row.get(4),
        max: row.get(5),
        cache: row.get(6),
        cycle: row.get(7),
        unlogged: false,
    };
    let owner = row.get::<_, Option<u32>>(9).zip(row.get::<_, Option<i32>>(10));
    let owner = owner.and_then(|key| columns.get(&key).cloned());
    match (row.get::<_, Option<&str>>(8), owner) {
        (Some("i"), Some(Id::Column(table, column))) => {
            let id = Id::Column(table.clone(), column.clone());
            let usual = Name::new(&table.schema, format!("{}_{column}_seq", table.name));
            if let Some(Object::Column(Column {
                identity: Some(identity),
                ..
            })) = grow.model.objects.get_mut(&id)
            {
                identity.sequence_name = (name != usual).then(|| name.sql());
                identity.sequence = sequence;
            }
            grow.stands_behind((CLASS, oid, 0), id, Id::Sequence(name));
        }
        (Some("a"), Some(Id::Column(table, column))) => {
            let object = Object::SequenceOwner { table, column };
            grow.model.objects.insert(Id::SequenceOwner(name.clone()), object);
            fill(grow, name, &mut sequence);
        }
        (Some(_), _) => {
            let object = format!("sequence {name}");
            let message = format!("{object} belongs to a table outside the scope");
            return Err(Error::new(Code::OutsideDependency, message).about(object));
        }
        (None, _) => fill(grow, name, &mut sequence),
    }
    Ok(())
}

fn fill(grow: &mut Growing, name: Name, sequence: &mut Sequence) {
    if let Some(Object::Sequence(known)) = grow.model.objects.get_mut(&Id::Sequence(name)) {
        sequence.unlogged = known.unlogged;
        *known = sequence.clone();
    }
}
