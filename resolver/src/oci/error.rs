//! Why an artifact cannot be used, and who can end that.

use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};

use super::{credentials, manifest, reference, shape};
use crate::{archive, net};

/// A failure. Never holds a credential, or text that a registry wrote but media types, titles and digests.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The reference.
    #[error(transparent)]
    Reference(#[from] reference::Error),
    /// The credential or its grants.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// The network.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// The manifest.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// The kind of artifact.
    #[error(transparent)]
    Shape(#[from] shape::Error),
    /// The content.
    #[error(transparent)]
    Content(#[from] crate::Error),
    /// An archive in a layer.
    #[error("layer {layer}: {source}")]
    Archive {
        /// The layer's digest.
        layer: Digest,
        /// What is wrong with it.
        source: archive::Error,
    },
    /// Plain http and a CA at once.
    #[error("plain http has no certificate, so it cannot go with a CA bundle")]
    PlainHttpWithCa,
    /// The registry has no such tag or digest, or none that this credential may see.
    #[error("{registry} has no {what} {name:?}")]
    NotFound {
        /// Which registry.
        registry: String,
        /// Manifest, or blob.
        what: &'static str,
        /// Its name within the registry.
        name: String,
    },
    /// A credential is asked for, and there is none.
    #[error("{registry} asks for a credential, and the source has none")]
    CredentialMissing {
        /// Which registry.
        registry: String,
    },
    /// The credential is not taken.
    #[error("{host} does not accept the credential")]
    CredentialRejected {
        /// Who: the registry, or its token realm.
        host: String,
    },
    /// The credential is of a kind that is not asked for.
    #[error("{registry} asks for {asked}, and the credential is {given}")]
    CredentialUnsuited {
        /// Which registry.
        registry: String,
        /// What it asks for.
        asked: &'static str,
        /// What there is.
        given: &'static str,
    },
    /// The request is not allowed, whoever asks.
    #[error("{host} denies access to {repository}")]
    Denied {
        /// Who denies it.
        host: String,
        /// To what.
        repository: String,
    },
    /// A challenge that nobody understands.
    #[error("{registry} asks for authentication in a way that is not known")]
    Challenge {
        /// Which registry.
        registry: String,
    },
    /// A realm that a credential may not be sent to.
    #[error("the token realm of {registry} {problem}")]
    Realm {
        /// Which registry named it.
        registry: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A realm's answer that holds no token.
    #[error("the token realm {host} answered without a usable token")]
    Token {
        /// Which realm.
        host: String,
    },
    /// A manifest that is larger than any.
    #[error("the manifest {name:?} of {registry} is larger than {limit} bytes")]
    ManifestTooLarge {
        /// Which registry.
        registry: String,
        /// Which manifest.
        name: String,
        /// How large one may be.
        limit: u64,
    },
    /// Bytes that are not those that were asked for, or that the registry said they are.
    #[error("{what} of {registry} has digest {found}, {wanted} was promised")]
    OtherDigest {
        /// Manifest, blob or archive.
        what: String,
        /// Which registry.
        registry: String,
        /// What the bytes give.
        found: Digest,
        /// What they should give.
        wanted: Digest,
    },
    /// More or fewer bytes than the manifest says.
    #[error("{what} of {registry} has {found} bytes, its descriptor says {wanted}")]
    OtherSize {
        /// Manifest or blob.
        what: String,
        /// Which registry.
        registry: String,
        /// How many there are, as far as they were read.
        found: u64,
        /// How many there should be.
        wanted: u64,
    },
    /// The body ended before the blob did.
    #[error("the blob {digest} of {registry} ended after {found} of {wanted} bytes")]
    CutShort {
        /// Which blob.
        digest: Digest,
        /// Which registry.
        registry: String,
        /// How many came.
        found: u64,
        /// How many should have come.
        wanted: u64,
    },
    /// An index with no manifest, or with several.
    #[error("the index {digest} lists {count} manifests; exactly one is followed")]
    IndexCount {
        /// Which index.
        digest: Digest,
        /// How many it lists.
        count: usize,
    },
    /// An index within an index.
    #[error("the index {digest} lists another index, which is not followed")]
    NestedIndex {
        /// The outer one.
        digest: Digest,
    },
    /// What is attached is more than is read.
    #[error("{registry} lists more than {limit} attachments of {digest}")]
    TooManyReferrers {
        /// Which registry.
        registry: String,
        /// Of which artifact.
        digest: Digest,
        /// How many are read.
        limit: usize,
    },
    /// What may be signatures is more than is read here.
    #[error("what is attached to the artifact is more than is read here: {0}")]
    EvidenceBudget(String),
    /// A list of attachments that cannot be read.
    #[error("{registry} lists the attachments of {digest} in a form that cannot be read")]
    Referrers {
        /// Which registry.
        registry: String,
        /// Of which artifact.
        digest: Digest,
    },
    /// A part of this program ended without a word.
    #[error("taking in the content ended unexpectedly")]
    Unpacking,
}

impl From<tokio::task::JoinError> for Error {
    /// What the thread panicked with is in the log; it may be text of the other side.
    fn from(_: tokio::task::JoinError) -> Self {
        Self::Unpacking
    }
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Reference(error) => error.code(),
            Self::Credentials(error) => error.code(),
            Self::Net(error) => error.code(),
            Self::Manifest(error) => error.code(),
            Self::Shape(error) => error.code(),
            Self::Content(error) => error.code(),
            Self::Archive { source, .. } => source.code(),
            Self::PlainHttpWithCa => "plain_http_with_ca",
            Self::NotFound { .. } => "not_found",
            Self::CredentialMissing { .. } => "authentication_required",
            Self::CredentialRejected { .. } => "authentication_failed",
            Self::CredentialUnsuited { .. } => "credential_unsuited",
            Self::Denied { .. } => "access_denied",
            Self::Challenge { .. } => "challenge_unknown",
            Self::Realm { .. } => "realm_refused",
            Self::Token { .. } => "token_malformed",
            Self::ManifestTooLarge { .. } => "manifest_too_large",
            Self::OtherDigest { .. } => "digest_mismatch",
            Self::OtherSize { .. } => "size_mismatch",
            Self::CutShort { .. } => "cut_short",
            Self::IndexCount { .. } => "index_ambiguous",
            Self::NestedIndex { .. } => "index_nested",
            Self::TooManyReferrers { .. } => "too_many_referrers",
            Self::EvidenceBudget(_) => "evidence_budget",
            Self::Referrers { .. } => "referrers_malformed",
            Self::Unpacking => "unpacking_failed",
        }
    }

    /// Who can end it.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Reference(error) => error.class(),
            Self::Credentials(error) => error.class(),
            Self::Net(error) => error.class(),
            Self::Manifest(error) => error.class(),
            Self::Shape(error) => error.class(),
            Self::Content(error) => error.class(),
            Self::Archive { source, .. } => source.class(),
            Self::CutShort { .. } => FailureClass::Transient,
            Self::PlainHttpWithCa
            | Self::NotFound { .. }
            | Self::CredentialMissing { .. }
            | Self::CredentialRejected { .. }
            | Self::CredentialUnsuited { .. }
            | Self::Denied { .. } => FailureClass::Input,
            Self::Realm { .. }
            | Self::IndexCount { .. }
            | Self::NestedIndex { .. }
            | Self::TooManyReferrers { .. }
            | Self::EvidenceBudget(_) => FailureClass::Refused,
            Self::Challenge { .. }
            | Self::Token { .. }
            | Self::ManifestTooLarge { .. }
            | Self::OtherDigest { .. }
            | Self::OtherSize { .. }
            | Self::Referrers { .. } => FailureClass::Attention,
            Self::Unpacking => FailureClass::Internal,
        }
    }

    /// The manifest, blob or file that it is about.
    fn object(&self) -> Option<String> {
        match self {
            Self::NotFound { name, .. } | Self::ManifestTooLarge { name, .. } => Some(name.clone()),
            Self::OtherDigest { what, .. } | Self::OtherSize { what, .. } => Some(what.clone()),
            Self::Archive { layer: digest, .. }
            | Self::CutShort { digest, .. }
            | Self::IndexCount { digest, .. }
            | Self::NestedIndex { digest }
            | Self::TooManyReferrers { digest, .. }
            | Self::Referrers { digest, .. } => Some(digest.to_string()),
            Self::Shape(shape::Error::PtahLayer { title, .. } | shape::Error::FolderForm { title, .. }) => {
                Some(title.clone())
            }
            _ => None,
        }
    }

    /// As it crosses a process boundary.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        if let Self::Content(error) = self {
            return error.to_failure();
        }
        Failure {
            object: self.object(),
            ..Failure::new(self.code(), self.class(), self.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No archive is known that makes the thread panic, so that one panics here by itself.
    #[tokio::test]
    async fn a_thread_that_ends_without_its_result_is_a_defect_of_this_program() {
        let ended = tokio::task::spawn_blocking(|| panic!("hunter2")).await;
        let failure = Error::from(ended.unwrap_err()).to_failure();
        let sentence = "taking in the content ended unexpectedly";
        assert_eq!(
            failure,
            Failure::new("unpacking_failed", FailureClass::Internal, sentence)
        );
    }
}
