//! Who is believed: a key, or whoever a certificate authority knows under an identity.

use std::collections::BTreeMap;
use std::sync::Arc;

use ptah_contract::failure::quoted;
use serde::{Deserialize, Deserializer};
use sigstore_types::Sha256Hash;

use crate::candidate::{Artifact, Candidate};
use crate::identity::{self, Identity};
use crate::key::{self, PublicKey};
use crate::policy::MAX_ENTRIES;
use crate::root::{RootReference, Trusted};

/// Longest name, which messages repeat.
const MAX_NAME: usize = 63;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub name: String,
    key: Option<String>,
    keyless: Option<KeylessDocument>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeylessDocument {
    #[serde(default, deserialize_with = "named")]
    trusted_root_from: Option<RootReference>,
    #[serde(default)]
    identities: Vec<identity::Document>,
}

/// Nothing behind the key is a mistake, and not the shipped root, which believes more people.
fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RootReference>, D::Error> {
    RootReference::deserialize(deserializer).map(Some)
}

/// An authority whose trusted root, if it has one, is yet to be read.
#[derive(Clone, Debug)]
pub(crate) struct Unbound {
    pub name: String,
    trust: UnboundTrust,
}

#[derive(Clone, Debug)]
enum UnboundTrust {
    Key(PublicKey),
    Keyless {
        /// The shipped root when none is named.
        root: Option<RootReference>,
        identities: Vec<Identity>,
    },
}

/// Who is believed.
#[derive(Clone, Debug)]
pub(crate) struct Authority {
    pub name: String,
    trust: Trust,
}

#[derive(Clone, Debug)]
enum Trust {
    Key(PublicKey),
    Keyless {
        root: Arc<Trusted>,
        identities: Vec<Identity>,
    },
}

/// What is wrong with an authority.
pub(crate) enum Flaw {
    /// What somebody has to write otherwise.
    Text(String),
    /// A kind of key that is not evaluated here.
    Unsupported(String),
}

impl Document {
    pub(crate) fn read(self) -> Result<Unbound, Flaw> {
        let well_formed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > MAX_NAME || !self.name.chars().all(well_formed) {
            return Err(Flaw::Text(format!(
                "its name is not of 1 to {MAX_NAME} letters, digits, '-', '_' and '.'"
            )));
        }
        let trust = match (self.key, self.keyless) {
            (Some(key), None) => UnboundTrust::Key(PublicKey::parse(&key).map_err(|error| match error {
                key::Error::Algorithm => Flaw::Unsupported(error.to_string()),
                error => Flaw::Text(error.to_string()),
            })?),
            (None, Some(keyless)) => keyless.read().map_err(Flaw::Text)?,
            (None, None) => return Err(Flaw::Text("it has neither key nor keyless".to_owned())),
            (Some(_), Some(_)) => return Err(Flaw::Text("it has both key and keyless".to_owned())),
        };
        Ok(Unbound {
            name: self.name,
            trust,
        })
    }
}

impl KeylessDocument {
    fn read(self) -> Result<UnboundTrust, String> {
        if self.identities.is_empty() {
            return Err(
                "its keyless names no identities: without one, everybody's signature would do".to_owned(),
            );
        }
        if self.identities.len() > MAX_ENTRIES {
            return Err(format!("its keyless names more than {MAX_ENTRIES} identities"));
        }
        let identities = self.identities.into_iter().enumerate();
        let identities = identities
            .map(|(at, one)| {
                one.read()
                    .map_err(|what| format!("its keyless.identities[{at}]: {what}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(UnboundTrust::Keyless {
            root: self.trusted_root_from,
            identities,
        })
    }
}

impl Unbound {
    /// The root that it names.
    pub(crate) fn root(&self) -> Option<&RootReference> {
        match &self.trust {
            UnboundTrust::Keyless { root, .. } => root.as_ref(),
            UnboundTrust::Key(_) => None,
        }
    }

    /// With its root, of those that were read; `None` is the shipped one.
    pub(crate) fn bind(
        self,
        roots: &BTreeMap<Option<RootReference>, Arc<Trusted>>,
    ) -> Result<Authority, String> {
        let trust = match self.trust {
            UnboundTrust::Key(key) => Trust::Key(key),
            UnboundTrust::Keyless { root, identities } => Trust::Keyless {
                root: roots.get(&root).cloned().ok_or("its trusted root is not here")?,
                identities,
            },
        };
        Ok(Authority {
            name: self.name,
            trust,
        })
    }

    /// Whether it needs the shipped root.
    pub(crate) fn needs_public_good(&self) -> bool {
        matches!(&self.trust, UnboundTrust::Keyless { root: None, .. })
    }
}

impl Authority {
    /// Whether it made this signature: who did, for people, or why it is not this authority's.
    pub(crate) fn made(&self, candidate: &Candidate<'_>, artifact: Artifact<'_>) -> Result<String, String> {
        match &self.trust {
            Trust::Key(key) => {
                candidate.made_with(key, artifact)?;
                Ok(format!("with its {} key", key.algorithm()))
            }
            Trust::Keyless { root, identities } => {
                let (bundle, content) = candidate.with_certificate()?;
                let signer = match content.or(artifact.bytes) {
                    Some(bytes) => root.signer(&bundle, bytes)?,
                    None => root.signer(&bundle, Sha256Hash::new(artifact.digest.bytes()))?,
                };
                let (issuer, subject) = (&signer.issuer, &signer.subject);
                if !identities.iter().any(|identity| identity.covers(issuer, subject)) {
                    return Err(format!(
                        "signed by {:?} of {:?}, whom this authority does not name",
                        quoted(subject),
                        quoted(issuer)
                    ));
                }
                Ok(format!(
                    "as {:?} of {:?} at {}",
                    quoted(subject),
                    quoted(issuer),
                    signer.at
                ))
            }
        }
    }
}
