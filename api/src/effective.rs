//! `spec` with every default filled in. Nothing else in the project knows a default.

use std::time::Duration;

use ptah_contract::digest::Digest;
use ptah_contract::policy::{DriftSeverity, InvalidSpan, SchemaPolicy, Span, TransactionMode};
use ptah_contract::realm::{Engine, RealmName, coordination_digest};

use crate::schema::{ApplyPolicy, DriftSeverityPolicy, PtahSchema, TransactionModePolicy};
use crate::status::EffectiveStatus;

/// The effective settings of one schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// Cadence of readings.
    pub interval: Span,
    /// Wait after a failure.
    pub failure_retry_interval: Span,
    /// Lifetime of an operation Job.
    pub active_deadline: Duration,
    /// When a plan runs.
    pub apply: ApplyPolicy,
    /// What planning and applying keep.
    pub policy: SchemaPolicy,
}

/// A field whose value the API server should have refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("spec.{field}: {source}")]
pub struct InvalidField {
    /// Path below `spec`.
    pub field: &'static str,
    /// What is wrong.
    pub source: InvalidSpan,
}

impl Effective {
    /// Fills in the defaults.
    ///
    /// # Errors
    /// When a duration does not parse (possible only for objects stored before their rule existed).
    pub fn of(schema: &PtahSchema) -> Result<Self, InvalidField> {
        let spec = &schema.spec;
        let policy = spec.policy.clone().unwrap_or_default();
        let execution = spec.execution.clone().unwrap_or_default();
        let lock_timeout = field("policy.lockTimeout", policy.lock_timeout.as_deref(), "30s")?;
        let statement_lock = field(
            "policy.statementLockTimeout",
            policy.statement_lock_timeout.as_deref(),
            "5s",
        )?;
        let statement_timeout = policy
            .statement_timeout
            .as_deref()
            .map(|text| field("policy.statementTimeout", Some(text), ""))
            .transpose()?;
        Ok(Self {
            interval: field("interval", spec.interval.as_deref(), "10m")?,
            failure_retry_interval: field(
                "execution.failureRetryInterval",
                execution.failure_retry_interval.as_deref(),
                "30s",
            )?,
            active_deadline: Duration::from_secs(
                execution
                    .active_deadline_seconds
                    .unwrap_or(900)
                    .clamp(30, 86_400)
                    .unsigned_abs(),
            ),
            apply: policy.apply.unwrap_or_default(),
            policy: SchemaPolicy {
                allow_destructive: policy.allow_destructive.unwrap_or(false),
                drift_severity: match policy.drift_severity.unwrap_or_default() {
                    DriftSeverityPolicy::All => DriftSeverity::All,
                    DriftSeverityPolicy::Destructive => DriftSeverity::Destructive,
                },
                exclude: set(policy.exclude.unwrap_or_default(), |text| text.trim().to_owned()),
                protected_tables: set(policy.protected_tables.unwrap_or_default(), |text| {
                    text.to_lowercase()
                }),
                transaction_mode: match policy.transaction_mode.unwrap_or_default() {
                    TransactionModePolicy::All => TransactionMode::All,
                    TransactionModePolicy::File => TransactionMode::File,
                    TransactionModePolicy::None => TransactionMode::None,
                },
                lock_timeout,
                statement_lock_timeout: statement_lock,
                statement_timeout,
                connect_timeout: field(
                    "execution.connectTimeout",
                    execution.connect_timeout.as_deref(),
                    "10s",
                )?,
            },
        })
    }

    /// As `status.effective` shows it.
    #[must_use]
    pub fn to_status(&self) -> EffectiveStatus {
        EffectiveStatus {
            interval: self.interval.to_string(),
            failure_retry_interval: self.failure_retry_interval.to_string(),
            active_deadline_seconds: i64::try_from(self.active_deadline.as_secs()).unwrap_or(i64::MAX),
            connect_timeout: self.policy.connect_timeout.to_string(),
            lock_timeout: self.policy.lock_timeout.to_string(),
            statement_lock_timeout: self.policy.statement_lock_timeout.to_string(),
            apply: self.apply,
            transaction_mode: match self.policy.transaction_mode {
                TransactionMode::All => TransactionModePolicy::All,
                TransactionMode::File => TransactionModePolicy::File,
                TransactionMode::None => TransactionModePolicy::None,
            },
        }
    }
}

/// The realm that a schema claims; `None` for an engine that nobody knows or a target that names no realm.
#[must_use]
pub fn realm_of(schema: &PtahSchema) -> Option<Digest> {
    let target = &schema.spec.target;
    let engine = Engine::from_name(&target.engine)?;
    let namespace = schema.metadata.namespace.as_deref().unwrap_or_default();
    let name = match (&target.coordination_key, &target.realm_ref) {
        (Some(key), None) => RealmName::Key { namespace, key },
        (None, Some(realm)) => RealmName::Realm(&realm.name),
        _ => return None,
    };
    Some(coordination_digest(engine, name))
}

fn field(name: &'static str, text: Option<&str>, default: &str) -> Result<Span, InvalidField> {
    text.unwrap_or(default)
        .parse()
        .map_err(|source| InvalidField { field: name, source })
}

fn set(mut items: Vec<String>, normal: fn(&String) -> String) -> Vec<String> {
    items = items.iter().map(normal).filter(|text| !text.is_empty()).collect();
    items.sort();
    items.dedup();
    items
}
