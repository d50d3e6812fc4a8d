//! One connection to one server, pinned so that every server prints the same thing the same way.
//!
//! Promises: whatever is running is cancelled on the server when the deadline passes or somebody asks to stop;
//! errors carry no word that the server wrote.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::sync::CancellationToken;

use super::{SslMode, Target, stranger, tls};
use crate::error::{Code, Error, Result};

/// What a server prints depends on these, so that every session of ours has them.
const PINNED: &str = "
SET search_path TO '';
SET TimeZone TO 'UTC';
SET DateStyle TO 'ISO, YMD';
SET IntervalStyle TO 'iso_8601';
SET extra_float_digits TO 1;
SET bytea_output TO 'hex';
SET quote_all_identifiers TO off;
SET standard_conforming_strings TO on;
SET escape_string_warning TO off;
SET row_security TO off;
SET check_function_bodies TO off;
SET default_tablespace TO '';
SET default_table_access_method TO 'heap';
SET client_min_messages TO error;
SET idle_in_transaction_session_timeout TO 0;
SET application_name TO 'ptah'";

/// How long a server may take to answer a request to cancel.
const CANCEL_PATIENCE: Duration = Duration::from_secs(10);

/// When to stop: at a moment, or on request.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    at: Option<Instant>,
    token: CancellationToken,
}

impl Guard {
    /// Stops after this long.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self {
            at: Some(Instant::now() + limit),
            token: CancellationToken::new(),
        }
    }

    /// Stops when the token says so.
    #[must_use]
    pub fn on(token: CancellationToken) -> Self {
        Self { at: None, token }
    }

    /// The same, with a token besides.
    #[must_use]
    pub fn or(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Waits for the reason to stop.
    pub(crate) async fn fired(&self) -> Error {
        let at = self.at;
        let passed = async move {
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.token.cancelled() => Error::new(Code::Canceled, "stopped on request"),
            () = passed => Error::new(Code::DeadlineExceeded, "the deadline passed"),
        }
    }

    /// The reason to stop, when there already is one.
    pub(crate) fn check(&self) -> Result<()> {
        if self.token.is_cancelled() {
            return Err(Error::new(Code::Canceled, "stopped on request"));
        }
        if self.at.is_some_and(|at| at <= Instant::now()) {
            return Err(Error::new(Code::DeadlineExceeded, "the deadline passed"));
        }
        Ok(())
    }
}

/// A session; it ends when this is dropped.
pub struct Session {
    client: Arc<Client>,
    tls: Option<MakeRustlsConnect>,
    guard: Guard,
    /// `server_version_num`.
    pub(crate) version: u32,
}

impl Session {
    /// Connects and pins the session.
    ///
    /// # Errors
    /// Whatever keeps us from the server, classified; `unsupported_engine` for another program than PostgreSQL and
    /// outside versions 14 to 18, where the server says its version while connecting without a query.
    pub async fn open(target: &Target, guard: &Guard) -> Result<Self> {
        let session = Self::open_any_version(target, guard).await?;
        supported(session.major())?;
        session.batch("a session setting", PINNED).await?;
        Ok(session)
    }

    async fn open_any_version(target: &Target, guard: &Guard) -> Result<Self> {
        guard.check()?;
        let connecting = async {
            let timeout = || Error::new(Code::ConnectTimeout, "no connection within the connect timeout");
            let answer = tokio::time::timeout(target.connect_timeout, connect(target))
                .await
                .unwrap_or_else(|_| Err(timeout()));
            match answer {
                Err(error) => Err(stranger::instead_of(error, target).await),
                answer => answer,
            }
        };
        let (client, tls) = tokio::select! {
            biased;
            answer = connecting => answer?,
            reason = guard.fired() => return Err(reason),
        };
        let mut session = Self {
            client: Arc::new(client),
            tls,
            guard: guard.clone(),
            version: 0,
        };
        // First of all: a role or a database may come with a search path of its own, and what it leads to is not ours.
        session
            .batch("a session setting", "SET search_path TO ''")
            .await?;
        let row = session
            .one(
                "SELECT pg_catalog.current_setting('server_version_num')::int4",
                &[],
            )
            .await?;
        session.version = u32::try_from(row.get::<_, i32>(0)).unwrap_or(0);
        Ok(session)
    }

