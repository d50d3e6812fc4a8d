//! Stored plans that somebody deletes, alters, or forestalls.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ptah_cluster_tests::{World, bare, condition, message, shared};
use serde_json::{Value, json};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

fn waiting(name: &str, spec: &Value) -> (World, Value) {
    let world = World::new(name).unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(spec).unwrap();
    let schema = world.until_phase("AwaitingApproval").unwrap();
    (world, schema)
}

fn another(world: &World, than: &Value) -> Value {
    world
        .until("another plan to wait", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
                && schema["status"]["plan"]["uid"].is_string()
                && schema["status"]["plan"]["uid"] != than["status"]["plan"]["uid"]
        })
        .unwrap()
}

#[test]
fn three_edits_leave_one_plan_that_waits_and_the_older_ones_cannot_be_approved() {
    let (world, mut schema) = waiting("edits-three", &json!({}));
    let mut older = Vec::new();
    for column in ["a", "b", "c"] {
        older.push(schema["status"]["plan"].clone());
        world
            .source(&json!({"t.sql": format!("CREATE TABLE t (id bigint PRIMARY KEY, {column} text);")}))
            .unwrap();
        schema = another(&world, &schema);
    }
    for plan in &older {
        let refused = world
            .approve_as(
                "late",
                &schema,
                plan["name"].as_str(),
                plan["uid"].as_str(),
                plan["fingerprint"].as_str(),
            )
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("spec.planRef.name is not that of the plan that waits for ptahschema"),
            "{refused}"
        );
    }
    assert_eq!(
        world.snapshots().unwrap(),
        [schema["status"]["source"]["snapshot"].as_str().unwrap()]
    );
    world.approve("current").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.columns("t").unwrap(), ["id", "c"]);
    assert_eq!(world.all("ptahschemaapproval").unwrap().len(), 1);
}

#[test]
fn a_plan_object_that_somebody_deletes_is_made_again_and_an_approval_of_the_old_one_is_worth_nothing() {
    let (world, before) = waiting("plan-deleted", &json!({}));
    let plan = before["status"]["plan"].clone();
    let name = plan["name"].as_str().unwrap();
    world.delete("ptahschemaplan", name).unwrap();
    let parts = ["name", "uid", "fingerprint"].map(|part| plan[part].as_str());
    let refused = world
        .approve_as("early", &before, parts[0], parts[1], parts[2])
        .unwrap_err()
        .to_string();
    assert!(
        [
            "does not exist",
            "is under way",
            "does not wait",
            "is not that of the plan"
        ]
        .iter()
        .any(|words| refused.contains(words)),
        "{refused}"
    );
    let after = another(&world, &before);
    // The same inputs give the same plan, in another object.
    assert_eq!(after["status"]["plan"]["fingerprint"], plan["fingerprint"]);
    assert_eq!(after["status"]["plan"]["name"], plan["name"]);
    let refused = world
        .approve_as(
            "old",
            &after,
            Some(name),
            plan["uid"].as_str(),
            plan["fingerprint"].as_str(),
        )
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("spec.planRef.uid is not that of the plan"),
        "{refused}"
    );
    world.approve("new").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.tables().unwrap(), ["t"]);
}

/// Waits until the schema says what is wrong with the chunk of its stored plan.
fn refused_for(world: &World, chunk: &str, wrong: &str) {
    let schema = world
        .until("the stored plan to be refused", |schema| {
            let said = message(schema, "ReconciliationFailed");
            schema["status"]["phase"] == "Failed" && said.contains(chunk) && said.contains(wrong)
        })
        .unwrap();
    assert_eq!(schema["status"]["plan"], Value::Null, "no plan waits");
    let said = message(&schema, "ReconciliationFailed");
    assert!(
        said.starts_with("Plan: ")
            && said.contains("neither overwritten nor deleted")
            && said.contains("remove it"),
        "{said}"
    );
}

