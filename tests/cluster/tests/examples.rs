//! Every manifest in `examples/` is applied as it stands, but for the names of hosts, and its schema gets a plan.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ptah_cluster_tests::registry::{PASSWORD, Private, USER};
use ptah_cluster_tests::{GitSite, World, condition, message, shared};
use ptah_contract::digest::Digest;
use rcgen::KeyPair;
use serde_json::{Value, json};
use xtask::stage::GitServer;

const FILES: [(&str, &str); 1] = [("t.sql", "CREATE TABLE t (id bigint PRIMARY KEY);")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn world(name: &str) -> World {
    let world = World::new(name).unwrap();
    secret(&world, "application-database", &json!({"url": world.url.clone()}));
    world
}

fn secret(world: &World, name: &str, data: &Value) {
    world
        .put(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}))
        .unwrap();
}

fn apply(world: &World, example: &str, names: &[(&str, &str)]) {
    let mut text = std::fs::read_to_string(folder().join(example)).unwrap();
    assert!(text.contains("namespace: application"), "{example}");
    text = text.replace(
        "namespace: application",
        &format!("namespace: {}", world.namespace()),
    );
    for (written, here) in names {
        assert!(text.contains(written), "{example} does not say {written:?}");
        text = text.replace(written, here);
    }
    let applied = shared().cluster.apply(&text);
    assert!(applied.is_ok(), "{example}: {applied:?}");
}

fn planned(world: &World, reason: &str) -> Value {
    let waiting = world
        .until_of("application", "a plan to wait", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
        })
        .unwrap();
    assert_eq!(condition(&waiting, "ArtifactResolved"), format!("True/{reason}"));
    assert_eq!(waiting["status"]["plan"]["destructive"], false);
    waiting
}

fn verification_policy(world: &World) {
    immutable(
        world,
        "ptah-verification-policy",
        &folder().join("verification-policy.yaml"),
    );
}

/// The policy as the example's own commands make it.
fn immutable(world: &World, name: &str, policy: &Path) {
    let namespace = world.namespace();
    let from = format!("--from-file=policy.yaml={}", policy.display());
    let cluster = &shared().cluster;
    cluster
        .ask(&["-n", &namespace, "create", "configmap", name, &from])
        .unwrap();
    let immutable = r#"{"immutable":true}"#;
    cluster
        .ask(&[
            "-n",
            &namespace,
            "patch",
            "configmap",
            name,
            "--type=merge",
            "-p",
            immutable,
        ])
        .unwrap();
}

fn annotations() -> Value {
    json!({"org.opencontainers.image.source": "https://git.example/team/application",
        "org.opencontainers.image.revision": "c0ffee"})
}

#[test]
fn the_config_map_example_and_the_role_beside_it() {
    let world = world("examples");
    apply(&world, "ptahschema.yaml", &[]);
    apply(&world, "approver-plan-reader-role.yaml", &[]);
    planned(&world, "SnapshotTaken");
}

#[test]
fn the_git_example_over_ssh() {
    let world = world("examples-git");
    let server = GitServer::start().unwrap();
    server.create("application.git").unwrap();
    let files = FILES.map(|(path, text)| (format!("db/schema/{path}"), text));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    server.commit("application.git", "a schema", &files).unwrap();
    secret(
        &world,
        "application-git",
        &json!({"host": server.authority(), "identity": server.identity().unwrap(),
            "known_hosts": server.known_hosts().unwrap()}),
    );
    let repository = server.url("application.git");
    apply(
        &world,
        "ptahschema-git.yaml",
        &[("ssh://git@git.example/team/application.git", &repository)],
    );
    planned(&world, "CommitResolved");
}

#[test]
fn the_git_example_over_https_at_a_tag_under_a_policy() {
    let world = world("examples-https");
    let credential = BASE64_STANDARD.encode("reader:open-sesame-git");
    let site = GitSite::start(Some(format!("Basic {credential}"))).unwrap();
    let server = &site.repositories;
    server.create("application.git").unwrap();
    let files = FILES.map(|(path, text)| (format!("db/schema/{path}"), text));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let commit = server.commit("application.git", "a schema", &files).unwrap();
    let path = server.path("application.git").display().to_string();
    server
        .git(&["-C", &path, "tag", "-a", "-m", "a release", "v1.0.0"])
        .unwrap();
    let (host, ca) = (&site.host, site.ca());
    secret(
        &world,
        "application-git",
        &json!({"host": host, "username": "reader", "password": "open-sesame-git",
            "caSHA256": Digest::of(ca.as_bytes()).to_string()}),
    );
    world
        .put(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "git-ca"}, "data": {"ca.crt": ca}}))
        .unwrap();
    apply(
        &world,
        "ptahschema-git-https.yaml",
        &[
            (
                "https://git.example/team/application.git",
                &format!("https://{host}/application.git"),
            ),
            (
                r#"hosts: ["git.example", "*.corp.example"]"#,
                &format!(r#"hosts: ["{host}"]"#),
            ),
        ],
    );
    let schema = planned(&world, "CommitResolved");
    let git = &schema["status"]["source"]["git"];
    assert_eq!(
        (&git["commit"], &git["resolvedRef"]),
        (&json!(commit), &json!("refs/tags/v1.0.0"))
    );
    assert_eq!(
        schema["status"]["source"]["sourcePolicy"]["name"],
        "source-policy"
    );
}

