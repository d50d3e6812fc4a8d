//! An artifact held to a policy as an operation reaches it: the first time, and again where it has not moved.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::SIMPLE_SIGNING;
use ptah_contract::digest::Digest;
use ptah_contract::protocol::Step;
use ptah_sources_tests::oci::cosign::{Listing, Signed, case, policy};
use ptah_sources_tests::oci::push::Pusher;
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::store::{INDEX, Store};
use ptah_verifier::Policy;
use rcgen::{KeyPair, SigningKey as _};
use serde_json::json;

use crate::attached::serve;
use crate::support::{reach, revision, told};

fn read(document: &str) -> Policy {
    Policy::parse(document.as_bytes()).unwrap()
}

/// Signs what stands under the tag, as cosign does under its own: the resolver takes no Ptah artifact as small as the one
/// that cosign signed for the other tests.
fn sign(artifact: Store, key: &KeyPair) -> Signed {
    let mut signed = Signed::of(artifact);
    let payload = json!({
        "critical": {
            "identity": {"docker-reference": "registry.example/app"},
            "image": {"docker-manifest-digest": signed.digest},
            "type": "cosign container image signature",
        },
        "optional": null,
    });
    let payload = payload.to_string();
    let signature = STANDARD.encode(key.sign(payload.as_bytes()).unwrap());
    signed.attach(&json!({"found": "signatureTag", "annotations": {}, "layers": [{
        "mediaType": SIMPLE_SIGNING,
        "annotations": {"dev.cosignproject.cosign/signature": signature},
        "body": STANDARD.encode(payload),
    }]}));
    signed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_policy_is_satisfied_by_is_reported_with_the_policy_s_digest() {
    let mut artifact = Store::default();
    artifact.files("v1", [("a.sql", &b"A"[..])]);
    let (ours, theirs) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let signed = sign(artifact, &ours);
    let registry = Registry::distribution(None, &Access::All);
    let pusher = Pusher::new(&registry.authority, "app");
    pusher.push(&signed.store(Listing::Tag)).await;
    let reference = format!("oci://{}/app:v1", registry.authority);

    let out = tempfile::tempdir().unwrap();
    let ours = read(&policy(&ours.public_key_pem()));
    let report = reach(&reference, None, &ours, Some(out.path())).await.unwrap();
    assert_eq!(report.found.revision, signed.digest.to_string());
    let verified = report.verified.unwrap();
    assert_eq!(verified.policy_digest, ours.digest());
    let [said] = verified.satisfied.as_slice() else {
        panic!("{:?}", verified.satisfied);
    };
    assert!(
        said.starts_with("signatures: \"release-key\" signed it with its ECDSA P-256 key"),
        "{said}"
    );
    // Where a signer says that the artifact lies is told, and not held to where it was found.
    assert!(said.ends_with("as \"registry.example/app\")"), "{said}");
    assert_eq!(std::fs::read(out.path().join("a.sql")).unwrap(), b"A");

    let out = tempfile::tempdir().unwrap();
    let theirs = read(&policy(&theirs.public_key_pem()));
    let refused = reach(&reference, None, &theirs, Some(out.path()))
        .await
        .unwrap_err();
    assert_eq!(refused.step, Step::Verify);
    let why = told(&refused.failure);
    assert!(
        why.starts_with("Refused policy_refused signatures: \"release-key\" did not sign it: "),
        "{why}"
    );
}

/// What was signed is the artifact, and the tag leads to an index: both are remembered, and neither is taken for the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_artifact_behind_an_index_is_asked_for_again_by_its_own_digest() {
    let mut artifact = Store::default();
    let entry = artifact.files("v1", [("a.sql", &b"A"[..])]);
    let key = KeyPair::generate().unwrap();
    let signed = sign(artifact, &key);
    let mut store = signed.store(Listing::Tag);
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}).to_string();
    store.manifest("v1", INDEX, index.as_bytes());
    let registry = Registry::distribution(None, &Access::All);
    let pusher = Pusher::new(&registry.authority, "app");
    pusher.push(&store).await;
    let reference = format!("oci://{}/app:v1", registry.authority);
    let policy = read(&policy(&key.public_key_pem()));
    let first = reach(&reference, None, &policy, None).await.unwrap();
    assert_eq!(first.found.revision, signed.digest.to_string());
    assert_eq!(first.found.index_digest, Some(Digest::of(index.as_bytes())));
    let again = reach(&reference, Some(&first.found), &policy, None)
        .await
        .unwrap();
    assert_eq!((again.fetched, again.verified), (None, first.verified));
    pusher
        .delete(&format!("sha256-{}.sig", signed.digest.hex()))
        .await;
    let refused = reach(&reference, Some(&first.found), &policy, None)
        .await
        .unwrap_err();
    assert!(
        told(&refused.failure).starts_with("Refused policy_refused "),
        "{refused:?}"
    );
}

