//! What may be signatures in an attachment, by the media types of its layers: registries list attachments under other
//! types than their signers gave them.
//!
//! Promises: bounded, whatever lies attached; what is over the bounds is told as left out and never as absent.

use ptah_contract::artifact::{Attached, Body, COSIGN_SIGNATURE, Evidence, SIGSTORE_BUNDLE, SIMPLE_SIGNING};

use super::Error;
use super::blob::Blob;
use super::manifest::{Descriptor, Manifest};
use super::session::Session;

/// How much is read of what is attached to an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvidenceLimits {
    /// Attachments whose manifests are read.
    pub manifests: usize,
    /// Layers that are read.
    pub layers: usize,
    /// Largest layer that is read, in bytes: a statement about all of an image's packages may be long.
    pub layer_bytes: u64,
    /// Bytes of all layers together.
    pub bytes: u64,
    /// Whether what is over the bounds is left out; otherwise it is [`Error::EvidenceBudget`].
    pub rest_left_out: bool,
}

impl Default for EvidenceLimits {
    fn default() -> Self {
        Self {
            manifests: 256,
            layers: 128,
            layer_bytes: 4 << 20,
            bytes: 32 << 20,
            rest_left_out: true,
        }
    }
}

/// What may still be read of an artifact's attachments.
pub(super) struct Budget {
    limits: EvidenceLimits,
    manifests: usize,
    layers: usize,
    bytes: u64,
}

impl From<EvidenceLimits> for Budget {
    fn from(limits: EvidenceLimits) -> Self {
        Self {
            limits,
            manifests: limits.manifests,
            layers: limits.layers,
            bytes: limits.bytes,
        }
    }
}

impl Budget {
    /// Takes an attachment's manifest from the budget; what to say instead when there is none left.
    pub(super) fn manifest(&mut self, attached: &Attached) -> Result<Option<Evidence>, Error> {
        if let Some(left) = self.manifests.checked_sub(1) {
            self.manifests = left;
            return Ok(None);
        }
        let why = format!("no more than {} attachments are read", self.limits.manifests);
        self.left_out(why).map(|why| Some(unread(attached, why)))
    }

    /// What is over the bounds, as they say.
    pub(super) fn left_out(&self, why: String) -> Result<String, Error> {
        match self.limits.rest_left_out {
            true => Ok(why),
            false => Err(Error::EvidenceBudget(why)),
        }
    }

    /// The layers of an attachment that may hold signatures.
    pub(super) async fn read(
        &mut self,
        session: &Session<'_>,
        manifest: &Manifest,
    ) -> Result<Vec<Evidence>, Error> {
        let mut evidence = Vec::new();
        for layer in manifest
            .layers
            .iter()
            .filter(|layer| is_signature(&layer.media_type))
        {
            let body = match self.layer(layer) {
                None => body(session, layer).await?,
                Some(why) => Body::LeftOut(self.left_out(why)?),
            };
            evidence.push(Evidence {
                media_type: layer.media_type.clone(),
                digest: layer.digest,
                annotations: layer.annotations.clone(),
                body,
            });
        }
        Ok(evidence)
    }

    /// Takes a layer from the budget; why not when it is over.
    fn layer(&mut self, layer: &Descriptor) -> Option<String> {
        let limits = &self.limits;
        if layer.size > limits.layer_bytes {
            return Some(format!(
                "it has {} bytes, {} are read",
                layer.size, limits.layer_bytes
            ));
        }
        let (Some(layers), Some(bytes)) = (self.layers.checked_sub(1), self.bytes.checked_sub(layer.size))
        else {
            return Some(format!(
                "no more than {} signatures and {} bytes of them are read",
                limits.layers, limits.bytes
            ));
        };
        (self.layers, self.bytes) = (layers, bytes);
        None
    }
}

/// An attachment of which nothing was read.
pub(super) fn unread(attached: &Attached, why: String) -> Evidence {
    Evidence {
        media_type: attached.media_type.clone(),
        digest: attached.digest,
        annotations: attached.annotations.clone(),
        body: Body::LeftOut(why),
    }
}

/// A layer that is not what its manifest says is no signature; a registry that does not answer is a failure.
async fn body(session: &Session<'_>, layer: &Descriptor) -> Result<Body, Error> {
    let read = async { Blob::open(session, layer).await?.whole().await }.await;
    match read {
        Ok(bytes) => Ok(Body::Read(bytes)),
        Err(error @ (Error::NotFound { .. } | Error::OtherSize { .. } | Error::OtherDigest { .. })) => {
            Ok(Body::LeftOut(error.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// Whether an attachment's listed type says that it is a signature or a signed statement.
pub(super) fn is_named(artifact_type: &str) -> bool {
    artifact_type.starts_with(SIGSTORE_BUNDLE) || artifact_type == COSIGN_SIGNATURE
}

/// Bundles of any version: the verifier names the one that it does not know.
fn is_signature(media_type: &str) -> bool {
    media_type.starts_with(SIGSTORE_BUNDLE) || media_type == SIMPLE_SIGNING
}
