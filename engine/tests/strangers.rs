//! Targets that are not what they should be: another program, another version, a login that may too little, a
//! database in which others planted what our readings could call, tables that nothing may touch.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ptah_contract::failure::FailureClass;
use ptah_contract::policy::{SchemaPolicy, TransactionMode};
use ptah_engine::{ApplyOutcome, Code, Deadline, Planned, Scope, Scratch, Target, apply, observe, plan};
use support::{TestDatabase, declared, server};

fn minutes() -> Deadline {
    Deadline::after(Duration::from_secs(590))
}

fn lenient() -> SchemaPolicy {
    SchemaPolicy {
        allow_destructive: true,
        ..SchemaPolicy::default()
    }
}

async fn scratch() -> Scratch {
    Scratch::child(&server().pg_home, server().major, &minutes())
        .await
        .unwrap()
}

/// A listener that does this with each connection, on a port of its own; returns the port and what it was told.
fn listener(
    serve: impl Fn(&mut TcpStream, &Mutex<Vec<u8>>) + Send + Sync + 'static,
) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, serve) = (Arc::new(Mutex::new(Vec::new())), Arc::new(serve));
    let hears = heard.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (hears, serve) = (hears.clone(), serve.clone());
            std::thread::spawn(move || serve(&mut stream.unwrap(), &hears));
        }
    });
    (port, heard)
}

async fn reach(port: u16, mode: &str, policy: &SchemaPolicy) -> ptah_engine::Error {
    let url = format!("postgres://app:hunter2@127.0.0.1:{port}/shop?sslmode={mode}");
    let target = Target::from_url(&url).unwrap();
    let error = observe(&target, &Scope::new(&target, []), policy, &minutes())
        .await
        .err()
        .unwrap();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    error
}

