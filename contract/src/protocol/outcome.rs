//! What a Pod answers.

use serde::{Deserialize, Serialize};

use super::{MAX_PLAN_BYTES, Operation, PROTOCOL_VERSION, SourceReport, Step};
use crate::digest::Digest;
use crate::drift::DriftReport;
use crate::failure::Failure;

/// The database that was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TargetReading {
    /// Credential-free identity of the effective connection.
    pub identity_digest: Digest,
    /// The server's own identity and the database's, hashed; absent where the login may not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_identity: Option<Digest>,
    /// `postgres` or `mysql`.
    pub dialect: String,
    /// Version that the server reports, such as `17.10`.
    pub server_version: String,
}

/// What a reading found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObserveReport {
    /// Observed fingerprint.
    pub fingerprint: Digest,
    /// Schemas in scope, sorted.
    pub scope: Vec<String>,
    /// Nothing that the request's last reading stands on has moved; no scratch server was used.
    pub steady: bool,
    /// The database is not what it was, and the files were not fetched: it must be read again with them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files_missing: bool,
    /// Absent when the reading was steady, since the drift report of the last reading stands, or lacked the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftReport>,
}

/// What planning came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanResult {
    /// The database is what the desired state describes, under the policy's scope.
    NoChanges,
    /// There are statements to run.
    Changes,
}

/// A proven plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanReport {
    /// Whether anything is to be done.
    pub result: PlanResult,
    /// Observed fingerprint that the plan starts from.
    pub actual_state_fingerprint: Digest,
    /// Fingerprint of the desired state.
    pub desired_state_fingerprint: Digest,
    /// Schemas in scope, sorted.
    pub scope: Vec<String>,
    /// The plan document's exact bytes (it is UTF-8 JSON); absent exactly when there are no changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// SHA-256 of those bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<Digest>,
}

/// What an Apply knows about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "result",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum ApplyReport {
    /// Every statement ran and was committed.
    Applied {
        /// Digest of the document that ran.
        plan_digest: Digest,
        /// How many statements it had.
        statements: u32,
    },
    /// Known: nothing was committed.
    NothingCommitted {
        /// Why it ended.
        failure: Failure,
    },
    /// Statements were sent and what became of them is not known, or only some were committed.
    Uncertain {
        /// What ended it.
        failure: Failure,
        /// Statements known to be committed.
        statements: u32,
    },
}

/// The step that ended the operation, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepFailure {
    /// The step.
    pub step: Step,
    /// Why.
    pub failure: Failure,
}

/// The whole answer: every step that ran, in order, and at most one failure after them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Outcome {
    /// [`PROTOCOL_VERSION`].
    pub version: u32,
    /// The request's operation.
    pub operation: Operation,
    /// The request's operation id.
    pub operation_id: String,
    /// Results of the steps `Resolve` and `Verify`, of a source that the Pod reached; of a pinned one as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceReport>,
    /// The database, once reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetReading>,
    /// Result of the step `Observe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe: Option<ObserveReport>,
    /// Result of the step `Plan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReport>,
    /// Result of the step `Apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<ApplyReport>,
    /// What ended the operation early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<StepFailure>,
}

/// An outcome that says something impossible. It is refused whole, never read in part.
#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    /// Not JSON of this shape.
    #[error("the outcome is not of protocol version {PROTOCOL_VERSION}: {0}")]
    Encoding(#[from] serde_json::Error),
    /// It contradicts itself or its operation.
    #[error("the outcome {0}")]
    Contradiction(&'static str),
}

impl Outcome {
    /// Reads an outcome and checks that its parts can be true together.
    ///
    /// # Errors
    /// When it is of another version or contradicts itself.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, OutcomeError> {
        let outcome: Self = serde_json::from_slice(bytes)?;
        outcome.check().map_err(OutcomeError::Contradiction)?;
        Ok(outcome)
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.version != PROTOCOL_VERSION {
            return Err("is of another protocol version");
        }
        let failed = self.failure.is_some();
        match self.operation {
            Operation::Observe => {
                if self.plan.is_some() || self.apply.is_some() {
                    return Err("of a reading carries a plan or a run");
                }
                if self.observe.is_none() && !failed {
                    return Err("of a reading carries neither a reading nor a failure");
                }
            }
            Operation::Plan => {
                if self.apply.is_some() {
                    return Err("of planning carries a run");
                }
                if self.plan.is_none() && !failed {
                    return Err("of planning carries neither a plan nor a failure");
                }
            }
            Operation::Apply => {
                if self.plan.is_some() || self.observe.is_some() {
                    return Err("of a run carries a plan or a reading");
                }
                if self.apply.is_none() && !failed {
                    return Err("of a run carries neither a report nor a failure");
                }
            }
        }
        if (self.observe.is_some() || self.plan.is_some()) && self.target.is_none() {
            return Err("reports a database without naming it");
        }
        if let Some(observe) = &self.observe {
            check_reading(observe, self.source.as_ref())?;
        }
        let source_failed = self
            .failure
            .as_ref()
            .is_some_and(|failed| matches!(failed.step, Step::Resolve | Step::Verify));
        if source_failed && (self.target.is_some() || self.source.is_some()) {
            return Err("reports more than the source that could not be had");
        }
        if self.operation == Operation::Apply && (self.source.is_some() || source_failed) {
            return Err("of a run reports a source");
        }
        self.plan.as_ref().map_or(Ok(()), check_plan)
    }
}

fn check_reading(reading: &ObserveReport, source: Option<&SourceReport>) -> Result<(), &'static str> {
    let without = usize::from(reading.steady) + usize::from(reading.files_missing);
    if without > 1 || (without == 1) == reading.drift.is_some() {
        return Err("has a drift report exactly where it must not");
    }
    if reading.files_missing && source.is_none_or(|source| source.fetched.is_some()) {
        return Err("lacks files of a source that was fetched");
    }
    Ok(())
}

fn check_plan(plan: &PlanReport) -> Result<(), &'static str> {
    match (plan.result, &plan.document, &plan.plan_digest) {
        (PlanResult::NoChanges, None, None) => Ok(()),
        (PlanResult::Changes, Some(document), Some(digest)) => {
            if document.len() > MAX_PLAN_BYTES {
                Err("has a plan document over 8 MiB")
            } else if Digest::of(document.as_bytes()) == *digest {
                Ok(())
            } else {
                Err("has a plan document that does not give its digest")
            }
        }
        _ => Err("has plan bytes exactly where it must not"),
    }
}
