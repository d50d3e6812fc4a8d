//! What is known of an OCI artifact: what whoever fetched it tells whoever verifies it.
//!
//! Assumes that every digest here was computed from the bytes by the writer. Holds no bytes of the content, and of
//! attachments only what a signature may be in.

use std::collections::BTreeMap;

use crate::digest::Digest;

/// What the media types of Sigstore's bundles begin with, whatever their version (sigstore/protobuf-specs, bundle).
pub const SIGSTORE_BUNDLE: &str = "application/vnd.dev.sigstore.bundle";
/// Media type of the payload that cosign signs under its own tag (cosign, SIGNATURE_SPEC.md).
pub const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The artifact type that cosign gives such a signature when it attaches it to the artifact.
pub const COSIGN_SIGNATURE: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// One artifact, pinned to its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub annotations: BTreeMap<String, String>,
    /// What is attached to it, by either way in which registries list that.
    pub attached: Vec<Attached>,
}

/// One thing attached to an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub artifact_type: String,
    /// Annotations, as the listing says them.
    pub annotations: BTreeMap<String, String>,
    /// What may be signatures in it, where somebody asked for them.
    pub evidence: Vec<Evidence>,
}

/// A layer of an attachment that may hold a signature or a signed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Its media type, as the attachment's manifest says it.
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// Annotations of the layer, which is where cosign keeps signatures under its tag.
    pub annotations: BTreeMap<String, String>,
    /// Its bytes.
    pub body: Body,
}

/// What was read of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// All of it; the bytes gave the digest.
    Read(Vec<u8>),
    /// Nothing, and why, in a few words for people: a verifier must not take it for absent.
    LeftOut(String),
}

/// How an attachment was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The registry's referrers API.
    Referrers,
    /// The index under the tag `sha256-<hex>`, for registries without that API.
    ReferrersTag,
    /// The tag `sha256-<hex>.sig`, where cosign keeps simple signatures.
    SignatureTag,
}

/// How much a policy asks about what is attached to an artifact; each more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attachments {
    /// Nothing.
    LeftOut,
    /// What there is.
    Listed,
    /// What there is, with what may be signatures in it.
    Read,
}

/// A policy that an artifact is held to.
pub trait Verification: Sync {
    /// Digest of the policy, and of the trusted roots that it names.
    fn digest(&self) -> Digest;
    /// What it asks about an artifact's attachments.
    fn attachments(&self) -> Attachments;
    /// What of it an artifact satisfies, in a sentence each.
    ///
    /// # Errors
    /// Why it refuses the artifact, in one sentence.
    fn judge(&self, artifact: &ArtifactDescription) -> Result<Vec<String>, String>;
}
