//! A plan that waits: who must decide, who decided, and whether it may run.

use std::time::Duration;

use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{
    ApplyPolicy, CurrentPlanStatus, ImmutableObjectReference, OperationType, Phase, PlanApprovalStatus,
};
use ptah_contract::digest::Digest;

use super::claim::Purpose;
use super::cycle;
use super::evidence::{ApprovalEvidence, PlanEvidence, SourceEvidence};
use super::pass::Pass;
use super::step::{ApprovalMark, Effect, Requeue, Step};

/// Whether a person must decide: always for a destructive plan and for one that changes privileges.
fn needs_approval(plan: &CurrentPlanStatus, apply: ApplyPolicy) -> bool {
    apply != ApplyPolicy::Always || plan.destructive || !plan.privilege_changes.is_empty()
}

/// Judges a plan that was just published.
pub(super) fn judge(mut pass: Pass<'_>, effective: &Effective) -> Step {
    let Some(plan) = pass.status.plan.as_mut().map(|plan| {
        // What was reserved before this plan was made anew is decided again from the approvals themselves.
        plan.approval = None;
        plan.clone()
    }) else {
        return pass.finish(Requeue::OnChange);
    };
    pass.set(
        types::PLAN_READY,
        "True",
        reasons::PUBLISHED,
        &format!("plan {} with {} statements", plan.name, plan.statement_count),
    );
    pass.set(
        types::IN_SYNC,
        "False",
        reasons::SCOPED_CHANGES,
        "the database differs from the desired state",
    );
    pass.set(
        types::RECONCILIATION_FAILED,
        "False",
        reasons::SUCCEEDED,
        "the last attempt succeeded",
    );
    if plan.destructive && !effective.policy.allow_destructive {
        pass.phase(Phase::Blocked);
        let message = format!(
            "plan {} destroys data or protection; read it with kubectl ptah plan, then change the desired state or set \
             spec.policy.allowDestructive: true (the plan still needs an approval)",
            plan.name
        );
        pass.set(
            types::APPROVAL_REQUIRED,
            "False",
            reasons::DESTRUCTIVE_CHANGES_DISABLED,
            &message,
        );
        pass.blocked(reasons::POLICY_BLOCKED, &message);
        pass.emit(true, reasons::POLICY_BLOCKED, message);
        return pass.finish_at(effective.interval.duration());
    }
    if effective.apply == ApplyPolicy::Never {
        pass.phase(Phase::Blocked);
        let message = format!(
            "plan {} is recorded; spec.policy.apply is Never, so it is not run: set OnApproval to have it decided",
            plan.name
        );
        pass.set(
            types::APPROVAL_REQUIRED,
            "False",
            reasons::APPLY_DISABLED,
            &message,
        );
        pass.rest(types::READY, "False", reasons::APPLY_DISABLED, &message);
        return pass.finish_at(effective.interval.duration());
    }
    if needs_approval(&plan, effective.apply) {
        pass.phase(Phase::AwaitingApproval);
        let (reason, message) = if effective.apply == ApplyPolicy::Always
            && !plan.privilege_changes.is_empty()
        {
            let kinds = plan.privilege_changes.join(", ");
            (
                reasons::PRIVILEGE_CHANGES,
                format!(
                    "plan {} changes privileges ({kinds}) and needs an approval: read it with kubectl ptah plan, \
                         then create a PtahSchemaApproval",
                    plan.name
                ),
            )
        } else {
            (
                reasons::PLAN_READY,
                format!(
                    "plan {} waits for an approval of exactly it: read it with kubectl ptah plan, then create a \
                         PtahSchemaApproval",
                    plan.name
                ),
            )
        };
        pass.set(types::APPROVAL_REQUIRED, "True", reason, &message);
        pass.rest(types::READY, "False", reasons::AWAITING_APPROVAL, &message);
    } else {
        pass.phase(Phase::ReadyToApply);
        pass.set(
            types::APPROVAL_REQUIRED,
            "False",
            reasons::NOT_REQUIRED,
            "spec.policy.apply is Always",
        );
        pass.rest(
            types::READY,
            "False",
            reasons::APPLY_PENDING,
            "the plan is about to run",
        );
    }
    pass.finish_at(effective.interval.duration())
}

