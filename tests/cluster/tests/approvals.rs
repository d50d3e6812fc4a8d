//! Who may decide, and what a decision is worth.

use ptah_cluster_tests::{World, condition, shared};
use serde_json::{Value, json};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

fn waiting(name: &str, spec: &Value) -> World {
    let world = World::new(name).unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(spec).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    world
}

#[test]
fn promise_p010_p015_an_approval_is_stamped_with_who_made_it_and_cannot_be_changed() {
    let world = waiting("stamp", &json!({}));
    let schema = world.read().unwrap();
    let plan = &schema["status"]["plan"];
    let forged = json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval",
        "metadata": {"name": "a", "namespace": world.namespace()},
        "spec": {
            "schemaRef": {"name": "app", "uid": schema["metadata"]["uid"]},
            "planRef": {"name": plan["name"], "uid": plan["uid"]}, "planFingerprint": plan["fingerprint"],
            "approver": {"username": "somebody-else"}, "approvedAt": "2020-01-01T00:00:00Z", "mutationRequestUID": "x",
        },
    });
    shared().cluster.apply(&forged.to_string()).unwrap();
    let stored = shared()
        .cluster
        .get(&world.namespace(), "ptahschemaapproval", "a")
        .unwrap()
        .unwrap();
    assert_eq!(stored["spec"]["approver"]["username"], "admin");
    assert_ne!(stored["spec"]["approvedAt"], "2020-01-01T00:00:00Z");
    assert_ne!(stored["spec"]["mutationRequestUID"], "x");
    let mut changed = stored.clone();
    // It is marked meanwhile, which makes it another version.
    let metadata = changed["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion").unwrap();
    changed["spec"]["approver"]["username"] = "another".into();
    let refused = shared()
        .cluster
        .apply(&changed.to_string())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("cannot be changed") || refused.contains("delete it"),
        "{refused}"
    );
    world.until_phase("InSync").unwrap();
    let spent = shared()
        .cluster
        .get(&world.namespace(), "ptahschemaapproval", "a")
        .unwrap()
        .unwrap();
    assert_eq!(condition(&spent, "Consumed"), "True/DispatchCommitted");
}

#[test]
fn an_approval_of_another_plan_another_schema_or_nothing_is_refused_with_what_to_do() {
    let world = waiting("refused", &json!({}));
    let schema = world.read().unwrap();
    let plan = &schema["status"]["plan"];
    let (name, uid, fingerprint) = (
        plan["name"].as_str(),
        plan["uid"].as_str(),
        plan["fingerprint"].as_str(),
    );
    let other = format!("sha256:{}", "0".repeat(64));
    let mut another = schema.clone();
    another["metadata"]["uid"] = "11111111-2222-4333-8444-555555555555".into();
    for (case, result) in [
        (
            "fingerprint",
            world.approve_as("a", &schema, name, uid, Some(&other)),
        ),
        (
            "plan",
            world.approve_as("a", &schema, Some("ptah-plan-0"), uid, fingerprint),
        ),
        (
            "plan uid",
            world.approve_as("a", &schema, name, Some("0"), fingerprint),
        ),
        ("schema", world.approve_as("a", &another, name, uid, fingerprint)),
    ] {
        let text = result.expect_err(case).to_string();
        assert!(
            text.contains("denied the request") || text.contains("admission webhook"),
            "{case}: {text}"
        );
    }
    let count = shared()
        .cluster
        .ask(&[
            "get",
            "ptahschemaapproval",
            "-n",
            &world.namespace(),
            "-o",
            "name",
        ])
        .unwrap();
    assert_eq!(
        (count.as_str(), world.read().unwrap()["status"]["phase"].as_str()),
        ("", Some("AwaitingApproval"))
    );
    assert_eq!(
        world
            .sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
            .unwrap(),
        ["0"]
    );
}

#[test]
fn promise_p016_approving_is_a_grant_of_its_own() {
    let world = World::new("grants").unwrap();
    let namespace = world.namespace();
    let cluster = &shared().cluster;
    for (user, role) in [("ed", "ptah-operator-editor"), ("ann", "ptah-operator-approver")] {
        cluster
            .apply(
                &json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                    "metadata": {"name": user, "namespace": namespace},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                    "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]})
                .to_string(),
            )
            .unwrap();
    }
    let can = |user: &str, verb: &str, what: &str| {
        let mut kubectl = cluster.kubectl().unwrap();
        kubectl.args(["auth", "can-i", verb, what, "-n", &namespace, "--as", user]);
        String::from_utf8(kubectl.output().unwrap().stdout)
            .unwrap()
            .trim()
            == "yes"
    };
    let (schemas, approvals) = (
        "ptahschemas.operator.ptah.run",
        "ptahschemaapprovals.operator.ptah.run",
    );
    assert!(can("ed", "create", schemas) && can("ed", "patch", schemas));
    assert!(!can("ed", "create", approvals));
    assert!(can("ann", "create", approvals) && can("ann", "get", "configmaps") && can("ann", "get", schemas));
    assert!(!can("ann", "create", schemas) && !can("ann", "patch", schemas) && !can("ann", "get", "secrets"));
    let reader =
        std::fs::read_to_string(xtask::workspace::root().join("examples/approver-plan-reader-role.yaml"));
    assert!(reader.unwrap().contains("ptahschemaplans"));
}
