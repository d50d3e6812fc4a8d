//! What may be signatures in an attachment, by the media types of its layers: registries list attachments under other
//! types than their signers gave them.
//!
//! Promises: bounded, whatever lies attached; what is over the bounds is told as left out and never as absent.

use ptah_contract::artifact::{Attached, Body, COSIGN_SIGNATURE, Evidence, SIGSTORE_BUNDLE, SIMPLE_SIGNING};

use super::Error;
use super::blob::Blob;
use super::manifest::{Descriptor, Manifest};
use super::session::Session;

/// Attachments whose manifests are read.
const MANIFESTS: usize = 256;
/// Layers that are read.
const LAYERS: usize = 128;
/// Largest layer that is read, in bytes: a statement about all of an image's packages may be long.
const LAYER_BYTES: u64 = 4 << 20;
/// Bytes of all layers together.
const BYTES: u64 = 32 << 20;

/// What may still be read of an artifact's attachments.
pub(super) struct Budget {
    manifests: usize,
    layers: usize,
    bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            manifests: MANIFESTS,
            layers: LAYERS,
            bytes: BYTES,
        }
    }
}

impl Budget {
    /// Takes an attachment's manifest from the budget; what to say instead when there is none left.
    pub(super) fn manifest(&mut self, attached: &Attached) -> Option<Evidence> {
        match self.manifests.checked_sub(1) {
            Some(left) => {
                self.manifests = left;
                None
            }
            None => Some(unread(
                attached,
                format!("no more than {MANIFESTS} attachments are read"),
            )),
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
                Some(why) => Body::LeftOut(why),
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
        if layer.size > LAYER_BYTES {
            return Some(format!("it has {} bytes, {LAYER_BYTES} are read", layer.size));
        }
        let (Some(layers), Some(bytes)) = (self.layers.checked_sub(1), self.bytes.checked_sub(layer.size))
        else {
            return Some(format!(
                "no more than {LAYERS} signatures and {BYTES} bytes of them are read"
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
        Err(
            error @ (Error::NotFound { .. }
            | Error::OtherSize { .. }
            | Error::OtherDigest { .. }
            | Error::CutShort { .. }),
        ) => Ok(Body::LeftOut(error.to_string())),
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
