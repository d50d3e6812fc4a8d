//! How much of what lies attached is read: bounded, and what is over the bounds is told as not read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::{ArtifactDescription, Attachments, Body, SIMPLE_SIGNING};
use ptah_contract::failure::FailureClass;
use ptah_resolver::oci::{EvidenceLimits, describe};
use ptah_sources_tests::oci::cosign::{BUNDLE, Listing, Signed, case, policy};
use ptah_sources_tests::oci::store::{EMPTY, MANIFEST};
use ptah_verifier::Policy;
use serde_json::{Value, json};

use crate::attached::serve;
use crate::support::{attempt, request};

async fn described(signed: &Signed) -> ArtifactDescription {
    let (_server, authority, _, digest) = serve(signed.store(Listing::Api), &[]).await;
    let wanted = request(&format!("oci://{authority}/app:v1"));
    let described = describe(&wanted, digest, Attachments::Read, &attempt()).await;
    described.unwrap()
}

fn judge(key: &str, artifact: &ArtifactDescription) -> Result<(), String> {
    let policy = Policy::parse(policy(key).as_bytes()).unwrap();
    policy.check(artifact).refusal().map_or(Ok(()), Err)
}

/// Why nothing was read of the last layer of all.
fn left_out(artifact: &ArtifactDescription) -> Option<&str> {
    let evidence = artifact.attached.iter().flat_map(|one| &one.evidence);
    match &evidence.last()?.body {
        Body::LeftOut(why) => Some(why),
        Body::Read(_) => None,
    }
}

/// An attachment of this type with this layer, or none.
fn junk(kind: &str, number: usize) -> Value {
    json!({"found": "referrers", "artifactType": kind, "annotations": {"number": number.to_string()}, "layers": []})
}

/// An attachment that says that it has such layers, which no request is worth.
fn hollow(signed: &mut Signed, sizes: &[u64]) {
    let layers = sizes.iter().enumerate().map(|(number, size)| {
        let digest = ptah_contract::digest::Digest::of(&number.to_le_bytes());
        json!({"mediaType": BUNDLE, "digest": digest, "size": size})
    });
    let config = json!({"mediaType": EMPTY, "digest": ptah_contract::digest::Digest::of(b"{}"), "size": 2});
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": BUNDLE, "config": config,
        "layers": layers.collect::<Vec<_>>(),
    });
    signed.attach_manifest(&manifest.to_string(), Some(BUNDLE), &json!({"a": "b"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_than_256_attachments_are_read_and_those_that_say_they_are_signatures_come_first() {
    let (things, key) = case("both", "none");
    // What is attached before the signature, how many, and whether the signature is read.
    for (kind, count, is_read) in [
        (BUNDLE, 255, true),
        (BUNDLE, 256, false),
        ("application/sbom", 300, true),
    ] {
        let mut signed = Signed::default();
        (0..count).for_each(|number| drop(signed.attach(&junk(kind, number))));
        signed.attach(&things[0]);
        let found = described(&signed).await;
        assert_eq!(found.attached.len(), count + 1);
        let verdict = judge(&key, &found);
        if is_read {
            assert_eq!(verdict, Ok(()), "{count} of {kind}");
            continue;
        }
        assert_eq!(left_out(&found), Some("no more than 256 attachments are read"));
        let why = verdict.unwrap_err();
        assert!(
            why.contains("not read: no more than 256 attachments are read"),
            "{why}"
        );
        // What lies under cosign's tag is read before all of them.
        signed.attach(&things[1]);
        assert_eq!(judge(&key, &described(&signed).await), Ok(()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_than_128_signatures_are_read() {
    let (things, key) = case("tag", "none");
    let good = &things[0]["layers"][0];
    for (before, is_read) in [(127, true), (128, false)] {
        let junk = |number: usize| json!({"mediaType": SIMPLE_SIGNING, "annotations": {}, "body": STANDARD.encode(format!("{number}"))});
        let mut layers: Vec<Value> = (0..before).map(junk).collect();
        layers.push(good.clone());
        let mut signed = Signed::default();
        signed.attach(&json!({"found": "signatureTag", "annotations": {}, "layers": layers}));
        let found = described(&signed).await;
        assert_eq!(judge(&key, &found).is_ok(), is_read, "{before} before it");
        if !is_read {
            let bound = "no more than 128 signatures and 33554432 bytes of them are read";
            assert_eq!(left_out(&found), Some(bound));
            // Neither layout's signatures crowd out the other's.
            signed.attach(&case("bundle", "none").0[0]);
            assert_eq!(judge(&key, &described(&signed).await), Ok(()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_layer_above_4_mib_is_read_and_no_more_than_32_mib_in_all() {
    const MIB: u64 = 1 << 20;
    let (things, key) = case("bundle", "none");
    let over = "it has 4194305 bytes, 4194304 are read";
    let all = "no more than 128 signatures and 33554432 bytes of them are read";
    for (sizes, beside, told) in [
        (vec![4 * MIB + 1], Ok(()), Some(over)),
        (vec![u64::MAX], Ok(()), None),
        (vec![4 * MIB; 7], Ok(()), None),
        // Their sizes alone use the room up, whether or not a registry has them.
        (vec![4 * MIB; 8], Err(()), Some(all)),
    ] {
        let mut signed = Signed::default();
        hollow(&mut signed, &sizes);
        if beside.is_ok() {
            let found = described(&signed).await;
            assert!(judge(&key, &found).is_err());
            if told.is_some() {
                assert_eq!(left_out(&found), told);
            }
        }
        signed.attach(&things[0]);
        let found = described(&signed).await;
        assert_eq!(judge(&key, &found).map_err(drop), beside, "{sizes:?}");
        if beside.is_err() {
            assert_eq!(left_out(&found), told);
        }
    }
}

/// The manager reads less than a Pod, and must not take for a verdict what it did not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_nothing_out_fails_where_a_bound_is_reached_and_judges_nothing() {
    let (things, key) = case("both", "none");
    let mut signed = Signed::default();
    things.iter().for_each(|thing| drop(signed.attach(thing)));
    let whole = EvidenceLimits {
        manifests: 1,
        layers: 1,
        layer_bytes: 4096,
        bytes: 4096,
        rest_left_out: false,
    };
    for (evidence, told) in [
        (whole, None),
        (
            EvidenceLimits {
                manifests: 0,
                ..whole
            },
            Some("no more than 0 attachments are read"),
        ),
        (
            EvidenceLimits { layers: 0, ..whole },
            Some("no more than 0 signatures and 4096 bytes of them are read"),
        ),
        (
            EvidenceLimits { bytes: 16, ..whole },
            Some("no more than 1 signatures and 16 bytes of them are read"),
        ),
        (
            EvidenceLimits {
                layer_bytes: 16,
                ..whole
            },
            Some(" bytes, 16 are read"),
        ),
    ] {
        let (_server, authority, _, digest) = serve(signed.store(Listing::Api), &[]).await;
        let mut wanted = request(&format!("oci://{authority}/app:v1"));
        wanted.evidence = evidence;
        let described = describe(&wanted, digest, Attachments::Read, &attempt()).await;
        match (described, told) {
            (Ok(found), None) => assert_eq!(judge(&key, &found), Ok(())),
            (Err(error), Some(told)) => {
                assert_eq!(
                    (error.code(), error.class()),
                    ("evidence_budget", FailureClass::Refused)
                );
                assert!(error.to_string().ends_with(told), "{error}");
            }
            (other, _) => panic!("{evidence:?}: {other:?}"),
        }
    }
}
