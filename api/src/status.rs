//! `PtahSchema.status`: what is known, what is under way, what is owed.
//!
//! Everything that a crash must not lose stands here before it is acted on.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use ptah_contract::digest::Digest;
use ptah_contract::plan_contract::ExecutionBinding;
use ptah_contract::policy::SchemaPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::ApplyPolicy;
use crate::shared::{ApprovalIdentity, ImmutableObjectReference};
use crate::source::{DatabaseTarget, DesiredSource};
use crate::source_status::{SourceStatus, SourceTerms};

/// The phase of a schema. It summarises; decisions rest on the records beside it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Phase {
    /// Nothing is known of this generation yet.
    #[default]
    Pending,
    /// The source is being read.
    Resolving,
    /// The artifact is held to its policy.
    Verifying,
    /// The database is being read.
    Observing,
    /// A plan is being made.
    Planning,
    /// A plan may run.
    ReadyToApply,
    /// A plan waits for a person.
    AwaitingApproval,
    /// The answer will not change until somebody changes an input.
    Blocked,
    /// A plan is running.
    Applying,
    /// The run's result is being proven.
    VerifyingConvergence,
    /// Proven to be what is declared.
    InSync,
    /// `spec.suspend` is set.
    Suspended,
    /// Something went wrong and will be tried again.
    Failed,
}

/// Status of a PtahSchema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("default" = serde_json::json!({"observedGeneration": -1})))]
pub struct PtahSchemaStatus {
    /// Generation that `phase` and the conditions answer; -1 before the first pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Components that decide what a plan means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_binding: Option<ExecutionBindingStatus>,
    /// `spec` with every default filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<EffectiveStatus>,
    /// What the source held when it was last read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceStatus>,
    /// What the last attempt to resolve a Git or OCI source held it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_terms: Option<SourceTerms>,
    /// The database when it was last read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetStatus>,
    /// The published plan that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<CurrentPlanStatus>,
    /// What the last no-change plan was made from: what a steady refresh stands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<ProvenStatus>,
    /// The plan whose run was last proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedStatus>,
    /// A proof owed after an Apply that may have changed the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_observation: Option<PendingObservation>,
    /// Runs in a row that did not lead to the desired state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_applies: Option<FailedApplies>,
    /// A Lease that is still to be given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_lock_release: Option<PendingLockRelease>,
    /// The claim in flight, written before its Job exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_operation: Option<ActiveOperation>,
    /// When an operation was last claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempt_time: Option<Time>,
    /// When a cycle last ended with nothing left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_successful_reconciliation: Option<Time>,
    /// Earliest next scheduled reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_reconciliation_time: Option<Time>,
    /// Vocabulary in `conditions`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Identity of the components that decide what a plan means when it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionBindingStatus {
    /// New whenever a component below changes, also back to an earlier value.
    #[schemars(regex(pattern = r"^v1-[0-9a-f]{32}$"))]
    pub epoch: String,
    /// Version of what the manager keeps in status.
    #[schemars(range(min = 1))]
    pub controller_state_version: i32,
    /// Version of the engine.
    #[schemars(length(min = 1, max = 128))]
    pub ptah_version: String,
    /// Digest-pinned image that runs operations.
    #[schemars(length(min = 1))]
    pub executor_image: String,
    /// Version of the runner protocol.
    #[schemars(range(min = 1))]
    pub runner_protocol_version: i32,
}

impl ExecutionBindingStatus {
    /// As a plan binds it.
    #[must_use]
    pub fn to_contract(&self) -> ExecutionBinding {
        ExecutionBinding {
            epoch: self.epoch.clone(),
            controller_state_version: self.controller_state_version.unsigned_abs(),
            engine_version: self.ptah_version.clone(),
            runner_image: self.executor_image.clone(),
            protocol_version: self.runner_protocol_version.unsigned_abs(),
        }
    }
}

/// Effective values of what `spec` may leave out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // Each is the field of `spec` that has its name.
pub struct EffectiveStatus {
    pub interval: String,
    pub failure_retry_interval: String,
    pub active_deadline_seconds: i64,
    pub connect_timeout: String,
    pub lock_timeout: String,
    pub statement_lock_timeout: String,
    pub apply: ApplyPolicy,
    pub transaction_mode: crate::schema::TransactionModePolicy,
}

