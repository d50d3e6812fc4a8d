//! The scratch server: where both sides of a comparison are spelled by one mouth, and where a plan is proven.
//!
//! Promises: it never sees the target's rows, credentials or a network socket; what a user declares runs there
//! as a role that is no superuser and owns nothing but the database it was given; each database is new.
//! On a laptop it is a child process ([`Scratch::child`]), in a Pod another container ([`Scratch::sidecar`]).

mod database;
mod extension;
mod server;
mod sidecar;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;

pub use database::Limits;
pub(crate) use database::{Database, limit, limit_of};
pub use sidecar::serve;

use crate::connect::{Guard, Secret, Session, Target};
use crate::error::{Code, Error, Result};
use crate::name::quote;

/// The role that declared SQL runs as.
const LOADER: &str = "ptah_scratch_loader";
/// How long those who leave a database are waited for before the server waits for them itself.
const BETWEEN_LOOKS: Duration = Duration::from_millis(3);
const LOOKS: u32 = 60;
/// How many databases are kept; one plan needs fewer at a time.
const KEPT: u32 = 16;

/// A scratch server of one major version.
pub struct Scratch {
    admin: Target,
    /// To the server's own database, in which databases and roles are made.
    root: Session,
    loader_password: Secret,
    major: u32,
    limits: Limits,
    databases: AtomicU32,
    /// Held while roles change: the server refuses two who change one at a time.
    roles: Arc<Mutex<()>>,
    /// Dropped, and thereby ended, before its folder.
    _server: Option<server::Server>,
    _folder: Option<tempfile::TempDir>,
}

impl Scratch {
    /// Starts `<pg_home>/<major>/bin/postgres` as a child process.
    ///
    /// # Errors
    /// `no_scratch_server` when there is no such server, `scratch_failed` when it does not start.
    pub async fn child(pg_home: &Path, major: u32, guard: &Guard) -> Result<Self> {
        let home = pg_home.join(major.to_string());
        if !home.join("bin/postgres").exists() {
            return Err(no_server(major));
        }
        let folder = tempfile::Builder::new()
            .prefix("ptah-scratch-")
            .tempdir()
            .map_err(|e| Error::new(Code::ScratchFailed, format!("no temporary folder: {}", e.kind())))?;
        let socket = folder.path().join("socket");
        std::fs::create_dir(&socket)
            .map_err(|e| Error::new(Code::ScratchFailed, format!("no socket folder: {}", e.kind())))?;
        let template = home.join("template");
        let layout = server::Layout {
            home: &home,
            template: template.exists().then_some(template.as_path()),
            work: folder.path(),
            socket: &socket,
            shared: false,
        };
        let server = server::Server::start(layout, guard).await?;
        Self::ready(server.admin.clone(), major, Some(server), Some(folder), guard).await
    }

    /// Asks the sidecar behind `directory` for a server of this version and waits until it answers.
    ///
    /// # Errors
    /// As [`Self::child`].
    pub async fn sidecar(directory: &Path, major: u32, guard: &Guard) -> Result<Self> {
        let admin = sidecar::ask(directory, major, guard).await?;
        Self::ready(admin, major, None, None, guard).await
    }

    /// The same with other limits for what is declared.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The server's major version.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.major
    }

    async fn ready(
        admin: Target,
        major: u32,
        server: Option<server::Server>,
        folder: Option<tempfile::TempDir>,
        guard: &Guard,
    ) -> Result<Self> {
        let session = Session::open(&admin, guard).await?;
        if session.major() != major {
            return Err(no_server(major));
        }
        let loader_password = server::random_password()?;
        session
            .batch(
                "preparing the scratch server",
                &format!(
                    "DROP ROLE IF EXISTS {LOADER};
                     CREATE ROLE {LOADER} LOGIN PASSWORD '{loader_password}' CONNECTION LIMIT 12"
                ),
            )
            .await?;
        let loader_password = Secret::new(loader_password);
        Ok(Self {
            admin,
            root: session,
            loader_password,
            major,
            limits: Limits::default(),
            databases: AtomicU32::new(0),
            roles: Arc::default(),
            _server: server,
            _folder: folder,
        })
    }

    /// A new, empty database, and an inert role for each of these names.
    pub(crate) async fn database(&self, roles: &[String], guard: &Guard) -> Result<Database> {
        let session = self.root.under(guard);
        self.name_roles(&session, roles).await?;
        let database = self.make(&session, "template0").await?;
        if self.major < 15 {
            // Newer servers have `public` owned by whoever owns the database; here it must be said.
            let session = Session::open(&database.admin, guard).await?;
            session
                .batch(
                    "handing over public",
                    &format!("ALTER SCHEMA public OWNER TO {LOADER}"),
                )
                .await?;
        }
        Ok(database)
    }

    /// A new database with everything that this one has. Nobody may be connected to it for long.
    pub(crate) async fn copy(&self, database: &Database, guard: &Guard) -> Result<Database> {
        let root = self.root.under(guard);
        // The server looks for others in the database every tenth of a second; most are gone within a hundredth.
        let others = "SELECT FROM pg_catalog.pg_stat_activity WHERE datname = $1";
        let name = &database.admin.database;
        for _ in 0..LOOKS {
            if root.query(others, &[name]).await?.is_empty() {
                break;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        self.make(&root, name).await
    }

    async fn name_roles(&self, session: &Session, roles: &[String]) -> Result<()> {
        let _held = self.roles.lock().await;
        let missing = session
            .query(
                "SELECT name FROM pg_catalog.unnest($1::text[]) AS name
                 WHERE name NOT IN (SELECT rolname FROM pg_catalog.pg_roles) ORDER BY name",
                &[&roles],
            )
            .await?;
        let mut statements = String::new();
        for row in missing {
            let role = quote(row.get::<_, &str>(0));
            statements.push_str(&format!("CREATE ROLE {role} NOLOGIN; GRANT {role} TO {LOADER};"));
        }
        if statements.is_empty() {
            return Ok(());
        }
        session.batch("naming the target's roles", &statements).await
    }

    async fn make(&self, session: &Session, template: &str) -> Result<Database> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("scratch_{number}");
        if let Some(old) = number.checked_sub(KEPT) {
            // Nobody reads it any more; a long-lived server would otherwise fill its volume.
            let text = format!("DROP DATABASE IF EXISTS scratch_{old} WITH (FORCE)");
            session.batch("dropping an old scratch database", &text).await?;
        }
        session
            .batch(
                "making a scratch database",
                &format!("CREATE DATABASE {name} OWNER {LOADER} TEMPLATE {template}"),
            )
            .await?;
        session
            .batch(
                "closing a scratch database",
                &format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"),
            )
            .await?;
        let mut admin = self.admin.clone();
        admin.database = name;
        let mut loader = admin.clone();
        loader.user = LOADER.into();
        loader.password = Some(self.loader_password.clone());
        Ok(Database {
            root: self.root.under(&Guard::default()),
            admin,
            loader,
            loader_password: self.loader_password.clone(),
            limits: self.limits,
            roles: self.roles.clone(),
        })
    }
}

fn no_server(major: u32) -> Error {
    Error::new(
        Code::NoScratchServer,
        format!(
            "there is no PostgreSQL {major} server to compare with; majors print the same object differently"
        ),
    )
}
