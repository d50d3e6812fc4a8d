//! How much content may be, and who said so.

use ptah_contract::manifest::{self, MAX_CONTENT_BYTES, MAX_FILE_BYTES, MAX_FILES};
use ptah_contract::source_policy::SourcePolicy;

use crate::Error;

/// Bounds on content. They start at the specification's and only ever get smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    files: Bound,
    bytes: Bound,
}

/// A bound, and the rule that it comes from where that is not the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    limit: u64,
    rule: Option<&'static str>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            files: Bound {
                limit: MAX_FILES as u64,
                rule: None,
            },
            bytes: Bound {
                limit: MAX_CONTENT_BYTES,
                rule: None,
            },
        }
    }
}

impl Limits {
    /// At most so many files, because `rule` of a source policy says so.
    #[must_use]
    pub fn max_files(mut self, limit: Option<u64>, rule: &'static str) -> Self {
        self.files.tighten(limit, rule);
        self
    }

    /// At most so many bytes together, because `rule` of a source policy says so.
    #[must_use]
    pub fn max_bytes(mut self, limit: Option<u64>, rule: &'static str) -> Self {
        self.bytes.tighten(limit, rule);
        self
    }

    /// At most so many bytes together, as if the specification said so: whoever asks has room for no more.
    #[must_use]
    pub fn at_most(mut self, bytes: u64) -> Self {
        self.bytes.limit = self.bytes.limit.min(bytes);
        self
    }

    /// What a source policy allows as well.
    #[must_use]
    pub fn under(self, policy: &SourcePolicy) -> Self {
        self.max_files(policy.max_files(), "content.maxFiles of the source policy")
            .max_bytes(policy.max_bytes(), "content.maxBytes of the source policy")
    }

    /// Most bytes of all files together.
    #[must_use]
    pub fn content_bytes(&self) -> u64 {
        self.bytes.limit
    }

    /// Most files.
    #[must_use]
    pub fn file_count(&self) -> u64 {
        self.files.limit
    }

    pub(super) fn files(&self, found: u64) -> Result<(), Error> {
        self.files.check("files", found)
    }

    pub(super) fn bytes(&self, path: &str, size: u64, total: u64) -> Result<(), Error> {
        if size > MAX_FILE_BYTES {
            return Err(Error::Manifest(manifest::Error::Limit {
                what: format!("bytes of {path:?}"),
                found: size,
                limit: MAX_FILE_BYTES,
            }));
        }
        self.bytes.check("bytes of all files", total)
    }
}

impl Bound {
    fn tighten(&mut self, limit: Option<u64>, rule: &'static str) {
        if let Some(limit) = limit
            && limit < self.limit
        {
            *self = Self {
                limit,
                rule: Some(rule),
            };
        }
    }

    fn check(&self, what: &'static str, found: u64) -> Result<(), Error> {
        if found <= self.limit {
            return Ok(());
        }
        let limit = self.limit;
        Err(match self.rule {
            Some(rule) => Error::Bound { rule, what, limit },
            None => Error::Manifest(manifest::Error::Limit {
                what: what.to_owned(),
                found,
                limit,
            }),
        })
    }
}
