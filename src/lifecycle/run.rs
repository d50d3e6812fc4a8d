//! What becomes of a run: proven next, failed with nothing committed, or unknown.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{ActiveOperation, ApplyOutcome, FailedApplies, PendingObservation, Phase};
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{ApplyReport, Step as OperationStep};

use super::pass::Pass;
use super::step::{Requeue, Step};
use super::{claim, proof, report};

/// How often a proof that is owed is looked at; its Lease is kept meanwhile.
const PROOF_POLL: Duration = Duration::from_secs(5);

/// A run was reported.
pub(super) fn applied(
    pass: Pass<'_>,
    effective: &Effective,
    operation: &ActiveOperation,
    report: &ApplyReport,
) -> Step {
    match report {
        ApplyReport::Applied {
            plan_digest,
            statements,
        } => {
            let planned = pass
                .status
                .plan
                .as_ref()
                .map(|plan| (plan.plan_digest, plan.statement_count));
            if planned != Some((*plan_digest, i32::try_from(*statements).unwrap_or(-1))) {
                return apply_unknown(pass, operation, "its result names another plan");
            }
            owe_proof(
                pass,
                operation,
                ApplyOutcome::ApplySucceeded,
                reasons::JOB_COMPLETED,
                "the Job ended; the result is being proven",
            )
        }
        ApplyReport::NothingCommitted { failure } => {
            let mut pass = pass;
            pass.end_job();
            pass.of_class(failure.class);
            let message = report::sentence(failure);
            apply_failed(pass, effective, &message)
        }
        ApplyReport::Uncertain { failure, statements } => {
            let message = format!(
                "{}; {statements} statements are known to be committed",
                report::sentence(failure)
            );
            apply_unknown(pass, operation, &message)
        }
    }
}

/// Known: nothing was committed. The approval stays spent, and the plan is made anew.
pub(super) fn apply_failed(mut pass: Pass<'_>, effective: &Effective, message: &str) -> Step {
    count_failure(&mut pass, effective);
    let spent = pass
        .status
        .plan
        .as_mut()
        .and_then(|plan| plan.approval.take())
        .is_some();
    pass.set(types::APPLYING, "False", reasons::OPERATION_FAILED, message);
    let message = if spent {
        format!("{message}; nothing was committed; the approval is spent, the next plan needs another")
    } else {
        format!("{message}; nothing was committed")
    };
    report::step_failed(
        pass,
        effective,
        OperationStep::Apply,
        reasons::OPERATION_FAILED,
        &message,
    )
}

/// Counts a run that did not lead to the desired state: under `apply: Always` the next one waits twice as long.
pub(super) fn count_failure(pass: &mut Pass<'_>, effective: &Effective) {
    let Some(content) = pass.status.source.as_ref().map(|source| source.content_digest) else {
        return;
    };
    let before = pass
        .status
        .failed_applies
        .as_ref()
        .filter(|failed| failed.content_digest == content);
    let count = before.map_or(1, |failed| failed.count.saturating_add(1));
    let doubled = effective
        .failure_retry_interval
        .duration()
        .saturating_mul(1 << count.clamp(0, 16));
    let wait = doubled.min(effective.interval.duration());
    pass.status.failed_applies = Some(FailedApplies {
        content_digest: content,
        count,
        not_before: Time(claim::after(pass.now, wait)),
    });
}

/// Nobody can say what ran. It is never run again: the database is asked.
pub(super) fn apply_unknown(mut pass: Pass<'_>, operation: &ActiveOperation, why: &str) -> Step {
    let message =
        format!("the outcome of the run is not known: {why}; it is not repeated, the database is read");
    pass.set(
        types::RECONCILIATION_FAILED,
        "True",
        reasons::APPLY_OUTCOME_UNKNOWN,
        &message,
    );
    pass.emit(true, reasons::APPLY_OUTCOME_UNKNOWN, message.clone());
    owe_proof(
        pass,
        operation,
        ApplyOutcome::OutcomeUnknown,
        reasons::OUTCOME_UNKNOWN,
        &message,
    )
}

