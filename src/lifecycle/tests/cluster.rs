//! The world's API server: it carries effects out.

use jiff::SignedDuration;
use ptah_api::{OperationType, names};
use ptah_contract::plan_document::PlanDocument;

use super::super::evidence::SourceEvidence;
use super::super::publication::Publication;
use super::super::step::{ApprovalMark, Effect, LeaseClaim};
use super::looks::Look;
use super::world::{Request, World, WorldJob, WorldPlan};

impl World {
    pub(super) fn perform(&mut self, effect: &Effect) {
        match effect {
            Effect::AddFinalizer => {
                assert_eq!(
                    self.schema.metadata.deletion_timestamp, None,
                    "the API server takes no new finalizer for a resource that is being deleted"
                );
                self.schema.metadata.finalizers = Some(vec![names::FINALIZER.to_owned()]);
            }
            Effect::RemoveFinalizer => {
                self.schema.metadata.finalizers = None;
                self.gone = self.schema.metadata.deletion_timestamp.is_some();
            }
            Effect::EnsureSnapshot => {
                if let SourceEvidence::Resolved(source) = &mut self.source {
                    source.snapshot_present = true;
                }
            }
            Effect::AskSource { anew } => self.ask(*anew),
            Effect::ForgetAnswer => self.look = self.look.take().map(|_| Look::default()),
            Effect::CollectSnapshots => {}
            Effect::AcquireLease(claim) => {
                let free = self.lease.is_none() || self.lease_until < self.now;
                if free && !self.foreign_lease {
                    self.lease = Some((
                        claim.operation_id.clone(),
                        format!("v1-{:032x}", 1_000 + self.counter),
                    ));
                    self.hold(claim);
                }
            }
            Effect::RenewLease(claim) => {
                assert_eq!(self.lease, held(claim));
                self.hold(claim);
            }
            Effect::ReleaseLease(claim) => {
                if self.lease == held(claim) {
                    self.lease = None;
                }
            }
            Effect::CreateJob => {
                let request = self.claimed();
                self.create_job(request);
            }
            Effect::SetJobTtl { .. } => {}
            Effect::PublishPlan(publication) => self.publish(publication),
            Effect::MarkApproval { approval, mark } => {
                for found in self
                    .approvals
                    .iter_mut()
                    .filter(|found| found.reference == *approval)
                {
                    match mark {
                        ApprovalMark::Accepted => {}
                        ApprovalMark::Consumed => found.consumed = true,
                        ApprovalMark::Stale | ApprovalMark::Superseded => found.stale = true,
                    }
                }
            }
            Effect::Emit(notice) => self.events.push(notice.reason),
        }
    }

    fn hold(&mut self, claim: &LeaseClaim) {
        let seconds = SignedDuration::from_secs(i64::from(claim.duration_seconds));
        self.lease_until = self.now.checked_add(seconds).unwrap();
    }

    fn publish(&mut self, publication: &Publication) {
        let document = PlanDocument::decode(&publication.document).unwrap();
        let plan = WorldPlan {
            uid: format!("up-{}", self.plans.len()),
            fingerprint: publication.fingerprint,
            from: document.from_fingerprint,
            to: document.to_fingerprint,
        };
        self.plans.entry(publication.name.clone()).or_insert(plan);
    }

    /// What a Job that is created now is made from.
    pub(super) fn claimed(&self) -> Request {
        let status = self.status();
        let operation = status
            .active_operation
            .expect("a Job is created for a claim only");
        let effective = ptah_api::effective::Effective::of(&self.schema).unwrap();
        let policy = match status.pending_observation {
            Some(pending) if operation.proof => pending.policy,
            _ => effective.policy,
        };
        Request {
            operation,
            plan: status.plan,
            exclude: policy.exclude,
        }
    }

    pub(super) fn create_job(&mut self, request: Request) {
        let operation = &request.operation;
        if self.jobs.contains_key(&operation.job_name) {
            return;
        }
        assert!(
            operation.kind == OperationType::Observe || operation.dispatch_started,
            "a Job is created before its mark is written down"
        );
        if operation.kind == OperationType::Apply {
            assert!(
                !self.created.contains(&operation.id),
                "an Apply Job is created twice for one claim"
            );
        }
        self.created.push(operation.id.clone());
        self.jobs.insert(
            operation.job_name.clone(),
            WorldJob {
                request,
                finished: false,
                result: None,
            },
        );
    }
}

fn held(claim: &LeaseClaim) -> Option<(String, String)> {
    Some((claim.operation_id.clone(), claim.epoch.clone()?))
}
