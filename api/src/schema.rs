//! `PtahSchema`: one database's declared structure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::{ExecutionSpec, SecretKeySelector};
use crate::source::{DatabaseTarget, DesiredSource};
use crate::status::PtahSchemaStatus;

/// What the database should look like, where it is, and how far the operator may go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "operator.ptah.run",
    version = "v1alpha1",
    kind = "PtahSchema",
    plural = "ptahschemas",
    singular = "ptahschema",
    shortname = "ptahs",
    namespaced,
    status = "PtahSchemaStatus",
    derive = "PartialEq",
    validation = kube::core::Rule::new("oldSelf.hasValue() || self.metadata.name.size() <= 63").message("a name is at most 63 characters long: it stands whole in Job labels").optional_old_self(true),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Digest", type_ = "string", json_path = ".status.source.contentDigest", priority = 1),
    printcolumn(name = "Drift", type_ = "string", json_path = ".status.conditions[?(@.type=='DriftDetected')].status"),
    printcolumn(name = "Approval", type_ = "string", json_path = ".status.conditions[?(@.type=='ApprovalRequired')].status"),
    printcolumn(name = "In Sync", type_ = "string", json_path = ".status.conditions[?(@.type=='InSync')].status"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type=='Ready')].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    cel
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = ("!has(self.execution) || !has(self.execution.connectTimeout) || duration(self.execution.connectTimeout).getMilliseconds() <= (has(self.execution.activeDeadlineSeconds) ? self.execution.activeDeadlineSeconds : 900) * 1000", "execution.connectTimeout must not exceed execution.activeDeadlineSeconds"),
    validation = ("!has(self.policy) || !has(self.policy.lockTimeout) || duration(self.policy.lockTimeout).getMilliseconds() <= (has(self.execution) && has(self.execution.activeDeadlineSeconds) ? self.execution.activeDeadlineSeconds : 900) * 1000", "policy.lockTimeout must not exceed execution.activeDeadlineSeconds")
)]
pub struct PtahSchemaSpec {
    /// The database.
    pub target: DatabaseTarget,
    /// The source of the desired state.
    pub desired: DesiredSource,
    /// A database to compare in, in place of the scratch server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<DevDatabase>,
    /// How far the operator may go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<SchemaPolicySpec>,
    /// Cadence of reading source and database (default 10m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(h|m|s|ms))+$"))]
    #[x_kube(validation = ("duration(self) >= duration('10s') && duration(self) <= duration('24h')", "must be a duration from 10s to 24h"))]
    pub interval: Option<String>,
    /// How operation Pods run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionSpec>,
    /// No new Job is started while this is true. An Apply under way is watched to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

/// A database to compare in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DevDatabase {
    /// Secret key that holds its connection URL.
    pub url_from: SecretKeySelector,
}

/// How far the operator may go. Absent fields have the defaults named with them; `status.effective` shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchemaPolicySpec {
    /// When a plan runs (default `OnApproval`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<ApplyPolicy>,
    /// Permits destructive plans as a category (default false); each still needs its approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_destructive: Option<bool>,
    /// Which differences the drift report counts (default `all`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_severity: Option<DriftSeverityPolicy>,
    /// Selectors left out of the managed scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 128),
        inner(
            length(min = 1, max = 256),
            regex(pattern = r"^[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$")
        )
    )]
    #[x_kube(merge_strategy = kube::core::ListMerge::Set)]
    pub exclude: Option<Vec<String>>,
    /// Wait for the database's own lock (default 30s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(h|m|s|ms))+$"))]
    #[x_kube(validation = ("duration(self) >= duration('1s') && duration(self) <= duration('10m')", "must be a duration from 1s to 10m"))]
    pub lock_timeout: Option<String>,
    /// How long a statement waits for a lock on a table (default 5s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(h|m|s|ms))+$"))]
    #[x_kube(validation = ("duration(self) >= duration('100ms') && duration(self) <= duration('10m')", "must be a duration from 100ms to 10m"))]
    pub statement_lock_timeout: Option<String>,
    /// How long a statement may run (default: no limit of its own).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(h|m|s|ms))+$"))]
    #[x_kube(validation = ("duration(self) >= duration('1s') && duration(self) <= duration('24h')", "must be a duration from 1s to 24h"))]
    pub statement_timeout: Option<String>,
    /// How statements are wrapped in transactions (default `file`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_mode: Option<TransactionModePolicy>,
    /// `table` or `schema.table`: a plan that would change one is refused, and nothing overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 128),
        inner(
            length(min = 1, max = 256),
            regex(pattern = r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$")
        )
    )]
    #[x_kube(merge_strategy = kube::core::ListMerge::Set)]
    pub protected_tables: Option<Vec<String>>,
}

/// When a plan runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ApplyPolicy {
    /// Plans are recorded and never run.
    Never,
    /// A plan runs once a person approved exactly it.
    #[default]
    OnApproval,
    /// A plan runs as soon as it is ready, unless it is destructive or changes privileges.
    Always,
}

/// Which differences the drift report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DriftSeverityPolicy {
    /// Every one.
    #[default]
    All,
    /// Those whose removal destroys something.
    Destructive,
}

/// How statements are wrapped in transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransactionModePolicy {
    /// One transaction for the whole plan.
    All,
    /// One transaction for the document.
    #[default]
    File,
    /// No transaction; online forms are used.
    None,
}

impl PtahSchema {
    /// Whether `spec.suspend` is set.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.spec.suspend.unwrap_or(false)
    }

    /// The object's metadata generation, 0 before the API server set one.
    #[must_use]
    pub fn generation(&self) -> i64 {
        let metadata: &ObjectMeta = &self.metadata;
        metadata.generation.unwrap_or(0)
    }
}
