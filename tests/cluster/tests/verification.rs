//! Whose signature an artifact must have: from a policy in a ConfigMap to a database.

use ptah_cluster_tests::registry::{ARTIFACT_TYPE, push, sign};
use ptah_cluster_tests::{World, condition, message, shared};
use rcgen::KeyPair;
use serde_json::{Value, json};
use xtask::node::paths::REGISTRY;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

/// A policy that believes this key, and an artifact in the registry that is held to it.
struct Signed {
    world: World,
    repository: String,
    digest: String,
}

impl Signed {
    fn new(name: &str) -> Self {
        let world = World::new(name).unwrap();
        let repository = format!("{REGISTRY}/{}", world.namespace());
        let digest = push(&repository, "v1", &[("t.sql", TABLE)], &json!({})).unwrap();
        Self {
            world,
            repository,
            digest,
        }
    }

    fn config_map(&self, name: &str, key: &str, text: &str, immutable: bool) {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": immutable,
            "metadata": {"name": name, "namespace": self.world.namespace()}, "data": {key: text}});
        shared().cluster.apply(&map.to_string()).unwrap();
    }

    fn policy(&self, name: &str, signatures: &Value) {
        let policy = json!({"version": 1, "artifact_types": [ARTIFACT_TYPE], "signatures": signatures});
        self.config_map(name, "policy.yaml", &policy.to_string(), true);
    }

    fn declare(&self, policy: &str, interval: &str) {
        let reference = format!("oci://{}:v1", self.repository);
        let desired = json!({"ociRef": reference, "transport": {"plainHTTP": true},
            "verificationPolicyFrom": {"name": policy, "key": "policy.yaml"}});
        self.world
            .schema(&json!({"desired": desired, "interval": interval}))
            .unwrap();
    }
}

fn pem(key: &KeyPair) -> String {
    key.public_key_pem()
}

#[test]
fn promise_p031_p023_an_artifact_blocks_until_the_right_key_has_signed_it_and_again_when_the_signature_goes()
{
    let signed = Signed::new("verify-key");
    let (right, wrong) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    signed.policy("policy", &json!([{"name": "release-key", "key": pem(&right)}]));
    sign(&signed.repository, &signed.digest, &wrong).unwrap();
    signed.declare("policy", "10s");
    let world = &signed.world;
    let schema = world.until_phase("Blocked").unwrap();
    assert_eq!(condition(&schema, "ArtifactVerified"), "False/PolicyRefused");
    assert_eq!(condition(&schema, "Ready"), "False/PolicyRefused");
    let why = message(&schema, "Ready");
    assert!(
        why.contains("signatures: \"release-key\" did not sign it: ")
            && why.contains("not made with this key"),
        "{why}"
    );
    assert_eq!(schema["status"]["plan"], Value::Null);
    // Another signature under the same tag, with nothing else changed, is noticed at the interval.
    sign(&signed.repository, &signed.digest, &right).unwrap();
    let schema = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(condition(&schema, "ArtifactVerified"), "True/PolicySatisfied");
    let said = message(&schema, "ArtifactVerified");
    assert!(
        said.contains("\"release-key\" signed it with its ECDSA P-256 key"),
        "{said}"
    );
    world.approve("run").unwrap();
    world.until_phase("InSync").unwrap();
    // Whoever takes a signature away takes back what it said.
    sign(&signed.repository, &signed.digest, &wrong).unwrap();
    let schema = world.until_phase("Blocked").unwrap();
    assert_eq!(condition(&schema, "ArtifactVerified"), "False/PolicyRefused");
    assert_eq!(world.columns("t").unwrap(), ["id"]);
}

#[test]
fn a_trusted_root_must_be_immutable_and_what_it_says_of_the_signature_is_told() {
    let signed = Signed::new("verify-root");
    let world = &signed.world;
    let keyless = json!([{"name": "ci", "keyless": {
        "trusted_root_from": {"name": "root", "key": "trusted_root.json"},
        "identities": [{"issuer": "https://issuer.example", "subject": "https://ci.example/app"}],
    }}]);
    signed.policy("policy", &keyless);
    signed.declare("policy", "1h");
    let failed = |word: &str| {
        let schema = world
            .until("a failure that says why", |schema| {
                schema["status"]["phase"] == "Failed"
                    && message(schema, "ReconciliationFailed").contains(word)
            })
            .unwrap();
        message(&schema, "ReconciliationFailed")
    };
    failed("there is no ConfigMap \"root\"");
    assert_eq!(world.jobs().unwrap(), Vec::<String>::new());
    signed.config_map("root", "trusted_root.json", "{}", false);
    signed.declare("policy", "61m");
    failed("is not immutable");
    let remove = || {
        let arguments = ["delete", "configmap", "root", "-n", &world.namespace()];
        shared().cluster.ask(&arguments).unwrap();
    };
    remove();
    signed.config_map("root", "trusted_root.json", "{}", true);
    signed.declare("policy", "62m");
    failed("its mediaType is none of");
    remove();
    let root = include_str!("../../../verifier/testdata/conformance/rekor2-happy-path/trusted_root.json");
    signed.config_map("root", "trusted_root.json", root, true);
    let key = KeyPair::generate().unwrap();
    sign(&signed.repository, &signed.digest, &key).unwrap();
    signed.declare("policy", "63m");
    let schema = world.until_phase("Blocked").unwrap();
    let why = message(&schema, "ArtifactVerified");
    assert!(
        why.contains("\"ci\" did not sign it: ")
            && why.contains("signed with a key and not with a certificate"),
        "{why}"
    );
}
