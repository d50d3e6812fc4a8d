//! What users get wrong: each ends in a condition that says what to do, and nothing is changed.

use ptah_cluster_tests::{World, condition, message, shared};
use serde_json::json;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY, note text);";

/// Waits for `Failed` and returns the message of `ReconciliationFailed`.
fn failed(world: &World) -> String {
    let schema = world.until_phase("Failed").unwrap();
    assert_eq!(
        condition(&schema, "Reconciling").split('/').next(),
        Some("True"),
        "it retries"
    );
    message(&schema, "ReconciliationFailed")
}

#[test]
fn sql_that_does_not_parse_names_a_missing_object_or_declares_nothing_is_named_with_file_and_line() {
    let world = World::new("sql").unwrap();
    for (source, words) in [
        (
            json!({"a.sql": "CREATE TABLE ok (id int);\nCREATE TABEL broken (id int);"}),
            ["desired_syntax", "a.sql:2"],
        ),
        (
            json!({"b.sql": "\nCREATE VIEW v AS SELECT * FROM nowhere;"}),
            ["desired_missing_object", "b.sql:2"],
        ),
        (
            json!({"c.sql": "INSERT INTO t VALUES (1);"}),
            ["statement_not_admitted", "c.sql:1"],
        ),
    ] {
        shared()
            .cluster
            .ask(&[
                "delete",
                "configmap",
                "sql",
                "-n",
                &world.namespace(),
                "--ignore-not-found",
            ])
            .unwrap();
        world.source(&source).unwrap();
        world.schema(&json!({})).unwrap();
        world
            .until(words[0], |schema| {
                words
                    .iter()
                    .all(|word| message(schema, "ReconciliationFailed").contains(word))
            })
            .unwrap();
    }
    assert_eq!(
        world
            .sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
            .unwrap(),
        ["0"]
    );
}

#[test]
fn a_missing_and_an_empty_config_map_are_named_and_read_again_as_soon_as_they_are_right() {
    let world = World::new("empty").unwrap();
    world.schema(&json!({})).unwrap();
    assert!(failed(&world).contains("there is no ConfigMap \"sql\""));
    world.source(&json!({})).unwrap();
    let schema = world
        .until("the empty ConfigMap to be refused", |schema| {
            message(schema, "ReconciliationFailed").contains("nothing_selected")
        })
        .unwrap();
    assert_eq!(condition(&schema, "ArtifactResolved"), "False/ResolveFailed");
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
}

#[test]
fn a_wrong_password_and_an_unreachable_host_are_told_apart_and_show_no_secret() {
    let world = World::new("login").unwrap();
    let (wrong, away) = (
        world
            .url
            .replace(xtask::stage::Database::secret(), "wr0ng-Shoobei8"),
        world
            .url
            .replace("postgresql.test-database.svc", "nowhere.test-database.svc"),
    );
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.secret(&wrong).unwrap();
    world.schema(&json!({})).unwrap();
    let said = failed(&world);
    assert!(
        said.contains("authentication_failed") && said.contains("it needs an edit"),
        "{said}"
    );
    assert!(!world.read().unwrap().to_string().contains("Shoobei8"));
    assert_eq!(
        condition(&world.read().unwrap(), "DatabaseReachable"),
        "False/OperationFailed"
    );
    world.secret(&away).unwrap();
    world
        .until("the host to be missed", |schema| {
            let said = message(schema, "ReconciliationFailed");
            said.contains("name_not_resolved") && said.contains("may pass by itself")
        })
        .unwrap();
    world.secret(&world.url).unwrap();
    let schema = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(condition(&schema, "DatabaseReachable"), "True/Observed");
}

#[test]
fn a_destructive_plan_without_leave_is_blocked_and_cannot_be_approved() {
    let world = World::new("destroy").unwrap();
    world.sql("CREATE TABLE t (id bigint PRIMARY KEY, note text, old text); GRANT ALL ON t TO test_destroy_app; ALTER TABLE t OWNER TO test_destroy_app").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(&json!({})).unwrap();
    let schema = world.until_phase("Blocked").unwrap();
    assert_eq!(
        condition(&schema, "ApprovalRequired"),
        "False/DestructiveChangesDisabled"
    );
    assert_eq!(condition(&schema, "Ready"), "False/PolicyBlocked");
    assert!(message(&schema, "Ready").contains("spec.policy.allowDestructive: true"));
    assert!(world.approve("a").is_err());
    assert_eq!(
        world
            .sql("SELECT count(*) FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'old'")
            .unwrap(),
        ["1"]
    );
    world
        .schema(&json!({"policy": {"allowDestructive": true}}))
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    world.approve("b").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(
        world
            .sql("SELECT count(*) FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'old'")
            .unwrap(),
        ["0"]
    );
}

#[test]
fn promise_p032_never_records_a_plan_and_rests() {
    let world = World::new("never").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(&json!({"policy": {"apply": "Never"}})).unwrap();
    let schema = world.until_phase("Blocked").unwrap();
    assert_eq!(condition(&schema, "Ready"), "False/ApplyDisabled");
    assert_eq!(condition(&schema, "Stalled"), "");
    assert!(schema["status"]["plan"]["name"].is_string());
}

#[test]
fn bounds_are_refused_where_they_are_written() {
    let world = World::new("bounds").unwrap();
    for (spec, words) in [
        (json!({"interval": "9s"}), "from 10s to 24h"),
        (json!({"interval": "1.5h"}), "spec.interval"),
        (
            json!({"execution": {"activeDeadlineSeconds": 29}}),
            "activeDeadlineSeconds",
        ),
        (json!({"policy": {"apply": "Sometimes"}}), "spec.policy.apply"),
        (json!({"policy": {"protectedTables": ["a b"]}}), "protectedTables"),
        (json!({"desired": {}}), "exactly one source"),
        (
            json!({"desired": {"configMap": {"name": "sql", "items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x"}]}}}),
            "Duplicate value",
        ),
        (
            json!({"target": {"engine": "PostgreSQL", "coordinationKey": "UPPER", "urlFrom": {"name": "a", "key": "b"}}}),
            "coordinationKey",
        ),
    ] {
        let refused = world.schema(&spec).expect_err(&spec.to_string()).to_string();
        assert!(refused.contains(words), "{spec}: {refused}");
    }
}
