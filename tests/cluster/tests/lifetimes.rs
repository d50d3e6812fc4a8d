//! What goes on around a resource's life: other hands on it, edits meanwhile, and its end.

use ptah_cluster_tests::{PATIENCE, World, condition, message, shared};
use serde_json::{Value, json};
use xtask::node::audit::AuditLog;

/// A text of a declared value that must stay in the ConfigMaps and in the database.
const LITERAL: &str = "planted-literal-oocai7Ah";

fn declaring(columns: &str) -> Value {
    json!({"t.sql": format!(
        "CREATE TABLE t (id bigint PRIMARY KEY, secret text DEFAULT '{LITERAL}'{columns});\n\
         COMMENT ON TABLE t IS '{LITERAL}';"
    )})
}

/// What people see of the resource, its status and the Events, tells nothing of what is declared.
fn says_nothing_of_values(world: &World) {
    let kinds = "ptahschema,ptahschemaapproval,job,pod,event";
    let text = shared()
        .cluster
        .ask(&["get", kinds, "-n", &world.namespace(), "-o", "yaml"])
        .unwrap();
    for word in [LITERAL, "CREATE TABLE", "ALTER TABLE", "COMMENT ON"] {
        assert!(!text.contains(word), "{word} is in:\n{text}");
    }
}

#[test]
fn a_later_edit_is_no_less_held_to_the_policy_a_rotated_password_is_no_edit_and_deletion_runs_nothing() {
    let world = World::new("later").unwrap();
    let login = format!("{}_app", world.database());
    // The login outlives its database, and with it what an earlier run of this test did to it.
    let secret = xtask::stage::Database::secret();
    world
        .sql(&format!("ALTER ROLE {login} PASSWORD '{secret}'"))
        .unwrap();
    world.source(&declaring(", a int, b int")).unwrap();
    world
        .schema(&json!({"policy": {"apply": "Always"}, "interval": "10s"}))
        .unwrap();
    let done = world.until_phase("InSync").unwrap();
    says_nothing_of_values(&world);

    // The password alone changes: the next connection uses it, and nothing is planned.
    world
        .sql(&format!("ALTER ROLE {login} PASSWORD 'r0tated-Eizo9eex'"))
        .unwrap();
    world
        .secret(&world.url.replace(secret, "r0tated-Eizo9eex"))
        .unwrap();
    let plans = world.all("ptahschemaplan").unwrap();
    let seen = &done["status"]["lastSuccessfulReconciliation"];
    let refreshed = |than: &Value| {
        world.until("two refreshes with the new password", |schema| {
            schema["status"]["phase"] == "InSync" && schema["status"]["lastSuccessfulReconciliation"] != *than
        })
    };
    // A reading may have begun before the Secret was changed.
    let once = refreshed(seen).unwrap();
    let twice = refreshed(&once["status"]["lastSuccessfulReconciliation"]).unwrap();
    assert_eq!(
        (
            &twice["status"]["plan"],
            &twice["status"]["applied"],
            &twice["status"]["source"]
        ),
        (
            &done["status"]["plan"],
            &done["status"]["applied"],
            &done["status"]["source"]
        )
    );
    assert_eq!(world.all("ptahschemaplan").unwrap(), plans);
    let runs = world
        .jobs()
        .unwrap()
        .into_iter()
        .filter(|job| job.starts_with("ptah-apply-"));
    assert_eq!(runs.count(), 1, "the first and no other");

    // The second and the third edit drop a column: refused each time, whatever ran before.
    for columns in [", a int", ", b int"] {
        let digest = |schema: &Value| schema["status"]["source"]["contentDigest"].clone();
        let before = digest(&world.read().unwrap());
        world.source(&declaring(columns)).unwrap();
        let blocked = world
            .until("the drop to be refused", |schema| {
                schema["status"]["phase"] == "Blocked"
                    && digest(schema) != before
                    && schema["status"]["plan"]["contentDigest"] == digest(schema)
            })
            .unwrap();
        assert_eq!(condition(&blocked, "Ready"), "False/PolicyBlocked");
        assert!(
            message(&blocked, "Ready").contains("spec.policy.allowDestructive: true"),
            "{}",
            message(&blocked, "Ready")
        );
        assert_eq!(blocked["status"]["plan"]["destructive"], true);
        assert_eq!(world.columns("t").unwrap(), ["id", "secret", "a", "b"]);
    }
    says_nothing_of_values(&world);

    // The spec is its author's: the manager owns no field of it.
    let text = shared()
        .cluster
        .ask(&[
            "get",
            "ptahschema",
            "app",
            "-n",
            &world.namespace(),
            "-o",
            "json",
            "--show-managed-fields",
        ])
        .unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let managers: Vec<(&str, bool)> = whole["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            (
                entry["manager"].as_str().unwrap(),
                entry["fieldsV1"].get("f:spec").is_some(),
            )
        })
        .collect();
    assert!(
        managers.len() > 1
            && managers
                .iter()
                .all(|(name, spec)| name.starts_with("kubectl") == *spec),
        "{managers:?}"
    );

    // Deleting the resource sends nothing to the database.
    world.delete("ptahschema", "app").unwrap();
    assert_eq!(world.columns("t").unwrap(), ["id", "secret", "a", "b"]);
}

