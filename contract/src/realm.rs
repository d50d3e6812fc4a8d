//! The identity of a database realm: what the Lease protects. It comes from a resource's spec alone; nothing of
//! the database's URL enters it, because the manager never sees one.

use serde::Serialize;

use crate::canonical;
use crate::digest::Digest;

/// How a resource names the realm that it writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealmName<'a> {
    /// `spec.target.coordinationKey`, scoped to the resource's namespace.
    Key {
        /// The resource's namespace.
        namespace: &'a str,
        /// The key.
        key: &'a str,
    },
    /// `spec.target.realmRef`, cluster-wide.
    Realm(&'a str),
}

/// A database family, in the one spelling that digests use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// PostgreSQL 14 to 18.
    PostgreSql,
    /// MySQL and MariaDB.
    MySql,
}

impl Engine {
    /// Reads `spec.target.engine`, which may be spelled in several ways; `None` for any other name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "postgres" | "postgresql" | "pgx" => Some(Self::PostgreSql),
            "mysql" | "mariadb" => Some(Self::MySql),
            _ => None,
        }
    }

    /// The canonical name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PostgreSql => "postgresql",
            Self::MySql => "mysql",
        }
    }
}

/// The coordination digest of a realm (contract version 1).
#[must_use]
pub fn coordination_digest(engine: Engine, name: RealmName<'_>) -> Digest {
    #[derive(Serialize)]
    struct Bound<'a> {
        contract_version: u32,
        engine: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        coordination_key: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        realm: Option<&'a str>,
    }
    let (namespace, coordination_key, realm) = match name {
        RealmName::Key { namespace, key } => (Some(namespace), Some(key), None),
        RealmName::Realm(realm) => (None, None, Some(realm)),
    };
    let bound = Bound {
        contract_version: 1,
        engine: engine.name(),
        namespace,
        coordination_key,
        realm,
    };
    Digest::of(&canonical::to_bytes(&bound).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_scoped_to_its_namespace_and_engine() {
        let key = |engine, namespace, key| coordination_digest(engine, RealmName::Key { namespace, key });
        let one = key(Engine::PostgreSql, "a", "orders");
        assert_ne!(one, key(Engine::PostgreSql, "b", "orders"));
        assert_ne!(one, key(Engine::MySql, "a", "orders"));
        assert_ne!(
            one,
            coordination_digest(Engine::PostgreSql, RealmName::Realm("orders"))
        );
        assert_eq!(one, Digest::of(br#"{"contract_version":1,"coordination_key":"orders","engine":"postgresql","namespace":"a"}"#));
    }

    #[test]
    fn engines_have_several_spellings_and_no_other() {
        for name in ["PostgreSQL", "postgres", "pgx"] {
            assert_eq!(Engine::from_name(name), Some(Engine::PostgreSql));
        }
        assert_eq!(Engine::from_name("MariaDB"), Some(Engine::MySql));
        assert_eq!(Engine::from_name("sqlite"), None);
    }
}
