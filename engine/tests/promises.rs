//! What the engine promises beside the cases, each against a real server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Duration;

use ptah_contract::digest::Digest;
use ptah_contract::drift::Severity;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::plan_document::PlanDocument;
use ptah_contract::policy::{SchemaPolicy, TransactionMode};
use ptah_engine::{
    ApplyOutcome, Code, Deadline, LOCK_KEY, Planned, Scope, Scratch, Target, apply, desired_scope, drift,
    observe, plan,
};
use support::{PASSWORD, TestDatabase, declared, server};
use tokio_util::sync::CancellationToken;

fn minutes() -> Deadline {
    Deadline::after(Duration::from_secs(300))
}

async fn scratch() -> Scratch {
    Scratch::child(&server().pg_home, server().major, &minutes())
        .await
        .unwrap()
}

fn lenient() -> SchemaPolicy {
    SchemaPolicy {
        allow_destructive: true,
        lock_timeout: "1s".parse().unwrap(),
        ..SchemaPolicy::default()
    }
}

async fn planned(database: &TestDatabase, to: &str, policy: &SchemaPolicy) -> Planned {
    let target = Target::from_url(&database.url()).unwrap();
    plan(&target, declared(to).path(), &scratch().await, policy, &minutes())
        .await
        .unwrap()
}

async fn applied(database: &TestDatabase, planned: &Planned, policy: &SchemaPolicy) -> ApplyOutcome {
    let target = Target::from_url(&database.url()).unwrap();
    apply(
        &target,
        &planned.document,
        planned.digest,
        policy,
        async || Ok(()),
        &minutes(),
    )
    .await
}

fn nothing(outcome: ApplyOutcome) -> Failure {
    match outcome {
        ApplyOutcome::NothingCommitted { failure } => failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn promise_p024_p025_drift_is_counted_by_category_and_names_nothing() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE a (id int PRIMARY KEY, secret_name text); CREATE TABLE gone (id int)")
        .await;
    let target = Target::from_url(&database.url()).unwrap();
    let desired =
        declared("CREATE TABLE a (id int PRIMARY KEY, b text, c text); CREATE TABLE fresh (id int);");
    let scratch = scratch().await;
    let policy = SchemaPolicy::default();
    let scope = desired_scope(&target, desired.path(), &scratch, &minutes())
        .await
        .unwrap();
    assert_eq!(scope, Scope::new(&target, []));
    let observation = observe(&target, &scope, &policy, &minutes()).await.unwrap();
    let report = drift(
        &observation,
        &target,
        desired.path(),
        &scratch,
        &policy,
        &minutes(),
    )
    .await
    .unwrap();
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.category.as_str(), f.count, f.severity))
        .collect();
    assert_eq!(
        findings,
        [
            ("columns_removed", 1, Severity::Destructive),
            ("tables_removed", 1, Severity::Destructive),
            ("columns_added", 2, Severity::Warning),
            ("tables_added", 1, Severity::Safe),
        ]
    );
    assert_eq!(
        (report.total, report.highest_severity),
        (5, Some(Severity::Destructive))
    );
    assert!(!serde_json::to_string(&report).unwrap().contains("secret_name"));
    let again = observe(&target, &scope, &policy, &minutes()).await.unwrap();
    assert_eq!(observation.fingerprint, again.fingerprint);
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname = 'gone'")
            .await,
        "1"
    );
}

#[tokio::test]
async fn rows_do_not_change_the_fingerprint_and_structure_does() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE a (id int GENERATED ALWAYS AS IDENTITY, b text)")
        .await;
    let target = Target::from_url(&database.url()).unwrap();
    let scope = Scope::new(&target, []);
    let read = async || {
        observe(&target, &scope, &SchemaPolicy::default(), &minutes())
            .await
            .unwrap()
            .fingerprint
    };
    let first = read().await;
    database
        .execute("INSERT INTO a (b) SELECT 'x' FROM generate_series(1, 500); ANALYZE a")
        .await;
    assert_eq!(read().await, first);
    database.execute("CREATE INDEX ON a (b)").await;
    assert_ne!(read().await, first);
}

