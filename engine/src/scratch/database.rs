//! One database of a scratch server, and what others' SQL may do in it.
//!
//! Promises: a statement that is not ours runs as the loading role, for so long and into so much disk as [`Limits`]
//! say, and is ended from outside: a function can catch a request to cancel, but not the end of its server process.
//! Whatever such a statement set for the role or the database is taken back before anything of ours is read there.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::LOADER;
use crate::connect::{Guard, Secret, Session, Target};
use crate::error::{Code, Error, Result};
use crate::name::quote;

/// How often a statement that takes its time is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How long a server process may take to end once it was told to.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// What one statement of somebody else's may use. There are no rows on a scratch server, so what needs more is endless
/// or makes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub statement: Duration,
    /// How large its database may grow, in bytes.
    pub database: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            statement: Duration::from_secs(60),
            database: 1 << 30,
        }
    }
}

/// One new database of a scratch server.
pub(crate) struct Database {
    /// To the server's own database, from which this one can be dropped.
    pub(super) root: Session,
    /// As the superuser: extensions, roles, marks. Nothing that others wrote runs here.
    pub(crate) admin: Target,
    /// As the role that declared SQL and plans run as.
    pub(super) loader: Target,
    pub(super) loader_password: Secret,
    pub(super) limits: Limits,
    /// See [`super::Scratch`].
    pub(super) roles: Arc<Mutex<()>>,
}

impl Database {
    /// A session of the loading role, as it was made: nothing that declared SQL set for later sessions is left.
    pub(crate) async fn loader(&self, guard: &Guard) -> Result<Session> {
        let name = quote(&self.admin.database);
        let password = self.loader_password.reveal();
        let text = format!(
            "ALTER ROLE {LOADER} RESET ALL;
             ALTER ROLE {LOADER} IN DATABASE {name} RESET ALL;
             ALTER DATABASE {name} RESET ALL;
             ALTER ROLE {LOADER} PASSWORD '{password}'"
        );
        {
            let _held = self.roles.lock().await;
            let root = self.root.under(guard);
            root.batch("resetting the loading role", &text).await?;
        }
        Session::open(&self.loader, guard).await
    }

    /// Runs one statement that is not ours, within the limits.
    ///
    /// # Errors
    /// `scratch_limit` when it was ended; the database is gone then.
    pub(crate) async fn execute(
        &self,
        session: &Session,
        sql: &str,
        guard: &Guard,
    ) -> Result<std::result::Result<u64, tokio_postgres::Error>> {
        let ends = Instant::now() + self.limits.statement;
        let mut work = std::pin::pin!(session.execute(sql));
        // Nearly every statement is done before anybody has to look.
        tokio::select! {
            biased;
            answer = &mut work => return answer,
            () = sleep(LOOK) => {}
        }
        let watch = Session::open(&self.admin, guard).await?;
        loop {
            let size = watch.one(
                "SELECT pg_catalog.pg_database_size(pg_catalog.current_database())",
                &[],
            );
            let size = u64::try_from(size.await?.get::<_, i64>(0)).unwrap_or(0);
            let over = if size > self.limits.database {
                Some(format!(
                    "its database grew beyond {} MiB",
                    self.limits.database >> 20
                ))
            } else if Instant::now() >= ends {
                Some(format!(
                    "it was not done after {} s",
                    self.limits.statement.as_secs()
                ))
            } else {
                None
            };
            if let Some(what) = over {
                drop(watch);
                self.end(guard).await;
                let _ = tokio::time::timeout(END_PATIENCE, work).await;
                return Err(limit(&what));
            }
            tokio::select! {
                biased;
                answer = &mut work => return answer,
                () = sleep(LOOK) => {}
            }
        }
    }

    /// Drops the database with everybody in it. What cannot be dropped now goes with the server.
    async fn end(&self, guard: &Guard) {
        let text = format!(
            "DROP DATABASE IF EXISTS {} WITH (FORCE)",
            quote(&self.admin.database)
        );
        let root = self.root.under(guard);
        let _ = root.batch("dropping a scratch database", &text).await;
    }
}

/// What ended a statement, and what its author can do.
pub(crate) fn limit(what: &str) -> Error {
    Error::new(
        Code::ScratchLimit,
        format!("{what}; a declaration needs no rows, so take out what loops or makes them"),
    )
}

/// The server's own word that a limit was met: time, disk, temporary files, memory.
pub(crate) fn limit_of(sqlstate: &str) -> Option<&'static str> {
    Some(match sqlstate {
        "57014" => "it was ended by a time limit",
        "53100" => "it filled the scratch server's disk",
        "53400" => "its temporary files grew beyond their limit",
        "53200" | "54000" => "it needed more memory than the scratch server has",
        _ => return None,
    })
}
