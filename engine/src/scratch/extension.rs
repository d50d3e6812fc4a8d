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

/// Whether the server trusts the extension and what it requires: then any owner of a database may make it, and its
/// script was written for hostile company.
const TRUSTED: &str = r#"
WITH RECURSIVE wanted(name) AS (SELECT $1::text COLLATE "C" UNION SELECT r::text COLLATE "C" FROM wanted w
    JOIN pg_catalog.pg_available_extensions e ON e.name = w.name
    JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version,
    pg_catalog.unnest(v.requires) AS r)
SELECT COALESCE(pg_catalog.bool_and(v.trusted), false) FROM wanted w
  JOIN pg_catalog.pg_available_extensions e ON e.name = w.name
  JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version"#;

/// What a script could call by mistake: it runs with the extension's schema and those of other extensions in its
/// search path.
const CALLABLE: &str = "
WITH path AS (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname::text = $1
  UNION SELECT e.extnamespace FROM pg_catalog.pg_extension e WHERE e.extname <> 'plpgsql'),
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

impl Database {
    /// Makes an extension and those that it requires.
    ///
    /// # Errors
    /// `missing_extension` when the server lacks it; `unsupported_change` when its script would run as the superuser
    /// among functions that others declared.
    pub(crate) async fn extension(&self, name: &str, schema: &str, guard: &Guard) -> Result<()> {
        let lacks = || {
            let message = format!("the scratch server lacks extension {name}; name a runner image that has it");
            Error::new(Code::MissingExtension, message).about(name)
        };
        let admin = Session::open(&self.admin, guard).await?;
        let trusted: bool = admin.one(TRUSTED, &[&name]).await?.get(0);
        if !trusted && let Some(row) = admin.query(CALLABLE, &[&schema, &LOADER]).await?.first() {
            let message = format!(
                "extension {name} would be made where {} already is, and its script could call that as a superuser; \
                 give the extension a schema of its own",
                row.get::<_, &str>(0)
            );
            return Err(Error::new(Code::UnsupportedChange, message).about(name));
        }
        let mut text = String::new();
        if schema != "pg_catalog" {
            text = format!(
                "CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION {LOADER};",
                quote(schema)
            );
        }
        text.push_str(&format!(
            "CREATE EXTENSION IF NOT EXISTS {} SCHEMA {} CASCADE",
            quote(name),
            quote(schema)
        ));
        admin
            .batch("making an extension", &text)
            .await
            .map_err(|_| lacks())?;
        let outward = admin.query(OUTWARD, &[]).await?;
        let revoked: Vec<String> = outward
            .iter()
            .map(|row| format!("REVOKE ALL ON ROUTINE {} FROM PUBLIC", row.get::<_, &str>(0)))
            .collect();
        if !revoked.is_empty() {
            admin.batch("closing an extension", &revoked.join(";")).await?;
        }
        Ok(())
    }
}
