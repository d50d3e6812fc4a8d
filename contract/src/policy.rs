//! The effective policy of a schema: `spec.policy` with every default filled in, as the manager sends it to the
//! runner and as a plan binds it.

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;

/// How a plan's statements are wrapped in transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransactionMode {
    /// One transaction for the whole plan; a statement that cannot run in one is refused.
    All,
    /// One transaction for the document (the same as `all` for a schema plan, which is one document).
    #[default]
    File,
    /// No transaction around statements; online forms are used.
    None,
}

/// Which differences the drift report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftSeverity {
    /// Every difference.
    #[default]
    All,
    /// Only those whose removal destroys something.
    Destructive,
}

/// The policy that planning and applying keep. Durations are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SchemaPolicy {
    /// Destructive plans are permitted as a category.
    pub allow_destructive: bool,
    /// Filters the drift report only.
    pub drift_severity: DriftSeverity,
    /// Selectors left out of the managed scope, sorted, unique.
    pub exclude: Vec<String>,
    /// `table` or `schema.table`, lower case, sorted, unique: a plan that would change one is refused.
    pub protected_tables: Vec<String>,
    /// How statements are wrapped.
    pub transaction_mode: TransactionMode,
    /// How long to wait for the database's advisory lock.
    pub lock_timeout_ms: u64,
    /// PostgreSQL's `lock_timeout` for each statement.
    pub statement_lock_timeout_ms: u64,
    /// PostgreSQL's `statement_timeout`; `None` for no limit.
    pub statement_timeout_ms: Option<u64>,
}

impl Default for SchemaPolicy {
    fn default() -> Self {
        Self {
            allow_destructive: false,
            drift_severity: DriftSeverity::All,
            exclude: Vec::new(),
            protected_tables: Vec::new(),
            transaction_mode: TransactionMode::File,
            lock_timeout_ms: 30_000,
            statement_lock_timeout_ms: 5_000,
            statement_timeout_ms: None,
        }
    }
}

impl SchemaPolicy {
    /// What a plan binds: the policy's canonical encoding, hashed. `apply` is no part of it, so that moving between
    /// `OnApproval`, `Always` and `Never` brings the same plan back.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self).unwrap_or_default())
    }
}
