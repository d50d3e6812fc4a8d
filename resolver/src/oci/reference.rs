//! `oci://host[:port]/repository[:tag][@digest]`.
//!
//! Grammar of repository, tag and digest: OCI distribution specification, "Pulling manifests"; digests are SHA-256
//! alone. Every spelling of Docker Hub is one registry, the one that answers.

use std::fmt;
use std::str::FromStr;

use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;

use crate::net::Authority;

/// The registry behind all names of Docker Hub.
const HUB: &str = "registry-1.docker.io";
/// Its other names, in references and in Docker configurations.
const HUB_NAMES: [&str; 4] = ["docker.io", "index.docker.io", "www.docker.io", HUB];
/// Docker Hub keeps what has no owner under this name.
const HUB_OWNER: &str = "library";
/// Longest host and repository together, as registries accept them.
const MAX_NAME: usize = 255;
/// What a reference without tag and digest means.
const DEFAULT_TAG: &str = "latest";

/// Why a text is no reference. The text itself is not repeated: a password may stand in it.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the reference is unusable: {0}")]
pub struct Error(&'static str);

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_reference"
    }

    /// The reference needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        FailureClass::Input
    }
}

/// Which manifest of a repository is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Whatever the registry says that this tag is now.
    Tag(String),
    /// Exactly these bytes, whatever tag stands beside it.
    Digest(Digest),
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => write!(f, "{digest}"),
        }
    }
}

/// A reference to an artifact in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    registry: Authority,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Reference {
    /// The authority that is really talked to.
    #[must_use]
    pub fn registry(&self) -> &Authority {
        &self.registry
    }

    /// The repository within the registry.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag that was written.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest that was written.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// What decides: the digest, then the tag, then `latest`.
    #[must_use]
    pub fn selector(&self) -> Selector {
        match (self.digest, &self.tag) {
            (Some(digest), _) => Selector::Digest(digest),
            (None, Some(tag)) => Selector::Tag(tag.clone()),
            (None, None) => Selector::Tag(DEFAULT_TAG.to_owned()),
        }
    }

    /// The same repository at this digest, without a tag: what every step after the first carries.
    #[must_use]
    pub fn pinned(&self, digest: Digest) -> Self {
        Self {
            tag: None,
            digest: Some(digest),
            ..self.clone()
        }
    }

    /// Whether this host name is one of Docker Hub's.
    pub(super) fn is_hub(host: &str) -> bool {
        HUB_NAMES.contains(&host)
    }

    /// The host of Docker Hub that answers.
    pub(super) fn hub() -> &'static str {
        HUB
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oci://{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (scheme, rest) = match text.split_once("://") {
            Some(("oci", rest)) => (true, rest),
            Some(_) => return Err(Error("its scheme is not oci")),
            None => (false, text),
        };
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(Error("it contains white space or a control character"));
        }
        if rest.contains(['?', '#', '\\', '%']) {
            return Err(Error("it contains one of ? # \\ %"));
        }
        let (host, rest) = rest.split_once('/').ok_or(Error("it has no repository"))?;
        if host.contains('@') {
            return Err(Error("it contains a user name"));
        }
        // Without the scheme, "team/app" could be a repository of some default registry. There is none.
        if !scheme && host != "localhost" && !host.contains(['.', ':', '[']) {
            return Err(Error(
                "it names no registry; write its host first, or the scheme oci:// before it",
            ));
        }
        let registry = registry(host)?;
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => {
                let digest = digest
                    .parse()
                    .map_err(|_| Error("its digest is not sha256: and 64 lower-case hex digits"))?;
                (rest, Some(digest))
            }
            None => (rest, None),
        };
        // The host's port is cut off already, so the one colon left begins a tag.
        let (path, tag) = match rest.split_once(':') {
            Some((path, tag)) if is_tag(tag) => (path, Some(tag.to_owned())),
            Some(_) => return Err(Error("its tag is not one that registries accept")),
            None => (rest, None),
        };
        if !path.split('/').all(is_component) {
            return Err(Error(
                "its repository is not lower-case letters, digits and single separators",
            ));
        }
        let repository = match registry.host() == HUB && !path.contains('/') {
            true => format!("{HUB_OWNER}/{path}"),
            false => path.to_owned(),
        };
        if registry.to_string().len() + 1 + repository.len() > MAX_NAME {
            return Err(Error("host and repository are longer than 255 bytes"));
        }
        Ok(Self {
            registry,
            repository,
            tag,
            digest,
        })
    }
}

/// The authority that answers for a host: Docker Hub's names lead to its registry.
pub(super) fn registry(host: &str) -> Result<Authority, Error> {
    let authority: Authority = host
        .parse()
        .map_err(|_| Error("its registry is not a host or host:port"))?;
    match (HUB_NAMES.contains(&authority.host()), authority.port()) {
        (true, None | Some(443)) => Authority::new(HUB, None),
        _ if authority.port() == Some(443) => Authority::new(authority.host(), None),
        _ => return Ok(authority),
    }
    .map_err(|_| Error("its registry is not a host or host:port"))
}

/// Letters and digits, with `.`, `_`, `__` or any number of `-` between them.
fn is_component(text: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = bytes.first().is_some_and(alphanumeric) && bytes.last().is_some_and(alphanumeric);
    let separators = bytes.split(alphanumeric).filter(|run| !run.is_empty());
    ends && separators
        .into_iter()
        .all(|run| matches!(run, b"." | b"_" | b"__") || run.iter().all(|byte| *byte == b'-'))
}

fn is_tag(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|first| word(*first))
        && bytes.len() <= 128
        && bytes
            .iter()
            .all(|byte| word(*byte) || matches!(byte, b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_reference_of_the_table_is_read_or_refused_as_the_table_says() {
        let mut count = 0;
        for line in include_str!("../../testdata/oci/references.txt").lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (text, expected) = line.split_once(" => ").unwrap();
            let text: String = serde_json::from_str(text).unwrap();
            let found = match text.parse::<Reference>() {
                Ok(reference) => format!(
                    "{} {} {}",
                    reference.registry(),
                    reference.repository(),
                    reference.selector()
                ),
                Err(error) => {
                    assert_eq!(
                        (error.code(), error.class()),
                        ("invalid_reference", FailureClass::Input)
                    );
                    format!("no {}", error.0)
                }
            };
            assert!(found.starts_with(expected), "{text}: {found}");
            count += 1;
        }
        assert!(count > 50, "{count}");
    }

    #[test]
    fn a_refusal_does_not_repeat_the_text() {
        let error = "oci://user:hunter2@registry.example/app"
            .parse::<Reference>()
            .unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }

    proptest! {
        #[test]
        fn what_parses_is_what_is_shown(text in "(oci://)?[a-z0-9.:@/_-]{0,60}") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string().parse::<Reference>().unwrap(), reference);
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,80}") {
            let _ = text.parse::<Reference>();
        }
    }
}
