//! What somebody signed: cosign's payload of its own tag, or an in-toto statement in a DSSE envelope.

use ptah_contract::digest::Digest;
use ptah_contract::failure::quoted;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The predicate of cosign's signatures: such a statement says no more than that its subject was signed.
pub(crate) const SIGNATURE_PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";
/// DSSE's name for an in-toto statement (in-toto attestation framework, "Envelope").
const IN_TOTO: &str = "application/vnd.in-toto+json";
const STATEMENTS: [&str; 2] = [
    "https://in-toto.io/Statement/v1",
    "https://in-toto.io/Statement/v0.1",
];
/// cosign's SIGNATURE_SPEC.md, "Payload".
const SIMPLE_SIGNING: &str = "cosign container image signature";

/// What a signature says of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// That it is signed.
    Signature {
        /// The repository that the signer named, which is theirs to write and nobody's to trust.
        repository: Option<String>,
    },
    /// A statement of this predicate type.
    Attestation(String),
}

// An unknown key of a signed document is another's business; a key that stands there twice is read by two programs in
// two ways, and refused.
#[derive(Deserialize)]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    // Named so that two of them are an error.
    #[serde(rename = "predicate")]
    _predicate: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Subject {
    digest: SubjectDigest,
}

#[derive(Deserialize)]
struct SubjectDigest {
    sha256: Option<String>,
}

/// Reads the statement of an envelope about the artifact with this digest.
pub(crate) fn in_toto(payload_type: &str, payload: &[u8], artifact: Digest) -> Result<Claim, String> {
    if payload_type != IN_TOTO {
        return Err(format!(
            "its payload is {:?} and no in-toto statement",
            quoted(payload_type)
        ));
    }
    let statement: Statement = serde_json::from_slice(payload)
        .map_err(|error| format!("its statement cannot be read: {}", quoted(&error.to_string())))?;
    if !STATEMENTS.contains(&statement.kind.as_str()) {
        return Err(format!(
            "its statement is of the unknown type {:?}",
            quoted(&statement.kind)
        ));
    }
    let hex = artifact.hex();
    let about = |subject: &Subject| subject.digest.sha256.as_deref() == Some(hex.as_str());
    if !statement.subject.iter().any(about) {
        return Err("its statement is about something else".to_owned());
    }
    Ok(match statement.predicate_type.as_str() {
        SIGNATURE_PREDICATE => Claim::Signature { repository: None },
        _ => Claim::Attestation(statement.predicate_type),
    })
}

#[derive(Deserialize)]
struct SimpleSigning {
    critical: Critical,
    #[serde(rename = "optional")]
    _optional: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Critical {
    identity: Identity,
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(rename = "docker-reference")]
    reference: String,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// Reads the payload that cosign signs under its own tag.
pub(crate) fn simple_signing(payload: &[u8], artifact: Digest) -> Result<Claim, String> {
    let signed: SimpleSigning = serde_json::from_slice(payload)
        .map_err(|error| format!("its payload cannot be read: {}", quoted(&error.to_string())))?;
    let critical = signed.critical;
    if critical.kind != SIMPLE_SIGNING {
        return Err(format!(
            "its payload is of the unknown type {:?}",
            quoted(&critical.kind)
        ));
    }
    if critical.image.digest != artifact.to_string() {
        return Err("its payload is about another artifact".to_owned());
    }
    Ok(Claim::Signature {
        repository: Some(quoted(&critical.identity.reference)).filter(|text| !text.is_empty()),
    })
}
