//! Faults that the transition function is made to have. The crash tests must catch every one of them: a test that
//! passes with a broken lifecycle proves nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ptah_api::{OperationType, PtahSchema};
use ptah_contract::protocol::Outcome;

use super::super::evidence::{Evidence, JobEvidence, LeaseEvidence, ResultEvidence};
use super::super::step::{ApprovalMark, Effect, Step};
use super::stories;
use super::world::World;

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutant {
    /// The Job is created before its claim is written down.
    ClaimAfterItsJob,
    /// The claim is written without the mark that its Job may exist.
    MarkNotWritten,
    /// The mark is not read, so that a run is dispatched again.
    MarkNotRead,
    /// A Lease is not given back.
    ReleaseForgotten,
    /// The resource may vanish while its Lease is held.
    FinalizerForgotten,
    /// A Lease that was lost and taken again counts as held.
    EpochIgnored,
    /// A dispatched run leaves its approval as it was.
    ApprovalNotSpent,
    /// An approval decides whatever plan is there.
    AnyApproval,
    /// The result of an earlier claim is taken for this one's.
    AnothersResult,
}

const ALL: [Mutant; 9] = [
    Mutant::ClaimAfterItsJob,
    Mutant::MarkNotWritten,
    Mutant::MarkNotRead,
    Mutant::ReleaseForgotten,
    Mutant::FinalizerForgotten,
    Mutant::EpochIgnored,
    Mutant::ApprovalNotSpent,
    Mutant::AnyApproval,
    Mutant::AnothersResult,
];

impl Mutant {
    /// The resource as the faulty function reads it.
    pub fn seen(self, mut schema: PtahSchema) -> PtahSchema {
        let operation = schema
            .status
            .as_mut()
            .and_then(|status| status.active_operation.as_mut());
        if let (Self::MarkNotRead, Some(operation)) = (self, operation)
            && operation.kind == OperationType::Apply
        {
            operation.dispatch_started = false;
        }
        schema
    }

    /// The evidence as the faulty function reads it.
    pub fn told(self, world: &World, evidence: &mut Evidence) {
        let status = world.status();
        match self {
            Self::EpochIgnored => {
                let claimed = status
                    .active_operation
                    .and_then(|operation| operation.lease_epoch)
                    .or(status.pending_observation.map(|pending| pending.lease_epoch));
                if let Some(epoch) = claimed {
                    evidence.lease = LeaseEvidence::Ours { epoch, due: false };
                }
            }
            Self::AnyApproval => {
                for (approval, plan) in evidence.approvals.iter_mut().zip(std::iter::repeat(&status.plan)) {
                    if let Some(plan) = plan {
                        approval.plan.name.clone_from(&plan.name);
                        approval.plan.uid.clone_from(&plan.uid);
                        approval.plan_fingerprint = plan.fingerprint.to_string();
                    }
                }
            }
            Self::AnothersResult => {
                if let Some(operation) = &status.active_operation
                    && let Some(result) = earlier_result(world, operation.kind)
                {
                    evidence.job = JobEvidence::Finished {
                        message: None,
                        deadline: false,
                    };
                    evidence.result = ResultEvidence::Delivered(Box::new(result));
                }
            }
            _ => {}
        }
    }

    /// The step as the faulty function returns it.
    pub fn done(self, step: &mut Step) {
        match self {
            Self::ClaimAfterItsJob => {
                let creates = step.after.contains(&Effect::CreateJob);
                step.after.retain(|effect| *effect != Effect::CreateJob);
                step.before.extend(creates.then_some(Effect::CreateJob));
            }
            Self::MarkNotWritten => {
                let operation = step
                    .status
                    .as_mut()
                    .and_then(|status| status.active_operation.as_mut());
                if let Some(operation) = operation {
                    operation.dispatch_started = false;
                }
            }
            Self::ReleaseForgotten => step
                .before
                .retain(|effect| !matches!(effect, Effect::ReleaseLease(_))),
            Self::FinalizerForgotten => step.before.retain(|effect| *effect != Effect::AddFinalizer),
            Self::ApprovalNotSpent => step.before.retain(|effect| {
                !matches!(
                    effect,
                    Effect::MarkApproval {
                        mark: ApprovalMark::Consumed,
                        ..
                    }
                )
            }),
            _ => {}
        }
    }
}

/// The first result that any Job of this kind delivered.
fn earlier_result(world: &World, kind: OperationType) -> Option<Outcome> {
    world.created.iter().find_map(|id| {
        let job = world.jobs.values().find(|job| job.request.operation.id == *id)?;
        (job.request.operation.kind == kind)
            .then(|| job.result.clone())
            .flatten()
    })
}

#[test]
fn every_fault_that_is_put_into_the_lifecycle_is_caught() {
    for mutant in ALL {
        let caught = stories::all().into_iter().find_map(|story| {
            // Its end without the fault is what the crash tests hold.
            story.clone().told_with(None);
            let mut faulty = story.clone();
            faulty.world.mutant = Some(mutant);
            catch_unwind(AssertUnwindSafe(|| faulty.told_with(None)))
                .is_err()
                .then_some(story.name)
        });
        println!("{mutant:?} is noticed by: {caught:?}");
        assert!(caught.is_some(), "no story notices {mutant:?}");
    }
}
