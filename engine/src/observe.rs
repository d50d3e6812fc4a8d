//! One reading of a target.

use ptah_contract::digest::Digest;
use ptah_contract::policy::SchemaPolicy;

use crate::catalog::{Id, Model, Reading, Selectors, read};
use crate::connect::{Deadline, Session, Target};
use crate::error::{Code, Error, Result};

/// Which schemas are read: those that a desired state names, and the URL's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(Vec<String>);

impl Scope {
    /// The URL's own schema and these.
    #[must_use]
    pub fn new(target: &Target, named: impl IntoIterator<Item = String>) -> Self {
        let mut schemas: Vec<String> = named.into_iter().collect();
        schemas.push(target.own_schema().to_owned());
        Self::exactly(schemas)
    }

    /// These, as a plan document records them.
    #[must_use]
    pub fn exactly(mut schemas: Vec<String>) -> Self {
        schemas.sort();
        schemas.dedup();
        Self(schemas)
    }

    /// Sorted.
    #[must_use]
    pub fn schemas(&self) -> &[String] {
        &self.0
    }
}

/// The server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Such as 17.
    pub major: u32,
    /// `server_version_num`.
    pub version: u32,
    /// Digest of the cluster's system identifier and the database's OID, where the user may read the former.
    pub identity: Option<Digest>,
}

/// What was read.
pub struct Observation {
    pub(crate) model: Model,
    /// The identity of the observed state.
    pub fingerprint: Digest,
    /// The schemas that were read, sorted.
    pub scope: Vec<String>,
    /// The server.
    pub server: Server,
    /// Digest of the database's name.
    pub database: Digest,
    pub(crate) user: String,
    /// Names of the server's roles, without its own.
    pub(crate) roles: Vec<String>,
}

impl Observation {
    /// How many objects are in scope.
    #[must_use]
    pub fn object_count(&self) -> usize {
        self.model
            .objects
            .keys()
            .filter(|id| !matches!(id, Id::Comment(_) | Id::Privileges(..)))
            .count()
    }
}

/// Who and where we are, before anything is read.
pub(crate) struct Whereabouts {
    pub(crate) server: Server,
    pub(crate) database: Digest,
    pub(crate) user: String,
    pub(crate) roles: Vec<String>,
}

/// Reads the target.
///
/// # Errors
/// What keeps us from the server, and what in scope cannot be handled.
pub async fn observe(
    target: &Target,
    scope: &Scope,
    policy: &SchemaPolicy,
    deadline: &Deadline,
) -> Result<Observation> {
    let target = target
        .clone()
        .with_connect_timeout(policy.connect_timeout.duration());
    let session = Session::open(&target, deadline).await?;
    let exclude = Selectors::parse(&policy.exclude, target.pinned_schema())?;
    look(&session, scope, &exclude).await
}

pub(crate) async fn look(session: &Session, scope: &Scope, exclude: &Selectors) -> Result<Observation> {
    let here = whereabouts(session).await?;
    let model = read(
        session,
        &Reading {
            scope: scope.schemas(),
            exclude,
            user: &here.user,
        },
    )
    .await?;
    Ok(Observation {
        fingerprint: model.fingerprint(here.server.major, scope.schemas())?,
        model,
        scope: scope.schemas().to_vec(),
        server: here.server,
        database: here.database,
        user: here.user,
        roles: here.roles,
    })
}

pub(crate) async fn whereabouts(session: &Session) -> Result<Whereabouts> {
    let row = session
        .one(
            "SELECT current_user::text, current_database()::text,
               (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()),
               pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE'),
               (SELECT pg_catalog.array_agg(rolname::text ORDER BY rolname) FROM pg_catalog.pg_roles
                 WHERE rolname::text !~ '^pg_'),
               pg_catalog.pg_is_in_recovery()",
            &[],
        )
        .await?;
    if row.get::<_, bool>(5) {
        return Err(Error::new(
            Code::ServerUnavailable,
            "the server is a standby; name the primary",
        ));
    }
    let (database, number): (String, u32) = (row.get(1), row.get(2));
    let identity = if row.get(3) {
        let row = session
            .one(
                "SELECT system_identifier FROM pg_catalog.pg_control_system()",
                &[],
            )
            .await?;
        Some(Digest::of(
            format!("postgres\n{}\n{number}", row.get::<_, i64>(0)).as_bytes(),
        ))
    } else {
        None
    };
    Ok(Whereabouts {
        server: Server {
            major: session.major(),
            version: session.version,
            identity,
        },
        database: Digest::of(database.as_bytes()),
        user: row.get(0),
        roles: row.get::<_, Option<Vec<String>>>(4).unwrap_or_default(),
    })
}