#[tokio::test]
async fn promise_p026_p027_planning_twice_gives_the_bytes_that_apply_reads() {
    let database = server().database().await;
    database.execute("CREATE TABLE t (id int)").await;
    let to = "CREATE TABLE t (id int NOT NULL); CREATE VIEW v AS SELECT id FROM t;";
    let first = planned(&database, to, &lenient()).await;
    let second = planned(&database, to, &lenient()).await;
    assert_eq!(first.document, second.document);
    assert_eq!(
        ptah_engine::read_plan(&first.document, first.digest).unwrap(),
        first.plan
    );
    assert_eq!((first.plan.proof.replayed, first.plan.proof.residual), (2, 0));
}

#[tokio::test]
async fn promise_p029_other_bytes_than_the_approved_are_not_run() {
    let database = server().database().await;
    let planned = planned(&database, "CREATE TABLE t (id int);", &lenient()).await;
    let target = Target::from_url(&database.url()).unwrap();
    let run = async |bytes: &[u8], digest| {
        nothing(
            apply(
                &target,
                bytes,
                digest,
                &lenient(),
                async || panic!("the fence was reached"),
                &minutes(),
            )
            .await,
        )
    };
    let mut other = planned.plan.clone();
    other.statements[0].sql = "CREATE TABLE u (id int)".into();
    let other = other.encode().unwrap();
    assert_eq!(run(&other, planned.digest).await.code, "plan_digest_mismatch");
    let mut two = planned.plan.clone();
    two.statements[0].sql = "CREATE TABLE u (id int); COMMIT; DROP TABLE u".into();
    let two = two.encode().unwrap();
    assert_eq!(run(&two, Digest::of(&two)).await.code, "plan_malformed");
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname IN ('t', 'u')")
            .await,
        "0"
    );
}

#[tokio::test]
async fn a_stale_plan_is_refused_before_the_fence() {
    let database = server().database().await;
    let planned = planned(&database, "CREATE TABLE t (id int);", &lenient()).await;
    database.execute("CREATE TABLE other (id int)").await;
    let target = Target::from_url(&database.url()).unwrap();
    let fence = async || panic!("the fence was reached");
    let outcome = apply(
        &target,
        &planned.document,
        planned.digest,
        &lenient(),
        fence,
        &minutes(),
    )
    .await;
    assert_eq!(nothing(outcome).code, "stale_plan");
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname = 't'")
            .await,
        "0"
    );
}

#[tokio::test]
async fn a_fence_that_says_no_keeps_everything_from_the_database() {
    let database = server().database().await;
    let planned = planned(&database, "CREATE TABLE t (id int);", &lenient()).await;
    let target = Target::from_url(&database.url()).unwrap();
    let no = Failure::new("claim_lost", FailureClass::Transient, "the claim is another's");
    let outcome = apply(
        &target,
        &planned.document,
        planned.digest,
        &lenient(),
        async || Err(no.clone()),
        &minutes(),
    )
    .await;
    assert_eq!(outcome, ApplyOutcome::NothingCommitted { failure: no.clone() });
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname = 't'")
            .await,
        "0"
    );
}

#[tokio::test]
async fn a_lock_that_another_run_holds_is_waited_for_and_then_reported() {
    let database = server().database().await;
    let planned = planned(&database, "CREATE TABLE t (id int);", &lenient()).await;
    let holder = database.client().await;
    holder
        .execute("SELECT pg_advisory_lock($1)", &[&LOCK_KEY])
        .await
        .unwrap();
    let failure = nothing(applied(&database, &planned, &lenient()).await);
    assert_eq!(
        (failure.code.as_str(), failure.class),
        ("lock_timeout", FailureClass::Transient)
    );
    drop(holder);
    let patient = SchemaPolicy {
        lock_timeout: "20s".parse().unwrap(),
        ..lenient()
    };
    assert_eq!(
        applied(&database, &planned, &patient).await,
        ApplyOutcome::Applied { statements: 1 }
    );
    assert_eq!(
        database
            .text(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            )
            .await,
        "0"
    );
}

