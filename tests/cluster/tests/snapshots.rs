//! ConfigMap sources on the cluster.

use ptah_cluster_tests::{PATIENCE, World, condition, message, shared};
use serde_json::{Value, json};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

fn waiting(name: &str) -> (World, Value) {
    let world = World::new(name).unwrap();
    world.source(&json!({"t.sql": TABLE, "notes": "one"})).unwrap();
    world
        .schema(&json!({"desired": {"configMap": {"name": "sql", "items": [{"key": "t.sql", "path": "db/t.sql"}]}}}))
        .unwrap();
    let schema = world.until_phase("AwaitingApproval").unwrap();
    (world, schema)
}

#[test]
fn promise_p040_p041_p042_the_manager_copies_the_selected_files_into_an_immutable_snapshot_that_the_resource_owns()
 {
    let (world, schema) = waiting("snapshot");
    let source = &schema["status"]["source"];
    let name = source["snapshot"].as_str().unwrap();
    assert!(name.starts_with("ptah-src-") && name.len() == 41, "{name}");
    let snapshot = shared()
        .cluster
        .get(&world.namespace(), "configmap", name)
        .unwrap()
        .unwrap();
    assert_eq!(snapshot["immutable"], true);
    assert_eq!(
        snapshot["metadata"]["ownerReferences"][0]["uid"],
        schema["metadata"]["uid"]
    );
    let manifest = snapshot["data"]["manifest.json"].as_str().unwrap();
    let digest = ptah_contract::digest::Digest::of(manifest.as_bytes());
    assert_eq!(source["contentDigest"], digest.to_string());
    let files: Value = serde_json::from_str(manifest).unwrap();
    assert_eq!(files["files"][0]["path"], "db/t.sql");
    assert_eq!(files["files"][0]["size"], TABLE.len());
    // No Job resolved it.
    assert!(world.jobs().unwrap().iter().all(|job| !job.contains("resolve")));
}

