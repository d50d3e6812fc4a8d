//! Condition types and reasons. The values are API; messages are not.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// Types of conditions on a PtahSchema.
pub mod types {
    #![allow(missing_docs)] // The names say it; docs/conditions.md explains them.
    pub const ARTIFACT_RESOLVED: &str = "ArtifactResolved";
    pub const ARTIFACT_VERIFIED: &str = "ArtifactVerified";
    pub const ENGINE_SUPPORTED: &str = "EngineSupported";
    pub const DATABASE_REACHABLE: &str = "DatabaseReachable";
    pub const DRIFT_DETECTED: &str = "DriftDetected";
    pub const PLAN_READY: &str = "PlanReady";
    pub const APPROVAL_REQUIRED: &str = "ApprovalRequired";
    pub const APPLYING: &str = "Applying";
    pub const IN_SYNC: &str = "InSync";
    pub const READY: &str = "Ready";
    pub const RECONCILING: &str = "Reconciling";
    pub const STALLED: &str = "Stalled";
    pub const SUSPENDED: &str = "Suspended";
    pub const RECONCILIATION_FAILED: &str = "ReconciliationFailed";
    pub const ACCEPTED: &str = "Accepted";
    pub const CONSUMED: &str = "Consumed";
    pub const STALE: &str = "Stale";
}

/// Reasons.
pub mod reasons {
    #![allow(missing_docs)] // The names say it; docs/conditions.md explains them.
    pub const ACTIVE: &str = "Active";
    pub const APPLY_DISABLED: &str = "ApplyDisabled";
    pub const APPLY_OUTCOME_UNKNOWN: &str = "ApplyOutcomeUnknown";
    pub const APPLY_PENDING: &str = "ApplyPending";
    pub const APPROVAL_ACCEPTED: &str = "ApprovalAccepted";
    pub const APPROVAL_REVOKED: &str = "ApprovalRevoked";
    pub const APPROVED_PLAN: &str = "ApprovedPlan";
    pub const ARTIFACT_UNVERIFIED: &str = "ArtifactUnverified";
    pub const AWAITING_APPROVAL: &str = "AwaitingApproval";
    pub const COMMIT_RESOLVED: &str = "CommitResolved";
    pub const CONFIGURATION_ERROR: &str = "ConfigurationError";
    pub const CONVERGED_AFTER_UNKNOWN_OUTCOME: &str = "ConvergedAfterUnknownOutcome";
    pub const CURRENT_PLAN: &str = "CurrentPlan";
    pub const DESIRED_STATE_CHANGED: &str = "DesiredStateChanged";
    pub const DESTRUCTIVE_CHANGES_DISABLED: &str = "DestructiveChangesDisabled";
    pub const DIGEST_PINNED: &str = "DigestPinned";
    pub const DISPATCH_COMMITTED: &str = "DispatchCommitted";
    pub const EXECUTION_BINDING_CHANGED: &str = "ExecutionBindingChanged";
    pub const INPUTS_CHANGED: &str = "InputsChanged";
    pub const IN_SYNC: &str = "InSync";
    pub const JOB_COMPLETED: &str = "JobCompleted";
    pub const LEASE_CONTINUITY_LOST: &str = "LeaseContinuityLost";
    pub const NO_CHANGES: &str = "NoChanges";
    pub const NOT_REQUIRED: &str = "NotRequired";
    pub const OBSERVED: &str = "Observed";
    pub const OPERATION_FAILED: &str = "OperationFailed";
    pub const OPERATION_IN_PROGRESS: &str = "OperationInProgress";
    pub const OUTCOME_UNKNOWN: &str = "OutcomeUnknown";
    pub const PENDING: &str = "Pending";
    pub const PLAN_NO_LONGER_CURRENT: &str = "PlanNoLongerCurrent";
    pub const PLAN_PUBLISHED: &str = "PlanPublished";
    pub const PLAN_READY: &str = "PlanReady";
    pub const POD_ADMISSION_REFUSED: &str = "PodAdmissionRefused";
    pub const POLICY_BLOCKED: &str = "PolicyBlocked";
    pub const POLICY_REFUSED: &str = "PolicyRefused";
    pub const POLICY_SATISFIED: &str = "PolicySatisfied";
    pub const PRIVILEGE_CHANGES: &str = "PrivilegeChanges";
    pub const PROTECTED_TABLE: &str = "ProtectedTable";
    pub const PUBLISHED: &str = "Published";
    pub const REALM_CONFLICT: &str = "RealmConflict";
    pub const REALM_NOT_AUTHORIZED: &str = "RealmNotAuthorized";
    pub const REQUESTED: &str = "Requested";
    pub const RESOLVE_FAILED: &str = "ResolveFailed";
    pub const REFRESH_FAILED: &str = "RefreshFailed";
    pub const REFRESHING: &str = "Refreshing";
    pub const SATISFIED: &str = "Satisfied";
    pub const SCOPED_CHANGES: &str = "ScopedChanges";
    pub const SCOPED_CONVERGED: &str = "ScopedConverged";
    pub const SNAPSHOT_NAME_TAKEN: &str = "SnapshotNameTaken";
    pub const SNAPSHOT_TAKEN: &str = "SnapshotTaken";
    pub const SOURCE_POLICY_REFUSED: &str = "SourcePolicyRefused";
    pub const COMMIT_SIGNATURE_VERIFIED: &str = "CommitSignatureVerified";
    pub const COMMIT_SIGNATURE_REFUSED: &str = "CommitSignatureRefused";
    pub const SOURCE_FRESHNESS_UNKNOWN: &str = "SourceFreshnessUnknown";
    pub const SOURCE_NOT_SUPPORTED: &str = "SourceNotSupported";
    pub const SOURCE_UNRESOLVED: &str = "SourceUnresolved";
    pub const STALE: &str = "Stale";
    pub const STALE_OBSERVATION: &str = "StaleObservation";
    pub const STALE_PLAN: &str = "StalePlan";
    pub const SUCCEEDED: &str = "Succeeded";
    pub const SUPERSEDED_APPROVAL: &str = "SupersededApproval";
    pub const SUPPORTED_ENGINE: &str = "SupportedEngine";
    pub const SUSPENDED: &str = "Suspended";
    pub const UNSUPPORTED_ENGINE: &str = "UnsupportedEngine";
    pub const VERIFYING_CONVERGENCE: &str = "VerifyingConvergence";
    pub const WAITING: &str = "Waiting";
}

