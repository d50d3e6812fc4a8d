//! What lies attached to an artifact, as signatures that may be good.
//!
//! Promises: nothing is trusted here. What cannot be read is kept with the reason, so that a refusal can say it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::{ArtifactDescription, Attached, Body, Evidence, Found, SIMPLE_SIGNING};
use ptah_contract::digest::Digest;
use ptah_contract::failure::quoted;
use sigstore_types::bundle::VerificationMaterialContent;
use sigstore_types::{Bundle, HashAlgorithm, SignatureContent};

use crate::key::{Message, PublicKey};
use crate::legacy;
use crate::statement::{self, Claim};

/// What is verified: content by its digest, and its bytes where somebody has them.
#[derive(Clone, Copy)]
pub(crate) struct Artifact<'a> {
    pub digest: Digest,
    pub bytes: Option<&'a [u8]>,
}

/// A signature that may be good.
pub(crate) struct Candidate<'a> {
    /// What it is called in messages.
    pub name: String,
    /// What it says; why it says nothing of the artifact.
    pub claim: Result<Claim, String>,
    form: Form<'a>,
}

enum Form<'a> {
    /// Unread, so that its claim is an error.
    Unread,
    Bundle(Box<Bundle>),
    Simple {
        payload: &'a [u8],
        layer: &'a Evidence,
    },
}

/// Every signature that may be good, in the order in which they were found.
pub(crate) fn of(artifact: &ArtifactDescription) -> Vec<Candidate<'_>> {
    let found = artifact.attached.iter();
    found
        .flat_map(|attached| attached.evidence.iter().map(move |layer| (attached, layer)))
        .map(|(attached, layer)| candidate(attached, layer, artifact.digest))
        .collect()
}

fn candidate<'a>(attached: &Attached, layer: &'a Evidence, artifact: Digest) -> Candidate<'a> {
    let place = match attached.found {
        Found::SignatureTag => "under cosign's tag",
        Found::Referrers | Found::ReferrersTag => "attached",
    };
    let name = format!("{} {place}", short(layer.digest));
    let bytes = match &layer.body {
        Body::Read(bytes) => bytes,
        Body::LeftOut(why) => return unread(name, format!("not read: {why}")),
    };
    if layer.media_type == SIMPLE_SIGNING {
        return Candidate {
            name,
            claim: statement::simple_signing(bytes, artifact),
            form: Form::Simple {
                payload: bytes,
                layer,
            },
        };
    }
    bundle(
        name,
        bytes,
        Artifact {
            digest: artifact,
            bytes: None,
        },
    )
}

/// A Sigstore bundle about this artifact.
pub(crate) fn bundle<'a>(name: String, bytes: &[u8], artifact: Artifact<'_>) -> Candidate<'a> {
    let parsed = std::str::from_utf8(bytes)
        .map_err(|_| "no text".to_owned())
        .and_then(|text| {
            Bundle::from_json(text)
                .map_err(|error| format!("no Sigstore bundle that is known: {}", quoted(&error.to_string())))
        });
    match parsed {
        Ok(bundle) => Candidate {
            name,
            claim: claim(&bundle.content, artifact),
            form: Form::Bundle(Box::new(bundle)),
        },
        Err(why) => unread(name, why),
    }
}

fn unread<'a>(name: String, why: String) -> Candidate<'a> {
    Candidate {
        name,
        claim: Err(why),
        form: Form::Unread,
    }
}

/// What the content of a bundle says of the artifact.
fn claim(content: &SignatureContent, artifact: Artifact<'_>) -> Result<Claim, String> {
    match content {
        SignatureContent::DsseEnvelope(envelope) => statement::in_toto(
            &envelope.payload_type,
            envelope.payload.as_bytes(),
            artifact.digest,
        ),
        SignatureContent::MessageSignature(signature) => {
            let Some(digest) = &signature.message_digest else {
                return Ok(Claim::Signature { repository: None });
            };
            let same = match (digest.algorithm, artifact.bytes) {
                (HashAlgorithm::Sha2256, _) => hex::encode(digest.digest.as_bytes()) == artifact.digest.hex(),
                (HashAlgorithm::Sha2384, Some(bytes)) => {
                    digest.digest.as_bytes() == sigstore_crypto::sha384(bytes).as_bytes()
                }
                (HashAlgorithm::Sha2512, Some(bytes)) => {
                    digest.digest.as_bytes() == sigstore_crypto::sha512(bytes).as_bytes()
                }
                (other, _) => return Err(format!("over a digest that is not evaluated, {other}")),
            };
            match same {
                true => Ok(Claim::Signature { repository: None }),
                false => Err("about another artifact".to_owned()),
            }
        }
        _ => Err("a signature of an unknown form".to_owned()),
    }
}

impl Candidate<'_> {
    /// Whether nobody knows what it says.
    pub(crate) fn is_unread(&self) -> bool {
        matches!(self.form, Form::Unread)
    }

    /// Whether this key made it.
    pub(crate) fn made_with(&self, key: &PublicKey, artifact: Artifact<'_>) -> Result<(), String> {
        match &self.form {
            Form::Unread => Err("not read".to_owned()),
            Form::Simple { payload, layer } => {
                let signature = legacy::signature(layer)?;
                key.made(&signature, &Message::Bytes(payload))
                    .map_err(str::to_owned)
            }
            Form::Bundle(bundle) => {
                if !matches!(
                    bundle.verification_material.content,
                    VerificationMaterialContent::PublicKey(_)
                ) {
                    return Err("signed with a certificate and not with a key".to_owned());
                }
                let made = match &bundle.content {
                    SignatureContent::DsseEnvelope(envelope) => key.made(
                        envelope.signature.sig.as_bytes(),
                        &Message::Bytes(&envelope.pae()),
                    ),
                    SignatureContent::MessageSignature(signature) => {
                        let message = match artifact.bytes {
                            Some(bytes) => Message::Bytes(bytes),
                            None => Message::Sha256(artifact.digest.bytes()),
                        };
                        key.made(signature.signature.as_bytes(), &message)
                    }
                    _ => Err("of an unknown form"),
                };
                made.map_err(str::to_owned)
            }
        }
    }

    /// It as a bundle with a certificate, and the content that the bundle is over.
    pub(crate) fn with_certificate(&self) -> Result<(std::borrow::Cow<'_, Bundle>, Option<&[u8]>), String> {
        use std::borrow::Cow;
        match &self.form {
            Form::Unread => Err("not read".to_owned()),
            Form::Simple { payload, layer } => {
                Ok((Cow::Owned(legacy::bundle(payload, layer)?), Some(payload)))
            }
            Form::Bundle(bundle) => match bundle.verification_material.content {
                VerificationMaterialContent::PublicKey(_) => {
                    Err("signed with a key and not with a certificate".to_owned())
                }
                _ => Ok((Cow::Borrowed(bundle), None)),
            },
        }
    }
}

/// The beginning of a digest: enough to find it in a list, and short enough for a sentence.
pub(crate) fn short(digest: Digest) -> String {
    format!("sha256:{}", &digest.hex()[..12])
}

/// Base64 as annotations hold it.
pub(crate) fn decoded(what: &str, text: &str) -> Result<Vec<u8>, String> {
    STANDARD
        .decode(text.trim())
        .map_err(|_| format!("it has {what} that is no base64"))
}
