//! Proof: the observed schema is made again on the scratch server from our own rendering and must equal what was
//! observed; the plan's statements run on it in the plan's own mode; what is there then must be the desired state.
//!
//! The proof is about structure. Rows can still break a constraint, a cast or a unique index.

use ptah_contract::plan_document::Statement;

use super::statements;
use crate::catalog::{Id, Model, Object, Reading, Selectors, read};
use crate::connect::{Deadline, Session};
use crate::error::{Code, Error, Result};
use crate::name::{literal, quote};
use crate::observe::Scope;
use crate::scratch::{Database, Scratch};

pub(super) struct Claim<'a> {
    pub(super) from: &'a Model,
    pub(super) to: &'a Model,
    pub(super) scope: &'a Scope,
    pub(super) exclude: &'a Selectors,
    pub(super) user: &'a str,
    pub(super) roles: &'a [String],
    pub(super) statements: &'a [Statement],
    pub(super) atomic: bool,
}

/// # Errors
/// `unproven_plan`, naming the first object that differs or the statement that failed.
pub(super) async fn prove(claim: &Claim<'_>, scratch: &Scratch, deadline: &Deadline) -> Result<()> {
    let database = scratch.database(claim.roles, deadline).await?;
    let (mut from, mut to) = (claim.from.clone(), claim.to.clone());
    let admin = Session::open(&database.admin, deadline).await?;
    let lacking = extensions(&admin, claim.from).await?;
    for name in lacking {
        let id = Id::Extension(name.clone());
        if from.dependents().contains_key(&id) {
            let message = format!("the scratch server lacks extension {name}, which the target uses");
            return Err(Error::new(Code::MissingExtension, message).about(name));
        }
        from.objects.remove(&id);
        to.objects.remove(&id);
    }
    let loader = Session::open(&database.loader, deadline).await?;
    let reading = Reading { scope: claim.scope.schemas(), exclude: claim.exclude, user: claim.user };
    let empty = read(&loader, &reading).await?;
    let rebuild = statements(&empty, &from, scratch.major(), true)?;
    run(&rebuild, true, &loader, &database, deadline, "recreating the observed schema").await?;
    mark_invalid(&admin, &from).await?;
    let rebuilt = read(&loader, &reading).await?;
    equal(&rebuilt, &from, "the observed schema, made again,")?;
    run(claim.statements, claim.atomic, &loader, &database, deadline, "the plan").await?;
    let reached = read(&loader, &reading).await?;
    equal(&reached, &to, "the plan's result")
}

/// Makes the target's extensions; returns those that the scratch server does not have.
async fn extensions(admin: &Session, from: &Model) -> Result<Vec<String>> {
    let mut lacking = Vec::new();
    for (id, object) in &from.objects {
        let (Id::Extension(name), Object::Extension { schema }) = (id, object) else { continue };
        let there = admin
            .query("SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name::text = $1", &[name])
            .await?;
        if there.is_empty() {
            lacking.push(name.clone());
            continue;
        }
        if schema != "pg_catalog" {
            let text = format!("CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION ptah_scratch_loader", quote(schema));
            admin.batch("making an extension's schema", &text).await?;
        }
        let text = format!("CREATE EXTENSION IF NOT EXISTS {} SCHEMA {} CASCADE", quote(name), quote(schema));
        admin.batch("making an extension", &text).await?;
    }
    Ok(lacking)
}

/// An index that the target failed to build is there, and of no use; so it is here.
async fn mark_invalid(admin: &Session, from: &Model) -> Result<()> {
    for (id, object) in &from.objects {
        if let (Id::Index(name), Object::Index { valid: false, .. }) = (id, object) {
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
    loader: &Session,
    database: &Database,
    deadline: &Deadline,
    what: &str,
) -> Result<()> {
    if atomic {
        loader.batch("the proof", "BEGIN").await?;
    }
    for (index, statement) in statements.iter().enumerate() {
        if statement.sql.starts_with("CREATE EXTENSION ") {
            // The one statement for which the loading role has no right, by design.
            if atomic {
                loader.batch("the proof", "COMMIT").await?;
            }
            let admin = Session::open(&database.admin, deadline).await?;
            if admin.execute(&statement.sql).await?.is_err() {
                let message = format!("the scratch server lacks what statement {} makes", index + 1);
                return Err(Error::new(Code::MissingExtension, message));
            }
            if atomic {
                loader.batch("the proof", "BEGIN").await?;
            }
            continue;
        }
        if let Err(error) = loader.execute(&statement.sql).await? {
            let state = error.code().map(|c| c.code().to_owned());
            let said: String = error
                .as_db_error()
                .map(|db| db.message().chars().take(crate::error::SCRATCH_TEXT).collect())
                .unwrap_or_default();
            let object = statement.objects.first().cloned().unwrap_or_default();
            let message = format!("{what} fails on the scratch server at statement {} ({object}): {said}", index + 1);
            return Err(Error::new(Code::UnprovenPlan, message).about(object).sqlstate(state).statement(index + 1));
        }
    }
    if atomic {
        if let Err(error) = loader.finish("COMMIT").await {
            return Err(Error::from_server(Code::UnprovenPlan, &format!("{what} cannot be committed"), &error));
        }
    }
    Ok(())
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
