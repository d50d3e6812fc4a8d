//! From nothing to a proven change, and every promise on the way.

use std::process::Command;

use ptah_cluster_tests::{World, condition, shared};
use serde_json::{Value, json};

const TABLE: &str = "CREATE TABLE customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE);";

#[test]
fn promise_p001_p002_p011_p012_p017_p018_p021_p024_p025_p030_the_main_job() {
    let world = World::new("main").unwrap();
    world.source(&json!({"tables.sql": TABLE})).unwrap();
    world.schema(&json!({})).unwrap();

    // It stops and waits; nothing of the plan has run.
    let waiting = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(condition(&waiting, "ApprovalRequired"), "True/PlanReady");
    assert_eq!(condition(&waiting, "ArtifactResolved"), "True/SnapshotTaken");
    assert_eq!(condition(&waiting, "DriftDetected"), "True/Observed");
    assert_eq!(tables(&world), Vec::<String>::new());
    let target = &waiting["status"]["target"];
    assert!(
        target["driftReportDigest"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    assert_eq!(
        (&target["dialect"], target["driftFindingCount"].as_i64() > Some(0)),
        (&json!("postgres"), true)
    );
    let report = target.to_string();
    assert!(
        !report.contains("customers") && !report.contains("email"),
        "no name leaves the runner: {report}"
    );

    // The SQL is in immutable ConfigMaps that the plan owns, and not in the status.
    assert!(!waiting["status"].to_string().contains("CREATE TABLE"));
    let plan_name = waiting["status"]["plan"]["name"].as_str().unwrap().to_owned();
    let chunk = shared()
        .cluster
        .get(&world.namespace(), "configmap", &format!("{plan_name}-000"))
        .unwrap()
        .unwrap();
    assert_eq!(chunk["immutable"], true);
    let owner = &chunk["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["controller"]),
        (&json!("PtahSchemaPlan"), &json!(true))
    );

    world.approve("first").unwrap();
    let done = world.until_phase("InSync").unwrap();
    assert_eq!(condition(&done, "InSync"), "True/ScopedConverged");
    assert_eq!(condition(&done, "Applying"), "False/JobCompleted");
    assert_eq!(condition(&done, "Ready"), "True/InSync");
    assert_eq!(tables(&world), ["customers"]);
    assert_eq!(done["status"]["applied"]["planRef"]["name"], plan_name);

    // Four Pods from an edit to a proven change: read, plan, apply, prove.
    let kinds: Vec<String> = world
        .jobs()
        .unwrap()
        .iter()
        .map(|name| name.split('-').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["observe", "plan", "apply", "plan"]);
    assert_eq!(done["metadata"]["finalizers"], Value::Null);
}

#[test]
fn promise_p013_p014_the_plugin_prints_the_plan_that_waits_and_the_stored_document() {
    let world = World::new("plugin").unwrap();
    world.source(&json!({"tables.sql": TABLE})).unwrap();
    world.schema(&json!({})).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    let text = plugin(&world, &[]);
    for word in ["CREATE TABLE", "safe", "lock"] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
    let document: Value = serde_json::from_str(&plugin(&world, &["-o", "json"])).unwrap();
    for statement in document["statements"].as_array().unwrap() {
        assert!(
            statement["sql"].is_string() && statement["severity"].is_string(),
            "{statement}"
        );
        for key in ["rewrites", "scans", "transactional", "dataDependent"] {
            assert!(statement[key].is_boolean(), "{key}: {statement}");
        }
    }
    assert!(plugin(&world, &["-o", "sql"]).contains("CREATE TABLE"));
}

#[test]
fn an_edit_and_drift_made_by_hand_are_planned_and_converge_and_rows_stay() {
    let world = World::new("rounds").unwrap();
    world.source(&json!({"tables.sql": TABLE})).unwrap();
    world
        .schema(&json!({"policy": {"apply": "Always"}, "interval": "10s"}))
        .unwrap();
    world.until_phase("InSync").unwrap();
    world
        .sql("INSERT INTO customers (email) VALUES ('a@example.org'), ('b@example.org')")
        .unwrap();

    let edited = format!("{TABLE}\nALTER TABLE customers ADD COLUMN name text NOT NULL DEFAULT '';");
    world.source(&json!({"tables.sql": edited})).unwrap();
    world
        .until("the edit to be applied", |schema| {
            schema["status"]["phase"] == "InSync" && columns(&world).contains(&"name".to_owned())
        })
        .unwrap();
    world.sql("ALTER TABLE customers DROP COLUMN name").unwrap();
    world
        .until("the drift to be undone", |_| {
            columns(&world).contains(&"name".to_owned())
        })
        .unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.sql("SELECT count(*) FROM customers").unwrap(), ["2"]);
}

fn tables(world: &World) -> Vec<String> {
    world
        .sql("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        .unwrap()
}

fn columns(world: &World) -> Vec<String> {
    world
        .sql("SELECT attname::text FROM pg_attribute WHERE attrelid = 'customers'::regclass AND attnum > 0 AND NOT attisdropped")
        .unwrap()
}

fn plugin(world: &World, arguments: &[&str]) -> String {
    let mut command = Command::new(shared().plugin.join("kubectl-ptah"));
    shared().node.environment(&mut command).unwrap();
    command
        .args(["plan", "app", "-n", &world.namespace()])
        .args(arguments);
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
