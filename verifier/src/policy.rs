//! The policy document, version 1, read strictly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ptah_contract::artifact::{Attachments, COSIGN_SIGNATURE, SIGSTORE_BUNDLE};
use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use ptah_contract::failure::quoted;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::Error;
use crate::authority::{self, Authority, Flaw, Unbound};
use crate::root::{Root, RootReference, Trusted};
use crate::statement::SIGNATURE_PREDICATE;

/// Largest document that is read, in bytes: what fits a ConfigMap.
pub const MAX_POLICY_BYTES: usize = 1 << 20;

/// Entries of a list whose entries cost work for each signature.
pub(crate) const MAX_ENTRIES: usize = 16;

/// Trusted roots that a policy may name.
pub(crate) const MAX_ROOTS: usize = 8;

/// What counts as a signature unless the policy says otherwise: Sigstore's and Notary's attachments.
const SIGNATURE_TYPES: [&str; 3] = [
    COSIGN_SIGNATURE,
    "application/vnd.cncf.notary.signature",
    "application/vnd.dev.sigstore.bundle.v0.3+json",
];

/// A document that is understood, whose trusted roots are yet to be read.
#[derive(Clone, Debug)]
pub struct PolicyDocument {
    plain: Plain,
    signatures: Vec<Unbound>,
    authorities: Vec<Unbound>,
    attestations: Vec<Attestation>,
    bytes: Digest,
}

/// A policy that requires something.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) plain: Plain,
    /// Any one of them has to have signed the artifact; empty for nobody in particular.
    pub(crate) signatures: Vec<Authority>,
    /// Those that are named by attestations alone.
    pub(crate) authorities: Vec<Authority>,
    /// Each of them has to be there.
    pub(crate) attestations: Vec<Attestation>,
    digest: Digest,
}

/// The requirements that need no cryptography.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub digest_pin: bool,
    /// Empty for any.
    pub artifact_types: Vec<String>,
    pub annotations: Vec<String>,
    pub signature: bool,
    pub signature_types: Vec<String>,
}

/// A statement about the artifact that has to be there.
#[derive(Clone, Debug)]
pub(crate) struct Attestation {
    pub predicate_type: String,
    /// Names of authorities, each of which has to have made it.
    pub authorities: Vec<String>,
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
    #[serde(default, deserialize_with = "given")]
    signatures: Vec<authority::Document>,
    #[serde(default, deserialize_with = "given")]
    authorities: Vec<authority::Document>,
    #[serde(default, deserialize_with = "given")]
    attestations: Vec<AttestationDocument>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttestationDocument {
    predicate_type: String,
    authorities: Vec<String>,
}

/// `artifact_types:` with nothing behind it means none, as it does in Go.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl PolicyDocument {
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
        let document: Document = serde_yaml_ng::from_slice(bytes).map_err(malformed)?;
        for (key, entries) in document.lists() {
            // Whoever writes the key wants somebody's signature; no list of nobody is what was meant.
            if entries == 0 && keys.contains_key(key) {
                return Err(Error::Empty(key));
            }
            if entries > MAX_ENTRIES {
                return Err(Error::TooMany(key));
            }
        }
        document.check()?;
        let mut names = BTreeSet::new();
        let signatures = authorities("signatures", document.signatures, &mut names)?;
        let authorities = authorities("authorities", document.authorities, &mut names)?;
        let attestations: Vec<Attestation> = document
            .attestations
            .into_iter()
            .map(|one| one.read(&names))
            .collect::<Result<_, _>>()?;
        let named: BTreeSet<&String> = attestations.iter().flat_map(|one| &one.authorities).collect();
        // Believing somebody of whom nothing is asked is a mistake in writing the policy.
        if let Some(idle) = authorities
            .iter()
            .find(|authority| !named.contains(&authority.name))
        {
            return Err(flawed(
                "authorities",
                &idle.name,
                "no attestation names it".to_owned(),
            ));
        }
        let read = Self {
            plain: Plain {
                digest_pin: document.require_digest_pin,
                artifact_types: document.artifact_types,
                annotations: document.require_annotations,
                signature: document.require_signature,
                signature_types: match document.signature_artifact_types {
                    none if none.is_empty() => SIGNATURE_TYPES.map(str::to_owned).to_vec(),
                    some => some,
                },
            },
            signatures,
            authorities,
            attestations,
            bytes: Digest::of(bytes),
        };
        match read.roots().len() {
            0..=MAX_ROOTS => Ok(read),
            _ => Err(Error::TooManyRoots),
        }
    }

    /// The trusted roots that it names, each once, in order.
    #[must_use]
    pub fn roots(&self) -> BTreeSet<&RootReference> {
        self.unbound().filter_map(Unbound::root).collect()
    }

    fn unbound(&self) -> impl Iterator<Item = &Unbound> {
        self.signatures.iter().chain(&self.authorities)
    }

    /// What is recorded and bound into a plan: the SHA-256 of the document's bytes; where it names trusted roots, of
    /// the canonical JSON `{"policy":<hex>,"roots":[{"digest":…,"key":…,"name":…,"uid":…},…]}`, by name and key.
    ///
    /// # Errors
    /// When a root is missing.
    pub fn digest(&self, given: &[Root]) -> Result<Digest, Error> {
        let roots: Vec<_> = self
            .roots()
            .into_iter()
            .map(|reference| root(given, reference).map(Root::bound))
            .collect::<Result<_, _>>()?;
        if roots.is_empty() {
            return Ok(self.bytes);
        }
        let whole = json!({"policy": self.bytes.hex(), "roots": roots});
        canonical::digest(&whole).map_err(|error| Error::Malformed(error.to_string()))
    }

    /// The policy with the roots that it names. Others that are given are left alone.
    ///
    /// # Errors
    /// When one is missing, or is none.
    pub fn bind(self, given: &[Root]) -> Result<Policy, Error> {
        let digest = self.digest(given)?;
        let mut roots = BTreeMap::new();
        for reference in self.roots() {
            let root = root(given, reference)?;
            let trusted = Trusted::parse(&root.bytes).map_err(|what| Error::Root {
                reference: reference.to_string(),
                what,
            })?;
            roots.insert(Some(reference.clone()), Arc::new(trusted));
        }
        if self.unbound().any(Unbound::needs_public_good) {
            let trusted = Trusted::public_good().map_err(|what| Error::Root {
                reference: "the public good instance".to_owned(),
                what,
            })?;
            roots.insert(None, trusted);
        }
        let bind = |list: &'static str, unbound: Vec<Unbound>| -> Result<Vec<Authority>, Error> {
            let unbound = unbound.into_iter();
            unbound
                .map(|one| {
                    let name = one.name.clone();
                    one.bind(&roots).map_err(|what| flawed(list, &name, what))
                })
                .collect()
        };
        Ok(Policy {
            signatures: bind("signatures", self.signatures)?,
            authorities: bind("authorities", self.authorities)?,
            plain: self.plain,
            attestations: self.attestations,
            digest,
        })
    }
}

