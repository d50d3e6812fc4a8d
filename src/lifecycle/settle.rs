//! What a delivered result makes of the status.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{ActiveOperation, CurrentPlanStatus, OperationType, Phase, ProvenStatus};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::policy::SchemaPolicy;
use ptah_contract::protocol::{
    Outcome, PlanReport, PlanResult, Step as OperationStep, StepFailure, TargetReading,
};

use super::evidence::PlanEvidence;
use super::pass::Pass;
use super::publication::{self, Publication};
use super::step::{Effect, Requeue, Step};
use super::{approval, proof, reading, report, run, source};

/// A complete, checked outcome of the live claim.
pub(super) fn delivered(
    mut pass: Pass<'_>,
    effective: &Effective,
    coordination: Digest,
    operation: &ActiveOperation,
    outcome: &Outcome,
) -> Step {
    // Without a failure at the source, what the Pod found there stands, whatever came after it.
    let reached = outcome.failure.is_none() || outcome.source.is_some();
    if operation.kind == OperationType::Observe
        && reached
        && let Err(message) = reading::take_source(&mut pass, outcome.source.as_ref())
    {
        pass.end_job();
        return report::step_failed(
            pass,
            effective,
            OperationStep::Resolve,
            reasons::OPERATION_FAILED,
            message,
        );
    }
    if let Some(failure) = outcome.failure.clone().filter(|_| outcome.apply.is_none()) {
        return step_failed(pass, effective, operation, &failure);
    }
    match operation.kind {
        OperationType::Observe => {
            let (Some(reading), Some(target)) = (&outcome.observe, &outcome.target) else {
                return pass.finish(Requeue::OnChange);
            };
            reading::observed(pass, effective, coordination, operation, reading, target)
        }
        OperationType::Plan => {
            let (Some(plan), Some(target)) = (&outcome.plan, &outcome.target) else {
                return pass.finish(Requeue::OnChange);
            };
            if operation.proof {
                return proof::settled(pass, effective, operation, outcome, plan, target);
            }
            if pass
                .status
                .target
                .as_ref()
                .is_none_or(|seen| seen.identity_digest != target.identity_digest)
            {
                pass.end_job();
                pass.drop_claim();
                pass.set(
                    types::PLAN_READY,
                    "False",
                    reasons::STALE_OBSERVATION,
                    "the Secret led to another database than the reading; it is read again",
                );
                return reading::observe_again(pass, effective, coordination);
            }
            planned(pass, effective, operation, outcome, plan, target)
        }
        OperationType::Apply => match &outcome.apply {
            Some(report) => run::applied(pass, effective, operation, report),
            None => run::apply_unknown(pass, operation, "its result says nothing about the run"),
        },
    }
}

/// A step failed with a reason.
fn step_failed(
    mut pass: Pass<'_>,
    effective: &Effective,
    operation: &ActiveOperation,
    failed: &StepFailure,
) -> Step {
    pass.of_class(failed.failure.class);
    let mut message = report::sentence(&failed.failure);
    if failed.failure.code == "not_granted" {
        // The Pod sees the Secret's keys as files, and not its name.
        message = format!("{message}: {}", report::secret(pass.target_of(operation)));
    }
    let at_source = matches!(failed.step, OperationStep::Resolve | OperationStep::Verify);
    if !at_source {
        report::database_unreached(&mut pass, &failed.failure);
    }
    pass.end_job();
    if operation.proof {
        if at_source && source::is_gone(&failed.failure) {
            return run::proof_impossible(pass, &message);
        }
        return run::proof_failed(pass, effective, failed.failure.class, &message);
    }
    if at_source && operation.kind != OperationType::Apply {
        return report::source_failed(pass, effective, failed);
    }
    if operation.kind == OperationType::Apply {
        // The runner reports a failure without a run only when it sent no statement.
        return run::apply_failed(pass, effective, &message);
    }
    if failed.failure.code == "unsupported_server_version" || failed.failure.code == "unsupported_engine" {
        pass.drop_claim();
        pass.phase_from_pending(Phase::Blocked);
        pass.set(
            types::ENGINE_SUPPORTED,
            "False",
            reasons::UNSUPPORTED_ENGINE,
            &message,
        );
        pass.blocked(reasons::UNSUPPORTED_ENGINE, &message);
        return pass.finish_at(effective.interval.duration());
    }
    if operation.kind == OperationType::Plan && failed.failure.code == "protected_table" {
        pass.drop_claim();
        pass.retire_plan();
        pass.phase(Phase::Blocked);
        let message = format!(
            "{message}; change the desired state, or take the table out of spec.policy.protectedTables"
        );
        for kind in [types::PLAN_READY, types::IN_SYNC] {
            pass.set(kind, "False", reasons::PROTECTED_TABLE, &message);
        }
        pass.blocked(reasons::PROTECTED_TABLE, &message);
        pass.emit(true, reasons::PROTECTED_TABLE, message);
        return pass.finish_at(effective.interval.duration());
    }
    report::step_failed(pass, effective, failed.step, reasons::OPERATION_FAILED, &message)
}

