//! Proof: the observed schema is made again on the scratch server from our own rendering and must equal what was
//! observed; the plan's statements run on it in the plan's own mode; what is there then must be the desired state.
//!
//! The proof is about structure. Rows can still break a constraint, a cast or a unique index.
//!
//! What a server prints for an expression is not always what it prints after reading its own print: of
//! `a IN ('x', 'y')` over `varchar` it makes three spellings in a row, and stays with the last. Such models are
//! settled: made again until the spelling no longer changes. Nothing but the text of an expression may move.

use ptah_contract::plan_document::{PrivilegeChange, Statement};

use super::{rename, statements};
use crate::catalog::{Id, Index, Model, Object, Reading, Selectors, read};
use crate::connect::{Deadline, Session};
use crate::desired::{Renamed, extension_of};
use crate::error::{Code, Error, Result};
use crate::name::literal;
use crate::observe::Scope;
use crate::scratch::{Database, Scratch, limit, limit_of};

/// After so many times an expression that still changes is not going to stop.
const SETTLING: usize = 4;

/// Where models are made again.
pub(crate) struct Bench<'a> {
    pub(crate) scratch: &'a Scratch,
    pub(crate) scope: &'a Scope,
    pub(crate) exclude: &'a Selectors,
    pub(crate) user: &'a str,
    pub(crate) roles: &'a [String],
    pub(crate) deadline: &'a Deadline,
}

struct Rebuilt {
    database: Database,
    /// What was read back.
    model: Model,
    /// What it must equal: the original without the extensions that nothing in it needs and the server lacks.
    wanted: Model,
    lacking: Vec<Id>,
}

