//! A claim in flight: its Lease, its Job, its end.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_api::conditions::{self, reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{ActiveOperation, ImmutableObjectReference, OperationType, Phase};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::Step as OperationStep;

use super::evidence::{JobEvidence, LeaseEvidence, ResultEvidence, SourceEvidence};
use super::pass::Pass;
use super::step::{ApprovalMark, Effect, Requeue, Step};
use super::{claim, reading, report, run, schema, settle, source};

/// How long to wait for a Lease that somebody else holds, before looking again.
const CONTENTION: Duration = Duration::from_secs(5);
/// How long to wait for a Job, when no watch wakes the resource before.
const POLL: Duration = Duration::from_secs(30);
/// How often a pass looks at a Lease that must be renewed.
const RENEW_POLL: Duration = Duration::from_secs(15);

/// What to do about `status.activeOperation`.
pub(super) fn live_claim(pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    let Some(operation) = pass.status.active_operation.clone() else {
        return schema::idle(pass, effective);
    };
    if operation.kind == OperationType::Apply && operation.dispatch_started {
        return running(pass, effective, coordination, &operation);
    }
    if let Some(step) = withdrawn(&pass, effective, coordination, &operation) {
        return step(pass);
    }
    if operation.kind == OperationType::Observe || operation.dispatch_started {
        return running(pass, effective, coordination, &operation);
    }
    dispatch(pass, effective, &operation)
}

type Decision<'a> = Box<dyn FnOnce(Pass<'_>) -> Step + 'a>;

/// Whether a claim that may still be dropped has lost its ground: suspension, or inputs that moved.
fn withdrawn<'a>(
    pass: &Pass<'_>,
    effective: &'a Effective,
    coordination: Digest,
    operation: &'a ActiveOperation,
) -> Option<Decision<'a>> {
    if operation.proof {
        // A proof keeps the inputs of its Apply, whatever the spec says by now.
        return None;
    }
    let current = claim::input_fingerprint(
        pass.schema,
        &pass.status,
        effective,
        coordination,
        operation.kind,
        pass.evidence,
        operation.terms.is_some(),
    );
    // A run must know its source to the last moment; a reading may end without it.
    let known = matches!(
        pass.evidence.source,
        SourceEvidence::Resolved(_) | SourceEvidence::InPod(_) | SourceEvidence::InManager { .. }
    );
    let unknown = operation.kind == OperationType::Apply && !known;
    // A reading that resolves its source is what finds out whether that has moved.
    let resolves = operation.terms.is_some();
    let moved = current != operation.input_fingerprint || (!resolves && source::moved(pass)) || unknown;
    let suspended = pass.schema.is_suspended();
    let revoked = operation.kind == OperationType::Apply && !super::approval::still_approved(pass);
    if !(moved || suspended || revoked) {
        return None;
    }
    Some(Box::new(move |mut pass: Pass<'_>| {
        pass.drop_claim();
        if operation.kind == OperationType::Apply {
            pass.set(
                types::APPLYING,
                "False",
                reasons::INPUTS_CHANGED,
                "withdrawn before anything was sent",
            );
            if revoked && !moved && !suspended {
                return super::approval::revoked(pass);
            }
        }
        pass.phase(Phase::Pending);
        schema::idle(pass, effective)
    }))
}

/// A claim that holds a Lease of its own and has not been dispatched (a proof begins dispatched): take the Lease, write its epoch down with the dispatch
/// mark, and only then create the Job.
fn dispatch(mut pass: Pass<'_>, effective: &Effective, operation: &ActiveOperation) -> Step {
    if !pass.has_finalizer() {
        pass.before.push(Effect::AddFinalizer);
    }
    match pass.evidence.lease.clone() {
        LeaseEvidence::Ours { epoch, .. } => {
            if operation.kind == OperationType::Apply
                && let Some(approval) = pass.status.plan.as_ref().and_then(|plan| plan.approval.as_ref())
            {
                let approval = ImmutableObjectReference {
                    name: approval.name.clone(),
                    uid: approval.uid.clone(),
                };
                pass.before.push(Effect::MarkApproval {
                    approval,
                    mark: ApprovalMark::Consumed,
                });
            }
            mark(pass, effective, epoch)
        }
        LeaseEvidence::Available => {
            if let Some(lease) = claim::lease(operation) {
                pass.before.push(Effect::AcquireLease(lease));
            }
            pass.finish(Requeue::Now)
        }
        LeaseEvidence::Foreign => pass.finish(Requeue::After(CONTENTION)),
        LeaseEvidence::NotRead => pass.finish(Requeue::Now),
    }
}