#[test]
fn promise_p044_p045_operations_mount_the_snapshot_and_only_the_checking_container_sees_it() {
    let (world, schema) = waiting("mounts");
    let job = shared()
        .cluster
        .get(&world.namespace(), "job", &world.jobs().unwrap()[0])
        .unwrap()
        .unwrap();
    let pod = &job["spec"]["template"]["spec"];
    let maps: Vec<&Value> = pod["volumes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|v| !v["configMap"].is_null())
        .collect();
    assert_eq!(maps.len(), 1);
    assert_eq!(
        maps[0]["configMap"]["name"],
        schema["status"]["source"]["snapshot"]
    );
    let mounts = |container: &Value| -> Vec<String> {
        container["volumeMounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let init = &pod["initContainers"];
    assert_eq!(mounts(&init[0]), ["request", "snapshot", "content"]);
    assert_eq!(mounts(&init[1]), ["scratch", "scratch-data"]);
    let main = mounts(&pod["containers"][0]);
    assert!(main.contains(&"database".to_owned()) && !main.contains(&"snapshot".to_owned()));
    assert_eq!(pod["automountServiceAccountToken"], false);
}

#[test]
fn promise_p046_an_altered_snapshot_stops_the_pod_before_the_container_with_the_url_starts() {
    let world = World::new("altered").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    // No node has the label yet, so the Pod waits while its snapshot is replaced.
    world
        .schema(
            &json!({"execution": {"nodeSelector": {"ptah-test": "altered"}, "failureRetryInterval": "1h"}}),
        )
        .unwrap();
    let schema = world
        .until("the reading to be claimed", |schema| {
            schema["status"]["activeOperation"]["jobName"].is_string()
        })
        .unwrap();
    let name = schema["status"]["source"]["snapshot"]
        .as_str()
        .unwrap()
        .to_owned();
    let cluster = &shared().cluster;
    let mut snapshot = cluster
        .get(&world.namespace(), "configmap", &name)
        .unwrap()
        .unwrap();
    cluster
        .ask(&["delete", "configmap", &name, "-n", &world.namespace()])
        .unwrap();
    snapshot["binaryData"]["file-00000"] = "eA==".into();
    snapshot["metadata"] = json!({"name": name, "namespace": world.namespace()});
    cluster.apply(&snapshot.to_string()).unwrap();
    cluster
        .ask(&["label", "node", "--all", "ptah-test=altered", "--overwrite"])
        .unwrap();
    let pod = cluster
        .wait("the Pod to fail", PATIENCE, || {
            let text = cluster.ask(&["get", "pods", "-n", &world.namespace(), "-o", "json"])?;
            let pods: Value = serde_json::from_str(&text)?;
            Ok(pods["items"].as_array().and_then(|pods| {
                pods.iter()
                    .find(|pod| pod["status"]["phase"] == "Failed")
                    .cloned()
            }))
        })
        .unwrap();
    cluster.ask(&["label", "node", "--all", "ptah-test-"]).unwrap();
    let checked = &pod["status"]["initContainerStatuses"][0]["state"]["terminated"];
    assert!(
        checked["message"].as_str().unwrap().contains("t.sql"),
        "{checked}"
    );
    assert_ne!(checked["exitCode"], 0);
    assert!(pod["status"]["containerStatuses"][0]["state"]["running"].is_null());
    assert_eq!(pod["status"]["containerStatuses"][0]["started"], false);
    let failed = world
        .until("the refusal to be reported", |schema| {
            !message(schema, "ReconciliationFailed").is_empty()
        })
        .unwrap();
    // The next resolution finds the name taken, and leaves the object alone.
    assert!(
        message(&failed, "ReconciliationFailed").contains("snapshot"),
        "{}",
        message(&failed, "ReconciliationFailed")
    );
}

#[test]
fn promise_p047_p048_p050_an_edit_of_a_selected_key_replaces_snapshot_and_plan_and_of_another_key_nothing() {
    let (world, before) = waiting("edits");
    let (plan, snapshot) = (
        before["status"]["plan"]["uid"].clone(),
        before["status"]["source"]["snapshot"].clone(),
    );
    let jobs = world.jobs().unwrap();
    world.source(&json!({"t.sql": TABLE, "notes": "two"})).unwrap();
    // Something that the manager does see, so that there is a moment after which the edit was surely seen.
    world
        .until("the pass after the edit", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
        })
        .unwrap();
    let same = world.read().unwrap();
    assert_eq!(
        (
            &same["status"]["plan"]["uid"],
            &same["status"]["source"]["snapshot"]
        ),
        (&plan, &snapshot)
    );
    assert_eq!(world.jobs().unwrap(), jobs);

    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, note text);", "notes": "two"}))
        .unwrap();
    let after = world
        .until("the edit to be planned", |schema| {
            schema["status"]["phase"] == "AwaitingApproval" && schema["status"]["plan"]["uid"] != plan
        })
        .unwrap();
    assert_ne!(after["status"]["source"]["snapshot"], snapshot);
    assert_eq!(
        world.snapshots().unwrap(),
        [after["status"]["source"]["snapshot"].as_str().unwrap()]
    );
}

#[test]
fn promise_p049_another_config_map_of_the_name_retires_the_plan_though_the_files_match() {
    let (world, before) = waiting("other");
    shared()
        .cluster
        .ask(&["delete", "configmap", "sql", "-n", &world.namespace()])
        .unwrap();
    world.source(&json!({"t.sql": TABLE, "notes": "one"})).unwrap();
    let after = world
        .until("another plan", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
                && schema["status"]["plan"]["uid"].is_string()
                && schema["status"]["plan"]["uid"] != before["status"]["plan"]["uid"]
        })
        .unwrap();
    assert_eq!(
        after["status"]["source"]["contentDigest"],
        before["status"]["source"]["contentDigest"]
    );
}

#[test]
fn promise_p043_no_verification_and_no_artifact_verified() {
    let (_world, schema) = waiting("verified");
    assert_eq!(condition(&schema, "ArtifactVerified"), "");
    assert_eq!(condition(&schema, "ArtifactResolved"), "True/SnapshotTaken");
}
