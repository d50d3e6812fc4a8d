//! What stands in the way of a signature: a registry that does not answer, which is no verdict, and attachments that
//! cannot be read, which are told and spoil nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::{ArtifactDescription, Attachments};
use ptah_contract::digest::Digest;
use ptah_contract::protocol::Step;
use ptah_resolver::oci::describe;
use ptah_sources_tests::oci::cosign::{BUNDLE, Listing, Signed, case, policy};
use ptah_sources_tests::oci::push::Pusher;
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::store::{INDEX, MANIFEST, Store};
use ptah_verifier::Policy;
use serde_json::{Value, json};

use crate::attached::serve;
use crate::support::{attempt, reach, request, revision, told};

fn read(key: &str) -> Policy {
    Policy::parse(policy(key).as_bytes()).unwrap()
}

/// The layer of a thing's manifest that holds its signature.
fn layer(store: &Store, manifest: &str) -> Value {
    let manifest: Value = serde_json::from_slice(&store.manifests[manifest].0).unwrap();
    manifest["layers"][0].clone()
}

/// What stands behind the colon of a refusal by the one authority.
fn why(policy: &Policy, artifact: &ArtifactDescription) -> Option<String> {
    let refusal = policy.check(artifact).refusal()?;
    let (_, why) = refusal.split_once("did not sign it: ").unwrap();
    Some(why.to_owned())
}

/// One request that fails, of an artifact that is signed well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_does_not_answer_passes_by_itself_and_is_no_missing_signature() {
    let (signed, key) = Signed::case("bundle", "none");
    let attachment = signed.listed[0]["digest"].as_str().unwrap().to_owned();
    let policy = read(&key);
    let store = signed.store(Listing::Api);
    let bundle = layer(&store, &attachment);
    let (bundle, size) = (bundle["digest"].as_str().unwrap(), &bundle["size"]);
    let hex = signed.digest.hex();
    let then = revision(signed.digest);
    let known = Some(&then);
    for (listing, asked, answer) in [
        (Listing::Api, "referrers/*", "500"),
        (Listing::Api, "referrers/*", "503"),
        (Listing::Tag, &format!("manifests/sha256-{hex}"), "500"),
        (Listing::Api, &format!("manifests/sha256-{hex}.sig"), "502"),
        (Listing::Api, &format!("manifests/{attachment}"), "500"),
        (Listing::Api, &format!("blobs/{bundle}"), "500"),
        (Listing::Api, &format!("blobs/{bundle}"), "429"),
        (
            Listing::Api,
            &format!("blobs/{bundle}"),
            &format!("200 ; Content-Length: {size} ; cut 10"),
        ),
    ] {
        let rule = format!("self GET /v2/app/{asked} -> {answer}");
        let (server, authority, _, _) = serve(signed.store(listing), &[&rule]).await;
        let reference = format!("oci://{authority}/app:v1");
        let failed = reach(&reference, known, &policy, None).await.unwrap_err();
        assert_eq!(failed.step, Step::Verify, "{rule}");
        assert!(
            told(&failed.failure).starts_with("Transient "),
            "{rule}: {failed:?}"
        );
        drop(server);
    }
    let (_server, authority, _, _) = serve(store, &[]).await;
    assert!(
        reach(&format!("oci://{authority}/app:v1"), known, &policy, None)
            .await
            .is_ok()
    );

    // Nothing attached at all is what a refusal is for.
    let signed = Signed::default();
    let (_server, authority, _, _) = serve(signed.store(Listing::Api), &[]).await;
    let refused = reach(&format!("oci://{authority}/app:v1"), known, &policy, None).await;
    let refused = told(&refused.unwrap_err().failure);
    assert!(refused.starts_with("Refused policy_refused "), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_is_gone_is_no_missing_signature() {
    let registry = Registry::distribution(None, &Access::All);
    let (signed, key) = Signed::case("both", "none");
    Pusher::new(&registry.authority, "app")
        .push(&signed.store(Listing::Tag))
        .await;
    let reference = format!("oci://{}/app:v1", registry.authority);
    let policy = read(&key);
    assert!(
        reach(&reference, Some(&revision(signed.digest)), &policy, None)
            .await
            .is_ok()
    );
    drop(registry);
    let failed = reach(&reference, Some(&revision(signed.digest)), &policy, None)
        .await
        .unwrap_err();
    assert!(
        told(&failed.failure).starts_with("Transient connection_failed "),
        "{failed:?}"
    );
}

fn followed_by_spaces(body: &Value, count: usize) -> String {
    let mut bytes = STANDARD.decode(body.as_str().unwrap()).unwrap();
    bytes.resize(bytes.len() + count, b' ');
    STANDARD.encode(bytes)
}

/// In a real registry, whose disk lost or mixed up what it held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_that_is_gone_or_altered_is_told_as_not_read_and_a_good_one_beside_it_satisfies() {
    let registry = Registry::distribution(None, &Access::All);
    let (things, key) = case("both", "none");
    let policy = read(&key);
    for (number, (damage, expected)) in [(None, "has no blob"), (Some(0), "digest"), (Some(1), "bytes")]
        .into_iter()
        .enumerate()
    {
        let repository = format!("damage{number}");
        let mut signed = Signed::default();
        let mut damaged = things[0].clone();
        // Another text of the same bundle, so that each damage is to a blob of its own.
        damaged["layers"][0]["body"] = json!(followed_by_spaces(&damaged["layers"][0]["body"], number));
        let attachment = signed.attach(&damaged);
        let store = signed.store(Listing::Tag);
        let pusher = Pusher::new(&registry.authority, &repository);
        pusher.push(&store).await;
        let layer = layer(&store, &attachment);
        let digest: Digest = layer["digest"].as_str().unwrap().parse().unwrap();
        let at = registry.blob(&digest.hex());
        match damage {
            None => std::fs::remove_file(&at).unwrap(),
            Some(more) => {
                let mut bytes = std::fs::read(&at).unwrap();
                bytes[0] ^= 1;
                bytes.extend(vec![b' '; more]);
                std::fs::write(&at, bytes).unwrap();
            }
        }
        let wanted = request(&format!("{}/{repository}:v1", registry.authority));
        let described = describe(&wanted, signed.digest, Attachments::Read, &attempt()).await;
        let why = why(&policy, &described.unwrap()).unwrap();
        assert!(
            why.contains("attached: not read: ") && why.contains(expected),
            "{why}"
        );
        let mut beside = Signed::default();
        beside.attach(&things[1]);
        pusher.push(&beside.store(Listing::Tag)).await;
        let described = describe(&wanted, signed.digest, Attachments::Read, &attempt()).await;
        assert!(policy.check(&described.unwrap()).is_satisfied(), "{expected}");
    }
}

