//! Extensions, made by name from what the server has.
//!
//! Promises: only the extension's own script runs as the superuser, where nothing that others declared can be called
//! by it; of an extension that the server does not trust, no function that reaches outside can be executed
//! afterwards. Such a function can still be named: in a view, a default, or the body of another.

use super::LOADER;
use super::database::Database;
use crate::connect::{Guard, Session};
use crate::error::{Code, Error, Result};
use crate::name::quote;

/// What the server says of the version that it would make: trusted (then any owner of a database may make it, and
/// its script was written for hostile company), whether it may be moved to another schema, and the one schema that it
/// can be made in, where its control file names one.
const ABOUT: &str = "
SELECT v.trusted, v.relocatable, v.schema::text FROM pg_catalog.pg_available_extensions e
  JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version
WHERE e.name::text = $1";

/// What it requires and is not there yet.
const REQUIRED: &str = "
SELECT r::text FROM pg_catalog.pg_available_extensions e
  JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version,
  pg_catalog.unnest(v.requires) AS r
WHERE e.name::text = $1 AND NOT EXISTS (SELECT FROM pg_catalog.pg_extension x WHERE x.extname = r)";

/// What a script could call by mistake: it runs with the extension's schema and those of what it requires in its
/// search path.
const CALLABLE: &str = "
WITH path AS (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname::text = $1
  UNION SELECT x.extnamespace FROM pg_catalog.pg_available_extensions e
    JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version
    JOIN pg_catalog.pg_extension x ON x.extname = ANY(v.requires) WHERE e.name::text = $3),
loader AS (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname::text = $2)
SELECT pg_catalog.pg_describe_object(c, o, 0) FROM (
  SELECT 1255::oid, p.oid FROM pg_catalog.pg_proc p WHERE p.pronamespace IN (SELECT oid FROM path)
    AND p.proowner IN (SELECT oid FROM loader)
  UNION ALL SELECT 2617::oid, o.oid FROM pg_catalog.pg_operator o WHERE o.oprnamespace IN (SELECT oid FROM path)
    AND o.oprowner IN (SELECT oid FROM loader)) AS callable(c, o) ORDER BY 1 LIMIT 1";

/// Functions that could reach files, programs or other servers: those that promise nothing (an immutable function
/// depends on its arguments alone), of extensions that the server does not trust.
const OUTWARD: &str = "
SELECT p.oid::pg_catalog.regprocedure::text FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_depend d ON d.classid = 1255 AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 3079
  JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
  JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.extname AND v.version = e.extversion
WHERE NOT v.trusted AND p.provolatile <> 'i' ORDER BY 1";

/// Where an extension is made that is moved to its place afterwards: nobody else may make anything there.
const MAKING: &str = "ptah_scratch_making";

impl Database {
    /// Makes an extension and what it requires.
    ///
    /// # Errors
    /// `missing_extension` when the server lacks it; `unsupported_change` when its script would run as the superuser
    /// among functions that others declared.
    pub(crate) async fn extension(&self, name: &str, schema: &str, guard: &Guard) -> Result<()> {
        let admin = Session::open(&self.admin, guard).await?;
        self.make(&admin, name, schema).await?;
        let outward = admin.query(OUTWARD, &[]).await?;
        let revoked: Vec<String> = outward
            .iter()
            .map(|row| format!("REVOKE ALL ON ROUTINE {} FROM PUBLIC", row.get::<_, &str>(0)))
            .collect();
        if revoked.is_empty() {
            return Ok(());
        }
        admin.batch("closing an extension", &revoked.join(";")).await
    }

    async fn make(&self, admin: &Session, name: &str, schema: &str) -> Result<()> {
        let lacks = || {
            let message =
                format!("the scratch server lacks extension {name}; name a runner image that has it");
            Error::new(Code::MissingExtension, message).about(name)
        };
        let about = admin.query(ABOUT, &[&name]).await?;
        let about = about.first().ok_or_else(lacks)?;
        let (trusted, relocatable): (bool, bool) = (about.get(0), about.get(1));
        let schema = about.get::<_, Option<&str>>(2).unwrap_or(schema);
        for row in admin.query(REQUIRED, &[&name]).await? {
            Box::pin(self.make(admin, row.get(0), schema)).await?;
        }
        let aside = !trusted && relocatable;
        let made_in = if aside { MAKING } else { schema };
        if !trusted && let Some(row) = admin.query(CALLABLE, &[&made_in, &LOADER, &name]).await?.first() {
            let message = format!(
                "the script of extension {name} could call {} as a superuser; give the extension, or what it requires, \
                 a schema of its own",
                row.get::<_, &str>(0)
            );
            return Err(Error::new(Code::UnsupportedChange, message).about(name));
        }
        let (name, schema) = (quote(name), quote(schema));
        let place = if schema == "pg_catalog" {
            String::new()
        } else {
            format!("CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {LOADER};")
        };
        let text = if aside {
            format!(
                "{place} CREATE SCHEMA {MAKING}; CREATE EXTENSION IF NOT EXISTS {name} SCHEMA {MAKING};
                 ALTER EXTENSION {name} SET SCHEMA {schema}; DROP SCHEMA {MAKING}"
            )
        } else {
            format!("{place} CREATE EXTENSION IF NOT EXISTS {name} SCHEMA {schema}")
        };
        admin
            .batch("making an extension", &text)
            .await
            .map_err(|_| lacks())
    }
}