fn mark(mut pass: Pass<'_>, effective: &Effective, epoch: String) -> Step {
    let last_start = Time(claim::after(pass.now, effective.active_deadline));
    if let Some(operation) = &mut pass.status.active_operation {
        operation.lease_epoch = Some(epoch);
        operation.dispatch_started = true;
        operation.execution_not_after = (operation.kind == OperationType::Apply).then_some(last_start);
    }
    pass.after.push(Effect::CreateJob);
    pass.finish(Requeue::After(RENEW_POLL))
}

/// A claim whose Job may exist.
fn running(
    mut pass: Pass<'_>,
    effective: &Effective,
    coordination: Digest,
    operation: &ActiveOperation,
) -> Step {
    if let Some(lost) = continuity_lost(&mut pass, operation) {
        return lost;
    }
    let apply = operation.kind == OperationType::Apply;
    match (&pass.evidence.job, &pass.evidence.result) {
        (JobEvidence::NotRead, _) => pass.finish(Requeue::Now),
        (JobEvidence::Missing | JobEvidence::Foreign, _) if apply => run::apply_unknown(
            pass,
            operation,
            "its Job is not there any more, or is not the one that was created",
        ),
        (JobEvidence::Missing, _) => {
            pass.after.push(Effect::CreateJob);
            let requeue = Requeue::After(POLL);
            pass.finish(requeue)
        }
        (JobEvidence::Foreign, _) => failed(
            pass,
            effective,
            operation,
            "the Job's name is taken by something else; delete that Job",
        ),
        (
            JobEvidence::Running {
                trouble,
                source_reached,
            },
            _,
        ) => {
            let trouble = trouble.clone();
            if *source_reached && operation.terms.is_some() && !operation.refresh {
                // A refresh moves no further until it is known whether anything moved at all.
                reading::leave_source(&mut pass);
            }
            waiting(pass, operation, trouble)
        }
        (JobEvidence::Finished { .. }, _) if operation.lease_continuity_lost => {
            discarded(pass, effective, coordination, operation)
        }
        (JobEvidence::Finished { .. }, ResultEvidence::NotRead) => pass.finish(Requeue::Now),
        (JobEvidence::Finished { .. }, ResultEvidence::Delivered(outcome)) => {
            let outcome = outcome.clone();
            settle::delivered(pass, effective, coordination, operation, &outcome)
        }
        (JobEvidence::Finished { message, deadline }, undelivered) => {
            let why = undelivered_because(&pass, operation, undelivered, message.as_deref(), *deadline);
            if apply {
                run::apply_unknown(pass, operation, &why)
            } else if operation.proof && *deadline {
                // What its Pod waited for is not there: where another state is declared by now, it never will be.
                pass.end_job();
                run::proof_failed(pass, effective, FailureClass::Attention, &why)
            } else {
                pass.end_job();
                failed(pass, effective, operation, &why)
            }
        }
    }
}

fn undelivered_because(
    pass: &Pass<'_>,
    operation: &ActiveOperation,
    result: &ResultEvidence,
    message: Option<&str>,
    deadline: bool,
) -> String {
    let why = match result {
        ResultEvidence::Unreadable(reason) => format!("the Pod's result was refused: {reason}"),
        _ if deadline => format!(
            "the Job was ended by its deadline; if its Pod never started, check that {} exist, else raise \
             spec.execution.activeDeadlineSeconds",
            mounted(pass, operation)
        ),
        _ => "the Pod ended without a result".to_owned(),
    };
    match message {
        Some(message) => format!("{why}: {message}"),
        None => why,
    }
}

/// What the claim's Pod mounts, and so cannot start without.
fn mounted(pass: &Pass<'_>, operation: &ActiveOperation) -> String {
    let secret = report::secret(pass.target_of(operation));
    let pending = pass
        .status
        .pending_observation
        .as_ref()
        .filter(|_| operation.proof);
    let source = pending
        .map(|pending| &pending.source)
        .or(pass.status.source.as_ref());
    let snapshot = source.and_then(|source| source.snapshot.as_deref());
    match (operation.kind, snapshot, &pass.status.plan) {
        (OperationType::Apply, _, Some(plan)) => format!("{secret} and the parts of plan {:?}", plan.name),
        (OperationType::Observe | OperationType::Plan, Some(snapshot), _) => {
            format!("{secret} and ConfigMap {snapshot:?}")
        }
        _ => format!("{secret} and what it names"),
    }
}

/// A read-only attempt failed without a result.
fn failed(pass: Pass<'_>, effective: &Effective, operation: &ActiveOperation, message: &str) -> Step {
    if operation.proof {
        return run::proof_failed(pass, effective, FailureClass::Transient, message);
    }
    let step = match operation.kind {
        OperationType::Observe => OperationStep::Observe,
        OperationType::Plan => OperationStep::Plan,
        OperationType::Apply => OperationStep::Apply,
    };
    report::step_failed(pass, effective, step, reasons::OPERATION_FAILED, message)
}

