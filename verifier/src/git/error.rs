//! Why keys or a policy cannot be used, and a commit not taken.

use ptah_contract::failure::FailureClass;

/// Why there is no policy to check with, or why a commit does not keep it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Nothing but blanks and comments.
    #[error("the keys are empty, so nobody would be trusted")]
    Empty,
    /// More than [`super::MAX_KEYS_BYTES`].
    #[error("the keys are larger than 1 MiB")]
    TooLarge,
    /// A private key, which has no place in a ConfigMap; nothing of it is repeated.
    #[error("line {line} of the keys begins a secret key; only public keys belong here")]
    SecretKey {
        /// Counted from 1; 0 in a file without lines.
        line: usize,
    },
    /// Something outside of the armored blocks, such as a line of `allowed_signers`.
    #[error(
        "line {line} of the keys is outside of a key block: OpenPGP keys and allowed signers cannot be mixed"
    )]
    Mixed {
        /// Counted from 1.
        line: usize,
    },
    /// A block that is no armored OpenPGP public key.
    #[error("the block at line {line} of the keys cannot be read: {problem}")]
    Block {
        /// Where the block begins, counted from 1; 0 in a file without lines.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// An OpenPGP key that is not understood whole.
    #[error("the OpenPGP key {key} cannot be used: {problem}")]
    OpenPgp {
        /// Its fingerprint.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A line that is no allowed signer.
    #[error("line {line} of the allowed signers cannot be used: {problem}")]
    AllowedSigner {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Something of `allowed_signers` that is known, and that nobody here can evaluate.
    #[error("line {line} of the allowed signers has {what}, which is not supported")]
    NotSupported {
        /// Counted from 1.
        line: usize,
        /// Its name.
        what: &'static str,
    },
    /// An entry of `committers` that is no e-mail address, and would never match.
    #[error("committers has {0:?}, which is no e-mail address")]
    Committer(String),
}

impl Error {
    /// Stable `snake_case` name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "git_keys_empty",
            Self::TooLarge => "git_keys_too_large",
            Self::SecretKey { .. } => "git_keys_secret",
            Self::Mixed { .. } => "git_keys_mixed",
            Self::Block { .. } | Self::OpenPgp { .. } | Self::AllowedSigner { .. } => "git_keys_malformed",
            Self::NotSupported { .. } => "git_keys_unsupported",
            Self::Committer(_) => "git_committers_malformed",
        }
    }

    /// What cannot be evaluated and what does not verify is refused; the rest needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::NotSupported { .. } => FailureClass::Refused,
            _ => FailureClass::Input,
        }
    }
}
