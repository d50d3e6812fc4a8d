//! `status.source`: what the source held when it was last read, whatever kind it is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_contract::canonical;
use ptah_contract::commit::CommitTerms;
use ptah_contract::digest::Digest;
use ptah_contract::plan_contract::PolicyBinding;
use ptah_contract::protocol::SourceRevision;
use ptah_contract::source::{SourceBinding, git_locator_digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::ImmutableObjectReference;
use crate::source::GitVerificationMode;

/// What the source held. Exactly one of `configMap`, `git` and `digest` (of an OCI artifact) is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// The ConfigMap that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ImmutableObjectReference>,
    /// The commit that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitRevisionStatus>,
    /// The OCI artifact that was read.
    #[serde(flatten)]
    pub artifact: Option<ArtifactStatus>,
    /// The source policy that it was held to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_policy: Option<PolicyBindingStatus>,
    /// Identity of the selected files.
    #[schemars(with = "String")]
    pub content_digest: Digest,
    /// The immutable copy that operations read, of a ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Number of files.
    pub files: i32,
    /// Bytes of all files.
    pub bytes: i64,
    /// When this content was first seen.
    pub resolved_at: Time,
}

/// A commit, and what it answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitRevisionStatus {
    /// The repository as the spec names it.
    pub repository: String,
    /// The ref as the spec names it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The path as the spec names it.
    pub path: String,
    /// The commit.
    pub commit: String,
    /// The full ref that led to it; absent when a commit was asked for by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_ref: Option<String>,
    /// The annotated tag that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_object: Option<String>,
    /// Whose signatures it carries, where that is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<CommitVerificationStatus>,
}

/// A commit whose signatures were asked for, and carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitVerificationStatus {
    /// Digest of mode, committers, and the keys' UID and bytes.
    #[schemars(with = "String")]
    pub digest: Digest,
    /// What was found of each requirement: who signed, with which key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub satisfied: Vec<String>,
}

/// An artifact, and the policy that it satisfies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactStatus {
    /// The reference as the spec names it.
    pub requested_reference: String,
    /// The reference with its digest.
    pub resolved_reference: String,
    /// Digest of the manifest.
    #[schemars(with = "String")]
    pub digest: Digest,
    /// Digest of the index that led to it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub index_digest: Option<Digest>,
    /// Type of the artifact.
    pub artifact_type: String,
    /// It satisfies the policy below.
    pub verified: bool,
    /// UID of the policy's ConfigMap.
    #[serde(rename = "verificationPolicyUID")]
    pub verification_policy_uid: String,
    /// SHA-256 of the policy's bytes, and of the trusted roots where it names some.
    #[schemars(with = "String")]
    pub verification_policy_digest: Digest,
    /// What was found of each requirement: of signatures, which authority made which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub satisfied: Vec<String>,
    /// When that was found out.
    pub verified_at: Time,
}

/// A policy by the object that held it and its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyBindingStatus {
    /// Name of the ConfigMap.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// SHA-256 of the policy's bytes; of a verification policy that names trusted roots, of them as well.
    #[schemars(with = "String")]
    pub digest: Digest,
}

/// What a source is held to by the Pod that resolves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceTerms {
    /// The source policy, which admits the source's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_policy: Option<PolicyBindingStatus>,
    /// Most bytes that it allows for all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_bytes: Option<i64>,
    /// Most files that it allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_files: Option<i64>,
    /// The verification policy that an artifact is held to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_policy: Option<PolicyBindingStatus>,
    /// The trusted roots that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub trusted_roots: Vec<TrustedRootStatus>,
    /// Whose signatures a commit is held to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_verification: Option<CommitTermsStatus>,
}

impl SourceTerms {
    /// Digest of the one policy that a source on a network satisfies, where it is held to one: whose signatures a commit
    /// carries, or the verification policy of an artifact.
    #[must_use]
    pub fn policy_digest(&self) -> Option<Digest> {
        match &self.commit_verification {
            Some(terms) => Some(terms.to_contract().digest()),
            None => self.verification_policy.as_ref().map(|policy| policy.digest),
        }
    }
}

/// What is asked of a commit's signatures, with the keys as they were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitTermsStatus {
    /// What has to be signed.
    pub mode: GitVerificationMode,
    /// Addresses, one of which the committer or tagger must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub committers: Vec<String>,
    /// UID of the keys' ConfigMap.
    #[serde(rename = "keysUID")]
    pub keys_uid: String,
    /// SHA-256 of the keys' bytes.
    #[schemars(with = "String")]
    pub keys_digest: Digest,
}

