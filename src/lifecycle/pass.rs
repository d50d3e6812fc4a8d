//! The draft of a step: the status as it would be, and the effects so far.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_api::conditions::{self, reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{
    ActiveOperation, DatabaseTarget, ImmutableObjectReference, OperationType, PendingLockRelease, Phase,
    PtahSchema, PtahSchemaStatus,
};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;

use super::claim::{self, Purpose};
use super::evidence::{Evidence, JobEvidence, LeaseEvidence};
use super::step::{ApprovalMark, Effect, Notice, Requeue, Step};

/// A pass under way.
pub(super) struct Pass<'a> {
    pub schema: &'a PtahSchema,
    pub evidence: &'a Evidence,
    pub now: Timestamp,
    pub status: PtahSchemaStatus,
    pub before: Vec<Effect>,
    pub after: Vec<Effect>,
    trail: Vec<Phase>,
    /// What went wrong may pass by itself: nobody has to do anything yet.
    passes: bool,
}

impl<'a> Pass<'a> {
    pub fn new(schema: &'a PtahSchema, evidence: &'a Evidence, now: Timestamp) -> Self {
        let mut status = schema.status.clone().unwrap_or_default();
        let phase = *status.phase.get_or_insert_default();
        Self {
            schema,
            evidence,
            now,
            status,
            before: Vec::new(),
            after: Vec::new(),
            trail: vec![phase],
            passes: false,
        }
    }

    /// Gives the whole pass away from behind a reference, so that a gate can end it.
    pub fn take(&mut self) -> Self {
        let empty = Self::new(self.schema, self.evidence, self.now);
        std::mem::replace(self, empty)
    }

    pub fn time(&self) -> Time {
        Time(self.now)
    }

    /// A new claim, made from the draft as it stands.
    pub fn claim(
        &self,
        effective: &Effective,
        coordination: Digest,
        kind: OperationType,
        purpose: Purpose,
    ) -> ActiveOperation {
        claim::NewClaim {
            schema: self.schema,
            status: &self.status,
            effective,
            coordination,
            evidence: self.evidence,
            now: self.now,
        }
        .make(kind, purpose)
    }

    /// The database that the claim reaches: a proof's is the one that its Apply was claimed for.
    pub fn target_of(&self, operation: &ActiveOperation) -> &DatabaseTarget {
        let pending = self
            .status
            .pending_observation
            .as_ref()
            .filter(|_| operation.proof);
        pending.map_or(&self.schema.spec.target, |pending| &pending.target)
    }

    /// Moves to a phase; staying where one is is no move.
    pub fn phase(&mut self, phase: Phase) {
        if self.status.phase != Some(phase) {
            self.status.phase = Some(phase);
            self.trail.push(phase);
        }
    }

    /// A verdict that the diagram reaches from `Pending` only.
    pub fn phase_from_pending(&mut self, phase: Phase) {
        if self.status.phase != Some(phase) {
            self.phase(Phase::Pending);
            self.phase(phase);
        }
    }

