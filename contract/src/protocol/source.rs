//! A source that the Pod itself reaches: what its init container is asked to find, and what it found.
//!
//! Neither holds a credential: those are files in the one container that reaches the source.

use serde::{Deserialize, Serialize};

use crate::commit::CommitTerms;
use crate::digest::Digest;

/// Where the content is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum SourceLocator {
    /// A path of a Git repository at a ref.
    Git {
        /// As the spec writes it.
        repository: String,
        /// Branch, tag, full ref name, `HEAD`, or a commit id.
        #[serde(rename = "ref")]
        reference: String,
        /// A folder or one file.
        path: String,
    },
    /// An OCI artifact.
    Oci {
        /// As the spec writes it, by tag or digest.
        reference: String,
        /// Clear text.
        plain_http: bool,
    },
}

/// A revision that was resolved before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceRevision {
    /// A commit's id, or the digest of an artifact's manifest.
    pub revision: String,
    /// The full ref that led to the commit, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "ref")]
    pub reference: Option<String>,
    /// The index that led to the artifact, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_digest: Option<Digest>,
    /// The annotated tag that led to the commit, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_object: Option<String>,
    /// What it contained.
    pub content_digest: Digest,
}

/// The policy that an artifact is held to. Its bytes stand in a file of the init container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerificationRequest {
    /// SHA-256 of the policy's bytes, and of the trusted roots where it names some.
    pub policy_digest: Digest,
    /// The trusted roots that it names, in the order of their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<TrustedRootRequest>,
}

/// A trusted root that a policy names: a key of an immutable ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustedRootRequest {
    /// Name of the ConfigMap.
    pub name: String,
    /// Its key.
    pub key: String,
    /// Its UID, which the policy's digest covers.
    pub uid: String,
}

/// What the init container does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceRequest {
    /// Where.
    pub locator: SourceLocator,
    /// Exactly this revision, with exactly this content: a later fetch. Absent: whatever stands there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<SourceRevision>,
    /// What stood there last. Where it still does, nothing is fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<SourceRevision>,
    /// Most bytes that a source policy allows for all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Most files that a source policy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_files: Option<u64>,
    /// The policy to hold an artifact to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationRequest>,
    /// Whose signatures to hold a commit to. The keys stand in a file of the init container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_verification: Option<CommitTerms>,
}

/// What an artifact says of itself, by its manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArtifactReport {
    /// The reference with its digest.
    pub resolved_reference: String,
    /// Its artifact type.
    pub artifact_type: String,
}

/// What was fetched and checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FetchedReport {
    /// Bytes of all files.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
    /// The artifact, of an OCI source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactReport>,
}

/// A policy that is satisfied, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerifiedReport {
    /// Digest of the policy, with the trusted roots that it names.
    pub policy_digest: Digest,
    /// What was found of each requirement, in a sentence for people.
    pub satisfied: Vec<String>,
}

impl VerifiedReport {
    /// Sentences that are kept, and characters of each: they end in a status.
    const MOST: (usize, usize) = (16, 512);

    /// As many sentences as a status has room for, and as much of each.
    #[must_use]
    pub fn new(policy_digest: Digest, satisfied: Vec<String>) -> Self {
        let mut report = Self {
            policy_digest,
            satisfied,
        };
        report.satisfied = report.bounded();
        report
    }

    /// The sentences, as many as a status has room for, and as much of each; whoever wrote them.
    #[must_use]
    pub fn bounded(&self) -> Vec<String> {
        let (sentences, characters) = Self::MOST;
        let satisfied = self.satisfied.iter().take(sentences);
        satisfied
            .map(|one| one.chars().take(characters).collect())
            .collect()
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceReport {
    /// The revision, and its content.
    pub found: SourceRevision,
    /// Absent when it is what was known: then nothing was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<FetchedReport>,
    /// The policy that it satisfies, where it was held to one now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<VerifiedReport>,
}