#[test]
fn the_spec_that_was_applied_is_the_spec_that_is_read_back_zero_values_included() {
    let world = World::new("written").unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY);"}))
        .unwrap();
    let smallest = json!({
        "target": {"engine": "PostgreSQL", "coordinationKey": "db", "urlFrom": {"name": "db", "key": "url"}},
        "desired": {"configMap": {"name": "sql"}},
    });
    let zeroes = json!({
        "target": {"engine": "PostgreSQL", "coordinationKey": "db2", "sharedRealm": false,
            "urlFrom": {"name": "db", "key": "url", "optional": false}},
        "desired": {"configMap": {"name": "sql"}},
        "policy": {"allowDestructive": false, "exclude": [], "protectedTables": []},
        "execution": {
            "imagePullSecrets": [], "nodeSelector": {}, "tolerations": [{"key": "", "operator": "Exists", "tolerationSeconds": 0, "effect": "NoExecute"}],
            "podMetadata": {"labels": {"team.example/empty": ""}, "annotations": {}},
            "resources": {"limits": {}},
        },
        "suspend": false,
    });
    let specs = [("smallest", &smallest), ("zeroes", &zeroes)];
    for (name, spec) in specs {
        world
            .put(
                json!({"apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
                "metadata": {"name": name}, "spec": spec}),
            )
            .unwrap();
    }
    for (name, spec) in specs {
        // The manager has written status, claims and a finalizer by then.
        let schema = world
            .until_of(name, "a plan", |schema| {
                schema["status"]["phase"] == "AwaitingApproval"
            })
            .unwrap();
        assert_eq!(schema["spec"], *spec, "{name}");
        assert_eq!(schema["metadata"]["generation"], 1, "{name}");
    }
}

#[test]
fn a_run_under_way_is_not_ended_by_a_newer_edit_and_the_edit_follows_it() {
    let world = World::new("newer").unwrap();
    world.sql("CREATE TABLE t (id bigint PRIMARY KEY)").unwrap();
    world.own("t").unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, a int);"}))
        .unwrap();
    world
        .schema(&json!({"policy": {"statementLockTimeout": "2m"}}))
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    // A reader that does not end keeps the run waiting in the middle.
    let reader = shared().database.session(&world.database()).unwrap();
    reader.run("BEGIN; LOCK TABLE t IN ACCESS SHARE MODE").unwrap();
    let waits = "SELECT pid::text FROM pg_stat_activity WHERE application_name = 'ptah' AND wait_event_type = 'Lock' \
        AND datname = current_database()";
    let until = |what: &str, sql: &str| {
        shared().cluster.wait(what, PATIENCE, || {
            let rows = world.sql(sql)?;
            Ok((!rows.is_empty()).then_some(rows))
        })
    };
    world.approve("go").unwrap();
    let backend = until("the run to wait for the reader", waits).unwrap();
    let running = world.read().unwrap();
    let job = running["status"]["activeOperation"]["jobName"].clone();
    let uid = world.object("job", job.as_str().unwrap()).unwrap()["metadata"]["uid"].clone();

    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, a int, b int);"}))
        .unwrap();
    world
        .schema(&json!({"policy": {"statementLockTimeout": "3m"}}))
        .unwrap();
    // The edit is seen: status speaks of the settings of the newer generation, and of the same run.
    let seen = world
        .until("the edit to be seen", |schema| {
            schema["status"]["effective"]["statementLockTimeout"] == "3m"
                || schema["status"]["activeOperation"].is_null()
        })
        .unwrap();
    assert_eq!(seen["status"]["activeOperation"]["jobName"], job);
    assert_eq!(seen["status"]["phase"], "Applying");
    let still = world.object("job", job.as_str().unwrap()).unwrap();
    assert_eq!(
        (
            &still["metadata"]["uid"],
            &still["metadata"]["deletionTimestamp"],
            &still["status"]["active"]
        ),
        (&uid, &Value::Null, &json!(1))
    );
    assert_eq!(world.sql(waits).unwrap(), backend, "the same session waits");
    reader.run("ROLLBACK").unwrap();
    let next = world
        .until("the edit to be planned", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
                && schema["status"]["observedGeneration"] == schema["metadata"]["generation"]
        })
        .unwrap();
    assert_eq!(world.columns("t").unwrap(), ["id", "a"]);
    assert_ne!(next["status"]["source"]["contentDigest"], Value::Null);
    world.approve("then").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.columns("t").unwrap(), ["id", "a", "b"]);
}