/// The verdict of then is not enough: a signature that is taken away is believed no longer, and one that comes is noticed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signatures_of_an_artifact_that_has_not_moved_are_asked_for_again() {
    for (registry, listing) in [
        (Registry::distribution(None, &Access::All), Listing::Tag),
        (Registry::with_referrers(), Listing::Api),
    ] {
        let pusher = Pusher::new(&registry.authority, "app");
        let reference = format!("oci://{}/app:v1", registry.authority);
        let signed = Signed::default();
        let (things, key) = case("both", "none");
        let policy = read(&policy(&key));
        pusher.push(&signed.store(listing)).await;
        let nothing = "Refused policy_refused signatures: \"release-key\" did not sign it: nothing is attached, and the tag \
                       that cosign uses is not there; sign it as one of them, or declare a policy that names its signer";
        for thing in &things {
            let refused = reach(&reference, Some(&revision(signed.digest)), &policy, None)
                .await
                .unwrap_err();
            assert_eq!(
                (refused.step, told(&refused.failure).as_str()),
                (Step::Verify, nothing)
            );
            let mut more = signed.clone();
            let attached = more.attach(thing);
            let hex = signed.digest.hex();
            pusher.push(&more.store(listing)).await;
            let report = reach(&reference, Some(&revision(signed.digest)), &policy, None)
                .await
                .unwrap();
            // It stands where it stood, so that nothing of it was fetched.
            assert_eq!((report.found, report.fetched), (revision(signed.digest), None));
            assert_eq!(report.verified.unwrap().policy_digest, policy.digest());
            match (thing["found"] == "signatureTag", listing) {
                (true, _) => pusher.delete(&format!("sha256-{hex}.sig")).await,
                (false, Listing::Api) => pusher.delete(&attached).await,
                // Without the API whoever deletes an attachment takes it out of the index; here it was the only one.
                (false, Listing::Tag) => pusher.delete(&format!("sha256-{hex}")).await,
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_artifact_that_has_not_moved_costs_one_request_and_those_for_signatures_where_they_are_asked_for()
{
    let (signed, key) = Signed::case("bundle", "none");
    let (digest, hex) = (signed.digest, signed.digest.hex());
    let attachment = signed.listed[0]["digest"].as_str().unwrap();
    let store = signed.store(Listing::Api);
    let manifest: serde_json::Value = serde_json::from_slice(&store.manifests[attachment].0).unwrap();
    let bundle = manifest["layers"][0]["digest"].as_str().unwrap();
    let head = "HEAD manifests/v1".to_owned();
    let described = [head.clone(), format!("GET manifests/{digest}")];
    let listed = [
        format!("GET manifests/sha256-{hex}.sig"),
        format!("GET referrers/{digest}"),
    ];
    let read_too = [
        format!("GET manifests/{attachment}"),
        format!("GET blobs/{bundle}"),
    ];
    for (document, expected) in [
        (
            "version: 1\nartifact_types: [application/vnd.stokaro.ptah.schema.v1]\n",
            vec![head],
        ),
        (
            "version: 1\nrequire_signature: true\n",
            [&described[..], &listed].concat(),
        ),
        (&policy(&key), [&described[..], &listed, &read_too].concat()),
    ] {
        let (_server, authority, log, _) = serve(store.clone(), &[]).await;
        let reference = format!("oci://{authority}/app:v1");
        let report = reach(&reference, Some(&revision(digest)), &read(document), None)
            .await
            .unwrap();
        assert_eq!(report.fetched, None);
        // The verdict of then stands where the policy asks nothing of what others attach.
        assert_eq!(report.verified.is_some(), expected.len() > 1);
        let asked: Vec<String> = log
            .lines()
            .iter()
            .map(|line| {
                line.replace("self ", "")
                    .replace("/v2/app/", "")
                    .trim_end_matches(" -")
                    .to_owned()
            })
            .collect();
        assert_eq!(asked, expected, "{document}");
    }
}