#[tokio::test]
async fn a_failing_statement_rolls_the_whole_plan_back_and_quotes_no_row() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE t (email text); INSERT INTO t VALUES ('hunter2@x'), ('hunter2@x')")
        .await;
    let planned = planned(
        &database,
        "CREATE TABLE a (id int); CREATE TABLE t (email text, CONSTRAINT one UNIQUE (email));",
        &lenient(),
    )
    .await;
    assert!(planned.plan.statements.iter().any(|s| s.data_dependent));
    let failure = nothing(applied(&database, &planned, &lenient()).await);
    assert_eq!(
        (failure.code.as_str(), failure.sqlstate.as_deref()),
        ("statement_failed", Some("23505"))
    );
    assert_eq!(failure.statement, Some(2));
    assert!(
        !serde_json::to_string(&failure).unwrap().contains("hunter2"),
        "{failure:?}"
    );
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname = 'a'")
            .await,
        "0"
    );
}

#[tokio::test]
async fn without_a_transaction_a_failure_leaves_the_outcome_open_and_says_how_far_it_came() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE t (email text); INSERT INTO t VALUES ('x'), ('x')")
        .await;
    let policy = SchemaPolicy {
        transaction_mode: TransactionMode::None,
        ..lenient()
    };
    let planned = planned(
        &database,
        "CREATE TABLE a (id int); CREATE TABLE t (email text); CREATE UNIQUE INDEX one ON t (email);",
        &policy,
    )
    .await;
    assert_eq!(
        planned.plan.statements[1].sql,
        "CREATE UNIQUE INDEX CONCURRENTLY one ON public.t USING btree (email)"
    );
    match applied(&database, &planned, &policy).await {
        ApplyOutcome::Uncertain {
            failure,
            statements_done: 1,
        } => assert_eq!(failure.code, "statement_failed"),
        other => panic!("{other:?}"),
    }
    // The server left an invalid index behind; the next plan counts it as absent and builds it again.
    database.execute("DELETE FROM t").await;
    let target = Target::from_url(&database.url()).unwrap();
    let to = declared(
        "CREATE TABLE a (id int); CREATE TABLE t (email text); CREATE UNIQUE INDEX one ON t (email);",
    );
    let scratch = scratch().await;
    let again = plan(&target, to.path(), &scratch, &policy, &minutes())
        .await
        .unwrap();
    let sql: Vec<_> = again.plan.statements.iter().map(|s| s.sql.as_str()).collect();
    assert_eq!(
        sql,
        [
            "DROP INDEX CONCURRENTLY public.one",
            "CREATE UNIQUE INDEX CONCURRENTLY one ON public.t USING btree (email)"
        ]
    );
    assert_eq!(
        applied(&database, &again, &policy).await,
        ApplyOutcome::Applied { statements: 2 }
    );
    assert!(
        plan(&target, to.path(), &scratch, &policy, &minutes())
            .await
            .unwrap()
            .no_change
    );
}

#[tokio::test]
async fn a_destructive_plan_without_leave_is_refused_with_its_objects() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE keep (id int); CREATE TABLE gone (id int); INSERT INTO gone VALUES (1)")
        .await;
    let strict = SchemaPolicy::default();
    let planned = planned(&database, "CREATE TABLE keep (id int);", &strict).await;
    let [refusal] = planned.refusals.as_slice() else {
        panic!("{:?}", planned.refusals)
    };
    assert_eq!(
        (refusal.kind, refusal.objects.clone()),
        (Code::DestructiveNotAllowed, vec!["public.gone".to_owned()])
    );
    assert_eq!(
        nothing(applied(&database, &planned, &strict).await).code,
        "destructive_not_allowed"
    );
    assert_eq!(database.text("SELECT count(*) FROM gone").await, "1");
}

#[tokio::test]
async fn a_protected_table_is_refused_even_with_leave() {
    let database = server().database().await;
    database.execute("CREATE TABLE users (id int)").await;
    let policy = SchemaPolicy {
        protected_tables: vec!["USERS".into()],
        ..lenient()
    };
    let planned = planned(&database, "CREATE TABLE users (id int, name text);", &policy).await;
    assert_eq!(planned.refusals[0].kind, Code::ProtectedTable);
    assert_eq!(planned.refusals[0].objects, ["public.users", "public.users.name"]);
    assert_eq!(
        nothing(applied(&database, &planned, &policy).await).code,
        "protected_table"
    );
}