impl Bench<'_> {
    /// # Errors
    /// `unproven_plan`, naming the first object that differs or the statement that failed.
    pub(super) async fn prove(
        &self,
        from: &Model,
        to: &Model,
        statements: &[Statement],
        atomic: bool,
    ) -> Result<()> {
        let rebuilt = self.rebuild(from).await?;
        equal(
            &rebuilt.model,
            &rebuilt.wanted,
            "the observed schema, made again,",
        )?;
        run(statements, atomic, &rebuilt.database, self.deadline, "the plan").await?;
        let reached = self.read(&rebuilt.database).await?;
        let mut to = to.clone();
        // Owners are compared where one is declared.
        let declared: Vec<(Id, Object)> = to
            .objects
            .extract_if(.., |id, _| matches!(id, Id::Owner(_)))
            .collect();
        for (id, object) in declared {
            let (Id::Owner(of), Object::Owner { role }) = (&id, &object) else {
                continue;
            };
            if reached.owners.get(of) != Some(role) {
                let message = format!(
                    "the plan's result differs from what it must be at {}",
                    id.describe()
                );
                return Err(Error::new(Code::UnprovenPlan, message).about(id.describe()));
            }
        }
        to.objects.retain(|id, _| !rebuilt.lacking.contains(id));
        equal(&reached, &to, "the plan's result")
    }

    /// The same model with every expression as the server spells it in the end.
    ///
    /// # Errors
    /// `unproven_plan` when anything but the text of an expression moves, or that does not come to rest.
    pub(crate) async fn settle(&self, model: &Model) -> Result<Model> {
        let mut settled = model.clone();
        for _ in 0..SETTLING {
            let rebuilt = self.rebuild(&settled).await?;
            if rebuilt.model.first_difference(&rebuilt.wanted).is_none() {
                return Ok(settled);
            }
            let ids: Vec<Id> = rebuilt
                .wanted
                .objects
                .keys()
                .chain(rebuilt.model.objects.keys())
                .cloned()
                .collect();
            for id in ids {
                let (found, wanted) = (rebuilt.model.objects.get(&id), rebuilt.wanted.objects.get(&id));
                match (found, wanted) {
                    (Some(found), Some(wanted)) if found == wanted => {}
                    (Some(found), Some(wanted)) if found.without_text() == wanted.without_text() => {
                        settled.objects.insert(id, found.clone());
                    }
                    _ => {
                        return equal(&rebuilt.model, &rebuilt.wanted, "a schema, made again,")
                            .map(|()| settled);
                    }
                }
            }
        }
        Err(Error::new(
            Code::UnprovenPlan,
            "the server spells an expression otherwise each time it is made",
        ))
    }

    /// The statements from one state to the other, renames first.
    ///
    /// # Errors
    /// As [`statements`] and [`Self::renamed`].
    pub(super) async fn statements(
        &self,
        from: &Model,
        to: &Model,
        declared: &[Renamed],
        atomic: bool,
    ) -> Result<Vec<Statement>> {
        let (renamed, mut all) = self.renamed(from, to, declared).await?;
        all.extend(statements(&renamed, to, self.scratch.major(), atomic)?);
        Ok(all)
    }

    /// The observed state with its renames done, as the server spells it then, and the statements that do them.
    ///
    /// # Errors
    /// `unsupported_change` for a declared rename that cannot be; as proving.
    async fn renamed(
        &self,
        from: &Model,
        to: &Model,
        declared: &[Renamed],
    ) -> Result<(Model, Vec<Statement>)> {
        let mut model = from.clone();
        let mut statements = Vec::new();
        let mut rebuilt: Option<Rebuilt> = None;
        // What follows from a declared rename shows when that is done.
        for round in 0..2 {
            let renames = if round == 0 {
                rename::declared(declared, &model, to)?
            } else {
                rename::implied(&model, to)
            };
            if renames.is_empty() {
                continue;
            }
            let database = match rebuilt.take() {
                Some(rebuilt) => rebuilt,
                None => self.rebuild(from).await?,
            };
            let mut named = Vec::new();
            let mut before = model.clone();
            for rename in &renames {
                named.push(rename.statement(&before));
                before = rename::follow(&before, rename);
            }
            run(&named, true, &database.database, self.deadline, "a rename").await?;
            let mut found = self.read(&database.database).await?;
            for id in &database.lacking {
                if let Some(object) = from.objects.get(id) {
                    found.objects.insert(id.clone(), object.clone());
                }
            }
            model = rename::keep(found, before);
            statements.extend(named);
            rebuilt = Some(database);
        }
        Ok((model, statements))
    }

    /// By a new session: what ran in another may have changed that one's settings.
    async fn read(&self, database: &Database) -> Result<Model> {
        read(
            &database.loader(self.deadline).await?,
            &Reading {
                scope: self.scope.schemas(),
                exclude: self.exclude,
                user: self.user,
            },
        )
        .await
    }

    async fn rebuild(&self, original: &Model) -> Result<Rebuilt> {
        let database = self.scratch.database(self.roles, self.deadline).await?;
        let admin = Session::open(&database.admin, self.deadline).await?;
        let mut wanted = original.clone();
        let mut lost = Vec::new();
        for name in extensions(&admin, &database, original, self.deadline).await? {
            let id = Id::Extension(name.clone());
            if original.dependents().contains_key(&id) {
                let message = format!("the scratch server lacks extension {name}, which the target uses");
                return Err(Error::new(Code::MissingExtension, message).about(name));
            }
            wanted.objects.remove(&id);
            lost.push(id);
        }
        let empty = self.read(&database).await?;
        let statements = statements(&empty, &wanted, self.scratch.major(), true)?;
        let what = "recreating the observed schema";
        run(&statements, true, &database, self.deadline, what).await?;
        mark_invalid(&admin, &wanted).await?;
        let model = self.read(&database).await?;
        Ok(Rebuilt {
            database,
            model,
            wanted,
            lacking: lost,
        })
    }
}

/// Makes the target's extensions; returns those that the scratch server does not have.
async fn extensions(
    admin: &Session,
    database: &Database,
    from: &Model,
    deadline: &Deadline,
) -> Result<Vec<String>> {
    let mut lacking = Vec::new();
    for (id, object) in &from.objects {
        let (Id::Extension(name), Object::Extension { schema }) = (id, object) else {
            continue;
        };
        let there = admin
            .query(
                "SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name::text = $1",
                &[name],
            )
            .await?;
        if there.is_empty() {
            lacking.push(name.clone());
        } else {
            database.extension(name, schema, deadline).await?;
        }
    }
    Ok(lacking)
}