#[test]
fn the_oci_examples_by_tag_and_from_a_private_registry() {
    let registry = Private::start().unwrap();
    let host = [("registry.example", registry.authority.as_str())];
    let name = "team/application-schema";
    let digest = registry.push(name, "v1", &FILES, &annotations()).unwrap();
    let ca = Digest::of(registry.ca.as_bytes()).to_string();
    let private = world("examples-oci-private");
    verification_policy(&private);
    private
        .put(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "registry-ca"},
            "data": {"ca.crt": registry.ca.clone()}}),
        )
        .unwrap();
    let config = json!({"auths": {&registry.authority: {"username": USER, "password": PASSWORD}}});
    secret(
        &private,
        "application-registry",
        &json!({"registry": registry.authority, ".dockerconfigjson": config.to_string(), "caSHA256": ca}),
    );
    apply(&private, "ptahschema-oci-private.yaml", &host);
    let schema = planned(&private, "DigestPinned");
    assert_eq!(schema["status"]["source"]["digest"], digest);

    // The tag's example is anonymous, and so is the node's registry, which speaks no TLS.
    let world = world("examples-oci");
    verification_policy(&world);
    let public = xtask::node::paths::REGISTRY;
    ptah_cluster_tests::registry::push(&format!("{public}/{name}"), "v1", &FILES, &annotations()).unwrap();
    apply(
        &world,
        "ptahschema-oci.yaml",
        &[
            ("registry.example", public),
            (
                "    verificationPolicyFrom:\n",
                "    transport: {plainHTTP: true}\n    verificationPolicyFrom:\n",
            ),
        ],
    );
    planned(&world, "DigestPinned");
}

#[test]
fn the_policies_of_signatures_by_a_key_and_by_an_identity() {
    let world = world("examples-signed");
    let repository = format!("{}/{}", xtask::node::paths::REGISTRY, world.namespace());
    let digest = ptah_cluster_tests::registry::push(&repository, "v1", &FILES, &annotations()).unwrap();
    let key = KeyPair::generate().unwrap();
    ptah_cluster_tests::registry::sign(&repository, &digest, &key).unwrap();
    let text = std::fs::read_to_string(folder().join("verification-policy-signed.yaml")).unwrap();
    let pem: String = key
        .public_key_pem()
        .lines()
        .skip(1)
        .map(|line| format!("      {line}\n"))
        .collect();
    let (before, _) = text.split_once("      replace these three lines").unwrap();
    let written = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(written.path(), format!("{before}{pem}")).unwrap();
    immutable(&world, "ptah-verification-policy-signed", written.path());
    let keyless = folder().join("verification-policy-keyless.yaml");
    immutable(&world, "ptah-verification-policy-keyless", &keyless);
    let declare = |policy: &str| {
        let desired = json!({"ociRef": format!("oci://{repository}:v1"), "transport": {"plainHTTP": true},
            "verificationPolicyFrom": {"name": policy, "key": "policy.yaml"}});
        world.schema(&json!({"desired": desired})).unwrap();
    };
    declare("ptah-verification-policy-signed");
    let schema = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(condition(&schema, "ArtifactVerified"), "True/PolicySatisfied");
    declare("ptah-verification-policy-keyless");
    let schema = world.until_phase("Blocked").unwrap();
    let why = message(&schema, "ArtifactVerified");
    assert!(
        why.contains("\"release-workflow\" did not sign it: ")
            && why.contains("signed with a key and not with a certificate"),
        "{why}"
    );
}

#[test]
fn the_git_example_of_signed_commits() {
    let world = world("examples-git-signed");
    let server = GitServer::start().unwrap();
    server.create("application.git").unwrap();
    let files = FILES.map(|(path, text)| (format!("db/schema/{path}"), text));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    server
        .commit_signed("application.git", "a schema", &files)
        .unwrap();
    secret(
        &world,
        "application-git",
        &json!({"host": server.authority(), "identity": server.identity().unwrap(),
            "known_hosts": server.known_hosts().unwrap()}),
    );
    apply(
        &world,
        "ptahschema-git-signed.yaml",
        &[
            (
                "ssh://git@git.example/team/application.git",
                &server.url("application.git"),
            ),
            (
                "ada@team.example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJustAnExampleAndNobodysKey",
                server.allowed_signer().unwrap().trim(),
            ),
        ],
    );
    let schema = planned(&world, "CommitResolved");
    assert_eq!(
        condition(&schema, "ArtifactVerified"),
        "True/CommitSignatureVerified"
    );
}

#[test]
fn every_example_has_its_test() {
    let mut known = [
        "approver-plan-reader-role.yaml",
        "ptahschema-git-https.yaml",
        "ptahschema-git-signed.yaml",
        "ptahschema-git.yaml",
        "ptahschema-oci-private.yaml",
        "ptahschema-oci.yaml",
        "ptahschema.yaml",
        "verification-policy-keyless.yaml",
        "verification-policy-signed.yaml",
        "verification-policy.yaml",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut found: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    known.sort();
    found.sort();
    assert_eq!(found, known);
}