/// The database when it was last read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetStatus {
    /// Database family as the spec names it.
    pub engine: String,
    /// The realm.
    #[schemars(with = "String")]
    pub coordination_digest: Digest,
    /// Credential-free identity of the database that was reached.
    #[schemars(with = "String")]
    pub identity_digest: Digest,
    /// The server's own identity and the database's, hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub server_identity: Option<Digest>,
    /// Version that the server reports.
    pub server_version: String,
    /// Observed fingerprint.
    #[schemars(with = "String")]
    pub observed_fingerprint: Digest,
    /// Dialect of the drift report.
    pub dialect: String,
    /// Digest of the full drift report, which stays in the runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub drift_report_digest: Option<Digest>,
    /// When a reading last found something new.
    pub last_observed_at: Time,
    /// Absent when there is no drift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_drift_severity: Option<String>,
    /// All differences.
    pub drift_finding_count: i32,
    /// Counts by category, at most 64; never a name, SQL or a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["category"]))]
    pub drift_findings: Vec<DriftFindingStatus>,
}

/// One category of drift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DriftFindingStatus {
    /// Stable name.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z][a-z0-9_]{0,63}$"))]
    pub category: String,
    /// How many differences.
    #[schemars(range(min = 1))]
    pub count: i32,
    /// `safe`, `info`, `warning`, `error` or `destructive`.
    #[schemars(regex(pattern = r"^(safe|info|warning|error|destructive)$"))]
    pub severity: String,
}

/// The published plan that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CurrentPlanStatus {
    /// Name of the PtahSchemaPlan.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its fingerprint.
    #[schemars(with = "String")]
    pub fingerprint: Digest,
    /// SHA-256 of the plan document.
    #[schemars(with = "String")]
    pub plan_digest: Digest,
    /// Content that it was made from.
    #[schemars(with = "String")]
    pub content_digest: Digest,
    /// The realm.
    #[schemars(with = "String")]
    pub coordination_digest: Digest,
    /// The database.
    #[schemars(with = "String")]
    pub target_identity_digest: Digest,
    /// Policy that it was made under.
    #[schemars(with = "String")]
    pub policy_fingerprint: Digest,
    /// Epoch of the execution binding.
    #[serde(rename = "executionBindingID")]
    pub execution_binding_id: String,
    /// Whether it destroys anything.
    pub destructive: bool,
    /// Kinds of authority that it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub privilege_changes: Vec<String>,
    /// Number of statements.
    pub statement_count: i32,
    /// Length of the document in bytes.
    pub size: i64,
    /// Number of chunks.
    pub chunks: i32,
    /// The plan object's own creation time.
    pub created_at: Time,
    /// The approval that is reserved for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<PlanApprovalStatus>,
}

/// The approval that a plan runs under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanApprovalStatus {
    /// Name of the PtahSchemaApproval.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Who approved.
    pub approver: ApprovalIdentity,
    /// When.
    pub approved_at: Time,
}

/// What the last no-change plan was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvenStatus {
    /// Digest of the source as a plan binds it. A record without one is not stood on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub source_binding: Option<Digest>,
    /// Content.
    #[schemars(with = "String")]
    pub content_digest: Digest,
    /// Observed fingerprint.
    #[schemars(with = "String")]
    pub observed_fingerprint: Digest,
    /// The database.
    #[schemars(with = "String")]
    pub target_identity_digest: Digest,
    /// Policy.
    #[schemars(with = "String")]
    pub policy_fingerprint: Digest,
    /// Epoch of the execution binding.
    #[serde(rename = "executionBindingID")]
    pub execution_binding_id: String,
    /// Schemas in scope.
    pub scope: Vec<String>,
    /// Generation that it answered.
    pub generation: i64,
    /// When that plan was made.
    pub planned_at: Time,
}

/// The plan whose run was last proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedStatus {
    /// The plan.
    pub plan_ref: ImmutableObjectReference,
    /// Its fingerprint.
    #[schemars(with = "String")]
    pub plan_fingerprint: Digest,
    /// Content that it was made from.
    #[schemars(with = "String")]
    pub content_digest: Digest,
    /// The realm.
    #[schemars(with = "String")]
    pub coordination_digest: Digest,
    /// The database.
    #[schemars(with = "String")]
    pub target_identity_digest: Digest,
    /// Epoch of the execution binding.
    #[serde(rename = "executionBindingID")]
    pub execution_binding_id: String,
    /// When convergence was observed.
    pub completed_at: Time,
}

