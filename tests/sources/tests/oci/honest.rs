//! Artifacts as common programs push them, in a real registry.

use std::collections::BTreeMap;
use std::path::Path;

use ptah_contract::failure::FailureClass;
use ptah_resolver::git;
use ptah_resolver::oci::{Request, resolve_if_changed};
use ptah_sources_tests::git_http;
use ptah_sources_tests::https::Site;
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::run;
use ptah_sources_tests::oci::store::{MANIFEST, Store};
use ptah_sources_tests::oci::tls::Tls;
use ptah_sources_tests::oci::token::{IDENTITY, PASSWORD, Realm, SERVICE, USER};
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::tls::{CA, Flaw};
use serde_json::json;

use crate::support::{attempt, credentials, files, request, resolve};

/// `robot` with the password `pass:word`, as `htpasswd -B` writes it.
pub const PASSWORDS: &str = "robot:$2a$04$Dgw8mgVd7xKoA3dAoFV36ujs2hFmg3.iiK2cmk7hxy2kwH68aDauO\n";

/// A folder with the files of a small schema.
fn schema() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("schema/01-tables.sql", "CREATE TABLE t (id int);\n"),
        ("schema/views/v.sql", "CREATE VIEW v AS SELECT 1;\n"),
        ("schema/.hidden", ""),
        ("extra.sql", "SELECT 1;\n"),
    ] {
        let at = folder.path().join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
    folder
}

/// What oras pulls: the oracle.
fn pulled(target: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    run("oras", &["pull", "--plain-http", target], folder.path());
    files(folder.path())
}

