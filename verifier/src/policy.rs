//! The policy document, version 1, read strictly.

use ptah_contract::digest::Digest;
use ptah_contract::failure::{FailureClass, quoted};
use serde::{Deserialize, Deserializer};

/// Largest document that is read, in bytes: what fits a ConfigMap.
pub const MAX_POLICY_BYTES: usize = 1 << 20;

/// What counts as a signature unless the policy says otherwise: Sigstore's and Notary's attachments.
const SIGNATURE_TYPES: [&str; 2] = [
    "application/vnd.dev.cosign.artifact.sig.v1+json",
    "application/vnd.cncf.notary.signature",
];

/// Keys of documents that this version does not evaluate.
const NOT_YET: [&str; 2] = ["signatures", "attestations"];

/// Why a document is no policy.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Not YAML, an unknown key, a key twice, or a value of another type.
    #[error("the verification policy cannot be read: {0}")]
    Malformed(String),
    /// Another version, or none.
    #[error("the verification policy has version {0}, only version 1 is known")]
    Version(String),
    /// A key that is known, and that nobody here can evaluate.
    #[error("the verification policy's {0} is not supported yet; a policy with it is refused whole")]
    NotSupported(&'static str),
    /// Nothing is required, so it would verify nothing.
    #[error("the verification policy requires nothing")]
    RequiresNothing,
    /// An entry without a word.
    #[error("the verification policy's {0} has a blank entry")]
    Blank(&'static str),
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "verification_policy_malformed",
            Self::Version(_) => "verification_policy_version",
            Self::NotSupported(_) => "verification_policy_unsupported",
            Self::RequiresNothing => "verification_policy_requires_nothing",
            Self::Blank(_) => "verification_policy_blank_entry",
        }
    }

    /// What cannot be evaluated is refused; the rest needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::NotSupported(_) => FailureClass::Refused,
            _ => FailureClass::Input,
        }
    }
}

/// A policy that requires something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub(crate) digest_pin: bool,
    /// Empty for any.
    pub(crate) artifact_types: Vec<String>,
    pub(crate) annotations: Vec<String>,
    pub(crate) signature: bool,
    pub(crate) signature_types: Vec<String>,
    digest: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    // Decided on already; named here so that it is no unknown key.
    #[allow(dead_code)]
    version: u32,
    #[serde(default)]
    require_digest_pin: bool,
    #[serde(default, deserialize_with = "given")]
    artifact_types: Vec<String>,
    #[serde(default, deserialize_with = "given")]
    require_annotations: Vec<String>,
    #[serde(default)]
    require_signature: bool,
    #[serde(default, deserialize_with = "given")]
    signature_artifact_types: Vec<String>,
}

/// `artifact_types:` with nothing behind it means none, as it does in Go.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Policy {
    /// Reads a document of version 1.
    ///
    /// # Errors
    /// When it is not understood whole, or requires nothing.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let malformed = |error: serde_yaml_ng::Error| Error::Malformed(quoted(&error.to_string()));
        if bytes.len() > MAX_POLICY_BYTES {
            return Err(Error::Malformed("it is larger than 1 MiB".to_owned()));
        }
        // The keys first: a document of another version is refused for that, and not for what it says.
        let keys: serde_yaml_ng::Mapping = serde_yaml_ng::from_slice(bytes).map_err(malformed)?;
        match keys.get("version") {
            Some(version) if version.as_u64() == Some(1) => {}
            Some(version) => {
                let text = serde_yaml_ng::to_string(version).unwrap_or_default();
                return Err(Error::Version(text.trim().chars().take(64).collect()));
            }
            None => return Err(Error::Version("none".to_owned())),
        }
        if let Some(key) = NOT_YET.into_iter().find(|key| keys.contains_key(key)) {
            return Err(Error::NotSupported(key));
        }
        let document: Document = serde_yaml_ng::from_slice(bytes).map_err(malformed)?;
        document.check()?;
        let defaults = || SIGNATURE_TYPES.map(str::to_owned).to_vec();
        Ok(Self {
            digest_pin: document.require_digest_pin,
            artifact_types: document.artifact_types,
            annotations: document.require_annotations,
            signature: document.require_signature,
            signature_types: match document.signature_artifact_types {
                none if none.is_empty() => defaults(),
                some => some,
            },
            digest: Digest::of(bytes),
        })
    }

    /// Whether it asks for what is attached to an artifact, so that somebody has to list that.
    #[must_use]
    pub fn looks_at_attachments(&self) -> bool {
        self.signature
    }

    /// SHA-256 of the document's bytes: what is recorded and bound into a plan.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl Document {
    fn check(&self) -> Result<(), Error> {
        for (key, list) in [
            ("artifact_types", &self.artifact_types),
            ("require_annotations", &self.require_annotations),
            ("signature_artifact_types", &self.signature_artifact_types),
        ] {
            if list.iter().any(|entry| entry.trim().is_empty()) {
                return Err(Error::Blank(key));
            }
        }
        let requires = self.require_digest_pin
            || self.require_signature
            || !self.artifact_types.is_empty()
            || !self.require_annotations.is_empty();
        if requires {
            Ok(())
        } else {
            Err(Error::RequiresNothing)
        }
    }
}
