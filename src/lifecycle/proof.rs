//! The proof after an Apply: observe and plan again, under the Apply's own Lease, from the Apply's own inputs.
//!
//! It outranks suspension, a new generation and the realm's census: nothing else is done to the database until a plan
//! has said what the run left behind.

use std::time::Duration;

use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{
    ActiveOperation, AppliedStatus, ApplyOutcome, ImmutableObjectReference, OperationType,
    PendingObservation, Phase,
};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{Outcome, PlanReport, PlanResult, TargetReading};

use super::claim::Purpose;
use super::evidence::{LeaseEvidence, PlanEvidence};
use super::pass::Pass;
use super::step::{Effect, LeaseClaim, Requeue, Step};
use super::{run, settle, source};

const POLL: Duration = Duration::from_secs(5);

/// The Lease of the Apply.
pub(super) fn lease(pending: &PendingObservation) -> LeaseClaim {
    LeaseClaim {
        coordination_digest: pending.plan.coordination_digest,
        operation_id: pending.apply_operation_id.clone(),
        epoch: Some(pending.lease_epoch.clone()),
        duration_seconds: pending.lease_duration_seconds,
    }
}

/// A proof is owed and none is in flight.
pub(super) fn owed(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    let Some(pending) = pass.status.pending_observation.clone() else {
        return pass.finish(Requeue::OnChange);
    };
    match pass.evidence.lease.clone() {
        LeaseEvidence::NotRead => return pass.finish(Requeue::Now),
        LeaseEvidence::Foreign => return pass.finish(Requeue::After(POLL)),
        LeaseEvidence::Available => {
            pass.before.push(Effect::AcquireLease(LeaseClaim {
                epoch: None,
                ..lease(&pending)
            }));
            return pass.finish(Requeue::Now);
        }
        LeaseEvidence::Ours { epoch, due } => {
            if epoch != pending.lease_epoch {
                // The lock had a break after the run: what the run did under it is not vouched for any more.
                if let Some(pending) = &mut pass.status.pending_observation {
                    pending.lease_epoch = epoch;
                    pending.outcome = ApplyOutcome::OutcomeUnknown;
                }
                pass.emit(
                    true,
                    reasons::LEASE_CONTINUITY_LOST,
                    "the realm's Lease had a break before the proof",
                );
                return pass.finish(Requeue::Now);
            }
            if due {
                pass.before.push(Effect::RenewLease(lease(&pending)));
            }
        }
    }
    if pass.schema.is_suspended() {
        pass.set(
            types::SUSPENDED,
            "True",
            reasons::REQUESTED,
            "spec.suspend is set; the proof of the last run waits",
        );
        return pass.finish(Requeue::After(POLL));
    }
    pass.clear(types::SUSPENDED);
    let waits = pending
        .observe_after
        .as_ref()
        .is_some_and(|time| time.0 > pass.now);
    if pass.evidence.apply_pod_active || waits {
        return pass.finish(Requeue::After(POLL));
    }
    source::keep_snapshot(&mut pass, pending.source.content_digest);
    let mut operation = pass.claim(effective, coordination, OperationType::Plan, Purpose::Proof);
    operation.coordination_digest = pending.plan.coordination_digest;
    operation.lease_epoch = Some(pending.lease_epoch);
    operation.dispatch_started = true;
    operation.attempt = pending.attempts.saturating_add(1);
    pass.status.active_operation = Some(operation);
    pass.after.push(Effect::CreateJob);
    pass.finish(Requeue::After(Duration::from_secs(15)))
}

/// The proof's own plan was delivered.
pub(super) fn settled(
    mut pass: Pass<'_>,
    effective: &Effective,
    operation: &ActiveOperation,
    outcome: &Outcome,
    plan: &PlanReport,
    target: &TargetReading,
) -> Step {
    let Some(pending) = pass.status.pending_observation.clone() else {
        pass.status.active_operation = None;
        return pass.finish(Requeue::Now);
    };
    if target.identity_digest != pending.plan.target_identity_digest {
        pass.end_job();
        return run::proof_failed(
            pass,
            effective,
            FailureClass::Attention,
            "the Secret leads to another database than the one that the plan ran on; restore it until the run is proven",
        );
    }
    if superseded(&pass, &pending) {
        pass.end_job();
        record_applied(&mut pass, &pending, plan.result);
        give_back(&mut pass);
        pass.status.active_operation = None;
        pass.phase(Phase::Pending);
        pass.set(
            types::IN_SYNC,
            "Unknown",
            reasons::DESIRED_STATE_CHANGED,
            "another state was declared meanwhile",
        );
        pass.clear(types::APPLYING);
        return pass.finish(Requeue::Now);
    }
    if plan.result == PlanResult::Changes {
        pass.set(
            types::IN_SYNC,
            "False",
            reasons::SCOPED_CHANGES,
            "the run left a difference",
        );
        if matches!(pass.evidence.plan, PlanEvidence::Stored { .. }) {
            run::count_failure(&mut pass, effective);
        }
        return settle::publish(pass, effective, operation, outcome, &pending.policy);
    }
    pass.end_job();
    record_applied(&mut pass, &pending, plan.result);
    give_back(&mut pass);
    pass.status.active_operation = None;
    let reason = match pending.outcome {
        ApplyOutcome::ApplySucceeded => reasons::SCOPED_CONVERGED,
        ApplyOutcome::OutcomeUnknown => reasons::CONVERGED_AFTER_UNKNOWN_OUTCOME,
    };
    settle::converged(pass, effective, &pending.policy, plan, target, reason)
}

/// Whether something else is declared than what the Apply was made from.
pub(super) fn superseded(pass: &Pass<'_>, pending: &PendingObservation) -> bool {
    let epoch = pass
        .status
        .execution_binding
        .as_ref()
        .map(|binding| binding.epoch.as_str());
    pending.apply_generation != pass.schema.generation()
        || Some(pending.plan.execution_binding_id.as_str()) != epoch
        || source::moved(pass)
}

/// Credits the plan, where the run is known to have succeeded and the proof found nothing left.
fn record_applied(pass: &mut Pass<'_>, pending: &PendingObservation, result: PlanResult) {
    if pending.outcome != ApplyOutcome::ApplySucceeded || result != PlanResult::NoChanges {
        return;
    }
    pass.status.applied = Some(AppliedStatus {
        plan_ref: ImmutableObjectReference {
            name: pending.plan.name.clone(),
            uid: pending.plan.uid.clone(),
        },
        plan_fingerprint: pending.plan.fingerprint,
        content_digest: pending.plan.content_digest,
        coordination_digest: pending.plan.coordination_digest,
        target_identity_digest: pending.plan.target_identity_digest,
        execution_binding_id: pending.plan.execution_binding_id.clone(),
        completed_at: pass.time(),
    });
}

/// Ends the proof: the Apply's Lease is owed back from this write on.
pub(super) fn give_back(pass: &mut Pass<'_>) {
    if let Some(pending) = pass.status.pending_observation.take() {
        let lease = lease(&pending);
        pass.owe_release(
            lease.coordination_digest,
            &lease.operation_id,
            &pending.lease_epoch,
            lease.duration_seconds,
        );
    }
}
