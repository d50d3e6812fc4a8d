//! OCI artifacts as a source.
//!
//! Promises: a tag is asked for once, and everything after it goes by digest; every byte that is handed on gave the
//! digest that its manifest names; a credential goes to the registry that its owner granted it for, and to the token
//! realm that this registry names, over https; artifacts that are no desired state are refused by name before a layer
//! is fetched. Nothing is kept between two attempts.
//!
//! Assumes that the caller runs it on a tokio runtime, and drops the future or cancels the attempt to end it.

mod artifact;
mod blob;
mod challenge;
mod credentials;
mod docker_config;
mod error;
mod evidence;
mod layers;
mod link;
mod manifest;
mod reference;
mod referrers;
mod session;
mod shape;

pub use artifact::{describe, resolve, resolve_if_changed};
pub use credentials::{Credentials, grant_for};
pub use error::Error;
pub use evidence::EvidenceLimits;
pub use manifest::MAX_MANIFEST;
pub use reference::{Reference, Selector};
pub use shape::Family;

use ptah_contract::digest::Digest;

use crate::content::Limits;
use crate::net::Network;

/// What is asked for, and how it is reached.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which artifact.
    pub reference: Reference,
    /// How somebody wrote that, for what is recorded.
    pub requested: String,
    /// With this credential; none is anonymous.
    pub credentials: Option<Credentials>,
    /// Believing these roots beside the system's: a PEM bundle, byte for byte as its owner granted it.
    pub ca: Option<Vec<u8>>,
    /// Without TLS.
    pub plain_http: bool,
    /// Where connections may go.
    pub network: Network,
    /// How much content there may be.
    pub limits: Limits,
    /// What the artifact is for, when a Ptah artifact of the other family is to be refused.
    pub family: Option<Family>,
    /// How much is read of what is attached.
    pub evidence: EvidenceLimits,
    /// What the content has to be, in a later fetch.
    pub content_digest: Option<Digest>,
}

impl Request {
    /// Anonymous, over https, from anywhere, held to the specification's limits.
    #[must_use]
    pub fn new(reference: Reference) -> Self {
        Self {
            requested: reference.to_string(),
            reference,
            credentials: None,
            ca: None,
            plain_http: false,
            network: Network::any(),
            limits: Limits::default(),
            family: None,
            evidence: EvidenceLimits::default(),
            content_digest: None,
        }
    }
}
