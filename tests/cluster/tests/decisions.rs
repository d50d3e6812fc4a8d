//! Decisions that are tried again: spent, restored from a copy, or made for another resource.

use ptah_cluster_tests::{PATIENCE, World, bare, condition, shared};
use serde_json::{Value, json};
use xtask::node::audit::AuditLog;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

fn approval(world: &World, name: &str) -> Value {
    world.object("ptahschemaapproval", name).unwrap()
}

/// Waits until the manager has read the approvals of a plan that waits, after this call.
fn looked_at(world: &World) {
    let log = AuditLog::from_now(shared().node.paths().audit_log()).unwrap();
    let nudge = |value: &str| {
        shared()
            .cluster
            .ask(&[
                "annotate",
                "ptahschema",
                "app",
                "-n",
                &world.namespace(),
                "--overwrite",
                &format!("test.example/nudge={value}"),
            ])
            .unwrap()
    };
    nudge("one");
    shared()
        .cluster
        .wait("the manager to read the approvals", PATIENCE, || {
            let read = log.requests()?.into_iter().any(|request| {
                request.user == shared().manager
                    && request.namespace == world.namespace()
                    && (request.verb.as_str(), request.resource.as_str()) == ("list", "ptahschemaapprovals")
            });
            Ok(read.then_some(()))
        })
        .unwrap();
}

#[test]
fn a_spent_approval_decides_nothing_again_and_a_copy_of_it_is_the_decision_of_whoever_makes_it() {
    let world = World::new("spent").unwrap();
    let cluster = &shared().cluster;
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(&json!({"interval": "10s"})).unwrap();
    let first_plan = world.until_phase("AwaitingApproval").unwrap()["status"]["plan"].clone();
    world.approve("first").unwrap();
    world.until_phase("InSync").unwrap();
    let spent = approval(&world, "first");
    assert_eq!(condition(&spent, "Consumed"), "True/DispatchCommitted");

    // Nobody but the manager takes the mark away.
    let refused = cluster
        .ask(&[
            "patch",
            "ptahschemaapproval",
            "first",
            "-n",
            &world.namespace(),
            "--subresource=status",
            "--type=merge",
            "-p",
            r#"{"status": {"conditions": []}}"#,
        ])
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("status of this kind is written by the operator alone"),
        "{refused}"
    );
    // A copy, while nothing waits.
    let mut copy = bare(&spent);
    copy["metadata"]["name"] = "copy".into();
    copy["status"] = spent["status"].clone();
    let refused = world.put(copy.clone()).unwrap_err().to_string();
    assert!(
        ["does not wait for an approval", "is under way"]
            .iter()
            .any(|words| refused.contains(words)),
        "{refused}"
    );

    // The same plan comes back, since somebody undid what it did: what is spent does not run it again.
    world.sql("DROP TABLE t").unwrap();
    let again = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(again["status"]["plan"]["fingerprint"], first_plan["fingerprint"]);
    assert_eq!(again["status"]["plan"]["uid"], first_plan["uid"]);
    looked_at(&world);
    assert_eq!(world.read().unwrap()["status"]["plan"]["approval"], Value::Null);
    assert_eq!(approval(&world, "first"), spent);
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());

    // The copy now is a new decision, stamped with who makes it and when, and spent by nobody.
    world.bind("ann", "ptah-operator-approver").unwrap();
    cluster
        .wait("a moment between two refreshes", PATIENCE, || {
            let mut kubectl = cluster.kubectl()?;
            let file = tempfile::NamedTempFile::new()?;
            let mut restored = copy.clone();
            restored["metadata"]["namespace"] = world.namespace().into();
            std::fs::write(file.path(), restored.to_string())?;
            kubectl.args(["create", "--as", "ann", "-f"]).arg(file.path());
            match xtask::run::output(&mut kubectl) {
                Ok(_) => Ok(Some(())),
                Err(error) if error.to_string().contains("is under way; wait") => Ok(None),
                Err(error) if error.to_string().contains("does not wait for an approval") => Ok(None),
                Err(error) => Err(error),
            }
        })
        .unwrap();
    let made = approval(&world, "copy");
    assert_eq!(made["spec"]["approver"]["username"], "ann");
    assert_ne!(
        made["spec"]["mutationRequestUID"],
        spent["spec"]["mutationRequestUID"]
    );
    assert_ne!(made["metadata"]["uid"], spent["metadata"]["uid"]);
    world.until_phase("InSync").unwrap();
    assert_eq!(world.tables().unwrap(), ["t"]);
    assert_eq!(
        condition(&approval(&world, "copy"), "Consumed"),
        "True/DispatchCommitted"
    );
}

#[test]
fn an_approval_made_for_one_resource_is_not_taken_for_another() {
    let world = World::new("crossed").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    let mut specs = Vec::new();
    for name in ["app", "second"] {
        world.schema_named(name, &json!({})).unwrap();
    }
    for name in ["app", "second"] {
        let schema = world
            .until_of(name, "a plan", |schema| {
                schema["status"]["phase"] == "AwaitingApproval"
            })
            .unwrap();
        specs.push(schema);
    }
    let [app, second] = &specs[..] else { unreachable!() };
    let crossed = |schema: &Value, plan: &Value, fingerprint: &Value| {
        world.put(json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval", "metadata": {"name": "x"},
            "spec": {"schemaRef": {"name": schema["metadata"]["name"], "uid": schema["metadata"]["uid"]},
                "planRef": {"name": plan["status"]["plan"]["name"], "uid": plan["status"]["plan"]["uid"]},
                "planFingerprint": fingerprint["status"]["plan"]["fingerprint"]}}))
    };
    for (schema, plan, fingerprint, words) in [
        (
            second,
            app,
            app,
            "spec.planRef.name is not that of the plan that waits",
        ),
        (
            second,
            second,
            app,
            "spec.planFingerprint is not that of the plan that waits",
        ),
        (
            app,
            second,
            app,
            "spec.planRef.name is not that of the plan that waits",
        ),
    ] {
        let refused = crossed(schema, plan, fingerprint).unwrap_err().to_string();
        let name = schema["metadata"]["name"].as_str().unwrap();
        assert!(
            refused.contains(words) && refused.contains(&format!("ptahschema test-crossed/{name}")),
            "{refused}"
        );
    }
    assert_eq!(world.all("ptahschemaapproval").unwrap(), Vec::<Value>::new());
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
}
