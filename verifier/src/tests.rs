use proptest::prelude::*;
use ptah_contract::artifact::{ArtifactDescription, Attached, Found};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;

use super::*;

/// The artifact of a line of the table: `key=value` words, `~` for a blank.
fn artifact(line: &str) -> ArtifactDescription {
    let mut artifact = ArtifactDescription {
        reference: "oci://registry.example/app:v1".to_owned(),
        pinned: false,
        digest: Digest::of(b""),
        artifact_type: String::new(),
        annotations: Default::default(),
        attached: Vec::new(),
    };
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let value = value.replace('~', " ");
        let attach = |found, artifact_type: &str| Attached {
            found,
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            digest: Digest::of(b"x"),
            size: 1,
            artifact_type: artifact_type.to_owned(),
            annotations: Default::default(),
            evidence: Vec::new(),
        };
        match key {
            "pinned" => artifact.pinned = true,
            "type" => artifact.artifact_type = value,
            "referrer" => artifact.attached.push(attach(Found::Referrers, &value)),
            "tagged" => artifact.attached.push(attach(Found::ReferrersTag, &value)),
            "attested" => {
                let mut bundle = attach(Found::Referrers, "application/vnd.dev.sigstore.bundle.v0.3+json");
                bundle
                    .annotations
                    .insert("dev.sigstore.bundle.predicateType".to_owned(), value);
                artifact.attached.push(bundle);
            }
            "cosign" => artifact.attached.push(attach(Found::SignatureTag, "")),
            annotation => {
                artifact.annotations.insert(annotation.to_owned(), value);
            }
        }
    }
    artifact
}

#[test]
fn promise_p023_f17_every_policy_of_the_table_judges_as_the_table_says() {
    let mut count = 0;
    for block in include_str!("../testdata/policies.txt").split("\n=== ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let (document, answers) = rest.split_once("--- ").unwrap();
        let policy = Policy::parse(document.as_bytes());
        for answer in answers.split("\n--- ") {
            let answer = answer.lines().next().unwrap();
            count += 1;
            let Some((described, expected)) = answer.split_once(" => ") else {
                let error = policy.as_ref().unwrap_err();
                let found = format!("{:?} {} {error}", error.class(), error.code());
                assert!(found.starts_with(answer), "{name}: {found}");
                continue;
            };
            let verdict = policy.as_ref().unwrap().check(&artifact(described));
            let findings: Vec<String> = verdict
                .findings()
                .map(|one| format!("{}: {}", one.name, one.detail))
                .collect();
            let found = if verdict.is_satisfied() {
                "satisfied".to_owned()
            } else {
                findings.join(" | ")
            };
            assert!(found.starts_with(expected), "{name}: {answer}: {found}");
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_policy_is_known_by_its_bytes_and_a_huge_one_is_not_read() {
    let bytes = b"version: 1\nrequire_digest_pin: true\n";
    assert_eq!(Policy::parse(bytes).unwrap().digest(), Digest::of(bytes));
    let huge = [
        &b"version: 1\nrequire_digest_pin: true\n#"[..],
        &vec![b'x'; MAX_POLICY_BYTES],
    ]
    .concat();
    assert_eq!(Policy::parse(&huge).unwrap_err().class(), FailureClass::Input);
}

#[test]
fn a_verdict_says_what_was_satisfied_and_a_verdict_about_nothing_satisfies_nobody() {
    let policy = Policy::parse(b"version: 1\nrequire_digest_pin: true\nartifact_types: [a]\n").unwrap();
    let verdict = policy.check(&artifact("pinned type=b"));
    let satisfied: Vec<_> = verdict
        .requirements
        .iter()
        .map(|one| (one.name, one.satisfied))
        .collect();
    assert_eq!(
        satisfied,
        [("require_digest_pin", true), ("artifact_types", false)]
    );
    assert!(!Verdict { requirements: vec![] }.is_satisfied());
}

/// A message goes on into a status; a document may repeat a line of itself in it, and not itself.
#[test]
fn no_refusal_quotes_more_than_a_line_of_the_document() {
    let long = "x".repeat(MAX_POLICY_BYTES - 64);
    for document in [
        format!("version: 1\n{long}: 1\n"),
        format!("version: 1\nrequire_signature: {long}\n"),
        format!("version: {long}\n"),
    ] {
        let message = Policy::parse(document.as_bytes()).unwrap_err().to_string();
        assert!(message.len() < 1024, "{} bytes: {message:.80}", message.len());
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = Policy::parse(&bytes);
    }

    #[test]
    fn more_attachments_never_take_a_signature_away(kinds in proptest::collection::vec("[a-z]{1,5}", 0..5)) {
        let policy = Policy::parse(b"version: 1\nrequire_signature: true\nsignature_artifact_types: [sig]\n").unwrap();
        let line: String = kinds.iter().map(|kind| format!("referrer={kind} ")).collect();
        let with = format!("{line}referrer=sig");
        prop_assert!(policy.check(&artifact(&with)).is_satisfied());
        prop_assert_eq!(policy.check(&artifact(&line)).is_satisfied(), kinds.iter().any(|kind| kind == "sig"));
    }
}
