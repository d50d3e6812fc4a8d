//! What others have attached, and how a registry says that it does not know: neither takes a good signature away.

use ptah_sources_tests::oci::cosign::{Listing, Signed, case, policy};
use ptah_sources_tests::oci::store::{MANIFEST, Store};
use ptah_verifier::Policy;
use serde_json::json;

use crate::attached::serve;
use crate::support::{reach, revision, told};

async fn verdict(store: Store, signed: &Signed, rules: &[&str]) -> String {
    let key = case("bundle", "none").1;
    let (_server, authority, _, _) = serve(store, rules).await;
    let policy = Policy::parse(policy(&key).as_bytes()).unwrap();
    match reach(
        &format!("oci://{authority}/app:v1"),
        Some(&revision(signed.digest)),
        &policy,
        None,
    )
    .await
    {
        Ok(_) => "ok".to_owned(),
        Err(failed) => told(&failed.failure),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_read_is_told_however_much_lies_beside_it() {
    let mut signed = Signed::default();
    for number in 0..4 {
        let mut thing = case("bundle", "altered signature").0[0].clone();
        thing["annotations"]["n"] = json!(number.to_string());
        signed.attach(&thing);
    }
    let last = signed.attach(&case("bundle", "none").0[0]);
    let rule = format!("self GET /v2/app/manifests/{last} -> 404");
    let said = verdict(signed.store(Listing::Api), &signed, &[&rule]).await;
    assert!(said.contains("not read: "), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_a_thousand_attachments_do_not_take_a_signature_under_cosign_s_tag_away() {
    let mut signed = Signed::default();
    signed.attach(&case("tag", "none").0[0]);
    for number in 0..1001 {
        let annotations = json!({"n": number.to_string()});
        signed.attach(&json!({"found": "r", "artifactType": "application/sbom", "annotations": annotations, "layers": []}));
    }
    assert_eq!(verdict(signed.store(Listing::Api), &signed, &[]).await, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn something_else_under_the_referrers_tag_does_not_take_a_signature_under_cosign_s_tag_away() {
    let mut signed = Signed::default();
    signed.attach(&case("tag", "none").0[0]);
    let mut store = signed.store(Listing::Tag);
    let image = store.manifests["v1"].0.clone();
    store.manifest(&format!("sha256-{}", signed.digest.hex()), MANIFEST, &image);
    assert_eq!(verdict(store, &signed, &[]).await, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_that_ends_early_passes_by_itself() {
    let (signed, _) = Signed::case("bundle", "none");
    // Without a length, so that only the descriptor says how much had to come.
    let said = verdict(
        signed.store(Listing::Api),
        &signed,
        &["self GET /v2/app/blobs/* -> 200 ; fill 10"],
    )
    .await;
    assert!(said.starts_with("Transient "), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_knows_no_referrers_may_say_so_otherwise_than_by_404() {
    let (signed, _) = Signed::case("bundle", "none");
    for status in [400, 405, 501] {
        let rule = format!("self GET /v2/app/referrers/* -> {status}");
        assert_eq!(
            verdict(signed.store(Listing::Tag), &signed, &[&rule]).await,
            "ok",
            "{status}"
        );
    }
}
