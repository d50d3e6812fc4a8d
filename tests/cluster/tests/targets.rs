//! Targets that somebody got wrong: what is said, and that nothing is half done.

use ptah_cluster_tests::{World, condition, message};
use serde_json::{Value, json};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

#[test]
fn a_plan_that_needs_a_privilege_that_the_login_lacks_is_refused_by_name_before_anything_runs() {
    let world = World::new("privilege").unwrap();
    world.sql("CREATE TABLE theirs (id bigint PRIMARY KEY)").unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE a (id bigint PRIMARY KEY); CREATE TABLE theirs (id bigint PRIMARY KEY, note text);"}))
        .unwrap();
    world.schema(&json!({"policy": {"apply": "Always"}})).unwrap();
    let failed = world.until_phase("Failed").unwrap();
    let said = message(&failed, "ReconciliationFailed");
    for words in [
        "missing_privilege",
        "does not own table public.theirs",
        "it needs an edit",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(
        (world.tables().unwrap(), world.columns("theirs").unwrap()),
        (vec!["theirs".to_owned()], vec!["id".to_owned()])
    );
    // The privilege is all that was missing.
    world.own("theirs").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(
        (world.tables().unwrap(), world.columns("theirs").unwrap()),
        (
            vec!["a".to_owned(), "theirs".to_owned()],
            vec!["id".to_owned(), "note".to_owned()]
        )
    );
}

#[test]
fn a_plan_that_touches_a_protected_table_blocks_by_name_and_is_not_even_stored() {
    let world = World::new("protected").unwrap();
    world.sql("CREATE TABLE t (id bigint PRIMARY KEY)").unwrap();
    world.own("t").unwrap();
    let change = "CREATE TABLE t (id bigint PRIMARY KEY, note text); CREATE TABLE u (id bigint PRIMARY KEY);";
    world.source(&json!({"t.sql": change})).unwrap();
    world
        .schema(&json!({"policy": {"apply": "Always", "allowDestructive": true, "protectedTables": ["T"]}}))
        .unwrap();
    let blocked = world.until_phase("Blocked").unwrap();
    for kind in ["PlanReady", "Ready", "InSync"] {
        assert_eq!(condition(&blocked, kind), "False/ProtectedTable");
    }
    assert_eq!(condition(&blocked, "Stalled"), "True/ProtectedTable");
    let said = message(&blocked, "Ready");
    assert!(
        said.contains("public.t")
            && said.contains("spec.policy.protectedTables")
            && !said.contains("public.u"),
        "{said}"
    );
    assert_eq!(
        (&blocked["status"]["plan"], world.all("ptahschemaplan").unwrap()),
        (&Value::Null, vec![])
    );
    assert_eq!(
        (world.tables().unwrap(), world.columns("t").unwrap()),
        (vec!["t".to_owned()], vec!["id".to_owned()])
    );
    // What leaves the table alone goes on.
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY); CREATE TABLE u (id bigint PRIMARY KEY);"}))
        .unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.tables().unwrap(), ["t", "u"]);
}