/// A plan was delivered: no change converges, changes are published and judged.
fn planned(
    mut pass: Pass<'_>,
    effective: &Effective,
    operation: &ActiveOperation,
    outcome: &Outcome,
    plan: &PlanReport,
    target: &TargetReading,
) -> Step {
    if plan.result == PlanResult::NoChanges {
        pass.end_job();
        pass.drop_claim();
        pass.retire_plan();
        return converged(
            pass,
            effective,
            &effective.policy,
            plan,
            target,
            reasons::SCOPED_CONVERGED,
        );
    }
    publish(pass, effective, operation, outcome, &effective.policy.clone())
}

/// Stores the plan, and once it is stored whole, names it in status and judges it.
pub(super) fn publish(
    mut pass: Pass<'_>,
    effective: &Effective,
    operation: &ActiveOperation,
    outcome: &Outcome,
    policy: &SchemaPolicy,
) -> Step {
    let source = pass.status.source.clone();
    let made = source
        .as_ref()
        .map_or(Err(publication::Error::Unbound("the source")), |source| {
            publication::of(
                pass.schema,
                &pass.status,
                source,
                policy,
                &pass.evidence.components,
                outcome,
            )
        });
    let publication = match made {
        Ok(Some(publication)) => publication,
        Ok(None) => return pass.finish(Requeue::OnChange),
        Err(error) => {
            pass.end_job();
            let message = error.to_string();
            if operation.proof {
                return run::proof_failed(pass, effective, FailureClass::Attention, &message);
            }
            return report::step_failed(
                pass,
                effective,
                OperationStep::Plan,
                reasons::OPERATION_FAILED,
                &message,
            );
        }
    };
    match pass.evidence.plan.clone() {
        PlanEvidence::Stored {
            uid,
            fingerprint,
            created_at,
        } if fingerprint == publication.fingerprint => {
            pass.end_job();
            name_plan(&mut pass, &publication, uid, created_at);
            if operation.proof {
                proof::give_back(&mut pass);
                pass.status.active_operation = None;
            } else {
                pass.drop_claim();
            }
            approval::judge(pass, effective)
        }
        PlanEvidence::Altered { message } => {
            let message = format!(
                "{message}; it is neither overwritten nor deleted: remove it, and the plan is stored anew"
            );
            pass.end_job();
            if operation.proof {
                return run::proof_failed(pass, effective, FailureClass::Attention, &message);
            }
            report::step_failed(
                pass,
                effective,
                OperationStep::Plan,
                reasons::OPERATION_FAILED,
                &message,
            )
        }
        PlanEvidence::NotRead | PlanEvidence::Missing | PlanEvidence::Stored { .. } => {
            pass.before.push(Effect::PublishPlan(Box::new(publication)));
            pass.finish(Requeue::Now)
        }
    }
}

