//! The drift report that leaves the runner: counts by category, never a name, a value or SQL.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// How much a difference weighs, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Adds; nothing that exists changes.
    Safe,
    /// Worth knowing.
    Info,
    /// May fail or block.
    Warning,
    /// Removes a guarantee.
    Error,
    /// Removes data or protection.
    Destructive,
}

/// One category of differences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DriftFinding {
    /// Stable `snake_case` name.
    pub category: String,
    /// How many differences, at least one.
    pub count: u32,
    /// The heaviest of them.
    pub severity: Severity,
}

/// What a reading says about the distance between the database and the desired state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DriftReport {
    /// SHA-256 of the full report, which stays in the runner.
    pub digest: Digest,
    /// `postgres` or `mysql`.
    pub dialect: String,
    /// All differences.
    pub total: u32,
    /// Absent exactly when there is no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_severity: Option<Severity>,
    /// At most 64, by falling severity and then by name.
    pub findings: Vec<DriftFinding>,
}