#[test]
fn two_resources_that_claim_one_realm_are_both_refused_and_deleting_one_lets_the_other_go_on() {
    let world = World::new("realm").unwrap();
    let sharing = |shared: bool| {
        json!({
            "target": {"engine": "PostgreSQL", "coordinationKey": "one", "urlFrom": {"name": "db", "key": "url"},
                "sharedRealm": shared},
            "interval": "10s",
        })
    };
    // Without a source, so that the first does nothing before the second is there.
    for name in ["app", "loser"] {
        world.schema_named(name, &sharing(name == "loser")).unwrap();
    }
    for (name, other) in [("app", "loser"), ("loser", "app")] {
        let schema = world.until_reason(name, "Ready", "RealmConflict").unwrap();
        let said = message(&schema, "Ready");
        assert_eq!(schema["status"]["phase"], "Blocked");
        for words in [
            "spec.target.coordinationKey",
            &format!("claimed by PtahSchema test-realm/{other}"),
            "sharedRealm: true",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert_eq!(schema["metadata"]["finalizers"], Value::Null, "it holds nothing");
    }
    world.source(&json!({"t.sql": TABLE})).unwrap();
    for name in ["app", "loser"] {
        world.until_reason(name, "Ready", "RealmConflict").unwrap();
    }
    assert_eq!(
        (world.jobs().unwrap(), world.tables().unwrap()),
        (vec![], vec![]),
        "neither may do anything"
    );
    // The one that never did anything goes, and with it nothing of the database.
    world
        .sql("CREATE SCHEMA kept; CREATE TABLE kept.rows (id int)")
        .unwrap();
    world.delete("ptahschema", "loser").unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(
        world.sql("SELECT to_regclass('kept.rows')::text").unwrap(),
        ["kept.rows"]
    );

    // A third that shares is refused beside one that does not, and admitted beside one that does.
    world.schema_named("third", &sharing(true)).unwrap();
    world.until_reason("third", "Ready", "RealmConflict").unwrap();
    world.schema_named("app", &sharing(true)).unwrap();
    for name in ["app", "third"] {
        world
            .until_of(name, "a plan beside the other", |schema| {
                schema["status"]["phase"] == "AwaitingApproval"
                    && schema["status"]["observedGeneration"] == schema["metadata"]["generation"]
            })
            .unwrap();
    }
}

#[test]
fn an_engine_of_no_known_name_or_without_a_runner_blocks_by_name_and_every_spelling_of_postgresql_is_taken() {
    let world = World::new("engines").unwrap();
    let target = |engine: &str| json!({"target": {"engine": engine, "coordinationKey": "db", "urlFrom": {"name": "db", "key": "url"}}});
    for (engine, words) in [
        ("Oracle", "no engine of that name exists"),
        ("PostgreSQL-17", "no engine of that name exists"),
        ("MariaDB", "this installation has no runner for mysql"),
    ] {
        world.schema(&target(engine)).unwrap();
        let blocked = world
            .until(engine, |schema| {
                message(schema, "EngineSupported").contains(engine)
            })
            .unwrap();
        assert_eq!(condition(&blocked, "EngineSupported"), "False/UnsupportedEngine");
        assert_eq!(condition(&blocked, "Ready"), "False/UnsupportedEngine");
        assert_eq!(blocked["status"]["phase"], "Blocked");
        let said = message(&blocked, "Ready");
        assert!(
            said.contains(&format!("spec.target.engine {engine:?}")) && said.contains(words),
            "{said}"
        );
    }
    for engine in ["postgres", "POSTGRESQL", "pgx"] {
        world.schema(&target(engine)).unwrap();
        // There is no ConfigMap, so that is how far it gets.
        let failed = world.until_phase("Failed").unwrap();
        assert_eq!(
            condition(&failed, "EngineSupported"),
            "True/SupportedEngine",
            "{engine}"
        );
    }
    assert_eq!(world.jobs().unwrap(), Vec::<String>::new());
}

#[test]
fn a_database_secret_that_is_missing_or_lacks_the_key_is_named_and_found_as_soon_as_it_is_there() {
    let world = World::new("secrets").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    let spec = |secret: &str, key: &str| {
        json!({
            "target": {"engine": "PostgreSQL", "coordinationKey": secret, "urlFrom": {"name": secret, "key": key}},
            "execution": {"activeDeadlineSeconds": 30, "failureRetryInterval": "5s"},
        })
    };
    world.schema_named("app", &spec("nowhere", "url")).unwrap();
    world.schema_named("keyless", &spec("db", "uri")).unwrap();
    for (name, words) in [
        ("app", ["\"nowhere\"", "\"url\""]),
        ("keyless", ["\"db\"", "\"uri\""]),
    ] {
        let failed = world
            .until_of(name, "the missing Secret to be named", |schema| {
                let said = message(schema, "ReconciliationFailed");
                schema["status"]["phase"] == "Failed" && words.iter().all(|word| said.contains(word))
            })
            .unwrap();
        let said = message(&failed, "ReconciliationFailed");
        assert!(
            said.contains("spec.target.urlFrom") && said.contains("deadline"),
            "{said}"
        );
    }
    world
        .put(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "nowhere"}, "stringData": {"url": world.url}}))
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
    world.delete("ptahschema", "keyless").unwrap();
}

#[test]
fn a_secret_with_a_grant_refuses_resources_that_it_does_not_list_and_says_what_to_add() {
    let world = World::new("grant").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    let granting = |names: &str| {
        world.put(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
            "stringData": {"url": world.url, "ptahSchemas": names}}),
        )
    };
    granting("other\napplication\n").unwrap();
    world.schema(&json!({"policy": {"apply": "Always"}})).unwrap();
    let failed = world.until_phase("Failed").unwrap();
    let said = message(&failed, "ReconciliationFailed");
    for words in [
        "not_granted",
        "Secret \"db\"",
        "ptahSchemas",
        "\"app\"",
        "must add it",
        "a rule refuses it",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!failed.to_string().contains(xtask::stage::Database::secret()));
    assert_eq!(world.tables().unwrap(), Vec::<String>::new());
    granting("other\napp\n").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(world.tables().unwrap(), ["t"]);
}

#[test]
fn a_database_that_the_server_does_not_have_is_named_as_what_keeps_it_from_being_reached() {
    let world = World::new("nodatabase").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world
        .secret(&world.url.replace("/test_nodatabase?", "/test_nowhere?"))
        .unwrap();
    world.schema(&json!({})).unwrap();
    let failed = world.until_phase("Failed").unwrap();
    let said = message(&failed, "ReconciliationFailed");
    assert!(
        said.contains("database_not_found") && said.contains("it needs an edit"),
        "{said}"
    );
    assert_eq!(condition(&failed, "DatabaseReachable"), "False/OperationFailed");
}