impl CommitTermsStatus {
    /// As the runner protocol says it.
    #[must_use]
    pub fn to_contract(&self) -> CommitTerms {
        CommitTerms {
            mode: self.mode.to_contract(),
            committers: self.committers.clone(),
            keys_uid: self.keys_uid.clone(),
            keys_digest: self.keys_digest,
        }
    }
}

/// A trusted root that a verification policy names. The policy's digest covers its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustedRootStatus {
    /// Name of the ConfigMap.
    pub name: String,
    /// Its key.
    pub key: String,
    /// Its UID.
    pub uid: String,
}

impl PolicyBindingStatus {
    /// As a plan binds it.
    #[must_use]
    pub fn to_contract(&self) -> PolicyBinding {
        PolicyBinding {
            uid: self.uid.clone(),
            digest: self.digest,
        }
    }
}

impl SourceStatus {
    /// The source as a plan binds it; `None` of a status that names none.
    #[must_use]
    pub fn binding(&self) -> Option<SourceBinding> {
        if let Some(map) = &self.config_map {
            return Some(SourceBinding::ConfigMap { uid: map.uid.clone() });
        }
        if let Some(git) = &self.git {
            return Some(SourceBinding::Git {
                locator_digest: git_locator_digest(&git.repository, &git.path),
            });
        }
        self.artifact.as_ref().map(|artifact| SourceBinding::Oci {
            artifact_digest: artifact.digest,
        })
    }

    /// The verification policy as a plan binds it.
    #[must_use]
    pub fn verification_policy(&self) -> Option<PolicyBinding> {
        self.artifact.as_ref().map(|artifact| PolicyBinding {
            uid: artifact.verification_policy_uid.clone(),
            digest: artifact.verification_policy_digest,
        })
    }

    /// The commit verification as a plan binds it.
    #[must_use]
    pub fn commit_verification(&self) -> Option<Digest> {
        let verification = self.git.as_ref()?.verification.as_ref()?;
        Some(verification.digest)
    }

    /// The source in one digest, with the policies that it was held to, as a plan binds them; `None` of a status that names
    /// no source.
    #[must_use]
    pub fn binding_digest(&self) -> Option<Digest> {
        let policy = self.source_policy.as_ref().map(PolicyBindingStatus::to_contract);
        let mut bound = serde_json::json!({
            "source": self.binding()?, "sourcePolicy": policy, "verificationPolicy": self.verification_policy(),
        });
        // Only where it is asked for, so that the digests of all others stay what they were.
        if let Some(digest) = self.commit_verification() {
            bound["commitVerification"] = serde_json::json!({"digest": digest});
        }
        canonical::digest(&bound).ok()
    }

    /// Whether a plan that was made from the one may be kept for the other: a plan binds where the files come from,
    /// which files, and the policies, and neither commit nor time.
    #[must_use]
    pub fn binds_as(&self, other: &Self) -> bool {
        self.content_digest == other.content_digest && self.binding_digest() == other.binding_digest()
    }

    /// What a Pod resolved, as a later one is asked for it; `None` of a ConfigMap, whose files are in a snapshot.
    #[must_use]
    pub fn revision(&self) -> Option<SourceRevision> {
        let known = SourceRevision {
            revision: String::new(),
            reference: None,
            index_digest: None,
            tag_object: None,
            content_digest: self.content_digest,
        };
        match (&self.git, &self.artifact) {
            (Some(git), _) => Some(SourceRevision {
                revision: git.commit.clone(),
                reference: git.resolved_ref.clone(),
                tag_object: git.tag_object.clone(),
                ..known
            }),
            (None, Some(artifact)) => Some(SourceRevision {
                revision: artifact.digest.to_string(),
                index_digest: artifact.index_digest,
                ..known
            }),
            (None, None) => None,
        }
    }

    /// The source in a few words, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        match (&self.config_map, &self.git, &self.artifact) {
            (Some(map), _, _) => format!("ConfigMap {}", map.name),
            (_, Some(git), _) => format!("{} {} at {}", git.repository, git.path, git.commit),
            (_, _, Some(artifact)) => artifact.resolved_reference.clone(),
            (None, None, None) => String::new(),
        }
    }
}
