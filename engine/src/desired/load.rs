//! Declared statements into a scratch database: each on its own, and again while that makes progress.

use tokio_postgres::error::ErrorPosition;

use super::admission::clip;
use super::{Desired, Renamed, Statement};
use crate::connect::{Guard, Session};
use crate::error::{Code, Error, Result};
use crate::name::quote;
use crate::scratch::{Database, limit, limit_of};

/// What says "not there yet": a schema, relation, type, role, function, column, or the key that a foreign key needs.
const MISSING: &[&str] = &["3F000", "42P01", "42704", "42883", "42703", "42830"];

/// Loads the whole desired state; returns what had another name, with the schema that each is in.
///
/// # Errors
/// `desired_missing_object` and `desired_rejected` with file, line and statement; `missing_extension`.
pub(crate) async fn load(
    desired: &Desired,
    database: &Database,
    own_schema: &str,
    guard: &Guard,
) -> Result<Vec<Renamed>> {
    let mut loader = Loader {
        session: database.loader(guard).await?,
        database,
        guard,
        own_schema,
        state: None,
        renamed: Vec::new(),
    };
    let (schemas, others): (Vec<_>, Vec<_>) = desired.statements.iter().partition(|s| s.creates_schema);
    let mut waiting: Vec<&Statement> = loader.pass(schemas).await?.into_iter().map(|(s, _)| s).collect();
    // The URL's own schema is where unqualified names go, so it is there before any of them.
    let own = format!("CREATE SCHEMA IF NOT EXISTS {}", quote(own_schema));
    loader.session.batch("making the URL's schema", &own).await?;
    create_extensions(desired, database, guard).await?;
    waiting.extend(others);
    loop {
        let before = waiting.len();
        let again = loader.pass(waiting).await?;
        match again.first() {
            None => return Ok(loader.renamed),
            Some((_, error)) if again.len() == before => return Err(error.clone()),
            Some(_) => waiting = again.into_iter().map(|(statement, _)| statement).collect(),
        }
    }
}

struct Loader<'a> {
    session: Session,
    database: &'a Database,
    guard: &'a Guard,
    own_schema: &'a str,
    /// The file and its settings that the session has now.
    state: Option<(String, Vec<String>)>,
    renamed: Vec<Renamed>,
}

impl Loader<'_> {
    /// Runs each statement; returns those that want something that is not there yet.
    async fn pass<'s>(&mut self, statements: Vec<&'s Statement>) -> Result<Vec<(&'s Statement, Error)>> {
        let mut again = Vec::new();
        for statement in statements {
            let wanted = (statement.file.clone(), statement.settings.clone());
            if self.state.as_ref() != Some(&wanted) {
                prepare(&self.session, statement, self.own_schema).await?;
                self.state = Some(wanted);
            }
            let answer = if let Some(role) = &statement.by_owner {
                self.by_owner(statement, role.as_deref()).await
            } else {
                self.database
                    .execute(&self.session, &statement.sql, self.guard)
                    .await
            };
            let answer = answer.map_err(|error| at(statement, &error))?;
            if answer.is_ok() {
                self.remember(statement).await?;
            }
            if let Err(error) = answer {
                let (error, missing) = explain(statement, &error);
                if !missing {
                    return Err(error);
                }
                again.push((statement, error));
            }
        }
        Ok(again)
    }

    /// What only the owner of everything can do: it runs no code of anybody's, and hands nothing to a superuser.
    async fn by_owner(
        &self,
        statement: &Statement,
        role: Option<&str>,
    ) -> Result<std::result::Result<u64, tokio_postgres::Error>> {
        let session = Session::open(&self.database.admin, self.guard).await?;
        if let Some(role) = role {
            let inert = "SELECT FROM pg_catalog.pg_roles WHERE rolname::text = $1 AND rolsuper";
            if !session.query(inert, &[&role]).await?.is_empty() {
                let place = format!("{}:{}", statement.file, statement.line);
                let message = format!("{place}: the target has no role {role}");
                return Err(Error::new(Code::DesiredMissingObject, message).about(role));
            }
        }
        prepare(&session, statement, self.own_schema).await?;
        session.execute(&statement.sql).await
    }

    async fn remember(&mut self, statement: &Statement) -> Result<()> {
        if statement.renames.is_empty() {
            return Ok(());
        }
        let row = self
            .session
            .one("SELECT pg_catalog.current_schema()::text", &[])
            .await?;
        let schema: Option<String> = row.get(0);
        self.renamed
            .extend(statement.renames.iter().cloned().map(|renamed| Renamed {
                schema: renamed.schema.or_else(|| schema.clone()),
                ..renamed
            }));
        Ok(())
    }
}

async fn create_extensions(desired: &Desired, database: &Database, guard: &Guard) -> Result<()> {
    for extension in &desired.extensions {
        let schema = extension.schema.as_deref().unwrap_or("public");
        database
            .extension(&extension.name, schema, guard)
            .await
            .map_err(|error| {
                Error::new(error.kind(), format!("{}: {error}", extension.place))
                    .about(extension.name.clone())
            })?;
    }
    Ok(())
}

/// What a file's preamble set ends with that file.
async fn prepare(session: &Session, statement: &Statement, own_schema: &str) -> Result<()> {
    let own = quote(own_schema);
    session
        .batch(
            "a setting",
            &format!("SET search_path TO {own}; SET check_function_bodies TO on"),
        )
        .await?;
    for setting in &statement.settings {
        if let Err(error) = session.execute(setting).await? {
            return Err(explain(statement, &error).0);
        }
    }
    Ok(())
}

/// What ended a statement, with its place.
fn at(statement: &Statement, error: &Error) -> Error {
    if error.kind() != Code::ScratchLimit {
        return error.clone();
    }
    let place = format!("{}:{}", statement.file, statement.line);
    let message = format!("{place} ({}): {error}", statement.shown());
    Error::new(error.kind(), message).about(place)
}

/// The scratch server's words about the user's own file may be repeated, clipped.
fn explain(statement: &Statement, error: &tokio_postgres::Error) -> (Error, bool) {
    let Some(db) = error.as_db_error() else {
        return (
            Error::new(Code::ScratchFailed, "the scratch server broke while loading"),
            false,
        );
    };
    let state = db.code().code();
    let missing = MISSING.contains(&state);
    let line = match db.position() {
        Some(ErrorPosition::Original(at)) => {
            let before = statement.sql.chars().take((*at as usize).saturating_sub(1));
            statement.line_below(before.filter(|c| *c == '\n').count())
        }
        _ => statement.line,
    };
    if let Some(what) = limit_of(state) {
        return (
            at(statement, &limit(what)).sqlstate(Some(state.to_owned())),
            false,
        );
    }
    let place = format!("{}:{line}", statement.file);
    let code = match state {
        _ if missing => Code::DesiredMissingObject,
        "42601" => Code::DesiredSyntax,
        "42501" => Code::StatementNotAdmitted,
        "57P01" | "57P02" => Code::ScratchFailed,
        _ => Code::DesiredRejected,
    };
    let message = format!("{place} ({}): {}", statement.shown(), clip(db.message()));
    (
        Error::new(code, message)
            .about(place)
            .sqlstate(Some(state.to_owned())),
        missing,
    )
}