impl Policy {
    /// Reads a document of version 1 that names no trusted root of its own.
    ///
    /// # Errors
    /// As [`PolicyDocument::parse`] and [`PolicyDocument::bind`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        PolicyDocument::parse(bytes)?.bind(&[])
    }

    /// What it asks about an artifact's attachments, so that somebody fetches that and no more.
    #[must_use]
    pub fn attachments(&self) -> Attachments {
        if !self.signatures.is_empty() || !self.attestations.is_empty() {
            Attachments::Read
        } else if self.plain.signature {
            Attachments::Listed
        } else {
            Attachments::LeftOut
        }
    }

    /// As [`PolicyDocument::digest`].
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

fn root<'a>(given: &'a [Root], reference: &RootReference) -> Result<&'a Root, Error> {
    let mut given = given.iter();
    given
        .find(|root| root.reference == *reference)
        .ok_or_else(|| Error::RootMissing(reference.clone()))
}

fn authorities(
    list: &'static str,
    documents: Vec<authority::Document>,
    names: &mut BTreeSet<String>,
) -> Result<Vec<Unbound>, Error> {
    let documents = documents.into_iter();
    documents
        .map(|document| {
            let name = document.name.clone();
            if !names.insert(name.clone()) {
                return Err(flawed(list, &name, "another authority has this name".to_owned()));
            }
            document.read().map_err(|flaw| match flaw {
                Flaw::Text(what) => flawed(list, &name, what),
                Flaw::Unsupported(what) => Error::NotSupported {
                    list,
                    name: quoted(&name),
                    what,
                },
            })
        })
        .collect()
}

fn flawed(list: &'static str, name: &str, what: String) -> Error {
    Error::Authority {
        list,
        name: quoted(name),
        what,
    }
}

impl AttestationDocument {
    fn read(self, names: &BTreeSet<String>) -> Result<Attestation, Error> {
        let flawed = |what: String| {
            Err(Error::Attestation {
                predicate_type: quoted(&self.predicate_type),
                what,
            })
        };
        if self.predicate_type == SIGNATURE_PREDICATE {
            return flawed("a statement of this type is a signature; ask for it under signatures".to_owned());
        }
        if self.authorities.is_empty() {
            return flawed("it names no authorities: without one, everybody's statement would do".to_owned());
        }
        let distinct: BTreeSet<&String> = self.authorities.iter().collect();
        if distinct.len() != self.authorities.len() {
            return flawed("it names an authority twice".to_owned());
        }
        if let Some(unknown) = self.authorities.iter().find(|name| !names.contains(*name)) {
            return flawed(format!(
                "there is no authority {:?} under signatures or authorities",
                quoted(unknown)
            ));
        }
        Ok(Attestation {
            predicate_type: self.predicate_type,
            authorities: self.authorities,
        })
    }
}

impl Document {
    /// The lists that ask for cryptography, and how long each is.
    fn lists(&self) -> [(&'static str, usize); 3] {
        [
            ("signatures", self.signatures.len()),
            ("authorities", self.authorities.len()),
            ("attestations", self.attestations.len()),
        ]
    }

    fn check(&self) -> Result<(), Error> {
        let predicate_types: Vec<String> = self
            .attestations
            .iter()
            .map(|one| one.predicate_type.clone())
            .collect();
        for (key, list) in [
            ("artifact_types", &self.artifact_types),
            ("require_annotations", &self.require_annotations),
            ("signature_artifact_types", &self.signature_artifact_types),
            ("attestations", &predicate_types),
        ] {
            if list.iter().any(|entry| entry.trim().is_empty()) {
                return Err(Error::Blank(key));
            }
        }
        let requires = self.require_digest_pin
            || self.require_signature
            || !self.artifact_types.is_empty()
            || !self.require_annotations.is_empty()
            || !self.signatures.is_empty()
            || !self.attestations.is_empty();
        if requires {
            Ok(())
        } else {
            Err(Error::RequiresNothing)
        }
    }
}

/// Whether an attachment of this listed type is a Sigstore bundle.
pub(crate) fn is_bundle(artifact_type: &str) -> bool {
    artifact_type.starts_with(SIGSTORE_BUNDLE)
}