#[tokio::test]
async fn a_table_lock_that_is_not_to_be_had_is_tried_a_few_times_and_then_reported() {
    let database = server().database().await;
    database.execute("CREATE TABLE t (id int)").await;
    let policy = SchemaPolicy {
        statement_lock_timeout: "100ms".parse().unwrap(),
        ..lenient()
    };
    let planned = planned(&database, "CREATE TABLE t (id int, a int);", &policy).await;
    let reader = database.client().await;
    reader
        .batch_execute("BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
        .await
        .unwrap();
    let failure = nothing(applied(&database, &planned, &policy).await);
    assert_eq!(
        (failure.code.as_str(), failure.class),
        ("statement_lock_timeout", FailureClass::Transient)
    );
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(
        applied(&database, &planned, &policy).await,
        ApplyOutcome::Applied { statements: 1 }
    );
}

#[tokio::test]
async fn a_request_to_stop_cancels_the_running_statement_on_the_server() {
    let database = server().database().await;
    database.execute("CREATE TABLE t (id int)").await;
    let policy = SchemaPolicy {
        statement_lock_timeout: "60s".parse().unwrap(),
        ..lenient()
    };
    let planned = planned(&database, "CREATE TABLE t (id int, a int);", &policy).await;
    let reader = database.client().await;
    reader
        .batch_execute("BEGIN; LOCK TABLE t IN ACCESS SHARE MODE")
        .await
        .unwrap();
    let token = CancellationToken::new();
    let target = Target::from_url(&database.url()).unwrap();
    let deadline = minutes().or(token.clone());
    let run = apply(
        &target,
        &planned.document,
        planned.digest,
        &policy,
        async || Ok(()),
        &deadline,
    );
    let watch = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER%' AND datname = current_database()";
        while database.text(waiting).await == "0" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(run, watch);
    assert_eq!(nothing(outcome).code, "canceled");
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'ALTER%' AND datname = current_database()";
    assert_eq!(database.text(running).await, "0");
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_attribute WHERE attname = 'a' AND attrelid = 't'::regclass")
            .await,
        "0"
    );
}

