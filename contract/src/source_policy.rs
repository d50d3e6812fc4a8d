//! The source policy: where a ConfigMap or Git source may come from, and how much it may hold.
//!
//! Promises: a document that it does not understand whole is refused, and so is one that requires nothing; every
//! refusal names its rule. Pure: the caller reads the document and asks at the right moment (before a snapshot is
//! written, before a Job is made, before a commit is recorded).

use serde::Deserialize;

use crate::digest::Digest;
use crate::failure::FailureClass;
use crate::manifest::Manifest;

mod document;
mod pattern;

pub use pattern::HostPattern;

use document::{ConfigMapRules, ContentRules, Document, GitRules};

/// Largest document that is read, in bytes.
pub const MAX_POLICY_BYTES: usize = 64 << 10;

/// Why a document is no source policy.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Not YAML, an unknown key, a key twice, or a value of another type.
    #[error("the source policy cannot be read: {0}")]
    Malformed(String),
    /// Another version, or none.
    #[error("the source policy has version {0}, only version 1 is known")]
    Version(String),
    /// Nothing is required, so it would protect nothing.
    #[error("the source policy requires nothing")]
    RequiresNothing,
    /// A rule that nothing can satisfy, or that is no rule.
    #[error("the source policy's {field}: {problem}")]
    Rule {
        /// The rule's path in the document.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "source_policy_malformed",
            Self::Version(_) => "source_policy_version",
            Self::RequiresNothing => "source_policy_requires_nothing",
            Self::Rule { .. } => "source_policy_rule_invalid",
        }
    }

    /// The document needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        FailureClass::Input
    }
}

/// What a source policy says no to.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    /// The repository is on another host.
    #[error("git.hosts of the source policy does not list {host:?} (port {port})")]
    GitHost {
        /// The repository's host.
        host: String,
        /// The port that would be spoken to.
        port: u16,
    },
    /// Commit signatures are required, and the source asks for none.
    #[error("git.requireVerification of the source policy is set, and the source has no git.verification")]
    Unverified,
    /// The ConfigMap has another name.
    #[error("configMap.names of the source policy does not list {0:?}")]
    ConfigMapName(String),
    /// The ConfigMap is larger.
    #[error("configMap.maxBytes of the source policy is {limit}, the ConfigMap {name:?} holds {found} bytes")]
    ConfigMapBytes {
        /// The ConfigMap.
        name: String,
        /// What it holds.
        found: u64,
        /// What it may hold.
        limit: u64,
    },
    /// The selected files are larger together.
    #[error("content.maxBytes of the source policy is {limit}, the selected files hold {found} bytes")]
    ContentBytes {
        /// What they hold.
        found: u64,
        /// What they may hold.
        limit: u64,
    },
    /// More files are selected.
    #[error("content.maxFiles of the source policy is {limit}, {found} files are selected")]
    ContentFiles {
        /// How many there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
}

impl Refusal {
    /// The rule's path in the document.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::GitHost { .. } => "git.hosts",
            Self::Unverified => "git.requireVerification",
            Self::ConfigMapName(_) => "configMap.names",
            Self::ConfigMapBytes { .. } => "configMap.maxBytes",
            Self::ContentBytes { .. } => "content.maxBytes",
            Self::ContentFiles { .. } => "content.maxFiles",
        }
    }

    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "source_policy_refused"
    }

    /// A rule said no.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        FailureClass::Refused
    }
}

/// A source policy that requires something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePolicy {
    git: GitRules,
    config_map: ConfigMapRules,
    content: ContentRules,
    digest: Digest,
}

impl SourcePolicy {
    /// Reads a document of version 1.
    ///
    /// # Errors
    /// When it is not understood whole, or requires nothing.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let document = document::read(bytes)?;
        let Document {
            git,
            config_map,
            content,
            ..
        } = document;
        Ok(Self {
            git,
            config_map,
            content,
            digest: Digest::of(bytes),
        })
    }

    /// SHA-256 of the document's bytes: what is recorded beside a resolution and bound into a plan.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Asks whether a ConfigMap of this name and size may be a source.
    ///
    /// # Errors
    /// The rule that says no.
    pub fn check_config_map(&self, name: &str, bytes: u64) -> Result<(), Refusal> {
        if let Some(names) = &self.config_map.names
            && !names.iter().any(|pattern| pattern.covers(name))
        {
            return Err(Refusal::ConfigMapName(name.to_owned()));
        }
        match self.config_map.max_bytes {
            Some(limit) if bytes > limit => Err(Refusal::ConfigMapBytes {
                name: name.to_owned(),
                found: bytes,
                limit,
            }),
            _ => Ok(()),
        }
    }

    /// Asks whether a repository on this host and port may be a source.
    ///
    /// # Errors
    /// The rule that says no.
    pub fn check_git_host(&self, host: &str, port: u16) -> Result<(), Refusal> {
        match &self.git.hosts {
            Some(hosts) if !hosts.iter().any(|pattern| pattern.covers(host, port)) => Err(Refusal::GitHost {
                host: host.to_owned(),
                port,
            }),
            _ => Ok(()),
        }
    }

    /// Asks whether a Git source may go without a check of commit signatures.
    ///
    /// # Errors
    /// [`Refusal::Unverified`] when it may not, and `verified` is false.
    pub fn check_git_verification(&self, verified: bool) -> Result<(), Refusal> {
        if self.git.require_verification && !verified {
            return Err(Refusal::Unverified);
        }
        Ok(())
    }

    /// Asks whether these files may be selected.
    ///
    /// # Errors
    /// The rule that says no.
    pub fn check_content(&self, manifest: &Manifest) -> Result<(), Refusal> {
        let (files, bytes) = (manifest.files().len() as u64, manifest.total_bytes());
        match (self.content.max_files, self.content.max_bytes) {
            (Some(limit), _) if files > limit => Err(Refusal::ContentFiles { found: files, limit }),
            (_, Some(limit)) if bytes > limit => Err(Refusal::ContentBytes { found: bytes, limit }),
            _ => Ok(()),
        }
    }

    /// `content.maxFiles`, for whoever counts as it reads.
    #[must_use]
    pub fn max_files(&self) -> Option<u64> {
        self.content.max_files
    }

    /// `content.maxBytes`, for whoever counts as it reads.
    #[must_use]
    pub fn max_bytes(&self) -> Option<u64> {
        self.content.max_bytes
    }
}

#[cfg(test)]
mod tests;
