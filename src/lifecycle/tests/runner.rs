//! The world's operation Pods: an honest runner, and the database that it works on.

use ptah_api::{ActiveOperation, OperationType, PtahSchemaStatus, SourceStatus, SourceTerms};
use ptah_contract::digest::Digest;
use ptah_contract::drift::{DriftReport, Severity};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::plan_document::{PlanDocument, Proof, Statement};
use ptah_contract::protocol::{
    ApplyReport, ArtifactReport, FetchedReport, ObserveReport, Operation, Outcome, PROTOCOL_VERSION,
    PlanReport, PlanResult, SourceReport, SourceRevision, Step as OperationStep, StepFailure, TargetReading,
    VerifiedReport,
};

use super::super::claim;
use super::world::{Request, World};

impl World {
    /// Runs every Job to its end, as an honest runner would: nothing is done for a claim that is not live.
    pub fn run_jobs(&mut self) {
        self.land();
        for (name, mut job) in self.jobs.clone() {
            if job.finished {
                continue;
            }
            let live = !self.gone
                && self
                    .status()
                    .active_operation
                    .is_some_and(|operation| operation.id == job.request.operation.id);
            job.result = live.then(|| self.outcome(&job.request));
            job.finished = true;
            self.jobs.insert(name, job);
        }
    }

    fn outcome(&mut self, request: &Request) -> Outcome {
        let (status, operation) = (self.status(), &request.operation);
        let kind = claim::operation(operation.kind);
        let mut outcome = Outcome {
            version: PROTOCOL_VERSION,
            operation: kind,
            operation_id: operation.id.clone(),
            source: None,
            target: None,
            observe: None,
            plan: None,
            apply: None,
            failure: None,
        };
        if kind != Operation::Apply
            && let Some((step, failure)) = self.refuse_next.take()
        {
            outcome.failure = Some(StepFailure { step, failure });
            return outcome;
        }
        match self.reach_source(operation, &status) {
            Ok(report) => outcome.source = report,
            Err(failed) => {
                outcome.failure = Some(failed);
                return outcome;
            }
        }
        if let Some((_, failure)) = self.fail_next.take_if(|(of, _)| *of == kind) {
            let step = match kind {
                Operation::Observe => OperationStep::Observe,
                Operation::Plan => OperationStep::Plan,
                Operation::Apply => OperationStep::Apply,
            };
            outcome.failure = Some(StepFailure { step, failure });
            return outcome;
        }
        // A proof is made from what its Apply was made from, whatever the source holds by now.
        let pending = status.pending_observation.as_ref().filter(|_| operation.proof);
        let known = pending.map(|pending| &pending.source).or(status.source.as_ref());
        let found = outcome.source.as_ref().map(|report| report.found.content_digest);
        let desired = found.or(known.map(|source| source.content_digest)).unwrap();
        match kind {
            Operation::Observe => {
                outcome.target = Some(self.reading());
                let steady = operation.refresh
                    && status.proven.as_ref().is_some_and(|proven| {
                        proven.observed_fingerprint == self.database && proven.content_digest == desired
                    });
                let without_files = self.remote.is_some() && operation.refresh && operation.terms.is_none();
                let unchanged = without_files
                    || outcome
                        .source
                        .as_ref()
                        .is_some_and(|report| report.fetched.is_none());
                let differences = if self.database == desired {
                    vec![]
                } else {
                    vec![("tables_added", Severity::Safe)]
                };
                outcome.observe = Some(ObserveReport {
                    fingerprint: self.database,
                    scope: vec!["public".into()],
                    steady,
                    files_missing: unchanged && !steady,
                    drift: (!steady && !unchanged)
                        .then(|| DriftReport::count(self.database, "postgres", differences)),
                });
            }
            Operation::Plan => {
                outcome.target = Some(self.reading());
                outcome.plan = Some(self.plan(desired, &request.exclude));
            }
            Operation::Apply => outcome.apply = Some(self.apply(request)),
        }
        outcome
    }

    /// The init container's part: what is there, and that what was resolved can still be fetched.
    fn reach_source(
        &self,
        operation: &ActiveOperation,
        status: &PtahSchemaStatus,
    ) -> Result<Option<SourceReport>, StepFailure> {
        let Some(remote) = self
            .remote
            .as_ref()
            .filter(|_| operation.kind != OperationType::Apply)
        else {
            return Ok(None);
        };
        let Some(terms) = &operation.terms else {
            let failed = |code| StepFailure {
                step: OperationStep::Resolve,
                failure: failure(code, FailureClass::Refused),
            };
            let pending = status.pending_observation.as_ref().filter(|_| operation.proof);
            let source = pending.map(|pending| &pending.source).or(status.source.as_ref());
            let current = source.is_some_and(|source| source.content_digest == remote.content);
            if operation.refresh {
                return Ok(None);
            }
            if remote.gone && !current {
                return Err(failed("commit_gone"));
            }
            // A later fetch says what it fetched.
            let fetched = FetchedReport {
                bytes: 3,
                files: 1,
                artifact: None,
            };
            return Ok(source.and_then(SourceStatus::revision).map(|found| SourceReport {
                found,
                fetched: Some(fetched),
                verified: None,
            }));
        };
        let mut report = self.stands(terms);
        let before = status
            .source
            .as_ref()
            .and_then(SourceStatus::revision)
            .map(|known| known.revision);
        if operation.refresh && before.as_ref() == Some(&report.found.revision) {
            (report.fetched, report.verified) = (None, None);
        }
        Ok(Some(report))
    }

