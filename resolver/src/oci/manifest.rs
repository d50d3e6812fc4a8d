//! Manifests and indexes as registries hand them out, read strictly enough that two programs agree on what they mean.
//!
//! Promises: a document that is an index to one reader and a manifest to another is refused; a media type that is said
//! twice is said alike; `urls` of a descriptor, which would send us anywhere, are never looked at. Assumes bytes that
//! already gave their digest.

use std::collections::BTreeMap;

use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Largest manifest that is read, in bytes.
pub const MAX_MANIFEST: u64 = 4 << 20;

/// Longest media type: a type and a subtype of 127 bytes each (RFC 6838, section 4.2).
const MAX_MEDIA_TYPE: usize = 255;

pub(super) const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(super) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const SCHEMA_1: [&str; 2] = [
    "application/vnd.docker.distribution.manifest.v1+prettyjws",
    "application/vnd.docker.distribution.manifest.v1+json",
];

/// Everything that a registry may answer with: one that holds something else must not pretend that nothing is there.
pub(super) const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v1+prettyjws;q=0.1, \
    application/vnd.docker.distribution.manifest.v1+json;q=0.1";

/// Why a document is no manifest that is followed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Not JSON of the expected form.
    #[error("the manifest cannot be read: {0}")]
    Malformed(String),
    /// Docker's first format, whose digest does not cover what it names.
    #[error("the manifest is of schema 1, which is not read; push it again with a newer client")]
    SchemaOne,
    /// Body and header, or the body's own parts, do not agree.
    #[error("the manifest says {first:?} and {second:?} of itself")]
    Conflict {
        /// What it says in one place.
        first: String,
        /// And in another.
        second: String,
    },
    /// Another kind of document.
    #[error("the manifest has media type {0:?}, which is not read")]
    MediaType(String),
    /// A digest that is not SHA-256.
    #[error("the manifest names the digest {0:?}; only sha256 is read")]
    Algorithm(String),
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "manifest_malformed",
            Self::SchemaOne => "manifest_schema_1",
            Self::Conflict { .. } => "manifest_conflict",
            Self::MediaType(_) => "manifest_media_type",
            Self::Algorithm(_) => "digest_algorithm",
        }
    }

    /// A rule said no.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        FailureClass::Refused
    }
}

/// A blob or a manifest by what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// The artifact type that an index says of it.
    pub artifact_type: Option<String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

/// One artifact's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// What kind of artifact it says it is.
    pub artifact_type: Option<String>,
    /// The configuration.
    pub config: Descriptor,
    /// The layers, in their order.
    pub layers: Vec<Descriptor>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

impl Manifest {
    /// The type, or the configuration's media type that stood for it before OCI 1.1.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.artifact_type.as_deref().unwrap_or(&self.config.media_type)
    }
}