/// A plan waits and nothing is in flight.
pub(super) fn decide(pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    let Some(plan) = pass.status.plan.clone() else {
        return cycle::begin(pass, effective, coordination);
    };
    let epoch = pass
        .status
        .execution_binding
        .as_ref()
        .map(|binding| binding.epoch.as_str());
    if Some(plan.execution_binding_id.as_str()) != epoch || plan.coordination_digest != coordination {
        return cycle::stale_plan(
            pass,
            effective,
            coordination,
            "the plan was made for another realm or runner",
        );
    }
    match &pass.evidence.plan {
        PlanEvidence::NotRead => return pass.finish(Requeue::Now),
        PlanEvidence::Stored { uid, fingerprint, .. }
            if *uid == plan.uid && *fingerprint == plan.fingerprint => {}
        PlanEvidence::Stored { .. } | PlanEvidence::Missing => {
            return cycle::stale_plan(
                pass,
                effective,
                coordination,
                "the stored plan is gone or is another one",
            );
        }
        PlanEvidence::Altered { message } => {
            let message = message.clone();
            return cycle::stale_plan(pass, effective, coordination, &message);
        }
    }
    if pass.due() {
        return cycle::begin(pass, effective, coordination);
    }
    if needs_approval(&plan, effective.apply) {
        let schema = self_reference(&pass);
        if plan.approval.is_some() {
            if !still_approved(&pass) {
                return revoked(pass);
            }
        } else {
            return match pass
                .evidence
                .approvals
                .iter()
                .find(|a| !a.consumed && a.matches(&schema, &plan))
            {
                Some(approval) => reserve(pass, approval),
                None => waiting(pass, &schema, &plan),
            };
        }
    }
    // A person's decision does not wait; a policy's does, after runs that led nowhere.
    if plan.approval.is_none()
        && let Some(failed) = &pass.status.failed_applies
        && failed.not_before.0 > pass.now
    {
        let wait = Duration::try_from(failed.not_before.0.duration_since(pass.now)).unwrap_or_default();
        return pass.finish(Requeue::After(wait));
    }
    if matches!(
        pass.evidence.source,
        SourceEvidence::NotRead | SourceEvidence::Refused { .. }
    ) {
        // What cannot be checked is not run: the cycle says what is wrong with the source.
        return cycle::begin(pass, effective, coordination);
    }
    claim_apply(pass, effective, coordination)
}

/// Nothing decides the plan yet; approvals of plans that no longer stand are marked, one a pass.
fn waiting(mut pass: Pass<'_>, schema: &ImmutableObjectReference, plan: &CurrentPlanStatus) -> Step {
    let stale = pass.evidence.approvals.iter().find(|approval| {
        approval.schema == *schema
            && !approval.stale
            && !approval.deleting
            && !approval.consumed
            && !approval.matches(schema, plan)
    });
    if let Some(approval) = stale {
        let approval = approval.reference.clone();
        pass.after.push(Effect::MarkApproval {
            approval,
            mark: ApprovalMark::Stale,
        });
    }
    pass.finish_scheduled()
}

/// Writes the approval down before anything is done under it.
fn reserve(mut pass: Pass<'_>, approval: &ApprovalEvidence) -> Step {
    let reserved = PlanApprovalStatus {
        name: approval.reference.name.clone(),
        uid: approval.reference.uid.clone(),
        approver: approval.approver.clone(),
        approved_at: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(approval.approved_at),
    };
    if let Some(plan) = &mut pass.status.plan {
        plan.approval = Some(reserved);
    }
    pass.phase(Phase::ReadyToApply);
    pass.set(
        types::APPROVAL_REQUIRED,
        "False",
        reasons::APPROVED_PLAN,
        &format!("approved by {}", approval.approver.username),
    );
    pass.rest(
        types::READY,
        "False",
        reasons::APPLY_PENDING,
        "the plan is approved and about to run",
    );
    pass.after.push(Effect::MarkApproval {
        approval: approval.reference.clone(),
        mark: ApprovalMark::Accepted,
    });
    pass.emit(
        false,
        reasons::APPROVAL_ACCEPTED,
        format!("approved by {}", approval.approver.username),
    );
    pass.finish(Requeue::Now)
}