/// Longest message that is written, in bytes (status stays small whatever a failure says).
pub const MAX_MESSAGE_BYTES: usize = 1024;

/// The condition of a type, where there is one.
#[must_use]
pub fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == kind)
}

/// Whether a condition is `True`.
#[must_use]
pub fn is_true(conditions: &[Condition], kind: &str) -> bool {
    find(conditions, kind).is_some_and(|condition| condition.status == "True")
}

/// Sets a condition. The transition time moves only with the status, as Kubernetes' API conventions ask.
pub fn set(
    conditions: &mut Vec<Condition>,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    generation: i64,
    now: &Time,
) {
    let message = truncated(message);
    let fresh = Condition {
        type_: kind.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message,
        observed_generation: Some(generation),
        last_transition_time: now.clone(),
    };
    match conditions.iter_mut().find(|condition| condition.type_ == kind) {
        Some(condition) => {
            let since = if condition.status == fresh.status {
                condition.last_transition_time.clone()
            } else {
                fresh.last_transition_time.clone()
            };
            *condition = Condition {
                last_transition_time: since,
                ..fresh
            };
        }
        None => conditions.push(fresh),
    }
}

/// Takes a condition away: for the kinds that are present only while they are true.
pub fn clear(conditions: &mut Vec<Condition>, kind: &str) {
    conditions.retain(|condition| condition.type_ != kind);
}

fn truncated(message: &str) -> String {
    if message.len() <= MAX_MESSAGE_BYTES {
        return message.to_owned();
    }
    let mut end = MAX_MESSAGE_BYTES - '…'.len_utf8();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &message[..end])
}
