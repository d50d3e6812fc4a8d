//! What a Pod is asked to do.

use serde::{Deserialize, Serialize};

use super::{PROTOCOL_VERSION, SourceRequest};
use crate::digest::Digest;
use crate::policy::SchemaPolicy;

/// The main step of a Job, and the type of the claim that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Operation {
    /// Read the database and report drift.
    Observe,
    /// Compute, prove and return a plan.
    Plan,
    /// Run a published plan.
    Apply,
}

impl Operation {
    /// Lower-case name, as it stands in labels and Job names.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Plan => "plan",
            Self::Apply => "apply",
        }
    }
}

/// One step of an operation; conditions and the journal name the step that failed, never the Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Step {
    /// Find the source's content.
    Resolve,
    /// Hold the content to a verification policy.
    Verify,
    /// Read the database.
    Observe,
    /// Compute and prove a plan.
    Plan,
    /// Run a plan.
    Apply,
}

impl Step {
    /// The step's name as conditions and Events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "Resolve",
            Self::Verify => "Verify",
            Self::Observe => "Observe",
            Self::Plan => "Plan",
            Self::Apply => "Apply",
        }
    }
}

/// Which attempt of which operation on which resource this is. The receiver compares it with the live claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperationIdentity {
    /// Namespace of the resource and of the Pod.
    pub namespace: String,
    /// `PtahSchema`.
    pub kind: String,
    /// Name of the resource.
    pub name: String,
    /// UID of the resource.
    pub uid: String,
    /// Generation that the claim was made for.
    pub generation: i64,
    /// Epoch of the execution binding.
    pub execution_binding: String,
    /// Fingerprint of the claim's inputs.
    pub input_fingerprint: Digest,
    /// Type of the claim.
    pub operation: Operation,
    /// Unique per attempt.
    pub operation_id: String,
    /// Name of the Job.
    pub job_name: String,
}

/// Which Pod is speaking: the downward API's facts, checked by the receiver against the token and the API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodIdentity {
    /// Name of the Pod.
    pub pod_name: String,
    /// UID of the Pod.
    pub pod_uid: String,
    /// UID of the Job.
    pub job_uid: String,
}

/// Where the outcome goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultDelivery {
    /// `https://` and the receiver's authority.
    pub endpoint: String,
    /// PEM of the certificate authorities that the receiver's certificate must chain to; 64 KiB at most.
    pub trust: String,
}

/// What the last no-change plan was made from. When nothing of it moved, the reading ends without a scratch server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LastReading {
    /// Content of that plan.
    pub content_digest: Digest,
    /// Observed fingerprint of that plan.
    pub observed_fingerprint: Digest,
    /// Schemas that were in its scope.
    pub scope: Vec<String>,
}

/// The plan that an Apply runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplyInput {
    /// SHA-256 of the reassembled document.
    pub plan_digest: Digest,
    /// Its length in bytes.
    pub size: u64,
    /// Number of chunk files.
    pub chunks: u32,
    /// Fingerprint of the published plan.
    pub plan_fingerprint: Digest,
}

/// The whole request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// [`PROTOCOL_VERSION`].
    pub version: u32,
    /// Which attempt this is.
    pub identity: OperationIdentity,
    /// Every step of the Pod, in order.
    pub steps: Vec<Step>,
    /// `postgresql` or `mysql`.
    pub engine: String,
    /// The realm.
    pub coordination_digest: Digest,
    /// The database that must be reached, where one was already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_identity_digest: Option<Digest>,
    /// The content that the init container is held to; absent for an Apply, and where the Pod finds it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_digest: Option<Digest>,
    /// The source that the init container reaches; absent where it has a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRequest>,
    /// No container brings the files of the content: a refresh of what somebody else found unchanged. A reading that
    /// would need them ends with `filesMissing`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_files: bool,
    /// The effective policy.
    pub policy: SchemaPolicy,
    /// Time for the whole operation, in seconds, from the runner's start, on its monotonic clock.
    pub deadline_seconds: u64,
    /// What a steady reading may stand on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastReading>,
    /// The plan to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<ApplyInput>,
    /// Where the outcome goes.
    pub delivery: ResultDelivery,
}

/// A request that cannot be carried out as it stands.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Not JSON of this shape.
    #[error("the request is not of protocol version {PROTOCOL_VERSION}: {0}")]
    Encoding(#[from] serde_json::Error),
    /// Another version.
    #[error("the request is of protocol version {0}, this runner speaks version {PROTOCOL_VERSION}")]
    Version(u32),
    /// The parts do not fit the operation.
    #[error("the request of {operation} {reason}")]
    Inconsistent {
        /// The operation.
        operation: &'static str,
        /// What does not fit.
        reason: &'static str,
    },
}

impl Request {
    /// Reads and checks a request.
    ///
    /// # Errors
    /// When it is of another version or its parts do not fit its operation.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RequestError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let versioned: Versioned = serde_json::from_slice(bytes)?;
        if versioned.version != PROTOCOL_VERSION {
            return Err(RequestError::Version(versioned.version));
        }
        let request: Self = serde_json::from_slice(bytes)?;
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), RequestError> {
        let operation = self.identity.operation.label();
        let refuse = |reason| Err(RequestError::Inconsistent { operation, reason });
        match self.identity.operation {
            Operation::Observe | Operation::Plan => {
                self.check_source().or_else(refuse)?;
                if self.apply.is_some() {
                    return refuse("carries a plan to run");
                }
                let stands = self.last.as_ref().map(|last| last.content_digest) == self.content_digest;
                if self.without_files && (self.source.is_some() || self.last.is_none() || !stands) {
                    return refuse(
                        "goes without files, and no last reading of that content is there to stand on",
                    );
                }
                if self.last.is_some() && self.identity.operation == Operation::Plan {
                    return refuse("carries a last reading, which only a reading may stand on");
                }
            }
            Operation::Apply => {
                if self.source.is_some() {
                    return refuse("names a source");
                }
                if self.apply.is_none() {
                    return refuse("names no plan");
                }
                if self.target_identity_digest.is_none() {
                    return refuse("names no target identity");
                }
            }
        }
        Ok(())
    }

    /// The content is known beforehand, but in the one step that finds it out.
    fn check_source(&self) -> Result<(), &'static str> {
        let Some(source) = &self.source else {
            return self.content_digest.map(|_| ()).ok_or("names no content digest");
        };
        let resolves = self.steps.contains(&Step::Resolve);
        match (&source.pinned, self.content_digest) {
            (None, None) if resolves => Ok(()),
            (Some(pinned), Some(content)) if !resolves => (pinned.content_digest == content)
                .then_some(())
                .ok_or("names a revision of another content"),
            _ => Err("resolves a source that it pins, or pins none and does not resolve it"),
        }
    }
}