    pub fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let now = self.time();
        conditions::set(
            &mut self.status.conditions,
            kind,
            status,
            reason,
            message,
            self.schema.generation(),
            &now,
        );
    }

    pub fn clear(&mut self, kind: &str) {
        conditions::clear(&mut self.status.conditions, kind);
    }

    /// Ends a pass at rest: the generation is answered.
    pub fn rest(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        self.clear(types::RECONCILING);
        self.clear(types::STALLED);
        self.answer(kind, status, reason, message);
    }

    fn answer(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        self.set(kind, status, reason, message);
        self.status.observed_generation = Some(self.schema.generation());
    }

    /// Lets the claim's Job go five minutes after its end. A Job that is not ours is left alone.
    pub fn end_job(&mut self) {
        let Some(operation) = &self.status.active_operation else {
            return;
        };
        if matches!(
            self.evidence.job,
            JobEvidence::Running { .. } | JobEvidence::Finished { .. }
        ) {
            let effect = Effect::SetJobTtl {
                name: operation.job_name.clone(),
            };
            if !self.before.contains(&effect) {
                self.before.push(effect);
            }
        }
    }

    /// What was known of convergence is of another state than the one that is declared now.
    pub fn superseded(&mut self, message: &str) {
        self.set(types::IN_SYNC, "Unknown", reasons::DESIRED_STATE_CHANGED, message);
        self.set(types::READY, "Unknown", reasons::OPERATION_IN_PROGRESS, message);
        self.set(
            types::RECONCILING,
            "True",
            reasons::OPERATION_IN_PROGRESS,
            message,
        );
    }

    /// The answer will not change until somebody changes an input.
    pub fn blocked(&mut self, reason: &str, message: &str) {
        self.clear(types::RECONCILING);
        self.answer(types::READY, "False", reason, message);
        self.set(types::STALLED, "True", reason, message);
    }

    /// Says of the failure that follows who can end it.
    pub fn of_class(&mut self, class: FailureClass) {
        self.passes = class == FailureClass::Transient;
    }

    /// Something went wrong and will be tried again. Whether somebody has to do something meanwhile is told by the
    /// reason of `Reconciling`: with `Waiting` nobody has.
    pub fn failed(&mut self, reason: &str, message: &str) {
        self.clear(types::STALLED);
        self.answer(types::READY, "False", reason, message);
        let (waits, tried) = if self.passes {
            (reasons::WAITING, "it may pass by itself and will be tried again")
        } else {
            (reason, "it will be tried again")
        };
        self.set(types::RECONCILING, "True", waits, tried);
        self.set(types::RECONCILIATION_FAILED, "True", reason, message);
    }

    /// Work on a generation that is not answered yet.
    pub fn working(&mut self, message: &str) {
        if self.status.observed_generation != Some(self.schema.generation()) {
            self.set(types::READY, "Unknown", reasons::OPERATION_IN_PROGRESS, message);
            self.set(
                types::RECONCILING,
                "True",
                reasons::OPERATION_IN_PROGRESS,
                message,
            );
        }
        self.clear(types::STALLED);
    }

    pub fn emit(&mut self, warning: bool, reason: &'static str, note: impl Into<String>) {
        self.after.push(Effect::Emit(Notice {
            warning,
            reason,
            note: note.into(),
        }));
    }

    pub fn owe_release(
        &mut self,
        coordination_digest: Digest,
        operation_id: &str,
        epoch: &str,
        seconds: i32,
    ) {
        self.status.pending_lock_release = Some(PendingLockRelease {
            coordination_digest,
            operation_id: operation_id.to_owned(),
            lease_epoch: epoch.to_owned(),
            lease_duration_seconds: seconds,
        });
    }

    /// The epoch under which this pass found the claim's Lease held.
    pub fn held_epoch(&self) -> Option<String> {
        match &self.evidence.lease {
            LeaseEvidence::Ours { epoch, .. } => Some(epoch.clone()),
            _ => None,
        }
    }

    /// Takes the plan away, with whatever approval it was reserved for.
    pub fn retire_plan(&mut self) {
        let Some(plan) = self.status.plan.take() else {
            return;
        };
        if let Some(approval) = plan.approval {
            let approval = ImmutableObjectReference {
                name: approval.name,
                uid: approval.uid,
            };
            self.after.push(Effect::MarkApproval {
                approval,
                mark: ApprovalMark::Stale,
            });
        }
    }

    pub fn finish_at(mut self, wait: Duration) -> Step {
        // A schedule that is already set for this rest is not moved by a pass that finds nothing new.
        let scheduled = self.status.next_reconciliation_time.as_ref().map(|time| time.0);
        let unmoved = self.trail.len() == 1 && scheduled.is_some_and(|time| time > self.now);
        if !unmoved {
            self.status.next_reconciliation_time = Some(Time(claim::after(self.now, wait)));
        }
        self.finish_scheduled()
    }

    /// Waits for the scheduled time.
    pub fn finish_scheduled(self) -> Step {
        let wait = self
            .status
            .next_reconciliation_time
            .as_ref()
            .and_then(|time| Duration::try_from(time.0.duration_since(self.now)).ok());
        self.finish(wait.map_or(Requeue::OnChange, Requeue::After))
    }

    pub fn finish(self, requeue: Requeue) -> Step {
        let changed = self.schema.status.as_ref() != Some(&self.status);
        Step {
            before: self.before,
            status: changed.then(|| Box::new(self.status)),
            after: self.after,
            trail: self.trail,
            requeue,
        }
    }

    pub fn due(&self) -> bool {
        self.status
            .next_reconciliation_time
            .as_ref()
            .is_none_or(|time| time.0 <= self.now)
    }
}
