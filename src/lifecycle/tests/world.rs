//! A cluster in a few fields: what the API server holds, what Jobs did, what time it is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use ptah_api::{
    ActiveOperation, ApprovalIdentity, CurrentPlanStatus, ImmutableObjectReference, OperationType, Phase,
    PtahSchema, PtahSchemaStatus, SourceTerms, names,
};
use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::protocol::{ApplyReport, Operation, Outcome, Step as OperationStep};
use serde_json::json;

use super::super::evidence::*;
use super::super::next;
use super::super::step::{Requeue, Step};
use super::arrows;
use super::faults::{Action, Faults};
use super::looks::Look;
use super::mutants::Mutant;

/// What a Job is asked to do, fixed when it is created.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub operation: ActiveOperation,
    /// The plan that it names.
    pub plan: Option<CurrentPlanStatus>,
    pub exclude: Vec<String>,
}

/// A Job of the world.
#[derive(Clone, Debug)]
pub(super) struct WorldJob {
    pub request: Request,
    pub finished: bool,
    pub result: Option<Outcome>,
}

/// A stored plan, and the states that it leads between.
#[derive(Clone, Debug)]
pub(super) struct WorldPlan {
    pub uid: String,
    pub fingerprint: Digest,
    pub from: Digest,
    pub to: Digest,
}

/// The world.
#[derive(Clone)]
pub(super) struct World {
    pub schema: PtahSchema,
    pub now: Timestamp,
    pub source: SourceEvidence,
    /// What the server of a Git or OCI source holds.
    pub remote: Option<Remote>,
    /// The manager's own look at it, where it looks itself.
    pub look: Option<Look>,
    pub claimants: Vec<Claimant>,
    pub components: Components,
    /// Operation and epoch that hold the realm's Lease.
    pub lease: Option<(String, String)>,
    pub lease_until: Timestamp,
    /// Operations that lost their Lease.
    broken: BTreeSet<String>,
    pub foreign_lease: bool,
    pub jobs: BTreeMap<String, WorldJob>,
    pub plans: BTreeMap<String, WorldPlan>,
    pub plan_altered: Option<String>,
    pub approvals: Vec<ApprovalEvidence>,
    pub events: Vec<&'static str>,
    /// The content that the database is at.
    pub database: Digest,
    /// The database that the Secret leads to.
    pub target: Digest,
    /// Claims under which statements were sent, in order.
    pub ran: Vec<String>,
    pub created: Vec<String>,
    pub status_writes: usize,
    pub destructive: bool,
    pub privileged: bool,
    pub fail_next: Option<(Operation, Failure)>,
    /// The source refuses the next Pod that reaches it, at this step.
    pub refuse_next: Option<(OperationStep, Failure)>,
    pub apply_report: Option<ApplyReport>,
    /// The init container of a running Job has ended.
    pub source_reached: bool,
    /// Jobs that ended without a result were ended by their deadline.
    pub deadline: bool,
    pub taken: BTreeSet<(Phase, Phase)>,
    /// The resource was deleted and nothing holds it any more.
    pub gone: bool,
    /// A fault that the transition function is made to have.
    pub mutant: Option<Mutant>,
    pub(super) faults: Faults,
    pub counter: u64,
}

/// What stands at a source that Pods reach.
#[derive(Clone, Debug)]
pub struct Remote {
    pub revision: u64,
    pub content: Digest,
    /// What was resolved before cannot be fetched any more.
    pub gone: bool,
}

impl Remote {
    /// The revision as the source names it.
    pub fn name(&self, oci: bool) -> String {
        let digest = Digest::of(&self.revision.to_be_bytes());
        if oci {
            digest.to_string()
        } else {
            digest.hex()[..40].to_owned()
        }
    }
}

