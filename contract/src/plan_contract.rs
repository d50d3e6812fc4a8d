//! Plan contract, version 2: what a schema plan's fingerprint binds.
//!
//! The fingerprint is the identity that a person approves. Whatever could change what the plan does, or what it
//! was made from, is bound; what only tells a story (names, manager image, commit, timestamps) is not.

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;
use crate::source::SourceBinding;

/// The only version that is written and read. A plan of another version is refused.
pub const CONTRACT_VERSION: u32 = 2;

/// The components that decide what a plan means when it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecutionBinding {
    /// `v1-` and 32 hex digits; new whenever a component below changes, also back to an earlier value.
    pub epoch: String,
    /// Version of what the manager keeps in status.
    pub controller_state_version: u32,
    /// Version of the engine that planned.
    pub engine_version: String,
    /// Digest-pinned runner image.
    pub runner_image: String,
    /// Version of the runner protocol.
    pub protocol_version: u32,
}

/// A policy document by the object that held it and its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyBinding {
    /// UID of the ConfigMap.
    pub uid: String,
    /// Digest of the document's bytes (and of what it names, where its definition says so).
    pub digest: Digest,
}

/// A Git source's `verification` by digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitVerificationBinding {
    /// Digest of mode, committers, and the keys' uid and digest.
    pub digest: Digest,
}

/// Everything a schema plan binds. The order of the fields is of no account: the encoding sorts them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SchemaPlanBinding {
    /// [`CONTRACT_VERSION`].
    pub contract_version: u32,
    /// UID of the PtahSchema.
    #[serde(rename = "resourceUID")]
    pub resource_uid: String,
    /// Where the files came from.
    pub source: SourceBinding,
    /// Which files.
    pub content_digest: Digest,
    /// SHA-256 of the plan document's bytes.
    pub plan_digest: Digest,
    /// The realm.
    pub coordination_digest: Digest,
    /// The database that the Pod reached.
    pub target_identity_digest: Digest,
    /// Fingerprint of the observed state.
    pub actual_state_fingerprint: Digest,
    /// Fingerprint of the desired state.
    pub desired_state_fingerprint: Digest,
    /// Fingerprint of the effective policy.
    pub policy_fingerprint: Digest,
    /// The verification policy, for an OCI source.
    pub verification_policy: Option<PolicyBinding>,
    /// The source policy, where one is named.
    pub source_policy: Option<PolicyBinding>,
    /// Commit verification, for a Git source that asks for it.
    pub commit_verification: Option<CommitVerificationBinding>,
    /// What runs the plan.
    pub execution_binding: ExecutionBinding,
    /// Whether anything in the plan destroys data or protection.
    pub destructive: bool,
    /// Kinds of authority that the SQL changes, sorted, without repetition.
    pub privilege_changes: Vec<String>,
    /// Number of statements.
    pub statement_count: u32,
}

/// A binding that cannot be fingerprinted.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The version is not [`CONTRACT_VERSION`].
    #[error("plan contract version {0} is not supported, only version 2 is")]
    Version(u32),
    /// A set is not in its one order.
    #[error("privilege changes are not sorted and unique")]
    Order,
}

impl SchemaPlanBinding {
    /// The plan's identity.
    ///
    /// # Errors
    /// When the version is unknown or the set of privilege changes is not in its one order.
    pub fn fingerprint(&self) -> Result<Digest, Error> {
        if self.contract_version != CONTRACT_VERSION {
            return Err(Error::Version(self.contract_version));
        }
        if !self.privilege_changes.is_sorted_by(|a, b| a < b) {
            return Err(Error::Order);
        }
        Ok(Digest::of(&canonical::to_bytes(self).unwrap_or_default()))
    }
}

/// Name of the plan object: `ptah-plan-` and the first 24 hex digits of the fingerprint.
#[must_use]
pub fn plan_name(fingerprint: &Digest) -> String {
    format!("ptah-plan-{}", &fingerprint.hex()[..24])
}

#[cfg(test)]
mod tests;
