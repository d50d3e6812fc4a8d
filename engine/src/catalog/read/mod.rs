//! Reading a database in scope, in one snapshot.

mod depends;
mod parts;
mod relations;
mod types;

use std::collections::{HashMap, HashSet};

use super::exclude::Selectors;
use super::id::Id;
use super::model::Model;
use super::object::Object;
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
type Address = (u32, u32, i32);

const CLASS: u32 = 1259;
const TYPE: u32 = 1247;
const PROCEDURE: u32 = 1255;
const CONSTRAINT: u32 = 2606;
const DEFAULT: u32 = 2604;
const TRIGGER: u32 = 2620;
const REWRITE: u32 = 2618;
const NAMESPACE: u32 = 2615;
const EXTENSION: u32 = 3079;
const POLICY: u32 = 3256;
const STATISTICS: u32 = 3381;
const COLLATION: u32 = 3456;

/// The model as it grows, with the server's own numbers for everything in it.
#[derive(Default)]
struct Growing {
    model: Model,
    ids: HashMap<Address, Id>,
    /// Addresses that stand for something else than themselves: an index behind a constraint, a partition's part of what
    /// its table has, a sequence behind an identity column. Nothing of their own can be declared.
    shadows: HashSet<Address>,
    /// Those of them that can have a comment or privileges all the same, as what.
    behind: HashMap<Address, Id>,
    /// Tables, views and composite types by OID, with `relkind`.
    relations: HashMap<u32, (Name, String)>,
    /// Columns of views and composite types, which are no objects of their own.
    loose_columns: HashMap<(u32, i32), (Name, String)>,
    /// The tables, or indexes, that one inherits from.
    parents: HashMap<u32, Vec<u32>>,
    partitions: HashSet<u32>,
}

impl Growing {
    fn add(&mut self, address: Address, id: Id, object: Object) {
        self.ids.insert(address, id.clone());
        self.model.objects.insert(id, object);
    }

    /// Takes an address for another object's.
    fn shadow(&mut self, address: Address, id: Id) {
        self.shadows.insert(address);
        self.ids.insert(address, id);
    }

    /// Takes an address for another object's, behind which it stands under a name of its own.
    fn stands_behind(&mut self, address: Address, id: Id, own: Id) {
        self.behind.insert(address, own);
        self.shadow(address, id);
    }

    /// What a comment or privileges at this address are of; an error when that cannot be declared.
    fn subject(&mut self, address: Address, make: impl Fn(Id) -> Id) -> Result<Option<Id>> {
        let Some(id) = self.ids.get(&address).cloned() else {
            return Ok(None);
        };
        if !self.shadows.contains(&address) {
            return Ok(Some(make(id)));
        }
        let Some(own) = self.behind.get(&address) else {
            let object = format!("a comment or privileges on what stands behind {}", id.describe());
            let message = format!("{object} cannot be handled in this build");
            return Err(Error::new(Code::UnsupportedObject, message).about(id.describe()));
        };
        let hangs = make(own.clone());
        self.model.needs.entry(hangs.clone()).or_default().insert(id);
        Ok(Some(hangs))
    }

    fn own(&mut self, id: &Id, mine: bool, owner: &str, user: &str) {
        if !mine {
            self.model.foreign.insert(id.clone());
        }
        if owner != user {
            self.model.owners.insert(id.clone(), owner.to_owned());
        }
    }

    fn find(&self, address: Address) -> Option<&Id> {
        self.ids
            .get(&address)
            .or_else(|| self.ids.get(&(address.0, address.1, 0)))
    }

    /// The relation of a part; none when it is an extension's, whose parts are that extension's business.
    fn listed(&self, oid: u32) -> Option<(Name, String)> {
        self.relations.get(&oid).cloned()
    }

    fn relation(&self, oid: u32) -> Result<&(Name, String)> {
        self.relations
            .get(&oid)
            .ok_or_else(|| Error::internal("the catalog names a relation that it does not list"))
    }

    fn table(&self, oid: u32) -> Result<Name> {
        self.relation(oid).map(|(name, _)| name.clone())
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
    let scope = reading.scope;
    let mut grow = Growing::default();
    let me = session.one("SELECT current_user::text", &[]).await?;
    let me: &str = me.get(0);
    for row in session.query(q::SCHEMAS, &[&scope]).await? {
        let id = Id::Schema(row.get(1));
        grow.own(&id, row.get(2), row.get(3), me);
        grow.add((NAMESPACE, row.get(0), 0), id, Object::Schema);
    }
    grow.model.no_new_schemas = !session.one(q::MAY_CREATE_SCHEMAS, &[]).await?.get::<_, bool>(0);
    for row in session.query(q::EXTENSIONS, &[]).await? {
        let (name, version): (String, String) = (row.get(1), row.get(3));
        grow.model.extension_versions.insert(name.clone(), version);
        let object = Object::Extension { schema: row.get(2) };
        grow.add((EXTENSION, row.get(0), 0), Id::Extension(name), object);
    }
    types::types(session, scope, me, &mut grow).await?;
    relations::relations(session, scope, me, &mut grow).await?;
    types::routines(session, scope, me, &mut grow).await?;
    parts::parts(session, reading, me, &mut grow).await?;
    depends::comments(session, &mut grow).await?;
    depends::privileges(session, reading, &mut grow).await?;
    depends::depends(session, reading, &mut grow).await?;
    for row in session.query(q::NOTES, &[]).await? {
        grow.model.notes.push(row.get(0));
    }
    Ok(grow.model)
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
