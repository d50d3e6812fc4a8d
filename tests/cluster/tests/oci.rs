//! OCI sources, from a real registry to a proven database.

use ptah_cluster_tests::registry::{ARTIFACT_TYPE, PASSWORD, Private, USER, push};
use ptah_cluster_tests::{World, condition, message, shared};
use ptah_contract::digest::Digest;
use serde_json::{Value, json};
use xtask::node::paths::REGISTRY;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";
const WIDER: &str = "CREATE TABLE t (id bigint PRIMARY KEY, note text);";

fn config_map(world: &World, name: &str, key: &str, text: &str, immutable: bool) {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": immutable,
        "metadata": {"name": name, "namespace": world.namespace()}, "data": {key: text}});
    shared().cluster.apply(&map.to_string()).unwrap();
}

fn policy(world: &World, name: &str, more: &str) {
    let text = format!("version: 1\nartifact_types: [{ARTIFACT_TYPE}]\n{more}");
    config_map(world, name, "policy.yaml", &text, true);
}

fn source(world: &World, tag: &str) -> Value {
    json!({"ociRef": format!("oci://{REGISTRY}/{}:{tag}", world.namespace()), "transport": {"plainHTTP": true},
        "verificationPolicyFrom": {"name": "policy", "key": "policy.yaml"}})
}

fn columns(world: &World) -> Vec<String> {
    let query = "SELECT attname::text FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum";
    world.sql(query).unwrap()
}

fn publish(world: &World, tag: &str, text: &str) -> String {
    let repository = format!("{REGISTRY}/{}", world.namespace());
    push(
        &repository,
        tag,
        &[("t.sql", text)],
        &json!({"org.example.team": "a"}),
    )
    .unwrap()
}

#[test]
fn promise_p022_p023_a_tag_is_pinned_verified_and_proven_and_one_that_moves_is_noticed_at_the_interval() {
    let world = World::new("oci-tag").unwrap();
    let first = publish(&world, "v1", TABLE);
    policy(&world, "policy", "require_annotations: [org.example.team]\n");
    world
        .schema(&json!({"desired": source(&world, "v1"), "interval": "20s"}))
        .unwrap();
    let schema = world.until_phase("AwaitingApproval").unwrap();
    let known = &schema["status"]["source"];
    assert_eq!(known["digest"], first);
    assert_eq!(known["artifactType"], ARTIFACT_TYPE);
    assert!(known["resolvedReference"].as_str().unwrap().ends_with(&first));
    assert_eq!(condition(&schema, "ArtifactResolved"), "True/DigestPinned");
    assert_eq!(condition(&schema, "ArtifactVerified"), "True/PolicySatisfied");
    // The tag moves between plan and decision: what was approved is what runs, and it is proven by its digest.
    let second = publish(&world, "v1", WIDER);
    world.approve("first").unwrap();
    world
        .until("the first artifact's proof", |schema| {
            schema["status"]["applied"]["contentDigest"] == known["contentDigest"]
        })
        .unwrap();
    let schema = world
        .until("the moved tag's plan", |schema| {
            schema["status"]["source"]["digest"] == second && schema["status"]["phase"] == "AwaitingApproval"
        })
        .unwrap();
    assert_eq!(columns(&world), ["id"]);
    assert_ne!(
        schema["status"]["source"]["contentDigest"],
        known["contentDigest"]
    );
    world.approve("second").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(columns(&world), ["id", "note"]);
}

#[test]
fn promise_p003_p004_a_policy_must_be_immutable_and_another_one_of_the_name_is_another_policy() {
    let world = World::new("oci-policy").unwrap();
    publish(&world, "v1", TABLE);
    let text = format!("version: 1\nartifact_types: [{ARTIFACT_TYPE}]\n");
    config_map(&world, "policy", "policy.yaml", &text, false);
    world
        .schema(&json!({"desired": source(&world, "v1"), "interval": "1h"}))
        .unwrap();
    let schema = world.until_phase("Failed").unwrap();
    assert!(message(&schema, "ReconciliationFailed").contains("immutable"));
    assert_eq!(world.jobs().unwrap(), Vec::<String>::new());
    let remove = || {
        let arguments = ["delete", "configmap", "policy", "-n", &world.namespace()];
        shared().cluster.ask(&arguments).unwrap();
    };
    remove();
    policy(&world, "policy", "");
    let schema = world.until_phase("AwaitingApproval").unwrap();
    let (plan, bound) = (
        schema["status"]["plan"]["fingerprint"].clone(),
        schema["status"]["source"]["verificationPolicyUID"].clone(),
    );
    remove();
    policy(&world, "policy", "");
    let schema = world
        .until("a plan under the policy that was made again", |schema| {
            let now = &schema["status"]["plan"]["fingerprint"];
            schema["status"]["phase"] == "AwaitingApproval" && now.is_string() && *now != plan
        })
        .unwrap();
    assert_ne!(schema["status"]["source"]["verificationPolicyUID"], bound);
}