fn with_other_bytes(chunk: &Value) -> Value {
    let mut other = bare(chunk);
    let (key, text) = other["binaryData"]
        .as_object()
        .and_then(|data| data.iter().next())
        .map(|(key, text)| (key.clone(), text.as_str().unwrap().to_owned()))
        .unwrap();
    let bytes = String::from_utf8(BASE64_STANDARD.decode(text).unwrap()).unwrap();
    let planted = bytes.replace("CREATE TABLE", "CREATE  TEMP");
    assert_ne!(bytes, planted);
    other["binaryData"][&key] = BASE64_STANDARD.encode(planted).into();
    other
}

#[test]
fn a_chunk_that_is_altered_forestalled_or_gone_is_named_and_left_alone_and_nothing_runs() {
    let (world, before) = waiting("chunks", &json!({}));
    let plan = before["status"]["plan"]["name"].as_str().unwrap();
    let name = world.chunk().unwrap();
    let right = world.object("configmap", &name).unwrap();

    // Altered: deleted and made again with other bytes, under the plan that names it.
    let mut altered = with_other_bytes(&right);
    world.delete("configmap", &name).unwrap();
    world.put(altered.clone()).unwrap();
    let planted = world.object("configmap", &name).unwrap();
    let other = "does not have the recorded";
    refused_for(&world, &name, other);
    assert!(world.approve("a").is_err());
    assert_eq!(world.object("configmap", &name).unwrap(), planted);

    // Forestalled: the plan is made anew, under the same name, and finds its chunk's name taken.
    world.schema(&json!({"suspend": true})).unwrap();
    world.until_phase("Suspended").unwrap();
    world.delete("ptahschemaplan", plan).unwrap();
    world.until_gone("configmap", &name).unwrap();
    altered["metadata"]["ownerReferences"] = json!([]);
    altered["metadata"]["labels"] = json!({});
    world.put(altered).unwrap();
    let planted = world.object("configmap", &name).unwrap();
    world.schema(&json!({})).unwrap();
    refused_for(&world, &name, other);
    assert_eq!(world.object("configmap", &name).unwrap(), planted);

    // Removed, as the message says: the plan is stored whole and can be approved.
    world.delete("configmap", &name).unwrap();
    let again = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(
        again["status"]["plan"]["fingerprint"],
        before["status"]["plan"]["fingerprint"]
    );
    assert_eq!(
        world.object("configmap", &name).unwrap()["binaryData"],
        right["binaryData"]
    );

    // Gone.
    world.delete("configmap", &name).unwrap();
    refused_for(&world, &name, "is gone");
    world.delete("ptahschemaplan", plan).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
}

#[test]
fn promise_p029_a_chunk_replaced_under_a_dispatched_run_is_not_run() {
    let world = World::new("swapped").unwrap();
    let node = |label: &str| shared().cluster.ask(&["label", "node", "--all", label]).unwrap();
    node("ptah-test-swapped=yes");
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world
        .schema(&json!({"execution": {"nodeSelector": {"ptah-test-swapped": "yes"}, "failureRetryInterval": "1h"}}))
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    node("ptah-test-swapped-");
    world.approve("go").unwrap();
    world
        .until("the run to be dispatched", |schema| {
            let operation = &schema["status"]["activeOperation"];
            operation["type"] == "Apply" && operation["dispatchStarted"] == true
        })
        .unwrap();
    let name = world.chunk().unwrap();
    let altered = with_other_bytes(&world.object("configmap", &name).unwrap());
    world.delete("configmap", &name).unwrap();
    world.put(altered).unwrap();
    node("ptah-test-swapped=yes");
    let failed = world.until_phase("Failed").unwrap();
    node("ptah-test-swapped-");
    let said = message(&failed, "ReconciliationFailed");
    for words in [
        "plan_digest_mismatch",
        "a person must look",
        "nothing was committed",
        "the approval is spent",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(condition(&failed, "Applying"), "False/OperationFailed");
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
}