/// What is known of a run whose proof is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ApplyOutcome {
    /// The runner reported that every statement was committed.
    ApplySucceeded,
    /// Nobody can say what ran.
    OutcomeUnknown,
}

/// A proof owed after an Apply. It outranks everything but giving back a Lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingObservation {
    /// What is known of the run.
    pub outcome: ApplyOutcome,
    /// The Apply's operation id, whose Lease the proof is made under.
    #[serde(rename = "applyOperationID")]
    pub apply_operation_id: String,
    /// The Apply's Job.
    pub apply_job_name: String,
    /// Generation that the Apply was claimed for.
    pub apply_generation: i64,
    /// The proof waits until here when the Job's end could not be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe_after: Option<Time>,
    /// The plan that ran, with its approval.
    pub plan: CurrentPlanStatus,
    /// The source that it was made from.
    pub source: SourceStatus,
    /// How that source is reached, where the Pod reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<DesiredSource>,
    /// The database that it ran on: the proof reads this one, whatever `spec` says by then.
    pub target: DatabaseTarget,
    /// The policy that it was made under.
    #[schemars(schema_with = "crate::shared::open_object")]
    pub policy: SchemaPolicy,
    /// Epoch of the Lease.
    pub lease_epoch: String,
    /// Duration of the Lease in seconds.
    #[schemars(range(min = 5, max = 86_460))]
    pub lease_duration_seconds: i32,
    /// Attempts to prove so far.
    pub attempts: i32,
}

/// Runs in a row that did not lead to the desired state: under `apply: Always` the next waits longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedApplies {
    /// Content that they were made from: other content starts counting anew.
    #[schemars(with = "String")]
    pub content_digest: Digest,
    /// How many runs.
    pub count: i32,
    /// No run of it before this.
    pub not_before: Time,
}

/// A Lease that is still to be given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingLockRelease {
    /// The realm.
    #[schemars(with = "String")]
    pub coordination_digest: Digest,
    /// The operation that held it.
    #[serde(rename = "operationID")]
    #[schemars(length(min = 1, max = 256))]
    pub operation_id: String,
    /// Its epoch.
    #[schemars(regex(pattern = r"^v1-[0-9a-f]{32}$"))]
    pub lease_epoch: String,
    /// Its duration in seconds.
    #[schemars(range(min = 5, max = 86_460))]
    pub lease_duration_seconds: i32,
}

/// Main step of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)] // The operations of the contract.
pub enum OperationType {
    Observe,
    Plan,
    Apply,
}

/// The claim in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveOperation {
    /// Main step.
    #[serde(rename = "type")]
    pub kind: OperationType,
    /// Every step of the Job, in order.
    pub steps: Vec<String>,
    /// Unique per attempt.
    pub id: String,
    /// What the claim was made from.
    #[schemars(with = "String")]
    pub input_fingerprint: Digest,
    /// Known before the Job exists.
    pub job_name: String,
    /// Generation that it was claimed for.
    pub generation: i64,
    /// When it was claimed.
    pub started_at: Time,
    /// From 1.
    pub attempt: i32,
    /// Epoch of the execution binding.
    #[serde(rename = "executionBindingID")]
    pub execution_binding_id: String,
    /// It proves an Apply, under the Apply's Lease.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proof: bool,
    /// It may end as a steady reading.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refresh: bool,
    /// Set just before the one permitted create; a missing Apply Job after it is an unknown outcome.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dispatch_started: bool,
    /// Last start of a mutating run; set with the dispatch mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_not_after: Option<Time>,
    /// The database that an Apply was claimed for, which its proof reads, whatever `spec` says by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<DatabaseTarget>,
    /// The policy that its plan was made under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::shared::open_object")]
    pub policy: Option<SchemaPolicy>,
    /// How the source that its plan was made from is reached, where the Pod reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<DesiredSource>,
    /// What the source is held to that a reading resolves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<SourceTerms>,
    /// The realm.
    #[schemars(with = "String")]
    pub coordination_digest: Digest,
    /// Epoch of the Lease, for a claim that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_epoch: Option<String>,
    /// Duration of the Lease in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5, max = 86_460))]
    pub lease_duration_seconds: Option<i32>,
    /// The recorded epoch no longer holds an unbroken interval of the lock: no result of this claim is read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lease_continuity_lost: bool,
}