#[test]
fn nothing_is_made_for_a_resource_that_is_being_deleted_and_deletion_waits_for_no_step() {
    let world = World::new("deleting").unwrap();
    let namespace = world.namespace();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY);"}))
        .unwrap();
    world.schema(&json!({"interval": "10s"})).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    // One whose target does not answer and that waits an hour to try again, and one whose Pod cannot start.
    let away = world
        .url
        .replace("postgresql.test-database.svc", "nowhere.test-database.svc");
    world
        .put(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "away"}, "stringData": {"url": away}}))
        .unwrap();
    world
        .schema_named("backoff", &json!({
            "target": {"engine": "PostgreSQL", "coordinationKey": "away", "urlFrom": {"name": "away", "key": "url"}},
            "execution": {"failureRetryInterval": "1h"}}))
        .unwrap();
    world
        .schema_named(
            "pending",
            &json!({"execution": {"nodeSelector": {"ptah-test-deleting": "never"}}}),
        )
        .unwrap();
    world
        .until_of("backoff", "the back-off", |schema| {
            schema["status"]["phase"] == "Failed"
                && message(schema, "ReconciliationFailed").contains("name_not_resolved")
        })
        .unwrap();
    let claimed = world
        .until_of("pending", "a claim", |schema| {
            schema["status"]["activeOperation"]["jobName"].is_string()
        })
        .unwrap();
    for name in ["backoff", "pending"] {
        world.delete("ptahschema", name).unwrap();
    }
    let job = claimed["status"]["activeOperation"]["jobName"].as_str().unwrap();
    world.until_gone("job", job).unwrap();

    // Somebody else's finalizer keeps the first in the middle of a foreground deletion.
    let cluster = &shared().cluster;
    let finalizers = |list: &Value| {
        cluster
            .ask(&[
                "patch",
                "ptahschema",
                "app",
                "-n",
                &namespace,
                "--type=merge",
                "-p",
                &json!({"metadata": {"finalizers": list}}).to_string(),
            ])
            .unwrap()
    };
    finalizers(&json!(["test.example/hold"]));
    let log = AuditLog::from_now(shared().node.paths().audit_log()).unwrap();
    cluster
        .ask(&[
            "delete",
            "ptahschema",
            "app",
            "-n",
            &namespace,
            "--cascade=foreground",
            "--wait=false",
        ])
        .unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, note text);"}))
        .unwrap();
    let refused = world.approve("late").unwrap_err().to_string();
    assert!(
        refused.contains("is being deleted; nothing of it will run"),
        "{refused}"
    );
    // The manager is seen to go on: it answers a resource that came after, and that reads the same source.
    world
        .schema_named("after", &json!({"target": {"engine": "Oracle", "coordinationKey": "after", "urlFrom": {"name": "db", "key": "url"}}}))
        .unwrap();
    world.until_reason("after", "Ready", "UnsupportedEngine").unwrap();
    let kept = world.read().unwrap();
    assert!(kept["metadata"]["deletionTimestamp"].is_string());
    let made: Vec<String> = log
        .requests()
        .unwrap()
        .into_iter()
        .filter(|request| {
            request.user == shared().manager
                && request.namespace == namespace
                && request.verb == "create"
                && request.resource != "events"
        })
        .map(|request| request.uri)
        .collect();
    assert_eq!(made, Vec::<String>::new());
    let stays: Vec<&Value> = kept["metadata"]["finalizers"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert!(
        !stays.contains(&&json!("operator.ptah.run/active-operation")),
        "{stays:?}"
    );
    finalizers(&json!([]));
    world.until_gone("ptahschema", "app").unwrap();
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
}
