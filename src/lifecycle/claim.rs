//! Claims: what is written down before a Job exists.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_api::effective::Effective;
use ptah_api::{
    ActiveOperation, DesiredSource, OperationType, PtahSchema, PtahSchemaStatus, SourceStatus, names,
};
use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use ptah_contract::protocol::{Operation, Step as OperationStep};
use serde_json::json;

use super::evidence::{Evidence, SourceEvidence};
use super::source;
use super::step::LeaseClaim;

/// Seconds that a Lease outlives its operation's deadline.
const LEASE_SLACK_SECONDS: u64 = 60;
/// Longest Lease.
const MAX_LEASE_SECONDS: u64 = 86_460;

/// The contract's name for a claim's type.
#[must_use]
pub fn operation(kind: OperationType) -> Operation {
    match kind {
        OperationType::Observe => Operation::Observe,
        OperationType::Plan => Operation::Plan,
        OperationType::Apply => Operation::Apply,
    }
}

/// Steps of a Job by its claim's type and the source that it `resolves`, if it does. A reading resolves and verifies what
/// no manager has read; a proof's planning reads the database as well. They are for people, and held to the request's form;
/// what the Pod does is the claim's type.
#[must_use]
pub fn steps(kind: OperationType, proof: bool, resolves: Option<&DesiredSource>) -> Vec<OperationStep> {
    match (kind, proof) {
        (OperationType::Observe, _) if resolves.is_some_and(|desired| desired.git.is_some()) => {
            vec![OperationStep::Resolve, OperationStep::Observe]
        }
        (OperationType::Observe, _) if resolves.is_some() => {
            vec![
                OperationStep::Resolve,
                OperationStep::Verify,
                OperationStep::Observe,
            ]
        }
        (OperationType::Observe, _) => vec![OperationStep::Observe],
        (OperationType::Plan, true) => vec![OperationStep::Observe, OperationStep::Plan],
        (OperationType::Plan, false) => vec![OperationStep::Plan],
        (OperationType::Apply, _) => vec![OperationStep::Apply],
    }
}

/// Fingerprint of everything that a claim is made from, and of whether it `resolves` the source. A read-only claim whose
/// inputs moved is dropped unread.
#[must_use]
pub fn input_fingerprint(
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    effective: &Effective,
    coordination: Digest,
    kind: OperationType,
    evidence: &Evidence,
    resolves: bool,
) -> Digest {
    let desired = &schema.spec.desired;
    // What such a claim finds out cannot be what it is made from.
    let known = status.source.as_ref().filter(|_| !resolves);
    let plan = status.plan.as_ref().filter(|_| kind == OperationType::Apply);
    let inputs = json!({
        "operation": operation(kind).label(),
        "uid": schema.metadata.uid,
        "generation": schema.generation(),
        "executionBinding": status.execution_binding.as_ref().map(|binding| &binding.epoch),
        "source": known.and_then(SourceStatus::binding_digest),
        "content": known.map(|source| source.content_digest),
        "resolves": resolves.then(|| source::claimed_from(desired, evidence)),
        "coordination": coordination,
        "target": schema.spec.target,
        "policy": effective.policy,
        "plan": plan.map(|plan| plan.fingerprint),
        "approval": plan.and_then(|plan| plan.approval.as_ref().map(|approval| &approval.uid)),
    });
    Digest::of(&canonical::to_bytes(&inputs).unwrap_or_default())
}

/// What a claim is for, beside its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A step of the cycle.
    Cycle,
    /// A reading that may stand on the last no-change plan.
    Refresh,
    /// The proof of an Apply, under the Apply's Lease.
    Proof,
}

/// What a new claim is made of.
pub struct NewClaim<'a> {
    /// The resource.
    pub schema: &'a PtahSchema,
    /// Status that the claim will stand in.
    pub status: &'a PtahSchemaStatus,
    /// Effective settings.
    pub effective: &'a Effective,
    /// The realm.
    pub coordination: Digest,
    /// What the pass was decided on.
    pub evidence: &'a Evidence,
    /// Now.
    pub now: Timestamp,
}

impl NewClaim<'_> {
    /// Makes the claim. A claim that will hold a Lease of its own gets its duration here, so that an edit of the spec
    /// never shortens a Lease that is held.
    #[must_use]
    pub fn make(&self, kind: OperationType, purpose: Purpose) -> ActiveOperation {
        let (proof, refresh) = (purpose == Purpose::Proof, purpose == Purpose::Refresh);
        let desired = &self.schema.spec.desired;
        let terms = match &self.evidence.source {
            SourceEvidence::InPod(terms) if kind == OperationType::Observe => Some(terms.clone()),
            _ => None,
        };
        let input_fingerprint = input_fingerprint(
            self.schema,
            self.status,
            self.effective,
            self.coordination,
            kind,
            self.evidence,
            terms.is_some(),
        );
        let id = canonical::digest(&json!({"input": input_fingerprint, "nonce": self.evidence.nonce}))
            .map(|digest| digest.to_string())
            .unwrap_or_default();
        let uid = self.schema.metadata.uid.clone().unwrap_or_default();
        let epoch = self
            .status
            .execution_binding
            .as_ref()
            .map(|b| b.epoch.clone())
            .unwrap_or_default();
        let label = operation(kind).label();
        let job_name = names::job_name(
            self.schema.metadata.name.as_deref().unwrap_or_default(),
            label,
            &[&uid, label, &id, &epoch, &input_fingerprint.to_string(), "1"],
        );
        let holds_lease = kind != OperationType::Observe;
        ActiveOperation {
            kind,
            steps: steps(kind, proof, terms.is_some().then_some(desired))
                .into_iter()
                .map(|step| step.name().to_owned())
                .collect(),
            id,
            input_fingerprint,
            job_name,
            generation: self.schema.generation(),
            started_at: Time(self.now),
            attempt: 1,
            execution_binding_id: epoch,
            proof,
            refresh,
            dispatch_started: false,
            execution_not_after: None,
            target: (kind == OperationType::Apply).then(|| self.schema.spec.target.clone()),
            policy: (kind == OperationType::Apply).then(|| self.effective.policy.clone()),
            desired: (kind == OperationType::Apply && desired.config_map.is_none()).then(|| desired.clone()),
            terms,
            coordination_digest: self.coordination,
            lease_epoch: None,
            lease_duration_seconds: holds_lease.then(|| lease_seconds(self.effective.active_deadline)),
            lease_continuity_lost: false,
        }
    }
}

/// Duration of the Lease of an operation with this deadline, in seconds.
#[must_use]
pub fn lease_seconds(deadline: Duration) -> i32 {
    let seconds = (deadline.as_secs() + LEASE_SLACK_SECONDS).clamp(5, MAX_LEASE_SECONDS);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

/// The Lease that a claim holds; `None` for a reading, and for a proof, which is made under its Apply's Lease.
#[must_use]
pub fn lease(operation: &ActiveOperation) -> Option<LeaseClaim> {
    if operation.proof {
        return None;
    }
    operation
        .lease_duration_seconds
        .map(|duration_seconds| LeaseClaim {
            coordination_digest: operation.coordination_digest,
            operation_id: operation.id.clone(),
            epoch: operation.lease_epoch.clone(),
            duration_seconds,
        })
}

/// `from` plus a duration; the far end of time instead of an overflow.
#[must_use]
pub fn after(from: Timestamp, duration: Duration) -> Timestamp {
    SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| from.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}