/// Whether the reserved approval still decides the plan. A plan that needs none is approved by its policy.
pub(super) fn still_approved(pass: &Pass<'_>) -> bool {
    let Some(plan) = &pass.status.plan else {
        return false;
    };
    let apply = pass
        .schema
        .spec
        .policy
        .as_ref()
        .and_then(|policy| policy.apply)
        .unwrap_or_default();
    if apply == ApplyPolicy::Never {
        return false;
    }
    let Some(reserved) = &plan.approval else {
        return !needs_approval(plan, apply);
    };
    let schema = self_reference(pass);
    pass.evidence.approvals.iter().any(|approval| {
        approval.reference.uid == reserved.uid
            && approval.reference.name == reserved.name
            && approval.approver == reserved.approver
            && approval.matches(&schema, plan)
    })
}

/// The reserved approval was deleted, or no longer fits, before anything was sent.
pub(super) fn revoked(mut pass: Pass<'_>) -> Step {
    if let Some(plan) = &mut pass.status.plan {
        plan.approval = None;
    }
    let message =
        "the approval was withdrawn before anything was sent; the plan waits for another PtahSchemaApproval";
    pass.phase(Phase::AwaitingApproval);
    pass.set(
        types::APPROVAL_REQUIRED,
        "True",
        reasons::APPROVAL_REVOKED,
        message,
    );
    pass.rest(types::READY, "False", reasons::AWAITING_APPROVAL, message);
    pass.emit(true, reasons::APPROVAL_REVOKED, message);
    pass.finish(Requeue::Now)
}

fn claim_apply(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    let operation = pass.claim(effective, coordination, OperationType::Apply, Purpose::Cycle);
    if !pass.has_finalizer() {
        pass.before.push(Effect::AddFinalizer);
    }
    supersede_others(&mut pass);
    pass.status.active_operation = Some(operation);
    pass.status.last_attempt_time = Some(pass.time());
    pass.phase(Phase::Applying);
    pass.set(types::APPLYING, "True", reasons::ACTIVE, "the plan is being run");
    pass.set(
        types::READY,
        "Unknown",
        reasons::OPERATION_IN_PROGRESS,
        "the plan is being run",
    );
    pass.set(
        types::RECONCILING,
        "True",
        reasons::OPERATION_IN_PROGRESS,
        "the plan is being run",
    );
    pass.finish(Requeue::Now)
}

/// One decision runs a plan once: any other approval of it is marked before the run is claimed, so that it cannot
/// run the same plan again later without anybody deciding anew.
fn supersede_others(pass: &mut Pass<'_>) {
    let schema = self_reference(pass);
    let Some(plan) = pass.status.plan.clone() else {
        return;
    };
    let reserved = plan.approval.as_ref().map(|approval| approval.uid.as_str());
    for approval in &pass.evidence.approvals {
        if Some(approval.reference.uid.as_str()) != reserved
            && !approval.consumed
            && approval.matches(&schema, &plan)
        {
            let approval = approval.reference.clone();
            pass.before.push(Effect::MarkApproval {
                approval,
                mark: ApprovalMark::Superseded,
            });
        }
    }
}

fn self_reference(pass: &Pass<'_>) -> ImmutableObjectReference {
    ImmutableObjectReference {
        name: pass.schema.metadata.name.clone().unwrap_or_default(),
        uid: pass.schema.metadata.uid.clone().unwrap_or_default(),
    }
}