/// An index that the target failed to build is there, and of no use; so it is here.
async fn mark_invalid(admin: &Session, from: &Model) -> Result<()> {
    for (id, object) in &from.objects {
        if let (Id::Index(name), Object::Index(Index { valid: false, .. })) = (id, object) {
            let text = format!(
                "UPDATE pg_catalog.pg_index SET indisvalid = false WHERE indexrelid = {}::pg_catalog.regclass",
                literal(&name.sql())
            );
            admin.batch("marking an index", &text).await?;
        }
    }
    Ok(())
}

async fn run(
    statements: &[Statement],
    atomic: bool,
    database: &Database,
    deadline: &Deadline,
    what: &str,
) -> Result<()> {
    let loader = database.loader(deadline).await?;
    if atomic {
        loader.batch("the proof", "BEGIN").await?;
    }
    for (index, statement) in statements.iter().enumerate() {
        let failed = |kind: Code, said: &str| {
            // The longest name is the part that the statement is about.
            let object = statement.objects.iter().max_by_key(|name| name.len());
            let object = object.cloned().unwrap_or_default();
            let message = format!(
                "{what} fails on the scratch server at statement {} ({object}): {said}",
                index + 1
            );
            Error::new(kind, message).about(object).statement(index + 1)
        };
        if let Some((name, schema)) = extension_of(&statement.sql) {
            // The one statement for which the loading role has no right, by design.
            if atomic {
                loader.batch("the proof", "COMMIT").await?;
            }
            database.extension(&name, &schema, deadline).await?;
            if atomic {
                loader.batch("the proof", "BEGIN").await?;
            }
            continue;
        }
        let answer = if of_an_owner(statement) {
            let admin = Session::open(&database.admin, deadline).await?;
            if atomic {
                loader.batch("the proof", "COMMIT").await?;
            }
            let answer = admin.execute(&statement.sql).await;
            if atomic {
                loader.batch("the proof", "BEGIN").await?;
            }
            answer
        } else {
            database.execute(&loader, &statement.sql, deadline).await
        };
        let answer = answer.map_err(|error| match error.kind() {
            Code::ScratchLimit => failed(Code::ScratchLimit, &error.to_string()),
            _ => error,
        })?;
        if let Err(error) = answer {
            let state = error.code().map(|c| c.code().to_owned());
            if let Some(over) = state.as_deref().and_then(limit_of) {
                return Err(failed(Code::ScratchLimit, &limit(over).to_string()).sqlstate(state));
            }
            let said: String = error
                .as_db_error()
                .map(|db| db.message().chars().take(crate::error::SCRATCH_TEXT).collect())
                .unwrap_or_default();
            // No cast, or not supported by the server: nothing that another plan could do better.
            let kind = match state.as_deref() {
                Some("0A000" | "42846") => Code::UnsupportedChange,
                _ => Code::UnprovenPlan,
            };
            return Err(failed(kind, &said).sqlstate(state));
        }
    }
    if atomic && let Err(error) = loader.finish("COMMIT").await {
        return Err(Error::from_server(
            Code::UnprovenPlan,
            &format!("{what} cannot be committed"),
            &error,
        ));
    }
    Ok(())
}

/// What the loading role has no right to, by design, and what runs nobody's code.
fn of_an_owner(statement: &Statement) -> bool {
    statement.privileges.contains(&PrivilegeChange::Ownership)
        || statement.sql.starts_with("COMMENT ON EXTENSION ")
}

fn equal(found: &Model, wanted: &Model, what: &str) -> Result<()> {
    match found.first_difference(wanted) {
        None => Ok(()),
        Some(id) => {
            let message = format!("{what} differs from what it must be at {}", id.describe());
            Err(Error::new(Code::UnprovenPlan, message).about(id.describe()))
        }
    }
}