    /// The same connection for work that ends with another deadline.
    pub(crate) fn under(&self, guard: &Guard) -> Self {
        Self {
            client: self.client.clone(),
            tls: self.tls.clone(),
            guard: guard.clone(),
            version: self.version,
        }
    }

    /// The server's major version.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.version / 10_000
    }

    pub(crate) async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let answer = self.guarded(self.client.query(sql, parameters)).await?;
        answer
            .map_err(|error| Error::from_server(Code::QueryFailed, "a reading of the catalog failed", &error))
    }

    pub(crate) async fn one(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row> {
        self.query(sql, parameters)
            .await?
            .pop()
            .ok_or_else(|| Error::internal("a reading of the catalog gave no row"))
    }

    /// Several statements of our own making.
    pub(crate) async fn batch(&self, what: &str, sql: &str) -> Result<()> {
        let answer = self.guarded(self.client.batch_execute(sql)).await?;
        answer.map_err(|error| Error::from_server(Code::QueryFailed, &format!("{what} failed"), &error))
    }

    /// One statement that is not ours. The extended protocol carries exactly one, whatever the text says.
    pub(crate) async fn execute(&self, sql: &str) -> Result<std::result::Result<u64, tokio_postgres::Error>> {
        self.guarded(self.client.execute(sql, &[])).await
    }

    /// As [`Self::execute`], by the simple protocol and without the guard: for `COMMIT` and `ROLLBACK`, which must
    /// not be interrupted half-way.
    pub(crate) async fn finish(&self, sql: &str) -> std::result::Result<(), tokio_postgres::Error> {
        self.client.batch_execute(sql).await
    }

    /// Runs it until it is done or there is a reason to stop; then the server is asked to cancel, and the answer
    /// is awaited, because only that answer says that nothing runs any more.
    async fn guarded<T>(
        &self,
        work: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<std::result::Result<T, tokio_postgres::Error>> {
        self.guard.check()?;
        let mut work = std::pin::pin!(work);
        let reason = tokio::select! {
            biased;
            answer = &mut work => return Ok(answer),
            reason = self.guard.fired() => reason,
        };
        let token = self.client.cancel_token();
        let cancel = async {
            // Whether the request arrived shows in the answer to the statement itself.
            let _ = match &self.tls {
                Some(tls) => token.cancel_query(tls.clone()).await,
                None => token.cancel_query(NoTls).await,
            };
        };
        let _ = tokio::time::timeout(CANCEL_PATIENCE, cancel).await;
        match tokio::time::timeout(CANCEL_PATIENCE, work).await {
            // It was done before the request arrived.
            Ok(Ok(answer)) => Ok(Ok(answer)),
            Ok(Err(error)) if error.as_db_error().is_none() => Ok(Err(error)),
            Ok(Err(_)) | Err(_) => Err(reason),
        }
    }
}

async fn connect(target: &Target) -> Result<(Client, Option<MakeRustlsConnect>)> {
    let mut config = Config::new();
    config
        .user(&target.user)
        .dbname(&target.database)
        .port(target.port);
    if let Some(password) = &target.password {
        config.password(password.reveal());
    }
    config.keepalives_idle(Duration::from_secs(60));
    config.ssl_mode(match target.ssl_mode {
        SslMode::Disable => tokio_postgres::config::SslMode::Disable,
        SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
        _ => tokio_postgres::config::SslMode::Require,
    });
    if target.is_socket() {
        config.host_path(&target.host);
    } else {
        config.host(&target.host);
        // Asked beforehand, because the client folds every reason of a failed look-up into one.
        let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
        if found.map_or(true, |mut addresses| addresses.next().is_none()) {
            return Err(Error::new(Code::NameNotResolved, "the host name has no address"));
        }
    }
    let tls = if target.is_socket() {
        None
    } else {
        tls::connector(target.ssl_mode, &target.roots)?
    };
    match tls {
        None => {
            let (client, connection) = config.connect(NoTls).await.map_err(|error| refused(&error))?;
            check_version(connection.parameter("server_version"))?;
            tokio::spawn(connection);
            Ok((client, None))
        }
        Some(tls) => {
            let (client, connection) = config
                .connect(tls.clone())
                .await
                .map_err(|error| refused(&error))?;
            check_version(connection.parameter("server_version"))?;
            tokio::spawn(connection);
            Ok((client, Some(tls)))
        }
    }
}

/// The versions whose catalogs are known.
fn supported(major: u32) -> Result<()> {
    if (14..=18).contains(&major) {
        return Ok(());
    }
    Err(Error::new(
        Code::UnsupportedEngine,
        format!("PostgreSQL {major} is not supported; 14 to 18 are"),
    ))
}

/// What the server says of itself while connecting, such as `17.2 (Debian 17.2-1)`. A pooler may say nothing.
fn check_version(said: Option<&str>) -> Result<()> {
    let digits: String = said
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().map_or(Ok(()), supported)
}

/// Why there is no connection, in our words.
fn refused(error: &tokio_postgres::Error) -> Error {
    if let Some(db) = error.as_db_error() {
        let state = db.code().code();
        let (code, message) = match state {
            "28P01" | "28000" => (
                Code::AuthenticationFailed,
                "the server rejected the user or the password",
            ),
            "3D000" => (Code::DatabaseNotFound, "the server has no database of that name"),
            "42501" => (
                Code::MissingPrivilege,
                "the user may not connect to that database",
            ),
            "53300" => (Code::ServerUnavailable, "the server has no connection left"),
            "57P03" | "57P01" | "57P02" => (Code::ServerUnavailable, "the server is starting or stopping"),
            _ => (Code::QueryFailed, "the server refused the connection"),
        };
        return Error::new(code, message).sqlstate(Some(state.to_owned()));
    }
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
            return tls_error(tls);
        }
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            if let Some(tls) = io.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
                return tls_error(tls);
            }
            use std::io::ErrorKind::{
                ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound, TimedOut,
            };
            let (code, message) = match io.kind() {
                ConnectionRefused | NotFound => {
                    (Code::ConnectionRefused, "nothing listens at the target's address")
                }
                HostUnreachable | NetworkUnreachable => {
                    (Code::HostUnreachable, "there is no way to the target's host")
                }
                TimedOut => (Code::ConnectTimeout, "no connection within the connect timeout"),
                _ => (
                    Code::ConnectionLost,
                    "the connection broke while it was being made",
                ),
            };
            return Error::new(code, message);
        }
        source = inner.source();
    }
    // What is left carries fixed texts of the client library, which are matched and never repeated.
    let text = std::error::Error::source(error)
        .map(ToString::to_string)
        .unwrap_or_default();
    if text.contains("password") || text.contains("SCRAM") || text.contains("authentication") {
        Error::new(
            Code::AuthenticationFailed,
            "the target wants a password or a method that is not configured",
        )
    } else if text.contains("TLS") {
        Error::new(
            Code::TlsFailed,
            "the server does not offer TLS, which sslmode demands",
        )
    } else {
        Error::new(
            Code::ConnectionLost,
            "the connection broke while it was being made",
        )
    }
}

fn tls_error(error: &rustls::Error) -> Error {
    match error {
        rustls::Error::InvalidCertificate(_) => Error::new(
            Code::CertificateNotTrusted,
            "the server's certificate does not verify",
        ),
        _ => Error::new(Code::TlsFailed, "the TLS handshake failed"),
    }
}
