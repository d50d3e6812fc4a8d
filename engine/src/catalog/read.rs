//! One snapshot of everything in scope.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::depends;
use super::exclude::Selectors;
use super::model::{Column, Constraint, Function, Id, Identity, Model, Object, Sequence, View};
use super::queries as q;
use crate::connect::Session;
use crate::error::{Code, Error, Result};
use crate::name::Name;

/// What to read.
pub(crate) struct Reading<'a> {
    /// Schemas, sorted.
    pub(crate) scope: &'a [String],
    /// What is left out.
    pub(crate) exclude: &'a Selectors,
    /// The target's user: what it may do by owning things is not declared, so not compared.
    pub(crate) user: &'a str,
}

/// Class, object and sub-object, as `pg_depend` has them.
pub(super) type Address = (u32, u32, i32);

pub(super) const CLASS: u32 = 1259;
pub(super) const TYPE: u32 = 1247;
pub(super) const PROCEDURE: u32 = 1255;
pub(super) const CONSTRAINT: u32 = 2606;
pub(super) const DEFAULT: u32 = 2604;
pub(super) const TRIGGER: u32 = 2620;
pub(super) const REWRITE: u32 = 2618;
pub(super) const NAMESPACE: u32 = 2615;
pub(super) const EXTENSION: u32 = 3079;

/// The model as it grows, with the server's own numbers for everything in it.
#[derive(Default)]
pub(super) struct Growing {
    pub(super) model: Model,
    pub(super) ids: HashMap<Address, Id>,
    /// Tables and views by OID.
    relations: HashMap<u32, (Name, String)>,
    /// Columns of views, which are no objects of their own.
    pub(super) view_columns: HashMap<(u32, i32), (Name, String)>,
}

impl Growing {
    pub(super) fn add(&mut self, address: Address, id: Id, object: Object) {
        self.ids.insert(address, id.clone());
        self.model.objects.insert(id, object);
    }

    pub(super) fn find(&self, address: Address) -> Option<&Id> {
        self.ids
            .get(&address)
            .or_else(|| self.ids.get(&(address.0, address.1, 0)))
    }

    fn table(&self, oid: u32) -> Result<Name> {
        self.relations
            .get(&oid)
            .map(|(name, _)| name.clone())
            .ok_or_else(|| Error::internal("the catalog names a relation that it does not list"))
    }
}

/// Reads everything in scope, in one repeatable-read snapshot.
///
/// # Errors
/// `unsupported_object` and `outside_dependency`, naming the first such object.
pub(crate) async fn read(session: &Session, reading: &Reading<'_>) -> Result<Model> {
    session
        .batch(
            "opening a snapshot",
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        )
        .await?;
    let model = read_snapshot(session, reading).await;
    // The snapshot wrote nothing; when closing it fails, the next statement says so.
    let closed = session.batch("closing a snapshot", "COMMIT").await;
    let model = model?;
    closed?;
    Ok(model)
}