#[tokio::test]
async fn what_keeps_us_from_the_server_has_a_code_and_no_secret() {
    let database = server().database().await;
    let good = database.url();
    let escaped: String = PASSWORD.bytes().map(|b| format!("%{b:02X}")).collect();
    let port = database.port;
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for (url, code, class) in [
        (
            good.replace(&escaped, "wrong-hunter2"),
            "authentication_failed",
            FailureClass::Input,
        ),
        (
            good.replace(&format!(":{port}/"), &format!(":{free}/")),
            "connection_refused",
            FailureClass::Transient,
        ),
        (
            good.replace("127.0.0.1", "no-such-host.invalid"),
            "name_not_resolved",
            FailureClass::Transient,
        ),
        (
            good.replace(&database.name, "no_such_database"),
            "database_not_found",
            FailureClass::Input,
        ),
        (
            good.replace("disable", "require"),
            "tls_failed",
            FailureClass::Input,
        ),
        (
            good.replace("disable", "verify-full"),
            "tls_failed",
            FailureClass::Input,
        ),
    ] {
        let target = Target::from_url(&url).unwrap();
        let scope = Scope::new(&target, []);
        let error = observe(&target, &scope, &SchemaPolicy::default(), &minutes())
            .await
            .err()
            .unwrap();
        assert_eq!((error.code(), error.class()), (code, class), "{error}");
        assert!(
            !format!("{error} {error:?} {target:?}").contains("hunter2"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_accepts_and_stalls_is_given_up_after_the_connect_timeout() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = Target::from_url(&format!(
        "postgres://u:hunter2@127.0.0.1:{port}/d?sslmode=disable"
    ))
    .unwrap();
    let policy = SchemaPolicy {
        connect_timeout: "200ms".parse().unwrap(),
        ..SchemaPolicy::default()
    };
    let error = observe(&target, &Scope::new(&target, []), &policy, &minutes())
        .await
        .err()
        .unwrap();
    assert_eq!(error.code(), "connect_timeout");
}

#[tokio::test]
async fn what_a_user_can_get_wrong_names_file_line_and_object() {
    let database = server().database().await;
    let target = Target::from_url(&database.url()).unwrap();
    let scratch = scratch().await;
    for (sql, code, object) in [
        ("-- nothing\n", "empty_desired_state", None),
        ("CREATE SCHEMA IF NOT EXISTS public;", "empty_desired_state", None),
        (
            "CREATE TABLE a (id int;\n",
            "desired_syntax",
            Some("schema.sql:1"),
        ),
        (
            "CREATE TABLE a (\n  id int,\n  b nonsense\n);",
            "desired_missing_object",
            Some("schema.sql:3"),
        ),
        (
            "\nCREATE VIEW v AS SELECT * FROM missing;",
            "desired_missing_object",
            Some("schema.sql:2"),
        ),
        (
            "CREATE TABLE a (id int);\nCREATE TABLE a (id int);",
            "desired_rejected",
            Some("schema.sql:2"),
        ),
        (
            "CREATE TABLE a (id int); GRANT SELECT ON a TO nobody_knows;",
            "desired_missing_object",
            Some("schema.sql:1"),
        ),
        (
            "INSERT INTO a VALUES (1);",
            "statement_not_admitted",
            Some("schema.sql:1"),
        ),
        (
            "CREATE EXTENSION no_such_extension;",
            "missing_extension",
            Some("no_such_extension"),
        ),
        (
            "-- ptah:renamed-from s.b\nCREATE TABLE a (id int);",
            "desired_syntax",
            Some("schema.sql:1"),
        ),
    ] {
        let error = plan(&target, declared(sql).path(), &scratch, &lenient(), &minutes())
            .await
            .err()
            .unwrap();
        let failure = error.to_failure();
        assert_eq!(
            (failure.code.as_str(), failure.object.as_deref()),
            (code, object),
            "{sql}: {error}"
        );
    }
}

#[tokio::test]
async fn what_another_schema_hangs_on_is_not_pulled_from_under_it() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE t (id int, b int); CREATE SCHEMA other; CREATE VIEW other.v AS SELECT b FROM public.t")
        .await;
    let target = Target::from_url(&database.url()).unwrap();
    let scratch = scratch().await;
    let refused = async |sql: &str| {
        plan(&target, declared(sql).path(), &scratch, &lenient(), &minutes())
            .await
            .err()
            .unwrap()
    };
    let error = refused("CREATE TABLE t (id int);").await;
    assert_eq!(error.code(), "outside_dependency", "{error}");
    assert!(error.to_string().contains("view other.v"), "{error}");
    // A change that the view does not mind is planned, and the other schema is not touched.
    let to = declared("CREATE TABLE t (id bigint, b int);");
    let planned = plan(&target, to.path(), &scratch, &lenient(), &minutes())
        .await
        .unwrap();
    assert_eq!(planned.statement_count, 1);
}

#[tokio::test]
async fn what_is_excluded_is_left_alone_on_both_sides() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE t (id int); CREATE TABLE legacy (id int); CREATE TEXT SEARCH CONFIGURATION m (COPY = pg_catalog.simple)")
        .await;
    let target = Target::from_url(&database.url()).unwrap();
    let scratch = scratch().await;
    let desired = declared("CREATE TABLE t (id int);");
    let error = plan(&target, desired.path(), &scratch, &lenient(), &minutes())
        .await
        .err()
        .unwrap();
    assert_eq!(
        (error.code(), error.to_failure().object.as_deref()),
        ("unsupported_object", Some("text search configuration public.m"))
    );
    let policy = SchemaPolicy {
        exclude: vec!["public.legacy".into(), "public.m".into()],
        ..lenient()
    };
    let planned = plan(&target, desired.path(), &scratch, &policy, &minutes())
        .await
        .unwrap();
    assert!(planned.no_change, "{:?}", planned.plan.statements);
    let document = PlanDocument::decode(&planned.document).unwrap();
    assert_eq!(document.exclude, ["public.legacy", "public.m"]);
}