impl World {
    pub fn new(spec: serde_json::Value) -> Self {
        let mut base = json!({
            "target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "db", "key": "url"}},
            "desired": {"configMap": {"name": "sql"}},
        });
        for (key, value) in spec.as_object().unwrap() {
            base[key] = value.clone();
        }
        let schema = serde_json::from_value(json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
            "metadata": {"name": "app", "namespace": "ns", "uid": "u-1", "generation": 1}, "spec": base,
        }))
        .unwrap();
        let mut world = Self {
            schema,
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            source: SourceEvidence::NotRead,
            remote: None,
            look: None,
            claimants: Vec::new(),
            components: Components {
                controller_state_version: 1,
                engine_version: "0.1.0".into(),
                runner_image: Some(format!("r.example/runner@{}", Digest::of(b"runner"))),
                protocol_version: 1,
                controller_image: format!("r.example/manager@{}", Digest::of(b"manager")),
                controller_revision: "test".into(),
            },
            lease: None,
            lease_until: Timestamp::MIN,
            broken: BTreeSet::new(),
            foreign_lease: false,
            jobs: BTreeMap::new(),
            plans: BTreeMap::new(),
            plan_altered: None,
            approvals: Vec::new(),
            events: Vec::new(),
            database: Digest::of(b"empty"),
            target: Digest::of(b"target"),
            ran: Vec::new(),
            created: Vec::new(),
            status_writes: 0,
            destructive: false,
            privileged: false,
            fail_next: None,
            refuse_next: None,
            apply_report: None,
            source_reached: false,
            deadline: false,
            taken: BTreeSet::new(),
            gone: false,
            mutant: None,
            faults: Faults::default(),
            counter: 0,
        };
        world.edit_source("one");
        world
    }

    // What people do.

    /// From now on the manager looks at the source itself.
    pub fn manager_looks(mut self) -> Self {
        self.look = Some(Look::default());
        self
    }

    pub fn edit_source(&mut self, content: &str) {
        let digest = Digest::of(content.as_bytes());
        self.source = SourceEvidence::Resolved(ResolvedSource {
            config_map: ImmutableObjectReference {
                name: "sql".into(),
                uid: "cm-1".into(),
            },
            content_digest: digest,
            files: 1,
            bytes: 3,
            source_policy: None,
            snapshot: names::snapshot_name("u-1", &digest),
            snapshot_present: false,
        });
    }

    /// The declared repository or artifact holds this from now on, under another revision than before.
    pub fn push(&mut self, content: &str) {
        let terms = match &self.source {
            SourceEvidence::InPod(terms) => terms.clone(),
            _ => SourceTerms::default(),
        };
        self.source = SourceEvidence::InPod(terms);
        let revision = self.remote.as_ref().map_or(1, |remote| remote.revision + 1);
        let content = Digest::of(content.as_bytes());
        self.remote = Some(Remote {
            revision,
            content,
            gone: false,
        });
    }

    /// Somebody deletes the source's snapshot.
    pub fn take_snapshot_away(&mut self) {
        if let SourceEvidence::Resolved(source) = &mut self.source {
            source.snapshot_present = false;
        }
    }

    pub fn edit_spec(&mut self, change: serde_json::Value) {
        let mut spec = serde_json::to_value(&self.schema.spec).unwrap();
        for (key, value) in change.as_object().unwrap() {
            spec[key] = value.clone();
        }
        self.schema.spec = serde_json::from_value(spec).unwrap();
        self.schema.metadata.generation = self.schema.metadata.generation.map(|generation| generation + 1);
    }

    /// An approval of exactly the plan that waits, as the webhook would stamp it.
    pub fn approve(&mut self) {
        let plan = self.status().plan.clone().unwrap();
        self.counter += 1;
        self.approvals.push(ApprovalEvidence {
            reference: ImmutableObjectReference {
                name: format!("a-{}", self.counter),
                uid: format!("ua-{}", self.counter),
            },
            schema: ImmutableObjectReference {
                name: "app".into(),
                uid: "u-1".into(),
            },
            plan: ImmutableObjectReference {
                name: plan.name,
                uid: plan.uid,
            },
            plan_fingerprint: plan.fingerprint.to_string(),
            approver: ApprovalIdentity {
                username: "ann".into(),
                ..ApprovalIdentity::default()
            },
            approved_at: self.now,
            stamped: true,
            deleting: false,
            consumed: false,
            stale: false,
        });
    }

    pub fn advance(&mut self, seconds: i64) {
        self.now = self.now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    }

    // What the drivers do.

    pub fn status(&self) -> ptah_api::PtahSchemaStatus {
        self.schema.status.clone().unwrap_or_default()
    }

    pub fn phase(&self) -> Phase {
        self.status().phase.unwrap_or_default()
    }

    pub fn condition(&self, kind: &str) -> (String, String) {
        let status = self.status();
        let found = ptah_api::conditions::find(&status.conditions, kind);
        found
            .map(|condition| (condition.status.clone(), condition.reason.clone()))
            .unwrap_or_default()
    }

    pub fn evidence(&self) -> Evidence {
        let status = self.status();
        let operation = status.active_operation.as_ref();
        let job = operation.map_or(JobEvidence::NotRead, |operation| {
            match self.jobs.get(&operation.job_name) {
                None => JobEvidence::Missing,
                Some(job) if job.request.operation.id != operation.id => JobEvidence::Foreign,
                Some(job) if job.finished => JobEvidence::Finished {
                    message: None,
                    deadline: self.deadline,
                },
                Some(_) => JobEvidence::Running {
                    trouble: None,
                    source_reached: self.source_reached,
                },
            }
        });
        let result = match (
            &job,
            operation.and_then(|operation| self.jobs.get(&operation.job_name)),
        ) {
            (
                JobEvidence::Finished { .. },
                Some(WorldJob {
                    result: Some(outcome),
                    ..
                }),
            ) => ResultEvidence::Delivered(Box::new(outcome.clone())),
            (JobEvidence::Finished { .. }, _) => ResultEvidence::Absent,
            _ => ResultEvidence::NotRead,
        };
        let holder = match (operation, &status.pending_observation) {
            (Some(operation), _) if operation.kind != OperationType::Observe && !operation.proof => {
                Some(operation.id.clone())
            }
            (_, Some(pending)) => Some(pending.apply_operation_id.clone()),
            _ => None,
        };
        let lease = match (holder, &self.lease) {
            (None, _) => LeaseEvidence::NotRead,
            (Some(_), _) if self.foreign_lease => LeaseEvidence::Foreign,
            (Some(_), None) => LeaseEvidence::Available,
            (Some(holder), Some((by, epoch))) if *by == holder => LeaseEvidence::Ours {
                epoch: epoch.clone(),
                due: false,
            },
            (Some(_), Some(_)) if self.lease_until < self.now => LeaseEvidence::Available,
            (Some(_), Some(_)) => LeaseEvidence::Foreign,
        };
        let apply_job = match (operation, &status.pending_observation) {
            (_, Some(pending)) => Some(&pending.apply_job_name),
            (Some(operation), _) if operation.kind == OperationType::Apply => Some(&operation.job_name),
            _ => None,
        };
        let mut evidence = Evidence {
            components: self.components.clone(),
            nonce: format!("{:032x}", self.counter),
            source: match &self.look {
                _ if self.schema.is_suspended() => SourceEvidence::NotRead,
                Some(look) => self.looked_at(look),
                None => self.source.clone(),
            },
            claimants: self.claimants.clone(),
            lease,
            job,
            result,
            plan: PlanEvidence::NotRead,
            approvals: self.approvals.clone(),
            apply_pod_active: apply_job
                .and_then(|name| self.jobs.get(name))
                .is_some_and(|job| !job.finished),
        };
        if let Some(mutant) = self.mutant {
            mutant.told(self, &mut evidence);
        }
        evidence.plan = self.plan_evidence(&evidence);
        evidence
    }

    fn plan_evidence(&self, evidence: &Evidence) -> PlanEvidence {
        let status = self.status();
        let name = match (&status.active_operation, &evidence.result) {
            (Some(operation), ResultEvidence::Delivered(outcome))
                if operation.kind == OperationType::Plan =>
            {
                let effective = ptah_api::effective::Effective::of(&self.schema).unwrap();
                let policy = status
                    .pending_observation
                    .as_ref()
                    .filter(|_| operation.proof)
                    .map_or(effective.policy, |pending| pending.policy.clone());
                let source = status.source.clone().unwrap();
                super::super::publication::of(
                    &self.schema,
                    &status,
                    &source,
                    &policy,
                    &self.components,
                    outcome,
                )
                .ok()
                .flatten()
                .map(|publication| publication.name)
            }
            _ => status.plan.as_ref().map(|plan| plan.name.clone()),
        };
        let Some(name) = name else {
            return PlanEvidence::NotRead;
        };
        if self.plan_altered.as_ref() == Some(&name) {
            return PlanEvidence::Altered {
                message: format!("chunk {name}-000 holds other bytes"),
            };
        }
        match self.plans.get(&name) {
            Some(plan) => PlanEvidence::Stored {
                uid: plan.uid.clone(),
                fingerprint: plan.fingerprint,
                created_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            },
            None => PlanEvidence::Missing,
        }
    }

    /// One pass; it may be cut short.
    pub fn pass(&mut self) -> Step {
        self.counter += 1;
        let evidence = self.evidence();
        let seen = match self.mutant {
            Some(mutant) => mutant.seen(self.schema.clone()),
            None => self.schema.clone(),
        };
        let mut step = next(&seen, &evidence, self.now);
        if let Some(mutant) = self.mutant {
            mutant.done(&mut step);
        }
        for pair in step.trail.windows(2) {
            assert!(
                arrows::allowed(pair[0], pair[1]),
                "no arrow leads from {:?} to {:?}",
                pair[0],
                pair[1]
            );
            self.taken.insert((pair[0], pair[1]));
        }
        let mut actions: Vec<Action> = step.before.iter().cloned().map(Action::Effect).collect();
        actions.extend(step.status.iter().cloned().map(Action::Write));
        actions.extend(step.after.iter().cloned().map(Action::Effect));
        for action in actions {
            if !self.attempt(action) {
                break;
            }
        }
        self.late_arrivals();
        step
    }

    /// Does one action.
    pub(super) fn act(&mut self, action: &Action) {
        match action {
            Action::Write(status) => {
                self.status_writes += 1;
                self.nothing_is_taken_across_a_break(status);
                self.schema.status = Some((**status).clone());
            }
            Action::Effect(effect) => self.perform(effect),
            Action::Job(request) => self.create_job((**request).clone()),
        }
    }

    /// No result of an operation that lost its Lease is believed: no plan of it, and no success.
    fn nothing_is_taken_across_a_break(&self, next: &PtahSchemaStatus) {
        let before = self.status();
        let Some(operation) = before
            .active_operation
            .filter(|operation| self.broken.contains(&operation.id))
        else {
            return;
        };
        let plan = |status: &Option<CurrentPlanStatus>| status.as_ref().map(|plan| plan.fingerprint);
        let planned = operation.kind == OperationType::Plan
            && next.plan.is_some()
            && plan(&next.plan) != plan(&before.plan);
        let succeeded = next
            .pending_observation
            .as_ref()
            .is_some_and(|pending| pending.outcome == ptah_api::ApplyOutcome::ApplySucceeded);
        assert!(
            !(planned || operation.kind == OperationType::Apply && succeeded),
            "a result across a break of the Lease is believed"
        );
    }

    /// Takes the Lease away from whoever holds it, as a new holder would after it lapsed, and gives it up again.
    pub fn lose_lease(&mut self) {
        if let Some((operation, _)) = self.lease.take() {
            self.broken.insert(operation);
        }
    }

    /// Deletes the resource, as a person does.
    pub fn delete(&mut self) {
        self.schema.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(self.now));
        self.gone = self.schema.metadata.finalizers.is_none();
    }

    /// Passes until nothing is left to do at once, running every Job to its end. Time does not move.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            let (before, uncut) = (self.schema.clone(), self.faults.is_due());
            let step = self.pass();
            let crashed = uncut && !self.faults.is_due();
            let looks = self
                .look
                .as_ref()
                .is_some_and(|look| look.answer == SourceAnswer::UnderWay);
            let running = looks || self.jobs.values().any(|job| !job.finished);
            self.run_jobs();
            if before == self.schema && step.requeue != Requeue::Now && !crashed && !running {
                return;
            }
        }
        panic!("the world does not come to rest: {:#?}", self.status());
    }

    /// Passes until the claim is dispatched.
    pub fn until_dispatched(&mut self) {
        let dispatched = |world: &Self| {
            let operation = world.status().active_operation;
            operation.is_some_and(|operation| operation.dispatch_started)
        };
        for _ in 0..200 {
            if dispatched(self) {
                return;
            }
            self.pass();
        }
        panic!("nothing is dispatched: {:#?}", self.status());
    }

    /// Passes until the phase is reached.
    pub fn until(&mut self, phase: Phase) {
        for _ in 0..200 {
            if self.phase() == phase {
                return;
            }
            self.pass();
            if self.phase() == phase {
                return;
            }
            self.run_jobs();
        }
        panic!("{phase:?} is not reached: {:#?}", self.status());
    }
}
