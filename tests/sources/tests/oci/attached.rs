//! What is attached to an artifact, by either way in which registries list it.

use std::sync::Arc;

use ptah_contract::artifact::{ArtifactDescription, Attachments, Found};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_resolver::oci::{describe, resolve_if_changed};
use ptah_sources_tests::oci::lying::{Log, Lying, Rule, Script, listener};
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::run;
use ptah_sources_tests::oci::store::{MANIFEST, Store};
use ptah_verifier::Policy;
use serde_json::{Value, json};

use crate::support::{attempt, request, resolve};

const SIGNATURE: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// Pushes an artifact, attaches two things to it and describes it.
async fn attach(registry: &Registry) -> (ArtifactDescription, Value) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    std::fs::write(home.join("a.sql"), "A").unwrap();
    let target = format!("{}/team/app:v1", registry.authority);
    let push = [
        "push",
        "--plain-http",
        "--artifact-type",
        "application/vnd.example.sql",
        "-a",
        "org.opencontainers.image.source=https://git.example/app",
        &target,
        "a.sql",
    ];
    run("oras", &push, home);
    for kind in ["application/sbom", SIGNATURE] {
        let attach = [
            "attach",
            "--plain-http",
            "--artifact-type",
            kind,
            "-a",
            "who=me",
            &target,
            "a.sql",
        ];
        run("oras", &attach, home);
    }
    let listed = run(
        "oras",
        &["discover", "--plain-http", "--format", "json", &target],
        home,
    );
    let (resolution, _) = resolve(&request(&target)).await.unwrap();
    let digest = resolution.artifact_digest.unwrap();
    let described = describe(&request(&target), digest, Attachments::Listed, &attempt())
        .await
        .unwrap();
    (described, serde_json::from_str(&listed).unwrap())
}

