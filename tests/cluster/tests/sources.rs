//! ConfigMap sources that somebody got wrong, and snapshots that somebody got at.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ptah_cluster_tests::{World, bare, condition, message, shared};
use ptah_contract::digest::Digest;
use ptah_contract::manifest::{File, Manifest};
use serde_json::{Value, json};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

fn selecting(items: &[(&str, &str)]) -> Value {
    let items: Vec<Value> = items
        .iter()
        .map(|(key, path)| json!({"key": key, "path": path}))
        .collect();
    json!({"desired": {"configMap": {"name": "sql", "items": items}}})
}

#[test]
fn keys_that_would_be_one_file_unusable_paths_and_a_missing_key_are_refused_by_name() {
    let world = World::new("keys").unwrap();
    let two = json!({"a": TABLE, "b": "CREATE TABLE u (id int);"});
    for (data, spec, words) in [
        (
            json!({"A.sql": TABLE, "a.sql": TABLE}),
            json!({}),
            ["path_collision", "\"A.sql\" and \"a.sql\""],
        ),
        (
            two.clone(),
            selecting(&[("a", "caf\u{e9}.sql"), ("b", "cafe\u{301}.sql")]),
            ["path_collision", "would be one file"],
        ),
        (
            two.clone(),
            selecting(&[("a", "./t.sql"), ("b", "t.sql")]),
            ["path_collision", "\"t.sql\" and \"t.sql\""],
        ),
        (
            two.clone(),
            selecting(&[("a", "db"), ("b", "db/t.sql")]),
            ["path_collision", "\"db\" and \"db/t.sql\""],
        ),
        (
            two.clone(),
            selecting(&[("a", "../t.sql")]),
            ["invalid_path", "\"../t.sql\""],
        ),
        (
            two.clone(),
            selecting(&[("a", "/t.sql")]),
            ["invalid_path", "\"/t.sql\""],
        ),
        (
            two.clone(),
            selecting(&[("a", "db/.GIT/t.sql")]),
            ["invalid_path", "\"db/.GIT/t.sql\""],
        ),
        (
            two,
            selecting(&[("a", "a.sql"), ("typo.sql", "t.sql")]),
            ["missing_key", "\"typo.sql\" is not in the ConfigMap"],
        ),
    ] {
        // In this order what stands between two cases is refused as well.
        world.schema(&spec).unwrap();
        world.source(&data).unwrap();
        let schema = world
            .until(words[1], |schema| {
                let said = message(schema, "ReconciliationFailed");
                words.iter().all(|word| said.contains(word))
                    && schema["status"]["observedGeneration"] == schema["metadata"]["generation"]
            })
            .unwrap();
        let said = message(&schema, "ArtifactResolved");
        assert!(said.contains("spec.desired.configMap \"sql\""), "{said}");
        assert_eq!(condition(&schema, "ArtifactResolved"), "False/ResolveFailed");
        assert_eq!(schema["status"]["plan"], Value::Null);
    }
    assert_eq!(
        (
            world.jobs().unwrap(),
            world.snapshots().unwrap(),
            world.tables().unwrap()
        ),
        (vec![], vec![], vec![])
    );
}

/// The name and the content that the manager would give the snapshot of one file.
fn snapshot_of(schema: &Value, text: &str) -> Value {
    let file = File {
        path: "t.sql".parse().unwrap(),
        sha256: Digest::of(text.as_bytes()),
        size: text.len() as u64,
    };
    let manifest = Manifest::new(vec![file]).unwrap();
    let uid = schema["metadata"]["uid"].as_str().unwrap();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
        "metadata": {"name": ptah_api::names::snapshot_name(uid, &manifest.content_digest())},
        "data": {"manifest.json": String::from_utf8(manifest.to_bytes()).unwrap()},
        "binaryData": {"file-00000": BASE64_STANDARD.encode(text)},
    })
}

