//! Signatures of Git commits and tags: what whoever resolved a ref hands to whoever verifies it, and how a plan binds what
//! was asked.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::canonical;
use crate::digest::Digest;

/// What a ref led to, with its objects byte for byte.
#[derive(Clone, Copy, Debug)]
pub struct SignedTip<'a> {
    /// The full name of the ref; `None` for a commit that was asked for by its id.
    pub reference: Option<&'a str>,
    /// Id of the commit.
    pub commit: &'a str,
    /// Payload of the commit's object.
    pub commit_object: &'a [u8],
    /// Id of the outermost tag object, where one led to the commit.
    pub tag: Option<&'a str>,
    /// Payloads of the tag objects, the outermost first.
    pub tag_objects: &'a [Vec<u8>],
}

/// Whose signatures a commit is held to.
pub trait CommitVerification: Sync {
    /// As [`CommitTerms::digest`] computes it.
    fn digest(&self) -> Digest;
    /// What was found of each requirement, in a sentence each.
    ///
    /// # Errors
    /// Why it is refused, in one sentence.
    fn judge(&self, tip: &SignedTip<'_>) -> Result<Vec<String>, String>;
}

/// What has to be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignedObject {
    /// The commit.
    Head,
    /// The annotated tag that the ref names.
    Tag,
    /// Both.
    TagAndHead,
}

impl SignedObject {
    /// Whether the commit has to be signed.
    #[must_use]
    pub fn wants_commit(self) -> bool {
        matches!(self, Self::Head | Self::TagAndHead)
    }

    /// Whether the tag has to be signed.
    #[must_use]
    pub fn wants_tag(self) -> bool {
        matches!(self, Self::Tag | Self::TagAndHead)
    }
}

/// What is asked of a commit's signatures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitTerms {
    /// What has to be signed.
    pub mode: SignedObject,
    /// Addresses, one of which the committer or tagger must have; anybody's when there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub committers: Vec<String>,
    /// UID of the object that holds the keys; empty where there is no API server.
    #[serde(rename = "keysUID")]
    pub keys_uid: String,
    /// SHA-256 of the keys' bytes.
    pub keys_digest: Digest,
}

impl CommitTerms {
    /// What a plan is bound to: the canonical JSON `{"committers":[…],"keys":{"digest":…,"uid":…},"mode":…}`.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let terms = json!({
            "committers": self.committers,
            "keys": {"digest": self.keys_digest, "uid": self.keys_uid},
            "mode": self.mode,
        });
        Digest::of(&canonical::to_bytes(&terms).unwrap_or_default())
    }
}
