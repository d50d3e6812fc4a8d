//! The layout that cosign used before version 3, and still uses with `--new-bundle-format=false`: a signature is a
//! layer under the tag `sha256-<hex>.sig`, the signed payload its bytes and everything else its annotations
//! (cosign's SIGNATURE_SPEC.md, "Storage").

use ptah_contract::artifact::Evidence;
use ptah_contract::failure::quoted;
use serde::Deserialize;
use serde_json::json;
use sigstore_types::Bundle;

use crate::candidate::decoded;

const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
const CERTIFICATE: &str = "dev.sigstore.cosign/certificate";
const CHAIN: &str = "dev.sigstore.cosign/chain";
const LOG_ENTRY: &str = "dev.sigstore.cosign/bundle";
const TIMESTAMP: &str = "dev.sigstore.cosign/rfc3161timestamp";

/// An entry of a transparency log with the log's promise to include it, as cosign writes it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LogEntry {
    signed_entry_timestamp: String,
    payload: LogPayload,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogPayload {
    body: String,
    integrated_time: i64,
    log_index: i64,
    #[serde(rename = "logID")]
    log_id: String,
}

/// What cosign wraps a time stamp in.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Timestamp {
    #[serde(rename = "SignedRFC3161Timestamp")]
    signed: String,
}

/// The signature over the payload.
pub(crate) fn signature(layer: &Evidence) -> Result<Vec<u8>, String> {
    match layer.annotations.get(SIGNATURE) {
        Some(text) if !text.trim().is_empty() => decoded("a signature", text),
        _ => Err(format!("it has no annotation {SIGNATURE}")),
    }
}

/// The same as a bundle of version 0.1, the one that may hold a log's promise without a proof.
pub(crate) fn bundle(payload: &[u8], layer: &Evidence) -> Result<Bundle, String> {
    let annotation = |name: &str| layer.annotations.get(name).filter(|text| !text.trim().is_empty());
    let Some(certificate) = annotation(CERTIFICATE) else {
        return Err("signed with a key and not with a certificate".to_owned());
    };
    let mut certificates = ders(certificate)?;
    if certificates.len() != 1 {
        return Err(format!(
            "it has {} certificates of its signer",
            certificates.len()
        ));
    }
    if let Some(chain) = annotation(CHAIN) {
        certificates.extend(ders(chain)?);
    }
    let raw = |der: &Vec<u8>| json!({"rawBytes": base64(der)});
    let certificates: Vec<_> = certificates.iter().map(raw).collect();
    let entries: Vec<_> = annotation(LOG_ENTRY)
        .map(|text| entry(text))
        .transpose()?
        .into_iter()
        .collect();
    let stamps: Vec<_> = annotation(TIMESTAMP)
        .map(|text| stamp(text))
        .transpose()?
        .into_iter()
        .collect();
    // The reader of entries asks for a promise; without an entry a time stamp has to do, which version 0.2 admits.
    let version = if entries.is_empty() { "0.2" } else { "0.1" };
    let bundle = json!({
        "mediaType": format!("application/vnd.dev.sigstore.bundle+json;version={version}"),
        "verificationMaterial": {
            "x509CertificateChain": {"certificates": certificates},
            "tlogEntries": entries,
            "timestampVerificationData": {"rfc3161Timestamps": stamps},
        },
        "messageSignature": {
            "messageDigest": {"algorithm": "SHA2_256", "digest": base64(sigstore_crypto::sha256(payload).as_bytes())},
            "signature": base64(&signature(layer)?),
        },
    });
    Bundle::from_json(&bundle.to_string())
        .map_err(|error| format!("it cannot be read: {}", quoted(&error.to_string())))
}

fn entry(text: &str) -> Result<serde_json::Value, String> {
    let unreadable = |error: serde_json::Error| {
        format!(
            "it has a log entry that cannot be read: {}",
            quoted(&error.to_string())
        )
    };
    let entry: LogEntry = serde_json::from_str(text).map_err(unreadable)?;
    let body = decoded("a log entry", &entry.payload.body)?;
    // The body's own words say what kind it is; the reader refuses what it does not know, by that name.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind {
        api_version: String,
        kind: String,
    }
    let kind: Kind = serde_json::from_slice(&body).map_err(unreadable)?;
    let log = hex::decode(&entry.payload.log_id).map_err(|_| "it has a log entry of no log".to_owned())?;
    Ok(json!({
        "logIndex": entry.payload.log_index.to_string(),
        "logId": {"keyId": base64(&log)},
        "kindVersion": {"kind": kind.kind, "version": kind.api_version},
        "integratedTime": entry.payload.integrated_time.to_string(),
        "inclusionPromise": {"signedEntryTimestamp": entry.signed_entry_timestamp},
        "canonicalizedBody": base64(&body),
    }))
}

fn stamp(text: &str) -> Result<serde_json::Value, String> {
    let stamp: Timestamp = serde_json::from_str(text).map_err(|error| {
        format!(
            "it has a time stamp that cannot be read: {}",
            quoted(&error.to_string())
        )
    })?;
    Ok(json!({"signedTimestamp": stamp.signed}))
}

fn ders(text: &str) -> Result<Vec<Vec<u8>>, String> {
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject as _;
    CertificateDer::pem_slice_iter(text.as_bytes())
        .map(|der| der.map(|der| der.as_ref().to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|_| "it has a certificate that cannot be read".to_owned())
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