#[test]
fn an_object_under_a_snapshots_name_counts_for_its_bytes_alone_whoever_made_it() {
    let world = World::new("taken").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(&json!({"suspend": true})).unwrap();
    let right = snapshot_of(&world.until_phase("Suspended").unwrap(), TABLE);
    let name = right["metadata"]["name"].as_str().unwrap();

    let (mut altered, mut mutable) = (right.clone(), right.clone());
    altered["binaryData"]["file-00000"] = BASE64_STANDARD.encode("DROP TABLE t;").into();
    mutable["immutable"] = false.into();
    for planted in [altered, mutable] {
        world.put(planted).unwrap();
        let before = world.object("configmap", name).unwrap();
        world.schema(&json!({"suspend": false})).unwrap();
        let schema = world.until_phase("Failed").unwrap();
        assert_eq!(condition(&schema, "ArtifactResolved"), "False/SnapshotNameTaken");
        let said = message(&schema, "ReconciliationFailed");
        assert!(said.contains(name) && said.contains("delete it"), "{said}");
        assert_eq!(
            world.object("configmap", name).unwrap(),
            before,
            "it is left alone"
        );
        world.schema(&json!({"suspend": true})).unwrap();
        world.until_phase("Suspended").unwrap();
        world.delete("configmap", name).unwrap();
    }
    assert_eq!(world.jobs().unwrap(), Vec::<String>::new());

    // The same bytes are the snapshot, whoever made them and whoever owns them.
    let mut others = right.clone();
    let source = world.object("configmap", "sql").unwrap();
    others["metadata"]["ownerReferences"] = json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "sql", "uid": source["metadata"]["uid"]}
    ]);
    world.put(others).unwrap();
    let before = world.object("configmap", name).unwrap();
    world.schema(&json!({"suspend": false})).unwrap();
    let waiting = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(waiting["status"]["source"]["snapshot"], name);
    assert_eq!(world.object("configmap", name).unwrap(), before);

    // Gone while the plan waits: the proof after the run has its files all the same, from the same bytes.
    world.delete("configmap", name).unwrap();
    world.approve("go").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.tables().unwrap(), ["t"]);
    let made = world.object("configmap", name).unwrap();
    assert_eq!(
        (&made["data"], &made["binaryData"], &made["immutable"]),
        (&right["data"], &right["binaryData"], &right["immutable"])
    );
    assert_eq!(
        made["metadata"]["ownerReferences"][0]["uid"],
        waiting["metadata"]["uid"]
    );
}

#[test]
fn promise_p052_p053_a_snapshot_deleted_under_an_operation_refuses_it_and_its_exact_bytes_let_it_go_on() {
    let world = World::new("gone").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    let spec = json!({"execution": {
        "nodeSelector": {"ptah-test-gone": "yes"}, "failureRetryInterval": "5s", "activeDeadlineSeconds": 30,
    }});
    world.schema(&spec).unwrap();
    let node = |label: &str| shared().cluster.ask(&["label", "node", "--all", label]).unwrap();
    let claimed = |except: &Value| {
        world.until("a reading to be claimed", |schema| {
            let job = &schema["status"]["activeOperation"]["jobName"];
            job.is_string() && job != except
        })
    };
    let schema = claimed(&Value::Null).unwrap();
    let name = schema["status"]["source"]["snapshot"]
        .as_str()
        .unwrap()
        .to_owned();
    let snapshot = bare(&world.object("configmap", &name).unwrap());
    world.delete("configmap", &name).unwrap();
    node("ptah-test-gone=yes");
    // No container of the Pod starts without it, and the exact bytes let the same attempt go on.
    let job = &schema["status"]["activeOperation"]["jobName"];
    shared()
        .cluster
        .wait("the Pod to be scheduled", ptah_cluster_tests::PATIENCE, || {
            let pods = world.all("pods")?;
            Ok(pods
                .iter()
                .any(|pod| pod["spec"]["nodeName"].is_string())
                .then_some(()))
        })
        .unwrap();
    world.put(snapshot).unwrap();
    let waiting = world.until_phase("AwaitingApproval").unwrap();
    let first = world.jobs().unwrap();
    assert_eq!(job.as_str(), first.first().map(String::as_str));
    assert_eq!(first.len(), 2, "one reading and one plan: {first:?}");

    // Left away, the attempt ends at its deadline and says what is missing; an edit is read and goes on.
    node("ptah-test-gone-");
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, note text);"}))
        .unwrap();
    let schema = world
        .until("the edit to be claimed", |schema| {
            schema["status"]["activeOperation"]["jobName"].is_string()
                && schema["status"]["source"]["contentDigest"] != waiting["status"]["source"]["contentDigest"]
        })
        .unwrap();
    let name = schema["status"]["source"]["snapshot"].as_str().unwrap();
    world.delete("configmap", name).unwrap();
    node("ptah-test-gone=yes");
    let failed = world
        .until("the refusal", |schema| {
            message(schema, "ReconciliationFailed").contains(name)
        })
        .unwrap();
    let said = message(&failed, "ReconciliationFailed");
    assert!(
        said.starts_with("Observe: ") && said.contains("deadline"),
        "{said}"
    );
    let after = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(after["status"]["source"]["snapshot"], name);
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
    node("ptah-test-gone-");
}
