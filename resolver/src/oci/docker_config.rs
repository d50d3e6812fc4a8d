//! A Docker configuration, as a Secret of type `kubernetes.io/dockerconfigjson` holds it.
//!
//! Promises: of the keys that cover a repository the one with the longest path wins, on the borders of path parts, as
//! the kubelet chooses; every spelling of Docker Hub is one registry; no credential helper is run and no file is read.
//! Never repeats a part of the document in an error but the keys of `auths`, which are names of registries.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use ptah_contract::failure::FailureClass;
use ptah_contract::wildcard;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Reference;
use crate::net::Secret;

/// Largest document that is read.
const MAX_BYTES: usize = 1 << 20;
/// Docker writes padding; others leave it out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why a document gives no credential.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Not JSON of the expected form. What stands there is not repeated.
    #[error("the docker configuration cannot be read: {problem} at line {line}, column {column}")]
    Malformed {
        /// What kind of fault it is.
        problem: &'static str,
        /// Where.
        line: usize,
        /// Where in the line.
        column: usize,
    },
    /// Larger than any.
    #[error("the docker configuration is larger than 1 MiB")]
    TooLarge,
    /// Nothing covers the repository.
    #[error("the docker configuration has no entry for {registry}/{repository}")]
    NoEntry {
        /// The registry that is talked to.
        registry: String,
        /// The repository.
        repository: String,
    },
    /// The entry is empty because a program keeps the credential.
    #[error("the docker configuration leaves {0} to a credential helper, and none is run here")]
    Helper(String),
    /// Two entries cover the repository equally well and differ.
    #[error("the entries {first:?} and {second:?} of the docker configuration are one place and differ")]
    Ambiguous {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// The entry that covers the repository cannot be used.
    #[error("the entry {key:?} of the docker configuration {problem}")]
    Entry {
        /// Its key.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } | Self::TooLarge => "docker_config_malformed",
            Self::NoEntry { .. } => "docker_config_no_entry",
            Self::Helper(_) => "docker_config_helper",
            Self::Ambiguous { .. } => "docker_config_ambiguous",
            Self::Entry { .. } => "docker_config_entry",
        }
    }

    /// The Secret needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        FailureClass::Input
    }
}

/// What proves to a registry who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// A user and a password.
    Password {
        /// The user.
        username: Secret,
        /// The password.
        password: Secret,
    },
    /// A token that the realm exchanges for others.
    Identity(Secret),
    /// A token that the registry itself takes.
    Registry(Secret),
}

#[derive(Deserialize)]
struct Document {
    /// In their order, and twice when they stand there twice: then they have to agree.
    #[serde(default, deserialize_with = "pairs")]
    auths: Vec<(String, Entry)>,
    #[serde(default, rename = "credsStore")]
    creds_store: Option<String>,
    #[serde(default, rename = "credHelpers")]
    cred_helpers: Option<BTreeMap<String, IgnoredAny>>,
}

fn pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Entry)>, D::Error> {
    struct Pairs;
    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, Entry)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("entries by registry")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }
    deserializer.deserialize_any(Pairs)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
    registrytoken: Option<String>,
}

/// The credential for a repository.
///
/// # Errors
/// When the document is none, or holds no usable credential for it.
pub fn login(bytes: &[u8], reference: &Reference) -> Result<Login, Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::TooLarge);
    }
    let document: Document = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
    let covering = document.auths.iter().filter_map(|(key, entry)| {
        let place = Place::of(key);
        place.covers(reference).then_some((place.rank(), key, entry))
    });
    let mut covering: Vec<_> = covering.collect();
    covering.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let Some((rank, key, entry)) = covering.first() else {
        let helper = document
            .cred_helpers
            .unwrap_or_default()
            .keys()
            .any(|key| Place::of(key).covers(reference));
        let registry = reference.registry().to_string();
        return Err(
            if helper || document.creds_store.is_some_and(|store| !store.is_empty()) {
                Error::Helper(registry)
            } else {
                Error::NoEntry {
                    registry,
                    repository: reference.repository().to_owned(),
                }
            },
        );
    };
    let login = entry.login(key)?;
    for (other, second, entry) in &covering[1..] {
        if other == rank && entry.login(second).ok() != Some(login.clone()) {
            return Err(Error::Ambiguous {
                first: (*key).clone(),
                second: (*second).clone(),
            });
        }
    }
    Ok(login)
}