/// The Job runs: keep its Lease, and say what keeps its Pod from running.
fn waiting(mut pass: Pass<'_>, operation: &ActiveOperation, trouble: Option<String>) -> Step {
    let refused = conditions::find(&pass.status.conditions, types::READY)
        .is_some_and(|ready| ready.reason == reasons::POD_ADMISSION_REFUSED);
    let unanswered = pass.status.observed_generation != Some(pass.schema.generation());
    match trouble {
        Some(trouble) if unanswered || operation.kind == OperationType::Apply => {
            pass.set(types::READY, "False", reasons::POD_ADMISSION_REFUSED, &trouble);
        }
        None if refused => {
            pass.set(
                types::READY,
                "Unknown",
                reasons::OPERATION_IN_PROGRESS,
                "the Pod runs",
            );
        }
        _ => {}
    }
    let mut poll = POLL;
    if let Some(lease) = held_lease(&pass, operation) {
        poll = RENEW_POLL;
        if matches!(pass.evidence.lease, LeaseEvidence::Ours { due: true, .. }) {
            pass.before.push(Effect::RenewLease(lease));
        }
    }
    pass.finish(Requeue::After(poll))
}

/// The Lease that protects this claim: its own, or its Apply's.
fn held_lease(pass: &Pass<'_>, operation: &ActiveOperation) -> Option<super::step::LeaseClaim> {
    if operation.proof {
        pass.status.pending_observation.as_ref().map(super::proof::lease)
    } else {
        claim::lease(operation)
    }
}

/// Marks a claim whose recorded epoch does not hold the lock any more, before any result of it can be taken.
fn continuity_lost(pass: &mut Pass<'_>, operation: &ActiveOperation) -> Option<Step> {
    let lease = held_lease(pass, operation)?;
    if operation.lease_continuity_lost || !operation.dispatch_started {
        return None;
    }
    let held = match &pass.evidence.lease {
        LeaseEvidence::NotRead => return Some(pass.take().finish(Requeue::Now)),
        LeaseEvidence::Ours { epoch, .. } => lease.epoch.as_ref() == Some(epoch),
        LeaseEvidence::Available | LeaseEvidence::Foreign => false,
    };
    if held {
        return None;
    }
    if let Some(active) = &mut pass.status.active_operation {
        active.lease_continuity_lost = true;
    }
    pass.emit(
        true,
        reasons::LEASE_CONTINUITY_LOST,
        format!(
            "{:?}: the realm's Lease was not held without a break; no result of this attempt is read",
            operation.kind
        ),
    );
    Some(pass.take().finish(Requeue::Now))
}

/// A result across a break of the Lease is not read.
fn discarded(
    mut pass: Pass<'_>,
    effective: &Effective,
    coordination: Digest,
    operation: &ActiveOperation,
) -> Step {
    let why = "the realm's Lease was not held without a break while it ran";
    if operation.kind == OperationType::Apply {
        return run::apply_unknown(pass, operation, why);
    }
    pass.end_job();
    if operation.proof {
        return run::proof_failed(pass, effective, FailureClass::Transient, why);
    }
    pass.drop_claim();
    pass.set(types::PLAN_READY, "Unknown", reasons::LEASE_CONTINUITY_LOST, why);
    reading::observe_again(pass, effective, coordination)
}

/// A resource that is being deleted: what runs is watched to its end, what is held is given back, and no SQL is sent.
pub(super) fn deletion(mut pass: Pass<'_>) -> Step {
    if let Some(operation) = pass.status.active_operation.clone() {
        let running = matches!(pass.evidence.job, JobEvidence::Running { .. });
        let alive = running || pass.evidence.apply_pod_active;
        if operation.kind == OperationType::Apply && operation.dispatch_started && alive {
            return waiting(pass, &operation, None);
        }
        pass.drop_claim();
    }
    if let Some(pending) = pass.status.pending_observation.take() {
        if pass.evidence.apply_pod_active {
            pass.status.pending_observation = Some(pending);
            return pass.finish(Requeue::After(CONTENTION));
        }
        let lease = super::proof::lease(&pending);
        pass.owe_release(
            lease.coordination_digest,
            &lease.operation_id,
            &pending.lease_epoch,
            lease.duration_seconds,
        );
    }
    if pass.status.pending_lock_release.is_none() && pass.has_finalizer() {
        pass.after.push(Effect::RemoveFinalizer);
    }
    let requeue = if pass.status.pending_lock_release.is_some() {
        Requeue::Now
    } else {
        Requeue::OnChange
    };
    pass.finish(requeue)
}
