//! The runner protocol: what the manager asks an operation Pod to do, and what the Pod answers.
//!
//! A request travels in an annotation of the Pod and is read as a file. An outcome travels through the result
//! receiver. Both are closed: an unknown field or another version is refused, so that two releases never half
//! understand each other. Neither ever holds a credential, and an outcome never holds text of the target's server.

mod outcome;
pub mod paths;
mod request;
mod source;

pub use outcome::{
    ApplyReport, ObserveReport, Outcome, OutcomeError, PlanReport, PlanResult, StepFailure, TargetReading,
};
pub use request::{
    ApplyInput, LastReading, Operation, OperationIdentity, PodIdentity, Request, RequestError,
    ResultDelivery, Step,
};
pub use source::{
    ArtifactReport, FetchedReport, SourceLocator, SourceReport, SourceRequest, SourceRevision,
    TrustedRootRequest, VerificationRequest, VerifiedReport,
};

/// The only version that is written and read.
pub const PROTOCOL_VERSION: u32 = 1;
/// Audience of the token that authenticates a Pod to the result receiver. The API server must not accept it.
pub const RESULT_AUDIENCE: &str = "operator.ptah.run/results";
/// Largest outcome that a runner sends and the receiver takes, in bytes.
pub const MAX_OUTCOME_BYTES: usize = 12 << 20;
/// Largest plan document, in bytes: sixteen chunks of 512 KiB.
pub const MAX_PLAN_BYTES: usize = 8 << 20;
/// Media type of an outcome.
pub const OUTCOME_MEDIA_TYPE: &str = "application/vnd.ptah.result.v1+json";

/// Name under which the result of one attempt is stored: `ptah-result-` and the hex SHA-256 of the JSON array
/// `[namespace, resource UID, operation id, Job name]`.
#[must_use]
pub fn result_name(namespace: &str, uid: &str, operation_id: &str, job_name: &str) -> String {
    let parts = serde_json::json!([namespace, uid, operation_id, job_name]).to_string();
    format!(
        "ptah-result-{}",
        crate::digest::Digest::of(parts.as_bytes()).hex()
    )
}

#[cfg(test)]
mod tests;
