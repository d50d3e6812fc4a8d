//! What is known of an OCI artifact: what whoever fetched it tells whoever verifies it.
//!
//! Assumes that every digest here was computed from the bytes by the writer. Holds no bytes of the content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// One artifact, pinned to its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArtifactDescription {
    /// The reference as somebody wrote it, with its scheme.
    pub reference: String,
    /// Whether that reference names a digest, so that no registry chose what it means.
    pub pinned: bool,
    /// Digest of the manifest.
    pub digest: Digest,
    /// The artifact's type: the manifest's `artifactType`, else the media type of its configuration.
    pub artifact_type: String,
    /// Annotations of the manifest.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// What is attached to it, by either way in which registries list that.
    #[serde(default)]
    pub attached: Vec<Attached>,
}

/// One thing attached to an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attached {
    /// Where it was found.
    pub found: Found,
    /// Media type of its manifest.
    pub media_type: String,
    /// Digest of its manifest.
    pub digest: Digest,
    /// Size of its manifest in bytes.
    pub size: u64,
    /// Its type, as the listing says it; empty where it says none.
    #[serde(default)]
    pub artifact_type: String,
    /// Annotations, as the listing says them.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// How an attachment was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Found {
    /// The registry's referrers API.
    Referrers,
    /// The index under the tag `sha256-<hex>`, for registries without that API.
    ReferrersTag,
    /// The tag `sha256-<hex>.sig`, where cosign keeps simple signatures.
    SignatureTag,
}

/// A policy that an artifact is held to.
pub trait Verification: Sync {
    /// Digest of the policy's bytes.
    fn digest(&self) -> Digest;
    /// Whether it asks what is attached to an artifact.
    fn looks_at_attachments(&self) -> bool;
    /// Why it refuses an artifact, if it does.
    fn refusal(&self, artifact: &ArtifactDescription) -> Option<String>;
}
