//! Every bundle of the public Sigstore conformance suite gets the verdict that the suite gives it.

// A failed step of a test is a failed test.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use ptah_contract::digest::Digest;
use ptah_verifier::{Error, Policy, PolicyDocument, Root};
use serde_json::{Value, json};

const IDENTITY: &str = "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

struct Case {
    name: String,
    bundle: Vec<u8>,
    artifact: Vec<u8>,
    /// A root that is refused refuses whatever is held to it.
    policy: Result<Policy, Error>,
}

fn cases() -> Vec<Case> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&suite)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.into_iter().map(|folder| case(&suite, &folder)).collect()
}

fn case(suite: &Path, folder: &Path) -> Case {
    let file = |name: &str| std::fs::read(folder.join(name)).ok();
    let text = |name: &str| file(name).map(|bytes| String::from_utf8(bytes).unwrap().trim().to_owned());
    let bundle = file("bundle.sigstore.json").unwrap();
    let root = file("trusted_root.json");
    let authority = match text("key.pub") {
        Some(key) => json!({"name": "signer", "key": key}),
        None => {
            let mut keyless = json!({"identities": [{
                "issuer": text("issuer").unwrap_or_else(|| ISSUER.to_owned()),
                "subject": text("identity").unwrap_or_else(|| IDENTITY.to_owned()),
            }]});
            if root.is_some() {
                keyless["trusted_root_from"] = json!({"name": "root", "key": "trusted_root.json"});
            }
            json!({"name": "signer", "keyless": keyless})
        }
    };
    // The suite's statements are attestations of whatever they state; ours has to be named.
    let mut policy = json!({"version": 1});
    match predicate_type(&bundle) {
        Some(predicate_type) => {
            policy["authorities"] = json!([authority]);
            policy["attestations"] = json!([{"predicate_type": predicate_type, "authorities": ["signer"]}]);
        }
        None => policy["signatures"] = json!([authority]),
    }
    let roots = root.map(|bytes| Root {
        reference: serde_json::from_value(json!({"name": "root", "key": "trusted_root.json"})).unwrap(),
        uid: String::new(),
        bytes,
    });
    let roots: Vec<Root> = roots.into_iter().collect();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let document = PolicyDocument::parse(policy.to_string().as_bytes());
    Case {
        bundle,
        artifact: file("artifact").unwrap_or_else(|| std::fs::read(suite.join("a.txt")).unwrap()),
        policy: document.and_then(|document| document.bind(&roots)),
        name,
    }
}

fn predicate_type(bundle: &[u8]) -> Option<String> {
    use base64::Engine as _;
    let bundle: Value = serde_json::from_slice(bundle).ok()?;
    let payload = bundle["dsseEnvelope"]["payload"].as_str()?;
    let payload = base64::engine::general_purpose::STANDARD.decode(payload).ok()?;
    let statement: Value = serde_json::from_slice(&payload).ok()?;
    Some(statement["predicateType"].as_str()?.to_owned())
}

#[test]
fn every_bundle_of_the_suite_gets_the_suite_s_verdict() {
    let cases = cases();
    assert!(cases.len() > 60, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let digest = Digest::of(&case.artifact);
        for (how, bytes) in [("file", Some(case.artifact.as_slice())), ("digest", None)] {
            let refusal = match &case.policy {
                Ok(policy) => policy.check_blob(digest, bytes, &case.bundle).refusal(),
                Err(error) => Some(error.to_string()),
            };
            if refusal.is_some() != case.name.ends_with("_fail") {
                wrong.push(format!("{} by {how}: {refusal:?}", case.name));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// What is asked follows from what the root has; without a part that everything hangs on, that part is named.
#[test]
fn b26_b32_f16_a_root_without_a_log_a_timestamp_authority_or_a_certificate_log_asks_for_what_it_has() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance");
    let folder = suite.join("rekor2-happy-path");
    let root: Value =
        serde_json::from_slice(&std::fs::read(folder.join("trusted_root.json")).unwrap()).unwrap();
    let bundle = std::fs::read(folder.join("bundle.sigstore.json")).unwrap();
    let artifact = std::fs::read(suite.join("a.txt")).unwrap();
    let policy = json!({"version": 1, "signatures": [{"name": "signer", "keyless": {
        "trusted_root_from": {"name": "root", "key": "r"},
        "identities": [{"issuer": ISSUER, "subject": IDENTITY}],
    }}]});
    for (without, refusal) in [
        (vec![], None),
        (vec!["ctlogs"], None),
        (vec!["tlogs"], None),
        (
            vec!["timestampAuthorities"],
            Some("no timestamp authorities configured in trusted root"),
        ),
        (
            vec!["tlogs", "timestampAuthorities"],
            Some("it has neither a transparency log (tlogs) nor a timestamp authority"),
        ),
        (
            vec!["certificateAuthorities"],
            Some("it has no certificate authority (certificateAuthorities)"),
        ),
    ] {
        let mut root = root.clone();
        for part in &without {
            root[part] = json!([]);
        }
        let root = Root {
            reference: serde_json::from_value(json!({"name": "root", "key": "r"})).unwrap(),
            uid: String::new(),
            bytes: root.to_string().into_bytes(),
        };
        let document = PolicyDocument::parse(policy.to_string().as_bytes()).unwrap();
        let found = match document.bind(&[root]) {
            Ok(policy) => policy
                .check_blob(Digest::of(&artifact), Some(&artifact), &bundle)
                .refusal(),
            Err(error) => Some(error.to_string()),
        };
        match refusal {
            None => assert_eq!(found, None, "{without:?}"),
            Some(said) => assert!(
                found.as_ref().is_some_and(|found| found.contains(said)),
                "{without:?}: {found:?}"
            ),
        }
    }
}