async fn read_snapshot(session: &Session, reading: &Reading<'_>) -> Result<Model> {
    refuse_unsupported(session, reading).await?;
    let scope = &reading.scope;
    let mut grow = Growing::default();
    for row in session.query(q::SCHEMAS, &[scope]).await? {
        let id = Id::Schema(row.get(1));
        own(&mut grow, &id, row.get(2));
        grow.add((NAMESPACE, row.get(0), 0), id, Object::Schema);
    }
    grow.model.no_new_schemas = !session.one(q::MAY_CREATE_SCHEMAS, &[]).await?.get::<_, bool>(0);
    for row in session.query(q::EXTENSIONS, &[]).await? {
        let (name, version): (String, String) = (row.get(1), row.get(3));
        grow.model.extension_versions.insert(name.clone(), version);
        grow.add(
            (EXTENSION, row.get(0), 0),
            Id::Extension(name),
            Object::Extension { schema: row.get(2) },
        );
    }
    for row in session.query(q::ENUMS, &[scope]).await? {
        let id = Id::Enum(Name::new(row.get::<_, &str>(2), row.get::<_, &str>(3)));
        own(&mut grow, &id, row.get(4));
        grow.ids.insert((TYPE, row.get(1), 0), id.clone());
        grow.add((TYPE, row.get(0), 0), id, Object::Enum { labels: row.get(5) });
    }
    relations(session, scope, &mut grow).await?;
    columns(session, scope, &mut grow).await?;
    for row in session.query(q::FUNCTIONS, &[scope]).await? {
        let id = Id::Function(
            Name::new(row.get::<_, &str>(1), row.get::<_, &str>(2)),
            row.get(3),
        );
        own(&mut grow, &id, row.get(10));
        let function = Function {
            definition: row.get(4),
            word: row.get(5),
            signature: row.get(6),
            shape: row.get(7),
            defaults: row.get(8),
            security_definer: row.get(9),
        };
        grow.add((PROCEDURE, row.get(0), 0), id, Object::Function(function));
    }
    for row in session.query(q::CONSTRAINTS, &[scope]).await? {
        let id = Id::Constraint(grow.table(row.get(1))?, row.get(2));
        let index: u32 = row.get(5);
        if index != 0 {
            grow.ids.insert((CLASS, index, 0), id.clone());
        }
        let references = row.get::<_, Option<&str>>(6).zip(row.get::<_, Option<&str>>(7));
        let constraint = Constraint {
            class: row.get(3),
            definition: row.get(4),
            references: references.map(|(schema, name)| Name::new(schema, name)),
        };
        grow.add((CONSTRAINT, row.get(0), 0), id, Object::Constraint(constraint));
    }
    for row in session.query(q::INDEXES, &[scope]).await? {
        let Some((table, _)) = grow.relations.get(&row.get(1)).cloned() else {
            continue;
        };
        let id = Id::Index(Name::new(row.get::<_, &str>(2), row.get::<_, &str>(3)));
        let object = Object::Index {
            table,
            definition: row.get(4),
            unique: row.get(5),
            valid: row.get(6),
        };
        grow.add((CLASS, row.get(0), 0), id, object);
    }
    for row in session.query(q::TRIGGERS, &[scope]).await? {
        let (table, kind) = grow
            .relations
            .get(&row.get(1))
            .cloned()
            .ok_or_else(|| Error::internal("the catalog names a relation that it does not list"))?;
        let id = Id::Trigger(table, row.get(2));
        let constraint: u32 = row.get(5);
        if constraint != 0 {
            grow.ids.insert((CONSTRAINT, constraint, 0), id.clone());
        }
        let object = Object::Trigger {
            definition: row.get(3),
            enabled: row.get(4),
            on_view: kind == "v",
        };
        grow.add((TRIGGER, row.get(0), 0), id, object);
    }
    depends::comments(session, &mut grow).await?;
    depends::privileges(session, reading.user, &mut grow).await?;
    depends::depends(session, reading, &mut grow).await?;
    for row in session.query(q::NOTES, &[]).await? {
        grow.model.notes.push(row.get(0));
    }
    Ok(grow.model)
}

fn own(grow: &mut Growing, id: &Id, mine: bool) {
    if !mine {
        grow.model.foreign.insert(id.clone());
    }
}

async fn refuse_unsupported(session: &Session, reading: &Reading<'_>) -> Result<()> {
    for row in session.query(q::UNSUPPORTED, &[&reading.scope]).await? {
        let (kind, schema, name): (&str, &str, &str) = (row.get(0), row.get(1), row.get(2));
        let path: Vec<&str> = std::iter::once(schema).chain(name.splitn(2, '.')).collect();
        if !reading.exclude.hides_name(kind, &path) && !reading.exclude.hides_name("table", &path[..2]) {
            let object = format!("{kind} {schema}.{name}");
            let message = format!(
                "{object} is of a kind that this build does not handle; policy.exclude can leave it out"
            );
            return Err(Error::new(Code::UnsupportedObject, message).about(object));
        }
    }
    Ok(())
}

