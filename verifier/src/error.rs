//! Why a document is no policy, and who can end it.

use ptah_contract::failure::FailureClass;

use crate::policy::{MAX_ENTRIES, MAX_ROOTS};
use crate::root::RootReference;

/// Why a document is no policy.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Not YAML, an unknown key, a key twice, or a value of another type.
    #[error("the verification policy cannot be read: {0}")]
    Malformed(String),
    /// Another version, or none.
    #[error("the verification policy has version {0}, only version 1 is known")]
    Version(String),
    /// Nothing is required, so it would verify nothing.
    #[error("the verification policy requires nothing")]
    RequiresNothing,
    /// An entry without a word.
    #[error("the verification policy's {0} has a blank entry")]
    Blank(&'static str),
    /// A list that asks for somebody, and names nobody.
    #[error("the verification policy's {0} names nobody; leave the key out, or name who is believed")]
    Empty(&'static str),
    /// A list that is longer than is evaluated.
    #[error("the verification policy's {0} has more than {MAX_ENTRIES} entries")]
    TooMany(&'static str),
    /// More trusted roots than a Pod is given.
    #[error("the verification policy names more than {MAX_ROOTS} trusted roots")]
    TooManyRoots,
    /// An authority that nobody could be.
    #[error("the verification policy's {list}, authority {name:?}: {what}")]
    Authority {
        /// The list it stands in.
        list: &'static str,
        /// Its name, as far as it is one.
        name: String,
        /// What to write otherwise.
        what: String,
    },
    /// An authority whose signatures nobody here can evaluate.
    #[error("the verification policy's {list}, authority {name:?}: {what}")]
    NotSupported {
        /// The list it stands in.
        list: &'static str,
        /// Its name.
        name: String,
        /// What is not evaluated.
        what: String,
    },
    /// An attestation that nothing could satisfy.
    #[error("the verification policy's attestations, {predicate_type:?}: {what}")]
    Attestation {
        /// What is attested.
        predicate_type: String,
        /// What to write otherwise.
        what: String,
    },
    /// A trusted root that is named and was not given.
    #[error("the verification policy's trusted root, {0}, is not there")]
    RootMissing(RootReference),
    /// A trusted root that nothing can be held to.
    #[error("the verification policy's trusted root, {reference}: {what}")]
    Root {
        /// Where it stands; the shipped one has no place.
        reference: String,
        /// What is wrong with it, or what it lacks.
        what: String,
    },
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "verification_policy_malformed",
            Self::Version(_) => "verification_policy_version",
            Self::NotSupported { .. } => "verification_policy_unsupported",
            Self::RequiresNothing => "verification_policy_requires_nothing",
            Self::Blank(_) => "verification_policy_blank_entry",
            Self::Empty(_) => "verification_policy_empty",
            Self::TooMany(_) | Self::TooManyRoots => "verification_policy_too_many",
            Self::Authority { .. } => "verification_policy_authority",
            Self::Attestation { .. } => "verification_policy_attestation",
            Self::RootMissing(_) => "trusted_root_missing",
            Self::Root { .. } => "trusted_root_invalid",
        }
    }

    /// What cannot be evaluated is refused; the rest needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::NotSupported { .. } => FailureClass::Refused,
            _ => FailureClass::Input,
        }
    }
}
