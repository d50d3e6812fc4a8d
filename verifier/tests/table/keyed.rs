//! Signatures that cosign made with keys, and faults in them; `testdata/cosign/make.py` made both, and asked cosign.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::Found;
use ptah_verifier::Policy;
use serde::Deserialize;
use serde_json::json;

use super::{Row, artifact, attachment};

#[derive(Deserialize)]
struct Fixtures {
    cosign: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    algorithm: String,
    layout: String,
    fault: String,
    digest: String,
    key: String,
    cosign: String,
    attached: Vec<Thing>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thing {
    found: String,
    artifact_type: String,
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    annotations: BTreeMap<String, String>,
    body: String,
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../../testdata/cosign/cases.json")).unwrap()
}

pub(super) fn cosign() -> String {
    fixtures().cosign
}

pub(super) fn rows() -> Vec<Row> {
    fixtures().cases.iter().map(row).collect()
}

fn row(case: &Case) -> Row {
    let policy = json!({"version": 1, "signatures": [{"name": "release-key", "key": case.key}]});
    let policy = Policy::parse(policy.to_string().as_bytes()).unwrap();
    let attached = case.attached.iter().map(|thing| {
        let found = match thing.found.as_str() {
            "signatureTag" => Found::SignatureTag,
            _ => Found::ReferrersTag,
        };
        let layers = thing.layers.iter().map(|layer| {
            let body = STANDARD.decode(&layer.body).unwrap();
            (layer.media_type.clone(), layer.annotations.clone(), body)
        });
        attachment(found, &thing.artifact_type, layers)
    });
    let artifact = artifact(case.digest.parse().unwrap(), attached.collect());
    Row {
        algorithm: case.algorithm.clone(),
        layout: case.layout.clone(),
        fault: case.fault.clone(),
        refusal: policy.check(&artifact).refusal(),
        cosign: Some(case.cosign == "accepts"),
    }
}

/// The beginning of what a fault's refusal says; a fault that is not here has to be accepted.
fn why(fault: &str, layout: &str) -> Option<&'static str> {
    let said = match (fault, layout) {
        ("the wrong key" | "altered payload" | "altered signature", _) => "not made with this key",
        ("another artifact's signature", "tag") => "its payload is about another artifact",
        ("another artifact's signature", _) => "its statement is about something else",
        ("no layer at all", "tag") => "nothing is attached, and the tag that cosign uses holds no signature",
        ("no layer at all", _) => {
            "the one attachment holds no Sigstore bundle, and the tag that cosign uses is not there"
        }
        ("no signature", _) => "nothing is attached, and the tag that cosign uses is not there",
        ("an unknown version", _) => "no Sigstore bundle that is known: JSON error: Invalid media type",
        ("a layer without a signature", _) => "it has no annotation dev.cosignproject.cosign/signature",
        ("a statement and no signature", _) => "a statement of \"https://slsa.dev/provenance/v1\"",
        ("none" | "a bad one beside a good one" | "attached under another type", _) => return None,
        (other, _) => panic!("no verdict is known for {other:?}"),
    };
    Some(said)
}

#[test]
fn every_signature_by_key_gets_its_verdict_and_every_refusal_its_reason() {
    let rows = rows();
    assert!(rows.len() > 170, "{}", rows.len());
    for row in &rows {
        let (algorithm, layout, fault) = (&row.algorithm, &row.layout, &row.fault);
        match (why(fault, layout), &row.refusal) {
            (None, None) => {}
            (Some(said), Some(refusal)) => {
                assert!(
                    refusal.starts_with("signatures: \"release-key\" did not sign it: "),
                    "{refusal}"
                );
                assert!(
                    refusal.contains(said),
                    "{algorithm}, {layout}, {fault}: {refusal}"
                );
            }
            (_, found) => panic!("{algorithm}, {layout}, {fault}: {found:?}"),
        }
    }
}

/// Whatever cosign refuses is refused, but for what it signs itself and does not verify without further ado; and what
/// it takes for a signature though it is none is refused.
#[test]
fn nothing_that_cosign_refuses_is_accepted_but_for_the_differences_that_are_documented() {
    for row in rows() {
        let (accepts, cosign) = (row.refusal.is_none(), row.cosign == Some(true));
        let own = ["Ed25519, pre-hashed", "RSA 2048, PSS", "RSA 2048, PSS, long salt"];
        let documented = match row.fault.as_str() {
            "a statement and no signature" => !accepts && cosign,
            _ => own.contains(&row.algorithm.as_str()) && accepts && !cosign,
        };
        assert!(
            accepts == cosign || documented,
            "{}, {}, {}: {:?}",
            row.algorithm,
            row.layout,
            row.fault,
            row.refusal
        );
    }
}

#[test]
fn a_satisfied_verdict_says_who_signed_with_what_and_where_that_lies() {
    let fixtures = fixtures();
    let case = fixtures.cases.iter().find(|case| case.layout == "both").unwrap();
    let policy = json!({"version": 1, "signatures": [{"name": "release-key", "key": case.key}]});
    let policy = Policy::parse(policy.to_string().as_bytes()).unwrap();
    let layers = case.attached.iter().flat_map(|thing| &thing.layers);
    assert_eq!(layers.count(), 2, "it is signed in both layouts");
    let thing = &case.attached[1];
    let layer = &thing.layers[0];
    let body = STANDARD.decode(&layer.body).unwrap();
    let attached = attachment(
        Found::SignatureTag,
        "",
        [(layer.media_type.clone(), layer.annotations.clone(), body)],
    );
    let verdict = policy.check(&artifact(case.digest.parse().unwrap(), vec![attached]));
    let [one] = verdict.requirements.as_slice() else {
        panic!("{verdict:?}");
    };
    assert!(one.satisfied);
    let said = "\"release-key\" signed it with its ECDSA P-256 key (sha256:";
    assert!(one.detail.starts_with(said), "{}", one.detail);
    assert!(
        one.detail.contains(" under cosign's tag, as \"127.0.0.1:"),
        "{}",
        one.detail
    );
}