#[test]
fn promise_p023_a_refused_artifact_blocks_with_every_finding_and_a_new_one_is_noticed() {
    let world = World::new("oci-refused").unwrap();
    publish(&world, "v1", TABLE);
    policy(
        &world,
        "policy",
        "require_digest_pin: true\nrequire_annotations: [org.example.missing]\n",
    );
    world
        .schema(&json!({"desired": source(&world, "v1"), "interval": "10s"}))
        .unwrap();
    let schema = world.until_phase("Blocked").unwrap();
    assert_eq!(condition(&schema, "ArtifactVerified"), "False/PolicyRefused");
    assert_eq!(condition(&schema, "Ready"), "False/PolicyRefused");
    let why = message(&schema, "Ready");
    assert!(
        why.contains("require_digest_pin") && why.contains("require_annotations"),
        "{why}"
    );
    assert_eq!(schema["status"]["plan"], Value::Null);
    policy(&world, "milder", "");
    let mut desired = source(&world, "v1");
    desired["verificationPolicyFrom"]["name"] = "milder".into();
    world
        .schema(&json!({"desired": desired, "interval": "10s"}))
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
}

#[test]
fn promise_p005_p006_p007_a_private_registry_takes_the_credential_that_its_owner_granted_and_no_other() {
    let world = World::new("oci-private").unwrap();
    let registry = Private::start().unwrap();
    registry
        .push("team/app", "v1", &[("t.sql", TABLE)], &json!({}))
        .unwrap();
    policy(&world, "policy", "");
    config_map(&world, "registry-ca", "ca.crt", &registry.ca, false);
    let secret = |data: Value| {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "stringData": data,
            "metadata": {"name": "registry-auth", "namespace": world.namespace()}});
        shared()
            .cluster
            .ask(&[
                "delete",
                "secret",
                "registry-auth",
                "-n",
                &world.namespace(),
                "--ignore-not-found",
            ])
            .unwrap();
        shared().cluster.apply(&secret.to_string()).unwrap();
    };
    let declare = |mode: &str, round: u32| {
        let desired = json!({"ociRef": format!("oci://{}/team/app:v1", registry.authority),
            "registryAuthFrom": {"name": "registry-auth", "mode": mode},
            "transport": {"caFrom": {"name": "registry-ca", "key": "ca.crt"}},
            "verificationPolicyFrom": {"name": "policy", "key": "policy.yaml"}});
        world
            .schema(&json!({"desired": desired, "interval": format!("{}m", 20 + round)}))
            .unwrap();
    };
    let ca = Digest::of(registry.ca.as_bytes()).to_string();
    let refused = |data: Value, round: u32, word: &str| {
        secret(data);
        declare("Environment", round);
        let schema = world.until_phase("Failed").unwrap();
        let why = message(&schema, "ReconciliationFailed");
        assert!(why.contains(word), "{why}");
        assert!(!serde_json::to_string(&schema).unwrap().contains(PASSWORD));
    };
    refused(
        json!({"username": USER, "password": PASSWORD, "caSHA256": ca}),
        0,
        "registry",
    );
    refused(
        json!({"registry": "registry.example", "username": USER, "password": PASSWORD, "caSHA256": ca}),
        1,
        "registry",
    );
    refused(
        json!({"registry": registry.authority, "username": USER, "password": PASSWORD}),
        2,
        "caSHA256",
    );
    refused(
        json!({"registry": registry.authority, "username": USER, "password": "wrong", "caSHA256": ca}),
        3,
        "authentication_failed",
    );
    secret(json!({"registry": registry.authority, "username": USER, "password": PASSWORD, "caSHA256": ca}));
    declare("Environment", 4);
    world.until_phase("AwaitingApproval").unwrap();
    let config = json!({"auths": {&registry.authority: {"username": USER, "password": PASSWORD}}});
    secret(json!({"registry": registry.authority, ".dockerconfigjson": config.to_string(), "caSHA256": ca}));
    declare("DockerConfigJSON", 5);
    world.until_phase("AwaitingApproval").unwrap();
    world.approve("run").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(columns(&world), ["id"]);
}