/// Listens until the other side is done.
fn hear(stream: &mut TcpStream, heard: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count) = stream.read(&mut buffer) {
        if count == 0 {
            return;
        }
        heard.lock().unwrap().extend_from_slice(&buffer[..count]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_mysql_family_is_named_whatever_tls_is_asked_for_and_hears_no_password() {
    // Protocol 10, as MySQL 8.4 and MariaDB 11 greet; and the error packet of a server that is full.
    let greeting = |version: &str| {
        let mut body = vec![10];
        body.extend_from_slice(version.as_bytes());
        body.extend_from_slice(
            b"\0\x08\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0abcdefghijkl\0",
        );
        body.extend_from_slice(b"caching_sha2_password\0");
        body
    };
    let full = b"\xff\x10\x04#08004Too many connections".to_vec();
    let policy = SchemaPolicy {
        connect_timeout: "3s".parse().unwrap(),
        ..SchemaPolicy::default()
    };
    for body in [greeting("8.4.3"), greeting("11.4.2-MariaDB-log"), full] {
        for (mode, closes) in [
            ("disable", true),
            ("prefer", false),
            ("prefer", true),
            ("require", true),
            ("verify-full", false),
        ] {
            let packet = [&[u8::try_from(body.len()).unwrap(), 0, 0, 0], body.as_slice()].concat();
            let (port, heard) = listener(move |stream, heard| {
                stream.write_all(&packet).unwrap();
                if closes {
                    // A real server answers a packet out of order with an error and hangs up.
                    let mut first = [0; 8];
                    let _ = stream.read(&mut first);
                } else {
                    hear(stream, heard);
                }
            });
            let error = reach(port, mode, &policy).await;
            assert_eq!(
                (error.code(), error.class()),
                ("unsupported_engine", FailureClass::Refused),
                "{mode} {closes}: {error}"
            );
            assert_eq!(
                error.to_string(),
                "a server of the MySQL family answers at the target's address, and spec.target.engine says PostgreSQL"
            );
            let heard = heard.lock().unwrap();
            assert!(
                !heard.windows(7).any(|part| part == b"hunter2"),
                "the password was sent"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_that_speaks_first_is_no_postgresql_and_one_that_is_silent_is_a_time_out() {
    let policy = SchemaPolicy {
        connect_timeout: "1s".parse().unwrap(),
        ..SchemaPolicy::default()
    };
    let (ssh, _) = listener(|stream, heard| {
        stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n").unwrap();
        hear(stream, heard);
    });
    let error = reach(ssh, "prefer", &policy).await;
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (
            "unsupported_engine",
            "what answers at the target's address is not PostgreSQL"
        )
    );
    let (silent, _) = listener(hear);
    assert_eq!(reach(silent, "prefer", &policy).await.code(), "connect_timeout");
}

/// The part of PostgreSQL's protocol in which a server says who it is.
fn postgres(version: &'static str) -> (u16, Arc<Mutex<Vec<u8>>>) {
    listener(move |stream, heard| {
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
        stream.read_exact(&mut startup).unwrap();
        let message = |tag: u8, body: &[u8]| {
            let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
            [&[tag], length.as_slice(), body].concat()
        };
        let parameter = format!("server_version\0{version}\0");
        let hello = [
            message(b'R', &[0; 4]),
            message(b'S', parameter.as_bytes()),
            message(b'K', &[0; 8]),
            message(b'Z', b"I"),
        ];
        stream.write_all(&hello.concat()).unwrap();
        hear(stream, heard);
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_another_version_is_refused_as_soon_as_it_says_so_and_is_asked_nothing() {
    for (version, words) in [
        (
            "13.14 (Debian 13.14-1)",
            "PostgreSQL 13 is not supported; 14 to 18 are",
        ),
        ("99.1", "PostgreSQL 99 is not supported; 14 to 18 are"),
        ("9.6.24", "PostgreSQL 9 is not supported; 14 to 18 are"),
        ("19beta1", "PostgreSQL 19 is not supported; 14 to 18 are"),
    ] {
        let (port, heard) = postgres(version);
        let error = reach(port, "disable", &SchemaPolicy::default()).await;
        assert_eq!(
            (error.code(), error.class(), error.to_string().as_str()),
            ("unsupported_engine", FailureClass::Refused, words)
        );
        // At most the word that the client leaves.
        let heard = heard.lock().unwrap().clone();
        assert!(
            heard.is_empty() || heard == b"X\0\0\0\x04",
            "{version}: {heard:?}"
        );
    }
}

async fn root(database: &TestDatabase, sql: &str) {
    let client = server().client("root_of_tests", &database.name).await;
    if let Err(error) = client.batch_execute(sql).await {
        panic!("{sql}: {:?}", error.as_db_error());
    }
}

async fn planned(
    database: &TestDatabase,
    sql: &str,
    policy: &SchemaPolicy,
    scratch: &Scratch,
) -> ptah_engine::Result<Planned> {
    let target = Target::from_url(&database.url()).unwrap();
    plan(&target, declared(sql).path(), scratch, policy, &minutes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_privilege_that_the_plan_needs_and_the_login_lacks_is_named_before_anything_is_sent() {
    let scratch = scratch().await;
    for (before, sql, message, object) in [
        (
            "CREATE TABLE t (id int)",
            "CREATE TABLE t (id int, a int);",
            "the target's user does not own table public.t, which the plan changes",
            "table public.t",
        ),
        (
            "CREATE TABLE t (id int)",
            "CREATE TABLE t (id int); CREATE INDEX i ON t (id);",
            "the target's user does not own table public.t, which the plan changes",
            "table public.t",
        ),
        (
            "CREATE VIEW v AS SELECT 1 AS a",
            "CREATE VIEW v AS SELECT 2 AS a;",
            "the target's user does not own view public.v, which the plan changes",
            "view public.v",
        ),
        (
            "CREATE TYPE e AS ENUM ('a')",
            "CREATE TYPE e AS ENUM ('a', 'b');",
            "the target's user does not own enum public.e, which the plan changes",
            "enum public.e",
        ),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2';",
            "the target's user does not own function public.f(), which the plan changes",
            "function public.f()",
        ),
        (
            "REVOKE ALL ON SCHEMA public FROM PUBLIC; ALTER SCHEMA public OWNER TO root_of_tests; GRANT USAGE ON SCHEMA public TO app",
            "CREATE TABLE t (id int);",
            "the target's user lacks CREATE on schema public, where table public.t would stand",
            "schema public",
        ),
        (
            "ALTER SCHEMA public OWNER TO app; ALTER DATABASE {database} OWNER TO root_of_tests",
            "CREATE SCHEMA s;",
            "the target's user lacks CREATE on the database, where schema s would stand",
            "schema s",
        ),
        (
            "CREATE TABLE t (id int PRIMARY KEY); GRANT SELECT ON t TO app",
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (t int REFERENCES t); GRANT SELECT ON t TO app;",
            "the target's user lacks REFERENCES on table public.t, which constraint public.u.u_t_fkey refers to",
            "table public.t",
        ),
    ] {
        let database = server().database().await;
        root(&database, &before.replace("{database}", &database.name)).await;
        let error = planned(&database, sql, &lenient(), &scratch).await.err().unwrap();
        let failure = error.to_failure();
        assert_eq!(
            (
                failure.code.as_str(),
                failure.message.as_str(),
                failure.object.as_deref()
            ),
            ("missing_privilege", message, Some(object)),
            "{sql}"
        );
        assert_eq!(failure.class, FailureClass::Input);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_privilege_that_is_taken_away_after_planning_leaves_nothing_committed() {
    let (database, scratch) = (server().database().await, scratch().await);
    root(
        &database,
        "CREATE TABLE other (id int PRIMARY KEY); GRANT ALL ON other TO app",
    )
    .await;
    let sql = "CREATE TABLE other (id int PRIMARY KEY); CREATE TABLE t (id int); CREATE TABLE u (o int REFERENCES other);";
    let planned = planned(&database, sql, &lenient(), &scratch).await.unwrap();
    // What is granted to the login itself is not compared, so the plan still starts from this state.
    root(&database, "REVOKE REFERENCES ON other FROM app").await;
    let target = Target::from_url(&database.url()).unwrap();
    let outcome = apply(
        &target,
        &planned.document,
        planned.digest,
        &lenient(),
        async || Ok(()),
        &minutes(),
    )
    .await;
    let ApplyOutcome::NothingCommitted { failure } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (failure.code.as_str(), failure.sqlstate.as_deref()),
        ("missing_privilege", Some("42501"))
    );
    assert!(
        failure.object.is_some() && failure.statement.is_some(),
        "{failure:?}"
    );
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname IN ('t', 'u')")
            .await,
        "0"
    );
}

/// What our readings use by a bare name, planted where a login's search path leads first. Whatever is called, fails.
const PLANTED: &str = r#"
CREATE SCHEMA evil;
CREATE FUNCTION evil.boom(by pg_catalog.text) RETURNS pg_catalog.text LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'planted %', by; END $$;
CREATE DOMAIN evil.int4 AS pg_catalog.int4 CHECK (evil.boom('int4') IS NULL);
CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.boom('text') IS NULL);
CREATE DOMAIN evil.oid AS pg_catalog.oid CHECK (evil.boom('oid') IS NULL);
CREATE VIEW evil.pg_class AS SELECT evil.boom('pg_class') AS oid;
CREATE VIEW evil.pg_roles AS SELECT evil.boom('pg_roles') AS rolname;
"#;

/// Functions that the readings call, with an argument type that would win over the server's own.
const FUNCTIONS: &[(&str, &str)] = &[
    ("current_setting", "pg_catalog.text"),
    ("quote_ident", "pg_catalog.name"),
    ("array_agg", "pg_catalog.name"),
    ("pg_get_expr", "pg_catalog.pg_node_tree, pg_catalog.oid"),
    ("pg_get_viewdef", "pg_catalog.oid"),
    ("format_type", "pg_catalog.oid, pg_catalog.int4"),
    ("has_schema_privilege", "pg_catalog.oid, pg_catalog.text"),
    ("pg_has_role", "pg_catalog.oid, pg_catalog.text"),
    ("aclexplode", "pg_catalog.aclitem[]"),
    ("pg_try_advisory_lock", "pg_catalog.int8"),
    ("pg_backend_pid", ""),
    ("pg_is_in_recovery", ""),
];

/// Operators, by the types of their sides: exact matches, so that a search would prefer them.
const OPERATORS: &[(&str, &str, &str)] = &[
    ("=", "oid", "oid"),
    ("=", "name", "text"),
    ("=", "text", "text"),
    ("=", "name", "name"),
    ("=", "\"char\"", "\"char\""),
    ("=", "int2", "int4"),
    ("=", "int4", "int4"),
    ("<>", "name", "text"),
    ("<>", "oid", "oid"),
    ("<>", "oid", "int4"),
    (">=", "oid", "oid"),
    (">=", "oid", "int4"),
    ("~", "text", "text"),
    ("!~", "text", "text"),
    ("!~", "name", "text"),
    ("||", "text", "text"),
    ("||", "text", "name"),
    ("||", "name", "text"),
    ("||", "\"char\"", "text"),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_others_plant_in_the_target_is_never_called_by_our_readings_plans_and_runs() {
    let (database, scratch) = (server().database().await, scratch().await);
    let mut sql = PLANTED.to_owned();
    for (name, arguments) in FUNCTIONS {
        sql.push_str(&format!(
            "CREATE FUNCTION evil.{name}({arguments}) RETURNS pg_catalog.text LANGUAGE plpgsql AS
             $$ BEGIN PERFORM evil.boom('{name}'); RETURN ''; END $$;\n"
        ));
    }
    for (index, (name, left, right)) in OPERATORS.iter().enumerate() {
        let result = if *name == "||" { "text" } else { "bool" };
        sql.push_str(&format!(
            "CREATE FUNCTION evil.op{index}(pg_catalog.{left}, pg_catalog.{right}) RETURNS pg_catalog.{result} LANGUAGE plpgsql AS
             $$ BEGIN PERFORM evil.boom('{name} of {left} and {right}'); END $$;
             CREATE OPERATOR evil.{name} (LEFTARG = pg_catalog.{left}, RIGHTARG = pg_catalog.{right}, FUNCTION = evil.op{index});\n"
        ));
    }
    // Made by somebody who may make objects, and lent to everybody; the login's own settings look there first.
    sql.push_str("GRANT USAGE ON SCHEMA evil TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA evil TO PUBLIC;");
    root(&database, &sql).await;
    root(
        &database,
        &format!(
            "ALTER ROLE app IN DATABASE {} SET search_path TO evil, pg_catalog, public",
            database.name
        ),
    )
    .await;
    // That the trap is one: the same question without our care calls it.
    let client = database.client().await;
    let fell = client
        .simple_query("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'app'::pg_catalog.text")
        .await;
    assert!(fell.is_err(), "the planted operator was not called");
    root(
        &database,
        "CREATE TABLE public.t (id int DEFAULT 1 CHECK (id > 0), e text); ALTER TABLE public.t OWNER TO app",
    )
    .await;
    let to = "CREATE TABLE t (id int DEFAULT 2 CHECK (id > 0), e text, b int); CREATE VIEW v AS SELECT id FROM t; COMMENT ON TABLE t IS 'x';";
    for mode in [TransactionMode::File, TransactionMode::None] {
        let policy = SchemaPolicy {
            transaction_mode: mode,
            ..lenient()
        };
        let planned = planned(&database, to, &policy, &scratch).await.unwrap();
        let target = Target::from_url(&database.url()).unwrap();
        let outcome = apply(
            &target,
            &planned.document,
            planned.digest,
            &policy,
            async || Ok(()),
            &minutes(),
        )
        .await;
        assert_eq!(
            outcome,
            ApplyOutcome::Applied {
                statements: planned.statement_count
            }
        );
    }
    assert!(
        planned(&database, to, &lenient(), &scratch)
            .await
            .unwrap()
            .no_change
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_the_server_does_not_trust_is_made_where_its_script_can_call_nothing_declared() {
    let scratch = scratch().await;
    let f = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';";
    for (before, after, refused) in [
        // Moved to its schema after it was made, so what stands there is no matter.
        (f.to_owned(), format!("{f} CREATE EXTENSION dblink;"), None),
        (
            f.to_owned(),
            format!("{f} CREATE SCHEMA x; CREATE EXTENSION dblink SCHEMA x;"),
            None,
        ),
        // Made in its place, or with the schema of what it requires in its path.
        (f.to_owned(), format!("{f} CREATE EXTENSION xml2;"), Some("xml2")),
        (
            format!("CREATE EXTENSION cube; {f}"),
            format!("CREATE EXTENSION cube; {f} CREATE EXTENSION earthdistance;"),
            Some("earthdistance"),
        ),
        (
            f.to_owned(),
            format!("{f} CREATE SCHEMA x; CREATE EXTENSION xml2 SCHEMA x;"),
            None,
        ),
        // Trusted ones are made by any owner of a database anywhere.
        (f.to_owned(), format!("{f} CREATE EXTENSION citext;"), None),
    ] {
        let database = server().database().await;
        database.execute(&before).await;
        let answer = planned(&database, &after, &lenient(), &scratch).await;
        match (answer, refused) {
            (Ok(planned), None) => assert!(planned.statement_count >= 1, "{after}"),
            (Err(error), Some(extension)) => {
                let failure = error.to_failure();
                assert_eq!(
                    (failure.code.as_str(), failure.object.as_deref(), failure.message.as_str()),
                    (
                        "unsupported_change",
                        Some(extension),
                        format!(
                            "the script of extension {extension} could call function public.f() as a superuser; give \
                             the extension, or what it requires, a schema of its own"
                        )
                        .as_str()
                    )
                );
            }
            (Ok(_), Some(_)) => panic!("{after} was planned"),
            (Err(error), None) => panic!("{after}: {}: {error}", error.code()),
        }
    }
}

struct Touch {
    name: String,
    from: String,
    to: String,
    objects: String,
}

fn touches() -> Vec<Touch> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protected.sql");
    let text = std::fs::read_to_string(file).unwrap();
    let cases = text.split("\n-- case: ").skip(1);
    cases
        .map(|block| {
            let (name, rest) = block.split_once('\n').unwrap();
            let (objects, rest) = rest
                .strip_prefix("-- objects: ")
                .unwrap()
                .split_once('\n')
                .unwrap();
            let (from, to) = rest.split_once("-- to\n").unwrap();
            Touch {
                name: name.to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
                objects: objects.to_owned(),
            }
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_protected_table_is_refused_in_every_way_that_a_plan_can_touch_it() {
    let scratch = scratch().await;
    let policy = SchemaPolicy {
        protected_tables: vec!["users".into()],
        ..lenient()
    };
    let only = std::env::var("PTAH_CASE").ok();
    let mut failures = Vec::new();
    for case in touches() {
        if only.as_deref().is_some_and(|only| only != case.name) {
            continue;
        }
        let database = server().database().await;
        database.execute(&case.from).await;
        let before = database.text(STATE).await;
        let planned = match planned(&database, &case.to, &policy, &scratch).await {
            Ok(planned) => planned,
            Err(error) => {
                failures.push(format!("{}: {}: {error}", case.name, error.code()));
                continue;
            }
        };
        let refused: Vec<String> = planned
            .refusals
            .iter()
            .filter(|refusal| refusal.kind == Code::ProtectedTable)
            .flat_map(|refusal| refusal.objects.clone())
            .collect();
        if refused.join(", ") != case.objects {
            let sql: Vec<&str> = planned.plan.statements.iter().map(|s| s.sql.as_str()).collect();
            failures.push(format!(
                "{}: {refused:?}, not {}: {sql:?}",
                case.name, case.objects
            ));
            continue;
        }
        let target = Target::from_url(&database.url()).unwrap();
        let outcome = apply(
            &target,
            &planned.document,
            planned.digest,
            &policy,
            async || Ok(()),
            &minutes(),
        )
        .await;
        let refused_at_apply = matches!(&outcome, ApplyOutcome::NothingCommitted { failure } if failure.code == "protected_table");
        if refused_at_apply == case.objects.is_empty() {
            failures.push(format!("{}: {outcome:?}", case.name));
        }
        if refused_at_apply && database.text(STATE).await != before {
            failures.push(format!("{}: something was changed", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const STATE: &str = "SELECT string_agg(relname, ',' ORDER BY relname) || '|' ||
  (SELECT count(*) FROM pg_attribute) || '|' || (SELECT count(*) FROM pg_trigger) || '|' ||
  (SELECT count(*) FROM pg_constraint) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