    /// What stands at the source, whole.
    pub(super) fn stands(&self, terms: &SourceTerms) -> SourceReport {
        let oci = self.schema.spec.desired.oci_ref.is_some();
        let remote = self.remote.as_ref().unwrap();
        let revision = remote.name(oci);
        let fetched = FetchedReport {
            bytes: 3,
            files: 1,
            artifact: oci.then(|| ArtifactReport {
                resolved_reference: format!("registry.example/app@{revision}"),
                artifact_type: "application/vnd.stokaro.ptah.schema.v1".to_owned(),
            }),
        };
        let verified = match &terms.commit_verification {
            Some(terms) => Some(VerifiedReport::new(
                terms.to_contract().digest(),
                vec!["commit_signature: by somebody".into()],
            )),
            None => terms.verification_policy.as_ref().map(|policy| {
                VerifiedReport::new(
                    policy.digest,
                    vec!["artifact_types: the artifact is known".into()],
                )
            }),
        };
        SourceReport {
            verified,
            fetched: Some(fetched),
            found: SourceRevision {
                revision: revision.clone(),
                reference: (!oci).then(|| "refs/heads/main".to_owned()),
                index_digest: None,
                tag_object: None,
                content_digest: remote.content,
            },
        }
    }

    /// Runs a plan: under its Lease, for a decision that is spent, and only where the database is what it was made from.
    fn apply(&mut self, request: &Request) -> ApplyReport {
        let operation = &request.operation;
        let plan = request.plan.clone().expect("an Apply names its plan");
        if let Some(reserved) = &plan.approval {
            let spent = self.approvals.iter().any(|approval| {
                approval.reference.uid == reserved.uid && approval.consumed && approval.plan.uid == plan.uid
            });
            assert!(spent, "statements are sent under an approval that is not spent");
        } else {
            assert!(
                !plan.destructive && plan.privilege_changes.is_empty(),
                "a plan that needs a person runs without one"
            );
        }
        if self.lease.as_ref().map(|(by, _)| by) == Some(&operation.id) {
            let epoch = self.lease.as_ref().map(|(_, epoch)| epoch);
            assert_eq!(
                epoch,
                operation.lease_epoch.as_ref(),
                "the Lease has another epoch"
            );
        }
        let stored = self
            .plans
            .get(&plan.name)
            .cloned()
            .expect("a plan that runs is stored");
        assert_eq!((&stored.uid, stored.fingerprint), (&plan.uid, plan.fingerprint));
        if let Some(report @ ApplyReport::NothingCommitted { .. }) = &self.apply_report {
            let report = report.clone();
            (self.apply_report, self.ran) = (None, [self.ran.clone(), vec![operation.id.clone()]].concat());
            return report;
        }
        if stored.from != self.database {
            return ApplyReport::NothingCommitted {
                failure: failure("stale_plan", FailureClass::Attention),
            };
        }
        assert!(
            !self.ran.contains(&operation.id),
            "statements are sent twice for one claim"
        );
        self.ran.push(operation.id.clone());
        let report = self.apply_report.take().unwrap_or(ApplyReport::Applied {
            plan_digest: plan.plan_digest,
            statements: u32::try_from(plan.statement_count).unwrap(),
        });
        if matches!(report, ApplyReport::Applied { .. }) {
            self.database = stored.to;
        }
        report
    }

    fn reading(&self) -> TargetReading {
        TargetReading {
            identity_digest: self.target,
            server_identity: None,
            dialect: "postgres".into(),
            server_version: "17.10".into(),
        }
    }

    fn plan(&self, desired: Digest, exclude: &[String]) -> PlanReport {
        let mut report = PlanReport {
            result: PlanResult::NoChanges,
            actual_state_fingerprint: self.database,
            desired_state_fingerprint: desired,
            scope: vec!["public".into()],
            document: None,
            plan_digest: None,
        };
        if self.database != desired {
            let bytes = self.document(desired, exclude).encode().unwrap();
            report.result = PlanResult::Changes;
            report.plan_digest = Some(Digest::of(&bytes));
            report.document = Some(String::from_utf8(bytes).unwrap());
        }
        report
    }

    fn document(&self, desired: Digest, exclude: &[String]) -> PlanDocument {
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
            exclude: exclude.to_vec(),
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

/// A failure of this code.
pub(super) fn failure(code: &str, class: FailureClass) -> Failure {
    Failure::new(code, class, "it did not work")
}