fn digest(target: &str, home: &Path) -> String {
    run("crane", &["digest", "--insecure", target], home)
        .trim()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_folders_that_oras_pushes_are_the_files_that_oras_pulls() {
    let registry = Registry::distribution(None, &Access::All);
    let folder = schema();
    let target = |tag: &str| format!("{}/team/app:{tag}", registry.authority);
    for (tag, paths) in [
        ("file", vec!["extra.sql"]),
        ("files", vec!["extra.sql", "schema/01-tables.sql:text/plain"]),
        ("folder", vec!["schema"]),
        ("folder-and-file", vec!["schema", "extra.sql"]),
        ("inner", vec!["schema/views"]),
        ("here", vec!["."]),
    ] {
        let target = target(tag);
        let push = [vec!["push", "--plain-http", &target], paths].concat();
        run("oras", &push, folder.path());
        let (resolution, files) = resolve(&request(&target))
            .await
            .unwrap_or_else(|error| panic!("{tag}: {error}"));
        assert_eq!(files, pulled(&target), "{tag}");
        assert!(!files.is_empty());
        assert_eq!(resolution.revision, digest(&target, folder.path()), "{tag}");
        assert_eq!(resolution.requested, format!("oci://{target}"));
        assert!(resolution.received >= resolution.bytes.min(1));
        // A later fetch goes by digest, and is held to the content.
        let mut later = request(&format!("{}@{}", target, resolution.revision));
        later.content_digest = Some(resolution.content_digest);
        assert_eq!(resolve(&later).await.unwrap().1, files, "{tag}");
        later.content_digest = Some(ptah_contract::digest::Digest::of(b"another"));
        let error = resolve(&later).await.unwrap_err();
        assert_eq!(
            (error.code(), error.class()),
            ("content_digest_mismatch", FailureClass::Refused)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_archive_as_flux_pushes_it_is_unpacked_in_every_compression() {
    let registry = Registry::distribution(None, &Access::All);
    let folder = schema();
    let tar = |arguments: &[&str]| {
        let mut tar = std::process::Command::new("tar");
        let output = tar
            .args(arguments)
            .args(["-C", "schema", "-c", "."])
            .current_dir(folder.path())
            .output();
        let output = output.expect("this test needs GNU tar: apt-get install tar");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    let plain = tar(&["-f", "-"]);
    let zstd = zstd::encode_all(plain.as_slice(), 3).unwrap();
    let expected = files(&folder.path().join("schema"));
    for (tag, media_type, bytes) in [
        (
            "gzip",
            "application/vnd.cncf.flux.content.v1.tar+gzip",
            tar(&["-z", "-f", "-"]),
        ),
        ("plain", "application/vnd.oci.image.layer.v1.tar", plain.clone()),
        ("zstd", "application/vnd.oci.image.layer.v1.tar+zstd", zstd),
        (
            "docker",
            "application/vnd.docker.image.rootfs.diff.tar.gzip",
            tar(&["-z", "-f", "-"]),
        ),
    ] {
        let mut store = Store::default();
        let config = store.blob("application/vnd.cncf.flux.config.v1+json", br#"{"rootfs":{}}"#);
        let layer = store.blob(media_type, &bytes);
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
            "annotations": {"org.opencontainers.image.revision": "main@sha1:c0ffee"},
        });
        store.manifest(tag, MANIFEST, manifest.to_string().as_bytes());
        let layout = tempfile::tempdir().unwrap();
        store.layout(tag, layout.path());
        let target = format!("{}/flux:{tag}", registry.authority);
        run(
            "oras",
            &[
                "cp",
                "--from-oci-layout",
                "--to-plain-http",
                &format!(".:{tag}"),
                &target,
            ],
            layout.path(),
        );
        let (_, files) = resolve(&request(&target))
            .await
            .unwrap_or_else(|error| panic!("{tag}: {error}"));
        assert_eq!(files, expected, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_files_give_one_content_digest_however_they_were_packed() {
    let registry = Registry::distribution(None, &Access::All);
    let folder = schema();
    let target = |tag: &str| format!("{}/same:{tag}", registry.authority);
    let raw = target("raw");
    let layers = ["schema/01-tables.sql", "schema/views/v.sql", "schema/.hidden"];
    run(
        "oras",
        &[&["push", "--plain-http", &raw], &layers[..]].concat(),
        folder.path(),
    );
    let packed = target("packed");
    run(
        "oras",
        &["push", "--plain-http", &packed, "schema"],
        folder.path(),
    );
    let (raw, packed) = (
        resolve(&request(&raw)).await.unwrap(),
        resolve(&request(&packed)).await.unwrap(),
    );
    assert_eq!(raw.1, packed.1);
    assert_eq!(raw.0.content_digest, packed.0.content_digest);
    assert_ne!(raw.0.revision, packed.0.revision);
    std::fs::remove_file(folder.path().join("extra.sql")).unwrap();
    let local = ptah_resolver::folder::resolve(folder.path()).unwrap();
    assert_eq!(local.content_digest(), raw.0.content_digest);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_p042_p061_the_same_files_from_a_config_map_git_and_a_registry_have_one_content_digest() {
    let texts = [
        ("a.sql", "CREATE TABLE a ();\r\n"),
        ("d/.hidden", ""),
        ("d/größe.sql", "SELECT 1"),
    ];
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.commit(
        &texts
            .map(|(path, text)| (format!("db/{path}"), text))
            .each_ref()
            .map(|(path, text)| (path.as_str(), *text)),
    );
    let handler = git_http::handler(root.path(), git_http::Options::default());
    let site = Site::start(Some(CA.server(Flaw::None)), handler).await;
    let url = site.url("127.0.0.1", "/app.git");
    let mut from_git = git::Request::new(
        url.parse().unwrap(),
        "main".parse().unwrap(),
        "db".parse().unwrap(),
    );
    from_git.trust = from_git.trust.with_pem(CA.pem().as_ref()).unwrap();
    let from_git = git::resolve(&from_git, &attempt(), None)
        .await
        .unwrap()
        .resolution;

    let registry = Registry::distribution(None, &Access::All);
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in texts {
        let at = folder.path().join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
    let target = format!("{}/one:v1", registry.authority);
    run("oras", &["push", "--plain-http", &target, "."], folder.path());
    let (from_registry, _) = resolve(&request(&target)).await.unwrap();

    let data = texts
        .iter()
        .enumerate()
        .map(|(n, (_, text))| (n.to_string(), text.as_bytes().to_vec()))
        .collect();
    let items: Vec<(String, String)> = texts
        .iter()
        .enumerate()
        .map(|(n, (path, _))| (n.to_string(), (*path).to_owned()))
        .collect();
    let from_config_map = ptah_resolver::config_map::resolve(&data, Some(&items)).unwrap();
    let digest = from_config_map.manifest.content_digest();
    assert_eq!(
        (from_git.content_digest, from_registry.content_digest),
        (digest, digest)
    );
    assert_eq!(from_git.manifest, from_registry.manifest);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runnable_image_and_an_index_of_several_are_refused_and_an_index_of_one_is_followed() {
    let registry = Registry::distribution(None, &Access::All);
    let folder = schema();
    let home = folder.path();
    let target = |tag: &str| format!("{}/kinds:{tag}", registry.authority);
    let tar = std::process::Command::new("tar")
        .args(["-czf", "x.tgz", "schema"])
        .current_dir(home)
        .status();
    assert!(
        tar.expect("this test needs GNU tar: apt-get install tar")
            .success()
    );
    let image = target("image");
    run(
        "crane",
        &[
            "append",
            "--insecure",
            "--oci-empty-base",
            "-f",
            "x.tgz",
            "-t",
            &image,
        ],
        home,
    );
    let error = resolve(&request(&image)).await.unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("runnable_image", FailureClass::Refused)
    );
    assert_eq!(
        error.to_string(),
        "the artifact is a runnable image (configuration \"application/vnd.oci.image.config.v1+json\"), not a schema or migrations"
    );

    let one = target("one");
    run("oras", &["push", "--plain-http", &one, "extra.sql"], home);
    let other = target("other");
    run(
        "oras",
        &["push", "--plain-http", &other, "schema/01-tables.sql"],
        home,
    );
    let index = target("index-one");
    run(
        "oras",
        &["manifest", "index", "create", "--plain-http", &index, "one"],
        home,
    );
    let (resolution, files) = resolve(&request(&index)).await.unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["extra.sql"]);
    assert_eq!(resolution.revision, digest(&one, home));
    assert_eq!(resolution.index_digest.unwrap().to_string(), digest(&index, home));

    // What is compared with the tag's answer is the index, since that is what the tag names.
    let known = resolution.index_digest.unwrap();
    assert_eq!(
        resolve_if_changed(&request(&index), known, &attempt(), None)
            .await
            .unwrap(),
        None
    );

    let both = target("index-two");
    run(
        "oras",
        &[
            "manifest",
            "index",
            "create",
            "--plain-http",
            &both,
            "one",
            "other",
        ],
        home,
    );
    let error = resolve(&request(&both)).await.unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("index_ambiguous", FailureClass::Refused)
    );
    assert!(
        error
            .to_string()
            .ends_with("lists 2 manifests; exactly one is followed"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_p022_a_moved_tag_is_noticed_and_what_was_recorded_is_still_fetched() {
    let registry = Registry::distribution(None, &Access::All);
    let folder = schema();
    let target = format!("{}/moving:v1", registry.authority);
    run(
        "oras",
        &["push", "--plain-http", &target, "extra.sql"],
        folder.path(),
    );
    let wanted = request(&target);
    let (before, files) = resolve(&wanted).await.unwrap();
    let known = before.artifact_digest.unwrap();
    assert_eq!(
        resolve_if_changed(&wanted, known, &attempt(), None)
            .await
            .unwrap(),
        None
    );

    std::fs::write(folder.path().join("extra.sql"), "SELECT 2;\n").unwrap();
    run(
        "oras",
        &["push", "--plain-http", &target, "extra.sql"],
        folder.path(),
    );
    let after = resolve_if_changed(&wanted, known, &attempt(), None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(after.revision, digest(&target, folder.path()));
    assert_ne!(after.content_digest, before.content_digest);
    let mut recorded = request(&format!("{target}@{known}"));
    recorded.content_digest = Some(before.content_digest);
    assert_eq!(resolve(&recorded).await.unwrap().1, files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_layer_that_was_altered_in_the_registry_is_not_taken() {
    let registry = Registry::distribution(None, &Access::All);
    let folder = schema();
    for (tag, path) in [("file", "extra.sql"), ("folder", "schema")] {
        let target = format!("{}/altered:{tag}", registry.authority);
        run("oras", &["push", "--plain-http", &target, path], folder.path());
        let manifest = run(
            "oras",
            &["manifest", "fetch", "--plain-http", &target],
            folder.path(),
        );
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        let digest = manifest["layers"][0]["digest"].as_str().unwrap().to_owned();
        let at = registry.blob(digest.trim_start_matches("sha256:"));
        let mut bytes = std::fs::read(&at).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&at, bytes).unwrap();
        let error = resolve(&request(&target)).await.unwrap_err();
        // Also where an archive is damaged by it: the lie is what has to be told.
        assert_eq!(
            (error.code(), error.class()),
            ("digest_mismatch", FailureClass::Attention),
            "{error}"
        );
        assert!(error.to_string().contains(&digest), "{error}");
    }
}

/// A registry over TLS, and a request that believes its certificate.
fn over_tls(registry: &Registry, tls: &Tls, values: &[(&str, &str)]) -> Request {
    let mut request = Request::new(format!("oci://{}/app:v1", registry.authority).parse().unwrap());
    let ca = tls.certificate.clone().into_bytes();
    let granted = ptah_contract::digest::Digest::of(&ca).to_string();
    request.ca = Some(ca);
    if !values.is_empty() {
        let grants = [
            ("registry", registry.authority.as_str()),
            ("caSHA256", granted.as_str()),
        ];
        request.credentials = Some(credentials(&[&grants, values].concat()));
    }
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_p005_p006_p007_a_private_registry_over_tls_takes_either_form_of_a_secret() {
    let tls = Tls::new();
    let registry = Registry::distribution(Some(&tls), &Access::Passwords(PASSWORDS));
    let folder = schema();
    tls.write(folder.path());
    let target = format!("{}/app:v1", registry.authority);
    let push = [
        "push",
        "--ca-file",
        "cert.pem",
        "-u",
        USER,
        "-p",
        PASSWORD,
        &target,
        "extra.sql",
    ];
    run("oras", &push, folder.path());
    let auth = json!({"auths": {&registry.authority: {"username": USER, "password": PASSWORD}}}).to_string();
    for values in [
        &[("username", USER), ("password", PASSWORD)][..],
        &[(".dockerconfigjson", auth.as_str())],
    ] {
        let (_, files) = resolve(&over_tls(&registry, &tls, values)).await.unwrap();
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["extra.sql"]);
    }
    let wrong = over_tls(&registry, &tls, &[("username", USER), ("password", "hunter2")]);
    let error = resolve(&wrong).await.unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("authentication_failed", FailureClass::Input)
    );
    let nobody = resolve(&over_tls(&registry, &tls, &[])).await.unwrap_err();
    assert_eq!(
        (nobody.code(), nobody.class()),
        ("authentication_required", FailureClass::Input)
    );
    let token = over_tls(&registry, &tls, &[("token", "t")]);
    assert_eq!(resolve(&token).await.unwrap_err().code(), "credential_unsuited");
    let mut stranger = over_tls(&registry, &tls, &[]);
    stranger.ca = Some(Tls::new().certificate.into_bytes());
    let error = resolve(&stranger).await.unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("certificate_not_trusted", FailureClass::Input)
    );
    let mut plain = over_tls(&registry, &tls, &[]);
    plain.plain_http = true;
    assert_eq!(resolve(&plain).await.unwrap_err().code(), "plain_http_with_ca");
    plain.ca = None;
    let error = resolve(&plain).await.unwrap_err();
    // distribution answers plain http on its TLS port with 400.
    assert_eq!(error.code(), "unexpected_status", "{error}");
}

/// Pushes a file with the user's password, over plain http.
fn push_as_user(target: &str, folder: &Path) {
    let push = [
        "push",
        "--plain-http",
        "-u",
        USER,
        "-p",
        PASSWORD,
        target,
        "extra.sql",
    ];
    run("oras", &push, folder);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_p008_a_real_token_realm_gives_what_the_registry_takes() {
    let realm = Realm::start(false).await;
    let registry = Registry::distribution(None, &Access::Tokens(&realm));
    let folder = schema();
    let target = format!("{}/app:v1", registry.authority);
    push_as_user(&target, folder.path());
    let pushed = realm.asked().len();
    let granted = |values: &[(&str, &str)]| {
        let grants = [
            ("registry", registry.authority.as_str()),
            ("allowPlainHTTP", "true"),
        ];
        let mut request = request(&target);
        request.credentials = Some(credentials(&[&grants, values].concat()));
        request
    };
    for (how, values) in [
        ("GET", &[("username", USER), ("password", PASSWORD)][..]),
        ("POST", &[("token", IDENTITY)]),
    ] {
        let before = realm.asked().len();
        let (_, files) = resolve(&granted(values))
            .await
            .unwrap_or_else(|error| panic!("{how}: {error}"));
        assert_eq!(files.len(), 1);
        // One token for the manifest and all layers, to pull this repository and nothing else.
        assert_eq!(
            realm.asked()[before..],
            [format!("{how} {USER} {SERVICE} repository:app:pull")]
        );
    }
    assert!(pushed > 0);
    for values in [
        &[("username", USER), ("password", "hunter2")][..],
        &[("token", "hunter2")],
    ] {
        let error = resolve(&granted(values)).await.unwrap_err();
        assert_eq!(
            (error.code(), error.class()),
            ("authentication_failed", FailureClass::Input)
        );
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
    let error = resolve(&request(&target)).await.unwrap_err();
    assert_eq!(error.code(), "authentication_required");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_p008_a_realm_that_knows_nobody_lets_everybody_read() {
    let realm = Realm::start(true).await;
    let registry = Registry::distribution(None, &Access::Tokens(&realm));
    let folder = schema();
    let target = format!("{}/app:v1", registry.authority);
    push_as_user(&target, folder.path());
    assert_eq!(resolve(&request(&target)).await.unwrap().1.len(), 1);
    assert!(
        realm
            .asked()
            .contains(&format!("GET nobody {SERVICE} repository:app:pull"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_is_not_there_may_come_back() {
    let (port, authority) = ptah_sources_tests::oci::lying::listener();
    drop(port);
    let error = resolve(&request(&format!("{authority}/app:v1")))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("connection_failed", FailureClass::Transient)
    );
    let error = resolve(&request("oci://no-such-host.invalid/app:v1"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("name_not_resolved", FailureClass::Transient),
        "{error}"
    );
}