/// What a registry answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// One artifact.
    Manifest(Manifest),
    /// A list of manifests.
    Index(Vec<Descriptor>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    schema_version: Option<u64>,
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Option<RawDescriptor>,
    layers: Option<Vec<RawDescriptor>>,
    manifests: Option<Vec<RawDescriptor>>,
    annotations: Option<BTreeMap<String, String>>,
    fs_layers: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDescriptor {
    media_type: String,
    digest: String,
    size: u64,
    artifact_type: Option<String>,
    annotations: Option<BTreeMap<String, String>>,
}

impl TryFrom<RawDescriptor> for Descriptor {
    type Error = Error;

    fn try_from(raw: RawDescriptor) -> Result<Self, Error> {
        let digest = raw
            .digest
            .parse()
            .map_err(|_| Error::Algorithm(short(&raw.digest)))?;
        Ok(Self {
            media_type: media_type(raw.media_type)?,
            digest,
            size: raw.size,
            artifact_type: artifact_type(raw.artifact_type)?,
            annotations: raw.annotations.unwrap_or_default(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Manifest,
    Index,
}

impl Document {
    /// Reads a document; `content_type` is what the registry said that it is.
    ///
    /// # Errors
    /// When it is none, or can be read in two ways.
    pub fn read(bytes: &[u8], content_type: Option<&str>) -> Result<Self, Error> {
        let raw: Raw =
            serde_json::from_slice(bytes).map_err(|error| Error::Malformed(short(&error.to_string())))?;
        let said = content_type.map(|value| value.split(';').next().unwrap_or_default().trim());
        let said = said.filter(|said| is_known(said));
        let one = |text: Option<&str>| text.is_some_and(|text| SCHEMA_1.contains(&text));
        if raw.schema_version == Some(1)
            || raw.fs_layers.is_some()
            || one(raw.media_type.as_deref())
            || one(said)
        {
            return Err(Error::SchemaOne);
        }
        if raw.schema_version != Some(2) {
            return Err(Error::Malformed("its schemaVersion is not 2".to_owned()));
        }
        let own = raw.media_type.as_deref().filter(|text| !text.is_empty());
        if let (Some(own), Some(said)) = (own, said)
            && own != said
        {
            return Err(conflict(own, said));
        }
        let form = raw.form(own.or(said))?;
        match form {
            Form::Index => {
                let manifests = raw.manifests.unwrap_or_default();
                let manifests: Result<_, _> = manifests.into_iter().map(Descriptor::try_from).collect();
                Ok(Self::Index(manifests?))
            }
            Form::Manifest => {
                let missing = |what: &str| Error::Malformed(format!("it has no {what}"));
                let layers = raw.layers.ok_or_else(|| missing("layers"))?;
                let layers: Result<_, _> = layers.into_iter().map(Descriptor::try_from).collect();
                Ok(Self::Manifest(Manifest {
                    artifact_type: artifact_type(raw.artifact_type)?,
                    config: raw.config.ok_or_else(|| missing("config"))?.try_into()?,
                    layers: layers?,
                    annotations: raw.annotations.unwrap_or_default(),
                }))
            }
        }
    }
}

impl Raw {
    /// What it is by its name, else by its shape; its shape may not speak against its name.
    fn form(&self, media_type: Option<&str>) -> Result<Form, Error> {
        let index = self.manifests.is_some();
        let manifest = self.layers.is_some() || self.config.is_some();
        if index && manifest {
            return Err(conflict("manifests", "layers"));
        }
        let named = match media_type {
            Some(OCI_MANIFEST | DOCKER_MANIFEST) => Some(Form::Manifest),
            Some(OCI_INDEX | DOCKER_INDEX) => Some(Form::Index),
            Some(other) => return Err(Error::MediaType(short(other))),
            None => None,
        };
        match (named, index, manifest) {
            (Some(Form::Manifest), true, _) => Err(conflict(media_type.unwrap_or_default(), "manifests")),
            (Some(Form::Index), _, true) => Err(conflict(media_type.unwrap_or_default(), "layers")),
            (Some(form), _, _) => Ok(form),
            (None, true, _) => Ok(Form::Index),
            (None, _, true) => Ok(Form::Manifest),
            (None, false, false) => Err(Error::Malformed("it has neither layers nor manifests".to_owned())),
        }
    }
}

fn media_type(text: String) -> Result<String, Error> {
    match text.len() {
        0..=MAX_MEDIA_TYPE => Ok(text),
        _ => Err(Error::Malformed(
            "a media type is longer than 255 bytes".to_owned(),
        )),
    }
}

fn artifact_type(text: Option<String>) -> Result<Option<String>, Error> {
    text.filter(|text| !text.is_empty()).map(media_type).transpose()
}

/// As much of what somebody else wrote as a message repeats.
pub(super) fn short(text: &str) -> String {
    text.chars().take(128).collect()
}

fn conflict(first: &str, second: &str) -> Error {
    Error::Conflict {
        first: short(first),
        second: short(second),
    }
}

/// Media types that say what a document is; `application/json` and the like say nothing.
fn is_known(media_type: &str) -> bool {
    [OCI_MANIFEST, OCI_INDEX, DOCKER_MANIFEST, DOCKER_INDEX].contains(&media_type)
        || SCHEMA_1.contains(&media_type)
}

/// Whether this is the media type of an index.
pub(super) fn is_index(media_type: &str) -> bool {
    matches!(media_type, OCI_INDEX | DOCKER_INDEX)
}
