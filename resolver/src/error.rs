//! Why a source cannot be used.

use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::manifest;

/// A refusal. Every one names the key, file or path that it is about.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A selected key is not there.
    #[error("key {0:?} is not in the ConfigMap")]
    MissingKey(String),
    /// A path, a collision, a limit, or nothing selected.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// A bound that is smaller than the specification's is exceeded.
    #[error("{what} exceed {limit}, the bound that {rule} sets")]
    Bound {
        /// Who set it.
        rule: &'static str,
        /// What was counted.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// A snapshot would not fit an object.
    #[error("files and manifest are {size} bytes together, a snapshot ConfigMap holds {limit}")]
    TooLarge {
        /// What there is.
        size: u64,
        /// What fits.
        limit: u64,
    },
    /// A file of a snapshot is missing or holds other bytes.
    #[error(
        "file {file:?} of the snapshot {problem}; delete the snapshot's ConfigMap, and it is written anew"
    )]
    SnapshotFile {
        /// The file's path.
        file: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The content is not the one that was asked for.
    #[error("the content has digest {found}, {wanted} was asked for")]
    OtherContent {
        /// What it gives.
        found: Digest,
        /// What it should give.
        wanted: Digest,
    },
    /// There is no such file or folder.
    #[error("path {0:?} does not exist")]
    Missing(String),
    /// Something in a folder is neither a file nor a folder.
    #[error("{0:?} is neither a regular file nor a folder")]
    NotAFile(String),
    /// A file name that is not UTF-8.
    #[error("{0:?} is not a UTF-8 name")]
    NotUtf8(String),
    /// The output folder must be empty.
    #[error("the output folder {0:?} is not empty")]
    NotEmpty(String),
    /// Reading or writing failed.
    #[error("{action} {path:?} failed: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    /// Stable name of the refusal.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingKey(_) => "missing_key",
            Self::Manifest(manifest::Error::Path { .. }) => "invalid_path",
            Self::Manifest(manifest::Error::Collision { .. }) => "path_collision",
            Self::Manifest(manifest::Error::Empty) => "nothing_selected",
            Self::Manifest(manifest::Error::Limit { .. }) => "content_limit",
            Self::Manifest(manifest::Error::Encoding(_)) => "invalid_manifest",
            Self::Bound { .. } => "source_policy_refused",
            Self::TooLarge { .. } => "snapshot_too_large",
            Self::SnapshotFile { .. } => "snapshot_altered",
            Self::OtherContent { .. } => "content_digest_mismatch",
            Self::Missing(_) => "path_not_found",
            Self::NotAFile(_) => "not_a_file",
            Self::NotUtf8(_) => "invalid_name",
            Self::NotEmpty(_) => "output_not_empty",
            Self::Io { .. } => "io_failed",
        }
    }

    /// Who can end it.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::MissingKey(_)
            | Self::Manifest(manifest::Error::Empty)
            | Self::Missing(_)
            | Self::NotAFile(_)
            | Self::NotUtf8(_)
            | Self::NotEmpty(_) => FailureClass::Input,
            Self::Manifest(_) | Self::Bound { .. } | Self::TooLarge { .. } | Self::OtherContent { .. } => {
                FailureClass::Refused
            }
            Self::SnapshotFile { .. } => FailureClass::Attention,
            Self::Io { .. } => FailureClass::Transient,
        }
    }

    /// As it crosses a process boundary.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let object = match self {
            Self::MissingKey(name) | Self::Missing(name) | Self::NotAFile(name) | Self::NotUtf8(name) => {
                Some(name.clone())
            }
            Self::SnapshotFile { file, .. } => Some(file.clone()),
            Self::Manifest(manifest::Error::Path { path, .. }) => Some(path.clone()),
            _ => None,
        };
        Failure {
            object,
            ..Failure::new(self.code(), self.class(), self.to_string())
        }
    }

    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { action, path, source }
    }
}