async fn relations(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    for row in session.query(q::RELATIONS, &[&scope]).await? {
        let oid: u32 = row.get(0);
        let name = Name::new(row.get::<_, &str>(1), row.get::<_, &str>(2));
        let (kind, unlogged, options): (&str, bool, Vec<String>) = (row.get(3), row.get(4), row.get(5));
        grow.relations.insert(oid, (name.clone(), kind.to_owned()));
        let (id, object) = match kind {
            "r" => (Id::Table(name), Object::Table { unlogged, options }),
            "v" => {
                let definition: String = row.get(6);
                (
                    Id::View(name),
                    Object::View(View {
                        definition,
                        columns: vec![],
                        options,
                    }),
                )
            }
            // Filled in below, where its options are.
            _ if row.get(10) => continue,
            _ => {
                let empty = Sequence {
                    data_type: String::new(),
                    start: 0,
                    increment: 0,
                    min: 0,
                    max: 0,
                    cache: 0,
                    cycle: false,
                    unlogged,
                };
                (Id::Sequence(name), Object::Sequence(empty))
            }
        };
        own(grow, &id, row.get(9));
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
    for row in session.query(q::VIEW_RULES, &[]).await? {
        if let Some(id) = grow.ids.get(&(CLASS, row.get(1), 0)).cloned() {
            grow.ids.insert((REWRITE, row.get(0), 0), id);
        }
    }
    Ok(())
}

async fn columns(session: &Session, scope: &[String], grow: &mut Growing) -> Result<()> {
    let mut names: HashMap<(u32, i32), (String, u32)> = HashMap::new();
    if session.major() >= 18 {
        for row in session.query(q::NOT_NULL_NAMES, &[&scope]).await? {
            names.insert(
                (row.get(0), i32::from(row.get::<_, i16>(1))),
                (row.get(2), row.get(3)),
            );
        }
    }
    let mut by_number: HashMap<(u32, i32), Id> = HashMap::new();
    for row in session.query(q::COLUMNS, &[&scope]).await? {
        let (relation, number, name): (u32, i16, String) = (row.get(0), row.get(1), row.get(2));
        let number = i32::from(number);
        let (table, kind) = grow
            .relations
            .get(&relation)
            .cloned()
            .ok_or_else(|| Error::internal("the catalog names a relation that it does not list"))?;
        if kind == "v" {
            grow.view_columns
                .insert((relation, number), (table.clone(), name.clone()));
            if let Some(Object::View(view)) = grow.model.objects.get_mut(&Id::View(table)) {
                view.columns.push((name, row.get(3), row.get(4)));
            }
            continue;
        }
        let id = Id::Column(table.clone(), name.clone());
        let mut column = column(&row);
        if let Some((constraint, oid)) = names.get(&(relation, number)) {
            grow.ids.insert((CONSTRAINT, *oid, 0), id.clone());
            if *constraint != format!("{}_{name}_not_null", table.name) {
                column.not_null_name = Some(constraint.clone());
            }
        }
        if let (Some(oid), Some(expression)) =
            (row.get::<_, Option<u32>>(11), row.get::<_, Option<String>>(12))
        {
            if row.get::<_, &str>(7).is_empty() {
                let default = Id::Default(table.clone(), name.clone());
                grow.add((DEFAULT, oid, 0), default, Object::Default { expression });
            } else {
                grow.ids.insert((DEFAULT, oid, 0), id.clone());
                column.generated = Some(expression);
            }
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

fn column(row: &Row) -> Column {
    let generation = match row.get::<_, &str>(6) {
        "a" => Some("ALWAYS"),
        "d" => Some("BY DEFAULT"),
        _ => None,
    };
    let empty = || Sequence {
        data_type: String::new(),
        start: 0,
        increment: 0,
        min: 0,
        max: 0,
        cache: 0,
        cycle: false,
        unlogged: false,
    };
    Column {
        data_type: row.get(3),
        collation: row.get(4),
        not_null: row.get(5),
        not_null_name: None,
        generated: None,
        is_virtual: row.get::<_, &str>(7) == "v",
        identity: generation.map(|g| Identity {
            generation: g.into(),
            sequence_name: None,
            sequence: empty(),
        }),
        storage: row.get(8),
        compression: row.get(9),
        statistics: row.get(10),
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
            grow.ids.insert((CLASS, oid, 0), id);
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