fn malformed(error: &serde_json::Error) -> Error {
    Error::Malformed {
        problem: match error.classify() {
            serde_json::error::Category::Syntax => "it is not JSON",
            serde_json::error::Category::Eof => "it ends early",
            serde_json::error::Category::Data | serde_json::error::Category::Io => {
                "a value is of another type, or a key stands twice"
            }
        },
        line: error.line(),
        column: error.column(),
    }
}

impl Entry {
    fn login(&self, key: &str) -> Result<Login, Error> {
        let refuse = |problem| {
            Err(Error::Entry {
                key: key.to_owned(),
                problem,
            })
        };
        let given = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
        if let Some(token) = given(&self.registrytoken) {
            // It is sent as it is, in a header; the other kinds are encoded.
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return refuse(
                    "has a registrytoken with white space or a character that a header cannot hold",
                );
            }
            return Ok(Login::Registry(Secret::new(token)));
        }
        if let Some(token) = given(&self.identitytoken) {
            return Ok(Login::Identity(Secret::new(token)));
        }
        let (username, password) = match (given(&self.username), given(&self.password), given(&self.auth)) {
            // Docker writes all three, of which `auth` is the one that it reads.
            (_, _, Some(auth)) => {
                let Some(text) = BASE64
                    .decode(auth.trim())
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                else {
                    return refuse("has an auth that is not base64 of text");
                };
                match text.trim_end_matches('\0').split_once(':') {
                    Some((user, password)) => (user.to_owned(), password.to_owned()),
                    None => return refuse("has an auth without a colon between user and password"),
                }
            }
            (Some(username), Some(password), None) => (username, password),
            (None, None, None) => return Err(Error::Helper(key.to_owned())),
            (Some(_), None, None) => return refuse("has a user and no password"),
            (None, Some(_), None) => return refuse("has a password and no user"),
        };
        if username.contains(':') {
            return refuse("has a colon in its user");
        }
        if username.is_empty() || password.is_empty() {
            return refuse("has an empty user or password");
        }
        Ok(Login::Password {
            username: Secret::new(username),
            password: Secret::new(password),
        })
    }
}

/// What a key of `auths` covers: `host`, `host/path`, or a URL, with `*` for any run of characters in a host's label.
struct Place {
    host: String,
    path: String,
}

impl Place {
    fn of(key: &str) -> Self {
        let key = key.split_once("://").map_or(key, |(_, rest)| rest);
        let (host, path) = key.split_once('/').unwrap_or((key, ""));
        let path = path.trim_matches('/');
        // What Docker Hub's key ends with is the version of an interface and not a repository.
        let path = match path.split_once('/') {
            Some(("v1" | "v2", rest)) => rest,
            None if matches!(path, "v1" | "v2") => "",
            _ => path,
        };
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix(":443").unwrap_or(&host);
        Self {
            host: if Reference::is_hub(host) {
                Reference::hub().to_owned()
            } else {
                host.to_owned()
            },
            path: path.to_owned(),
        }
    }

    fn covers(&self, reference: &Reference) -> bool {
        let host = reference.registry().to_string();
        let below = self.path.is_empty()
            || reference
                .repository()
                .strip_prefix(self.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below && host_matches(&self.host, &host)
    }

    /// The longest path, and an exact host before one with a star.
    fn rank(&self) -> (usize, bool) {
        let parts = self.path.split('/').filter(|part| !part.is_empty()).count();
        (parts, !self.host.contains('*'))
    }
}

fn host_matches(pattern: &str, host: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == host;
    }
    let (patterns, labels): (Vec<_>, Vec<_>) = (pattern.split('.').collect(), host.split('.').collect());
    patterns.len() == labels.len()
        && patterns
            .iter()
            .zip(&labels)
            .all(|(pattern, label)| wildcard::matches(pattern, label))
}

#[cfg(test)]
mod tests;