fn owe_proof(
    mut pass: Pass<'_>,
    operation: &ActiveOperation,
    outcome: ApplyOutcome,
    reason: &'static str,
    message: &str,
) -> Step {
    pass.end_job();
    pass.status.active_operation = None;
    let (Some(plan), Some(source)) = (pass.status.plan.take(), pass.status.source.clone()) else {
        // A claim of an Apply is made from both; without them there is nothing to prove against.
        return pass.finish(Requeue::OnChange);
    };
    pass.status.pending_observation = Some(PendingObservation {
        outcome,
        apply_operation_id: operation.id.clone(),
        apply_job_name: operation.job_name.clone(),
        apply_generation: operation.generation,
        observe_after: None,
        plan,
        source,
        // What the run was claimed for: an edit during the run is none of the proof's business.
        target: operation
            .target
            .clone()
            .unwrap_or_else(|| pass.schema.spec.target.clone()),
        policy: operation.policy.clone().unwrap_or_default(),
        desired: operation.desired.clone(),
        lease_epoch: operation.lease_epoch.clone().unwrap_or_default(),
        lease_duration_seconds: operation.lease_duration_seconds.unwrap_or(5),
        attempts: 0,
    });
    pass.phase(Phase::VerifyingConvergence);
    pass.set(types::APPLYING, "False", reason, message);
    let ready = if outcome == ApplyOutcome::ApplySucceeded {
        reasons::VERIFYING_CONVERGENCE
    } else {
        reasons::APPLY_OUTCOME_UNKNOWN
    };
    pass.set(
        types::READY,
        "Unknown",
        ready,
        "the result of the run is being proven",
    );
    pass.set(
        types::RECONCILING,
        "True",
        ready,
        "the result of the run is being proven",
    );
    pass.finish(Requeue::Now)
}

/// What the run was made from is gone from its source, so that no proof of it can ever be made. The run is credited to
/// nobody; the database is read against what is declared now, and any plan that follows is made from what is there.
pub(super) fn proof_impossible(mut pass: Pass<'_>, message: &str) -> Step {
    pass.status.active_operation = None;
    proof::give_back(&mut pass);
    pass.phase(Phase::Pending);
    pass.emit(
        true,
        reasons::OPERATION_FAILED,
        format!("the result of the run can never be proven: {message}"),
    );
    pass.superseded("what the run was made from is gone from its source; everything is read again");
    pass.finish(Requeue::Now)
}

/// A proof could not be made. It is tried again, soon where it may pass by itself, less and less often where it may
/// not; an edit ends it, and the ordinary reading that follows says what the run left behind.
pub(super) fn proof_failed(
    mut pass: Pass<'_>,
    effective: &Effective,
    class: FailureClass,
    message: &str,
) -> Step {
    pass.status.active_operation = None;
    let Some(mut pending) = pass.status.pending_observation.clone() else {
        return pass.finish(Requeue::Now);
    };
    let lasting = class != FailureClass::Transient;
    if lasting && proof::superseded(&pass, &pending) {
        proof::give_back(&mut pass);
        pass.phase(Phase::Pending);
        pass.superseded(
            "the run could not be proven, and another state was declared; everything is read again",
        );
        return pass.finish(Requeue::Now);
    }
    if pending.attempts == 0 {
        pass.emit(
            true,
            reasons::OPERATION_FAILED,
            format!("the result of the run could not be proven yet: {message}"),
        );
    }
    pending.attempts = pending.attempts.saturating_add(1);
    let soon = effective.failure_retry_interval.duration().min(PROOF_POLL);
    let wait = if lasting {
        soon.saturating_mul(1 << pending.attempts.clamp(0, 16))
            .min(effective.interval.duration())
    } else {
        soon
    };
    pending.observe_after = Some(Time(claim::after(pass.now, wait)));
    pass.status.pending_observation = Some(pending);
    pass.set(
        types::RECONCILIATION_FAILED,
        "True",
        reasons::OPERATION_FAILED,
        &format!("the result of the run could not be proven yet: {message}"),
    );
    let (waits, tried) = if lasting {
        (
            reasons::OPERATION_FAILED,
            "the result of the run cannot be proven as things are; it is tried again less and less often",
        )
    } else {
        (
            reasons::WAITING,
            "the result of the run could not be proven yet; it may pass by itself and will be tried again",
        )
    };
    pass.set(types::RECONCILING, "True", waits, tried);
    pass.finish(Requeue::After(PROOF_POLL))
}
