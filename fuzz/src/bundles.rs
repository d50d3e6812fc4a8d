//! What lies attached to an artifact, and the roots that it is held to. Nobody here has a key, so nothing satisfies.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::{ArtifactDescription, Attached, Body, Evidence, Found, SIMPLE_SIGNING};
use ptah_contract::digest::Digest;
use ptah_verifier::{Policy, PolicyDocument, Root};
use serde_json::json;

use crate::bounded;

const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
/// The private half was thrown away.
const KEY: &str = include_str!("../../verifier/testdata/conformance/managed-key-happy-path/key.pub");

fn policy() -> Policy {
    let policy = json!({
        "version": 1,
        "signatures": [
            {"name": "key", "key": KEY},
            {"name": "ci", "keyless": {"identities": [{"issuer": "https://issuer.example", "subject": "nobody"}]}},
        ],
        "attestations": [{"predicate_type": "https://slsa.dev/provenance/v1", "authorities": ["key", "ci"]}],
    });
    Policy::parse(policy.to_string().as_bytes()).expect("the policy is one")
}

fn judge(found: Found, media_type: &str, annotations: BTreeMap<String, String>, bytes: Vec<u8>) {
    let evidence = Evidence {
        media_type: media_type.to_owned(),
        digest: Digest::of(&bytes),
        annotations,
        body: Body::Read(bytes),
    };
    let artifact = ArtifactDescription {
        reference: "oci://registry.example/app:v1".to_owned(),
        pinned: false,
        digest: Digest::of(b"manifest"),
        artifact_type: String::new(),
        annotations: BTreeMap::new(),
        attached: vec![Attached {
            found,
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            digest: Digest::of(b"signature"),
            size: 1,
            artifact_type: String::new(),
            annotations: BTreeMap::new(),
            evidence: vec![evidence],
        }],
    };
    let verdict = policy().check(&artifact);
    assert!(!verdict.is_satisfied());
    assert!(verdict.requirements.iter().all(|one| !one.satisfied));
    bounded(&verdict.refusal().unwrap_or_default());
}

/// A bundle of anything is no signature of ours.
pub fn sigstore_bundle(data: &[u8]) {
    judge(Found::Referrers, BUNDLE, BTreeMap::new(), data.to_vec());
}

/// A statement that nobody signed says nothing, whatever it says.
pub fn dsse_statement(data: &[u8]) {
    let bundle = json!({
        "mediaType": BUNDLE,
        "verificationMaterial": {"publicKey": {"hint": ""}, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": STANDARD.encode(data),
            "payloadType": "application/vnd.in-toto+json",
            "signatures": [{"sig": STANDARD.encode([0; 64]), "keyid": ""}],
        },
    });
    judge(Found::Referrers, BUNDLE, BTreeMap::new(), bundle.to_string().into_bytes());
}

/// A payload under cosign's tag, and behind each NUL an annotation: signature, certificate, chain, entry, time stamp.
pub fn simple_signing(data: &[u8]) {
    let names = [
        SIGNATURE,
        "dev.sigstore.cosign/certificate",
        "dev.sigstore.cosign/chain",
        "dev.sigstore.cosign/bundle",
        "dev.sigstore.cosign/rfc3161timestamp",
    ];
    let mut parts = data.split(|byte| *byte == 0);
    let payload = parts.next().unwrap_or_default().to_vec();
    let annotations = names
        .into_iter()
        .zip(parts)
        .map(|(name, text)| (name.to_owned(), String::from_utf8_lossy(text).into_owned()))
        .collect();
    judge(Found::SignatureTag, SIMPLE_SIGNING, annotations, payload);
}

/// A root that is read can be held to; one that is not is refused in a sentence.
pub fn trusted_root(data: &[u8]) {
    let policy = json!({"version": 1, "signatures": [{"name": "ci", "keyless": {
        "trusted_root_from": {"name": "root", "key": "trusted_root.json"},
        "identities": [{"issuer": "https://issuer.example", "subject": "nobody"}],
    }}]});
    let document = PolicyDocument::parse(policy.to_string().as_bytes()).expect("the policy is one");
    let root = Root {
        reference: (*document.roots().first().expect("it names a root")).clone(),
        uid: String::new(),
        bytes: data.to_vec(),
    };
    if let Err(error) = document.bind(&[root]) {
        bounded(&error);
    }
}
