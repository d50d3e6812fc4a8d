//! A cluster in a few fields: what the API server holds, what Jobs did, what time it is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use ptah_api::{ApprovalIdentity, ImmutableObjectReference, OperationType, Phase, PtahSchema, names};
use ptah_contract::digest::Digest;
use ptah_contract::drift::{DriftReport, Severity};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::plan_document::{PlanDocument, Proof, Statement};
use ptah_contract::protocol::{
    ApplyReport, ObserveReport, Operation, Outcome, PROTOCOL_VERSION, PlanReport, PlanResult,
    Step as OperationStep, StepFailure, TargetReading,
};
use serde_json::json;

use super::super::claim;
use super::super::evidence::*;
use super::super::next;
use super::super::publication::Publication;
use super::super::step::{ApprovalMark, Effect, LeaseClaim, Requeue, Step};
use super::arrows;

/// A Job of the world.
#[derive(Clone, Debug)]
pub(super) struct WorldJob {
    pub operation_id: String,
    pub finished: bool,
    pub result: Option<Outcome>,
}

/// Where a pass is cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Just before the action of this index.
    Before(usize),
    /// Just after it.
    After(usize),
}

/// The world.
#[derive(Clone)]
pub(super) struct World {
    pub schema: PtahSchema,
    pub now: Timestamp,
    pub source: SourceEvidence,
    pub claimants: Vec<Claimant>,
    pub components: Components,
    pub lease: Option<(String, String)>,
    pub foreign_lease: bool,
    pub jobs: BTreeMap<String, WorldJob>,
    pub plans: BTreeMap<String, (String, Digest)>,
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
    pub apply_report: Option<ApplyReport>,
    /// Jobs that ended without a result were ended by their deadline.
    pub deadline: bool,
    pub taken: BTreeSet<(Phase, Phase)>,
    counter: u64,
    cut: Option<(Cut, usize)>,
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
            apply_report: None,
            deadline: false,
            taken: BTreeSet::new(),
            counter: 0,
            cut: None,
        };
        world.edit_source("one");
        world
    }

    // What people do.

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
            snapshot: names::snapshot_name("u-1", &digest),
            snapshot_present: false,
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
                Some(job) if job.operation_id != operation.id => JobEvidence::Foreign,
                Some(job) if job.finished => JobEvidence::Finished {
                    message: None,
                    deadline: self.deadline,
                },
                Some(_) => JobEvidence::Running { trouble: None },
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
            (Some(_), Some(_)) => LeaseEvidence::Foreign,
        };
        let mut evidence = Evidence {
            components: self.components.clone(),
            nonce: format!("{:032x}", self.counter),
            source: if self.schema.is_suspended() {
                SourceEvidence::NotRead
            } else {
                self.source.clone()
            },
            claimants: self.claimants.clone(),
            lease,
            job,
            result,
            plan: PlanEvidence::NotRead,
            approvals: self.approvals.clone(),
            apply_pod_active: false,
        };
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
                .unwrap()
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
            Some((uid, fingerprint)) => PlanEvidence::Stored {
                uid: uid.clone(),
                fingerprint: *fingerprint,
                created_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            },
            None => PlanEvidence::Missing,
        }
    }

    /// One pass; it may be cut short.
    pub fn pass(&mut self) -> Step {
        self.counter += 1;
        let evidence = self.evidence();
        let step = next(&self.schema, &evidence, self.now);
        for pair in step.trail.windows(2) {
            assert!(
                arrows::allowed(pair[0], pair[1]),
                "no arrow leads from {:?} to {:?}",
                pair[0],
                pair[1]
            );
            self.taken.insert((pair[0], pair[1]));
        }
        let mut actions: Vec<Option<Effect>> = step.before.iter().cloned().map(Some).collect();
        if step.status.is_some() {
            actions.push(None);
        }
        actions.extend(step.after.iter().cloned().map(Some));
        for action in actions {
            if let Some((Cut::Before(at), index)) = self.cut
                && at == index
            {
                self.cut = None;
                return step;
            }
            match action {
                None => {
                    self.status_writes += 1;
                    self.schema.status = step.status.as_deref().cloned();
                }
                Some(effect) => self.perform(&effect),
            }
            if let Some((cut, index)) = &mut self.cut {
                *index += 1;
                if *cut == Cut::After(*index - 1) {
                    self.cut = None;
                    return step;
                }
            }
        }
        step
    }

    /// Cuts the pass that would perform the action of this index, counted over all passes from now.
    pub fn cut(&mut self, cut: Cut) {
        self.cut = Some((cut, 0));
    }

    /// Whether a cut that was asked for has happened.
    pub fn was_cut(&self) -> bool {
        self.cut.is_none()
    }

    /// Passes until nothing is left to do at once, running every Job to its end. Time does not move.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            let (before, uncut) = (self.schema.clone(), self.cut.is_some());
            let step = self.pass();
            let crashed = uncut && self.cut.is_none();
            let running = self.jobs.values().any(|job| !job.finished);
            self.run_jobs();
            if before == self.schema && step.requeue != Requeue::Now && !crashed && !running {
                return;
            }
        }
        panic!("the world does not come to rest: {:#?}", self.status());
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

    fn perform(&mut self, effect: &Effect) {
        match effect {
            Effect::AddFinalizer => self.schema.metadata.finalizers = Some(vec![names::FINALIZER.to_owned()]),
            Effect::RemoveFinalizer => self.schema.metadata.finalizers = None,
            Effect::EnsureSnapshot => {
                if let SourceEvidence::Resolved(source) = &mut self.source {
                    source.snapshot_present = true;
                }
            }
            Effect::CollectSnapshots => {}
            Effect::AcquireLease(claim) => {
                if self.lease.is_none() && !self.foreign_lease {
                    self.lease = Some((
                        claim.operation_id.clone(),
                        format!("v1-{:032x}", 1_000 + self.counter),
                    ));
                }
            }
            Effect::RenewLease(claim) => assert_eq!(self.lease, held(claim)),
            Effect::ReleaseLease(claim) => {
                if self.lease == held(claim) {
                    self.lease = None;
                }
            }
            Effect::CreateJob => self.create_job(),
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

    fn publish(&mut self, publication: &Publication) {
        let uid = format!("up-{}", self.plans.len());
        self.plans
            .entry(publication.name.clone())
            .or_insert((uid, publication.fingerprint));
    }

    fn create_job(&mut self) {
        let status = self.status();
        let operation = status
            .active_operation
            .expect("a Job is created for a claim only");
        if self.jobs.contains_key(&operation.job_name) {
            return;
        }
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
                operation_id: operation.id,
                finished: false,
                result: None,
            },
        );
    }

    /// Runs every Job to its end, as an honest runner would: nothing is done for a claim that is not live.
    pub fn run_jobs(&mut self) {
        let status = self.status();
        for (name, job) in self.jobs.clone() {
            if job.finished {
                continue;
            }
            let live = status
                .active_operation
                .clone()
                .filter(|operation| operation.id == job.operation_id);
            let result = live.map(|operation| self.outcome(&operation));
            self.jobs.insert(
                name,
                WorldJob {
                    finished: true,
                    result,
                    ..job
                },
            );
        }
    }

    fn outcome(&mut self, operation: &ptah_api::ActiveOperation) -> Outcome {
        let status = self.status();
        let kind = claim::operation(operation.kind);
        let mut outcome = Outcome {
            version: PROTOCOL_VERSION,
            operation: kind,
            operation_id: operation.id.clone(),
            target: None,
            observe: None,
            plan: None,
            apply: None,
            failure: None,
        };
        if let Some((_, failure)) = self.fail_next.take_if(|(of, _)| *of == kind) {
            let step = match kind {
                Operation::Observe => OperationStep::Observe,
                Operation::Plan => OperationStep::Plan,
                Operation::Apply => OperationStep::Apply,
            };
            outcome.failure = Some(StepFailure { step, failure });
            return outcome;
        }
        let desired = status
            .source
            .as_ref()
            .map(|source| source.content_digest)
            .unwrap();
        match kind {
            Operation::Observe => {
                outcome.target = Some(self.reading());
                let steady = operation.refresh
                    && status
                        .proven
                        .as_ref()
                        .is_some_and(|proven| proven.observed_fingerprint == self.database);
                let differences = if self.database == desired {
                    vec![]
                } else {
                    vec![("tables_added", Severity::Safe)]
                };
                outcome.observe = Some(ObserveReport {
                    fingerprint: self.database,
                    scope: vec!["public".into()],
                    steady,
                    drift: (!steady).then(|| DriftReport::count(self.database, "postgres", differences)),
                });
            }
            Operation::Plan => {
                outcome.target = Some(self.reading());
                outcome.plan = Some(self.plan(desired));
            }
            Operation::Apply => {
                self.ran.push(operation.id.clone());
                let plan = status.plan.clone().unwrap();
                let report = self.apply_report.take().unwrap_or(ApplyReport::Applied {
                    plan_digest: plan.plan_digest,
                    statements: u32::try_from(plan.statement_count).unwrap(),
                });
                if matches!(report, ApplyReport::Applied { .. }) {
                    self.database = desired;
                }
                outcome.apply = Some(report);
            }
        }
        outcome
    }

    fn reading(&self) -> TargetReading {
        TargetReading {
            identity_digest: self.target,
            server_identity: None,
            dialect: "postgres".into(),
            server_version: "17.10".into(),
        }
    }

    fn plan(&self, desired: Digest) -> PlanReport {
        let mut report = PlanReport {
            result: PlanResult::NoChanges,
            actual_state_fingerprint: self.database,
            desired_state_fingerprint: desired,
            scope: vec!["public".into()],
            document: None,
            plan_digest: None,
        };
        if self.database != desired {
            let bytes = self.document(desired).encode().unwrap();
            report.result = PlanResult::Changes;
            report.plan_digest = Some(Digest::of(&bytes));
            report.document = Some(String::from_utf8(bytes).unwrap());
        }
        report
    }

    fn document(&self, desired: Digest) -> PlanDocument {
        let privileges = if self.privileged {
            vec![ptah_contract::plan_document::PrivilegeChange::Grant]
        } else {
            vec![]
        };
        PlanDocument {
            format_version: ptah_contract::plan_document::FORMAT_VERSION,
            name: PlanDocument::default_name(self.database, desired),
            dialect: "postgres".into(),
            from_fingerprint: self.database,
            to_fingerprint: desired,
            exclude: vec![],
            scope: vec!["public".into()],
            transaction_mode: ptah_contract::policy::TransactionMode::File,
            destructive: self.destructive,
            statements: vec![Statement {
                sql: "CREATE TABLE t ()".into(),
                severity: if self.destructive {
                    Severity::Destructive
                } else {
                    Severity::Safe
                },
                reason: "it is declared".into(),
                lock: None,
                rewrites: false,
                scans: false,
                transactional: true,
                data_dependent: false,
                privileges,
                objects: vec!["public.t".into()],
            }],
            notes: vec![],
            proof: Proof {
                scratch_server: "17.10".into(),
                replayed: 1,
                residual: 0,
            },
        }
    }
}

fn held(claim: &LeaseClaim) -> Option<(String, String)> {
    Some((claim.operation_id.clone(), claim.epoch.clone()?))
}

/// A failure of this code.
pub(super) fn failure(code: &str, class: FailureClass) -> Failure {
    Failure {
        code: code.into(),
        class,
        message: "it did not work".into(),
        object: None,
        sqlstate: None,
        statement: None,
    }
}