/// Whoever may attach something to an artifact could else take its signatures away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attachment_whose_manifest_cannot_be_read_spoils_no_signature_beside_it() {
    let (things, key) = case("both", "none");
    let policy = read(&key);
    let large = json!({"schemaVersion": 2, "config": {}, "layers": [], "x": "y".repeat(4 << 20)}).to_string();
    let index = json!({"schemaVersion": 2, "manifests": []}).to_string();
    for (manifest, answer, told) in [
        (large.as_str(), "", "is larger than 4194304 bytes"),
        ("no manifest", "", "manifest"),
        ("{}", "404", "has no manifest"),
        ("{}", "200 ; body no", "has digest"),
        (&index, "", "of itself"),
    ] {
        for thing in &things {
            let mut signed = Signed::default();
            // Both are listed first: one as it may be a signature, one as something else.
            let odd = signed.attach_manifest(manifest, Some(BUNDLE), &json!({"a": "b"}));
            signed.attach_manifest(manifest, Some("application/sbom"), &json!({"a": "b"}));
            signed.attach(thing);
            let rule = format!("self GET /v2/app/manifests/{odd} -> {answer}");
            let rules: &[&str] = if answer.is_empty() { &[] } else { &[&rule] };
            let (_server, authority, _, _) = serve(signed.store(Listing::Api), rules).await;
            let wanted = request(&format!("oci://{authority}/app:v1"));
            let found = describe(&wanted, signed.digest, Attachments::Read, &attempt()).await;
            let found = found.unwrap_or_else(|error| panic!("{manifest:.40}, {answer}: {error}"));
            assert_eq!(why(&policy, &found), None, "{manifest:.40}, {answer}");
            let evidence = found.attached.iter().find(|one| one.digest.to_string() == odd);
            let left_out = evidence
                .unwrap()
                .evidence
                .first()
                .map(|one| format!("{:?}", one.body));
            assert!(left_out.is_some_and(|said| said.contains(told)), "{told}");
        }
    }
}

/// What stands under the tag of cosign is one thing among others as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn something_unreadable_under_the_tag_of_cosign_spoils_no_bundle() {
    let (signed, key) = Signed::case("bundle", "none");
    let policy = read(&key);
    let tag = format!("sha256-{}.sig", signed.digest.hex());
    let large = json!({"schemaVersion": 2, "config": {}, "layers": [], "x": "y".repeat(4 << 20)}).to_string();
    let index = json!({"schemaVersion": 2, "manifests": []}).to_string();
    for (bytes, media_type) in [
        (large, MANIFEST),
        ("no manifest".to_owned(), MANIFEST),
        (index, INDEX),
    ] {
        for (with, satisfied) in [(&signed, true), (&Signed::default(), false)] {
            let mut store = with.store(Listing::Api);
            store.manifest(&tag, media_type, bytes.as_bytes());
            let (_server, authority, _, _) = serve(store, &[]).await;
            let wanted = request(&format!("oci://{authority}/app:v1"));
            let found = describe(&wanted, with.digest, Attachments::Read, &attempt()).await;
            match why(&policy, &found.unwrap()) {
                None => assert!(satisfied, "{bytes:.40}"),
                // A tag that cannot be read is not the same as none.
                Some(why) => assert!(
                    !satisfied && why.contains("under cosign's tag: not read: "),
                    "{why}"
                ),
            }
        }
    }
}
