//! A desired state as the scratch server understands it, and what it leaves unsaid.

use std::path::Path;

use crate::catalog::{Id, Model, Reading, Selectors, read};
use crate::connect::{Deadline, Session, Target};
use crate::desired::{Coverage, Desired, Renamed, load};
use crate::error::{Code, Error, Result};
use crate::observe::{Scope, whereabouts};
use crate::scratch::{Database, Scratch};

/// A desired state in a scratch database.
pub(crate) struct Declared {
    pub(crate) database: Database,
    pub(crate) scope: Scope,
    pub(crate) renamed: Vec<Renamed>,
    pub(crate) coverage: Coverage,
}

impl Declared {
    pub(crate) async fn load(
        desired: &Desired,
        scratch: &Scratch,
        own_schema: &str,
        roles: &[String],
        deadline: &Deadline,
    ) -> Result<Self> {
        let database = scratch.database(roles, deadline).await?;
        let renamed = load(desired, &database, own_schema, deadline).await?;
        let session = database.loader(deadline).await?;
        // `public` is in every new database; it counts as named when it is the URL's own or holds something.
        let rows = session
            .query(
                "SELECT n.nspname::text FROM pg_catalog.pg_namespace n
                 WHERE n.nspname::text !~ '^pg_' AND n.nspname <> 'information_schema' AND (
                   n.nspname <> 'public' OR n.nspname::text = $1
                   OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid)
                   OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = n.oid)
                   OR EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid))",
                &[&own_schema],
            )
            .await?;
        let mut schemas: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        schemas.push(own_schema.to_owned());
        Ok(Self {
            database,
            scope: Scope::exactly(schemas),
            renamed,
            coverage: desired.coverage.clone(),
        })
    }

    /// The same in another database, so that it can be read a second time.
    pub(crate) async fn copy(&self, scratch: &Scratch, deadline: &Deadline) -> Result<Self> {
        Ok(Self {
            database: scratch.copy(&self.database, deadline).await?,
            scope: self.scope.clone(),
            renamed: self.renamed.clone(),
            coverage: self.coverage.clone(),
        })
    }

    pub(crate) async fn read(&self, exclude: &Selectors, user: &str, deadline: &Deadline) -> Result<Model> {
        let session = self.database.loader(deadline).await?;
        let model = read(
            &session,
            &Reading {
                scope: self.scope.schemas(),
                exclude,
                user,
            },
        )
        .await?;
        let declares = |id: &Id| match id {
            Id::Schema(name) => name != "public",
            Id::Comment(of) | Id::Privileges(of, _) => !matches!(&**of, Id::Schema(_)),
            _ => true,
        };
        if model.objects.keys().any(declares) {
            Ok(model)
        } else {
            Err(Error::new(
                Code::EmptyDesiredState,
                "the desired state declares no object",
            ))
        }
    }
}

/// The scope of a desired state on this target, so that it can be observed.
///
/// # Errors
/// As loading the desired state.
pub async fn desired_scope(
    target: &Target,
    desired: &Path,
    scratch: &Scratch,
    deadline: &Deadline,
) -> Result<Scope> {
    let desired = Desired::read(desired)?;
    let here = whereabouts(&Session::open(target, deadline).await?).await?;
    Ok(
        Declared::load(&desired, scratch, target.own_schema(), &here.roles, deadline)
            .await?
            .scope,
    )
}