fn compare(described: &ArtifactDescription, listed: &Value, found: Found) {
    assert_eq!(described.artifact_type, "application/vnd.example.sql");
    assert_eq!(
        described.annotations["org.opencontainers.image.source"],
        "https://git.example/app"
    );
    assert!(!described.pinned);
    let mut ours: Vec<String> = described
        .attached
        .iter()
        .map(|one| {
            assert_eq!((one.found, one.annotations["who"].as_str()), (found, "me"));
            one.digest.to_string()
        })
        .collect();
    let theirs = listed["referrers"]
        .as_array()
        .unwrap_or_else(|| panic!("{listed}"))
        .iter();
    let mut theirs: Vec<String> = theirs
        .map(|one| one["digest"].as_str().unwrap().to_owned())
        .collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
    // What was attached, whatever the registry lists as its type.
    let mut kinds: Vec<&str> = described
        .attached
        .iter()
        .map(|one| one.artifact_type.as_str())
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["application/sbom", SIGNATURE]);
    let policy = Policy::parse(b"version: 1\nrequire_signature: true\n").unwrap();
    assert!(policy.check(described).is_satisfied());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attachments_are_listed_by_the_referrers_api_as_oras_lists_them() {
    let (described, listed) = attach(&Registry::with_referrers()).await;
    compare(&described, &listed, Found::Referrers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attachments_are_listed_by_their_tag_where_the_registry_has_no_such_api() {
    let (described, listed) = attach(&Registry::distribution(None, &Access::All)).await;
    compare(&described, &listed, Found::ReferrersTag);
}

/// A registry in memory, with rules.
pub async fn serve(store: Store, rules: &[&str]) -> (Lying, String, Log, Digest) {
    let (port, authority) = listener();
    let log = Log::default();
    let digest = Digest::of(&store.manifests["v1"].0);
    let names = [("self", authority.clone()), ("digest", digest.to_string())];
    let script = Script {
        rules: rules.iter().map(|line| Rule::parse(line)).collect(),
        store,
        names: names.map(|(name, value)| (name.to_owned(), value)).into(),
        log: log.clone(),
    };
    (
        Lying::start("self", port, None, Arc::new(script)).await,
        authority,
        log,
        digest,
    )
}

fn artifact() -> Store {
    let mut store = Store::default();
    store.files("v1", [("a.sql", &b"A"[..])]);
    store
}

fn page(from: usize, to: usize) -> String {
    let entries = (from..to).map(|n| {
        let digest = Digest::of(&n.to_le_bytes()).to_string();
        json!({"mediaType": MANIFEST, "digest": digest, "size": 1, "artifactType": "application/sbom"})
    });
    json!({"schemaVersion": 2, "manifests": entries.collect::<Vec<_>>()}).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_followed_within_the_repository_and_up_to_a_thousand_attachments() {
    let next = "Link: </v2/app/referrers/{digest}?page=2>; rel=\"next\"";
    let one = format!(
        "self GET /v2/app/referrers/{{digest}} -> 200 ; {next} ; body {}",
        page(0, 2)
    );
    let two = format!(
        "self GET /v2/app/referrers/{{digest}}?page=2 -> 200 ; body {}",
        page(2, 3)
    );
    let (_server, authority, log, digest) = serve(artifact(), &[&one, &two]).await;
    let wanted = request(&format!("oci://{authority}/app:v1"));
    assert_eq!(
        describe(&wanted, digest, Attachments::Listed, &attempt())
            .await
            .unwrap()
            .attached
            .len(),
        3
    );
    let asked = log.lines();
    let plain = describe(&wanted, digest, Attachments::LeftOut, &attempt())
        .await
        .unwrap();
    assert_eq!((plain.attached, log.lines().len()), (Vec::new(), asked.len() + 1));
    // The tag of cosign first: what is listed cannot use up what may be read.
    assert_eq!(
        asked[1],
        format!("self GET /v2/app/manifests/sha256-{}.sig -", digest.hex())
    );
    assert_eq!(asked[2], format!("self GET /v2/app/referrers/{digest} -"));
    assert_eq!(asked[3], format!("self GET /v2/app/referrers/{digest}?page=2 -"));

    let endless = format!(
        "self GET /v2/app/referrers/* -> 200 ; {next} ; body {}",
        page(0, 1)
    );
    let away = format!(
        "self GET /v2/app/referrers/* -> 200 ; Link: <http://127.0.0.1:1/>; rel=next ; body {}",
        page(0, 1)
    );
    let beside = format!(
        "self GET /v2/app/referrers/* -> 200 ; Link: </v2/other/x>; rel=next ; body {}",
        page(0, 1)
    );
    let named = format!(
        "self GET /v2/app/referrers/* -> 200 ; Link: <http://ada:hunter2@{{self}}/v2/app/x>; rel=next ; body {}",
        page(0, 1)
    );
    let many = format!("self GET /v2/app/referrers/* -> 200 ; body {}", page(0, 1001));
    let image =
        "self GET /v2/app/referrers/* -> 200 ; body {\"schemaVersion\":2,\"config\":{},\"layers\":[]}";
    let malformed = "Attention referrers_malformed {self} lists the attachments of {digest} in a form that cannot be read";
    for (rule, expected) in [
        (endless.as_str(), malformed),
        (&away, malformed),
        (&beside, malformed),
        (&named, malformed),
        (
            &many,
            "Refused too_many_referrers {self} lists more than 1000 attachments of {digest}",
        ),
        (image, malformed),
        ("self GET /v2/app/referrers/* -> 200 ; body no", malformed),
        (
            "self GET /v2/app/referrers/* -> 500",
            "Transient server_unavailable host {self} answered with status 500",
        ),
        (
            "self GET /v2/app/referrers/* -> 403",
            "Input access_denied {self} denies access to app",
        ),
    ] {
        let (_server, authority, _, digest) = serve(artifact(), &[rule]).await;
        let wanted = request(&format!("oci://{authority}/app:v1"));
        let error = describe(&wanted, digest, Attachments::Listed, &attempt())
            .await
            .unwrap_err();
        let expected = expected
            .replace("{self}", &authority)
            .replace("{digest}", &digest.to_string());
        assert_eq!(
            format!("{:?} {} {error}", error.class(), error.code()),
            expected,
            "{rule:.80}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tag_of_cosign_counts_and_something_else_under_it_does_not() {
    let mut store = artifact();
    let digest = Digest::of(&store.manifests["v1"].0);
    let tag = format!("sha256-{}.sig", digest.hex());
    store.files(&tag, [("signature", &b"x"[..])]);
    let (_server, authority, _, digest) = serve(store.clone(), &[]).await;
    let wanted = request(&format!("oci://{authority}/app@{digest}"));
    let described = describe(&wanted, digest, Attachments::Listed, &attempt())
        .await
        .unwrap();
    assert!(described.pinned);
    assert_eq!(
        described.attached.iter().map(|one| one.found).collect::<Vec<_>>(),
        [Found::SignatureTag]
    );
    store.manifests.insert(
        tag,
        (
            b"{\"schemaVersion\":2,\"manifests\":[]}".to_vec(),
            "text/plain".to_owned(),
        ),
    );
    let (_server, authority, _, digest) = serve(store, &[]).await;
    let wanted = request(&format!("oci://{authority}/app:v1"));
    assert_eq!(
        describe(&wanted, digest, Attachments::Listed, &attempt())
            .await
            .unwrap()
            .attached,
        []
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_tag_costs_one_head_request_and_a_moved_one_is_not_asked_for_again() {
    let (_server, authority, log, digest) = serve(artifact(), &[]).await;
    let wanted = request(&format!("oci://{authority}/app:v1"));
    assert_eq!(
        resolve_if_changed(&wanted, digest, &attempt(), None)
            .await
            .unwrap(),
        None
    );
    assert_eq!(log.lines(), ["self HEAD /v2/app/manifests/v1 -"]);

    let (_server, authority, log, digest) = serve(artifact(), &[]).await;
    let wanted = request(&format!("oci://{authority}/app:v1"));
    let other = Digest::of(b"before");
    let found = resolve_if_changed(&wanted, other, &attempt(), None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.artifact_digest, Some(digest));
    assert_eq!(
        log.lines()[..2],
        [
            "self HEAD /v2/app/manifests/v1 -".to_owned(),
            format!("self GET /v2/app/manifests/{digest} -")
        ]
    );

    // Who does not speak HEAD, or says no digest, is asked for the manifest, and for no layer.
    for rule in ["self HEAD * -> 405", "self HEAD * -> 200"] {
        let (_server, authority, log, digest) = serve(artifact(), &[rule]).await;
        let wanted = request(&format!("oci://{authority}/app:v1"));
        assert_eq!(
            resolve_if_changed(&wanted, digest, &attempt(), None)
                .await
                .unwrap(),
            None
        );
        assert_eq!(
            log.lines(),
            [
                "self HEAD /v2/app/manifests/v1 -",
                "self GET /v2/app/manifests/v1 -"
            ],
            "{rule}"
        );
    }
    let (_server, authority, _, digest) = serve(artifact(), &["self HEAD * -> 404"]).await;
    let gone = resolve_if_changed(
        &request(&format!("oci://{authority}/app:v1")),
        digest,
        &attempt(),
        None,
    )
    .await;
    assert_eq!(gone.unwrap_err().code(), "not_found");
}

/// A folder of files, packed, beside a file.
fn packed() -> Store {
    let mut archive = tar::Builder::new(Vec::new());
    for n in 0..50 {
        let mut header = tar::Header::new_gnu();
        header.set_size(4096);
        archive
            .append_data(&mut header, format!("d/{n}.sql"), &[b'x'; 4096][..])
            .unwrap();
    }
    let mut store = artifact();
    let manifest: Value = serde_json::from_slice(&store.manifests["v1"].0).unwrap();
    let mut layer = store.blob(
        "application/vnd.oci.image.layer.v1.tar",
        &archive.into_inner().unwrap(),
    );
    layer["annotations"] =
        json!({"org.opencontainers.image.title": "d", "io.deis.oras.content.unpack": "true"});
    let mut both = manifest;
    let file = both["layers"][0].clone();
    both["layers"] = json!([layer, file]);
    store.manifest("v1", MANIFEST, both.to_string().as_bytes());
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_attempt_ends_at_once_and_leaves_nothing() {
    let file = "self GET /v2/app/blobs/* -> 200 ; Content-Length: 1 ; stall 0";
    let blob = packed().manifests["v1"].0.clone();
    let layer = serde_json::from_slice::<Value>(&blob).unwrap()["layers"][0].clone();
    let (size, digest) = (layer["size"].as_u64().unwrap(), layer["digest"].as_str().unwrap());
    let archive = format!("self GET /v2/app/blobs/{digest} -> 200 ; Content-Length: {size} ; stall 20000");
    for (store, rule, waits) in [(artifact(), file.to_owned(), 2), (packed(), archive, 3)] {
        let (_server, authority, log, _) = serve(store, &[&rule]).await;
        let wanted = request(&format!("oci://{authority}/app:v1"));
        let attempt = attempt();
        let out = tempfile::tempdir().unwrap();
        let cancel = attempt.cancellation().clone();
        let resolving = ptah_resolver::oci::resolve(&wanted, &attempt, Some(out.path()));
        let cancelling = async {
            while log.lines().len() < waits {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
            std::time::Instant::now()
        };
        let (resolved, at) = tokio::join!(resolving, cancelling);
        assert!(at.elapsed() < std::time::Duration::from_secs(2));
        assert_eq!(resolved.unwrap_err().code(), "cancelled");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_is_dropped_half_way_leaves_nothing_either() {
    let mut store = packed();
    // The archive comes whole, and what comes after it never does.
    let missing = Digest::of(b"A").to_string();
    store.blobs.remove(&missing);
    let rule = format!("self GET /v2/app/blobs/{missing} -> 200 ; Content-Length: 1 ; stall 0");
    let (_server, authority, log, _) = serve(store, &[&rule]).await;
    let wanted = request(&format!("oci://{authority}/app:v1"));
    let (attempt, out) = (attempt(), tempfile::tempdir().unwrap());
    let entries = || std::fs::read_dir(out.path()).unwrap().count();
    tokio::select! {
        _ = ptah_resolver::oci::resolve(&wanted, &attempt, Some(out.path())) => panic!("it ended"),
        () = async {
            while log.lines().len() < 3 || entries() == 0 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    // A thread may still unpack; it notices that nobody waits.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while entries() > 0 {
        assert!(std::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_layer_that_fails_ends_the_others_and_leaves_nothing() {
    for _ in 0..20 {
        // The file's layer is missing while the archive is unpacked.
        let mut store = packed();
        store.blobs.remove(&Digest::of(b"A").to_string());
        let (_server, authority, _, _) = serve(store, &[]).await;
        let error = resolve(&request(&format!("oci://{authority}/app:v1")))
            .await
            .unwrap_err();
        assert_eq!((error.code(), error.class()), ("not_found", FailureClass::Input));
    }
    let (_server, authority, _, _) = serve(packed(), &[]).await;
    let (_, files) = resolve(&request(&format!("oci://{authority}/app:v1")))
        .await
        .unwrap();
    assert_eq!(files.len(), 51);
}