fn name_plan(pass: &mut Pass<'_>, publication: &Publication, uid: String, created_at: jiff::Timestamp) {
    let binding = &publication.binding;
    let fresh = CurrentPlanStatus {
        name: publication.name.clone(),
        uid,
        fingerprint: publication.fingerprint,
        plan_digest: binding.plan_digest,
        content_digest: binding.content_digest,
        coordination_digest: binding.coordination_digest,
        target_identity_digest: binding.target_identity_digest,
        policy_fingerprint: binding.policy_fingerprint,
        execution_binding_id: binding.execution_binding.epoch.clone(),
        destructive: binding.destructive,
        privilege_changes: binding.privilege_changes.clone(),
        statement_count: i32::try_from(binding.statement_count).unwrap_or(i32::MAX),
        size: i64::try_from(publication.document.len()).unwrap_or(i64::MAX),
        chunks: i32::try_from(
            publication
                .document
                .len()
                .div_ceil(ptah_contract::plan_chunks::CHUNK_BYTES),
        )
        .unwrap_or(i32::MAX),
        created_at: Time(created_at),
        approval: None,
    };
    let same = pass
        .status
        .plan
        .as_ref()
        .is_some_and(|plan| plan.uid == fresh.uid && plan.fingerprint == fresh.fingerprint);
    if !same {
        pass.retire_plan();
        pass.emit(
            false,
            reasons::PLAN_PUBLISHED,
            format!("plan {} with {} statements", fresh.name, fresh.statement_count),
        );
        pass.status.plan = Some(fresh);
    }
}

/// A no-change plan: the authoritative word that the database is what is declared.
pub(super) fn converged(
    mut pass: Pass<'_>,
    effective: &Effective,
    policy: &SchemaPolicy,
    plan: &PlanReport,
    target: &TargetReading,
    reason: &'static str,
) -> Step {
    pass.phase(Phase::InSync);
    let now = pass.time();
    pass.status.proven =
        pass.status
            .source
            .as_ref()
            .zip(policy.fingerprint().ok())
            .map(|(source, fingerprint)| ProvenStatus {
                source_binding: source.binding_digest(),
                content_digest: source.content_digest,
                observed_fingerprint: plan.actual_state_fingerprint,
                target_identity_digest: target.identity_digest,
                policy_fingerprint: fingerprint,
                execution_binding_id: pass
                    .status
                    .execution_binding
                    .as_ref()
                    .map(|binding| binding.epoch.clone())
                    .unwrap_or_default(),
                scope: plan.scope.clone(),
                generation: pass.schema.generation(),
                planned_at: now.clone(),
            });
    pass.status.failed_applies = None;
    pass.status.last_successful_reconciliation = Some(now);
    if let Some(seen) = &mut pass.status.target {
        // What a plan compared under the managed scope outweighs the raw reading before it.
        seen.observed_fingerprint = plan.actual_state_fingerprint;
        seen.highest_drift_severity = None;
        seen.drift_finding_count = 0;
        seen.drift_findings.clear();
    }
    pass.set(
        types::DRIFT_DETECTED,
        "False",
        reasons::OBSERVED,
        "no difference from the desired state",
    );
    pass.set(
        types::PLAN_READY,
        "False",
        reasons::NO_CHANGES,
        "there is nothing to do",
    );
    pass.set(
        types::APPROVAL_REQUIRED,
        "False",
        reasons::NOT_REQUIRED,
        "there is nothing to approve",
    );
    pass.set(
        types::IN_SYNC,
        "True",
        reason,
        "a fresh plan, proven on a copy, finds no difference between the database and the desired state",
    );
    pass.set(
        types::RECONCILIATION_FAILED,
        "False",
        reasons::SUCCEEDED,
        "the last attempt succeeded",
    );
    pass.rest(
        types::READY,
        "True",
        reasons::IN_SYNC,
        "the database is what is declared",
    );
    if pass.schema.status.as_ref().and_then(|status| status.phase) != Some(Phase::InSync) {
        pass.emit(false, reasons::IN_SYNC, "the database is what is declared");
    }
    pass.finish_at(effective.interval.duration())
}
