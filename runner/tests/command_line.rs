//! The command line as a person uses it, against a real server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../engine/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::process::{Command, Output};

use support::{PASSWORD, declared, server};

struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn run(arguments: &[&str]) -> Ran {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ran = Ran {
        status: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    };
    assert!(
        !ran.out.contains("hunter2") && !ran.err.contains("hunter2"),
        "{}{}",
        ran.out,
        ran.err
    );
    ran
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_plan_is_read_applied_and_then_empty() {
    assert!(PASSWORD.contains("hunter2"));
    let database = server().database().await;
    let folder = tempfile::tempdir().unwrap();
    let (url, plan) = (folder.path().join("url"), folder.path().join("plan.json"));
    std::fs::write(&url, format!("{}\n", database.url())).unwrap();
    let desired = declared("CREATE TABLE users (id bigint PRIMARY KEY, name text);");
    let (url, desired, scratch) = (path(&url), path(desired.path()), path(&server().pg_home));
    let plan_with = |more: &[&str]| {
        run(&[
            &[
                "plan",
                "--database-url-file",
                url,
                "--desired",
                desired,
                "--scratch",
                scratch,
            ],
            more,
        ]
        .concat())
    };
    let text = plan_with(&["--detailed-exitcode"]);
    assert_eq!((text.status, text.err.as_str()), (2, ""));
    let expected = "  1. SAFE, no table lock, no rewrite, no scan\n     table public.users is new\n     | CREATE TABLE public.users (\n     |   id bigint NOT NULL,\n     |   \
        name text,\n     |   CONSTRAINT users_pkey PRIMARY KEY (id)\n     | );\n\n1 statement in one transaction: 0 \
        destructive, 0 warning. Replayed on postgres ";
    assert!(text.out.starts_with(expected), "{}", text.out);
    let json = plan_with(&["-o", "json"]);
    assert_eq!((json.status, json.err.as_str()), (0, ""));
    std::fs::write(&plan, &json.out).unwrap();
    let applied = run(&[
        "apply",
        "--database-url-file",
        url,
        "--plan",
        path(&plan),
        "-o",
        "json",
    ]);
    assert_eq!(
        (applied.status, applied.out.as_str()),
        (0, "{\"outcome\":\"applied\",\"statements\":1}\n"),
        "{}",
        applied.err
    );
    let again = plan_with(&["--detailed-exitcode"]);
    assert_eq!(
        (again.status, again.out.as_str()),
        (0, "No changes: the database has the desired state.\n")
    );
    let stale = run(&[
        "apply",
        "--database-url-file",
        url,
        "--plan",
        path(&plan),
        "-o",
        "json",
    ]);
    assert_eq!(stale.status, 77);
    assert!(stale.err.contains("error: stale_plan: "), "{}", stale.err);
    let error: serde_json::Value = serde_json::from_str(&stale.out).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["class"]),
        (&"stale_plan".into(), &"refused".into())
    );
    let observed = run(&["observe", "--database-url-file", url]);
    let report: serde_json::Value = serde_json::from_str(&observed.out).unwrap();
    assert_eq!(
        (observed.status, &report["scope"]),
        (0, &serde_json::json!(["public"]))
    );
    let drift = run(&[
        "observe",
        "--database-url-file",
        url,
        "--desired",
        desired,
        "--scratch",
        scratch,
    ]);
    let report: serde_json::Value = serde_json::from_str(&drift.out).unwrap();
    assert_eq!(
        (drift.status, &report["drift"]["total"]),
        (0, &0.into()),
        "{}",
        drift.err
    );
}

#[tokio::test]
async fn every_failure_is_one_line_with_its_code_and_the_exit_status_of_its_class() {
    let database = server().database().await;
    database
        .execute("CREATE TABLE t (id int); CREATE TABLE gone (id int)")
        .await;
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("url");
    std::fs::write(&url, database.url()).unwrap();
    let other = folder.path().join("other");
    let scratch = path(&server().pg_home);
    let case = |url_text: &str, sql: &str| {
        std::fs::write(&other, url_text).unwrap();
        let desired = declared(sql);
        run(&[
            "plan",
            "--database-url-file",
            path(&other),
            "--desired",
            path(desired.path()),
            "--scratch",
            scratch,
        ])
    };
    let good = "CREATE TABLE t (id int); CREATE TABLE gone (id int);";
    for (url, sql, status, code) in [
        (
            database.url(),
            "CREATE TABLE t (id int);",
            77,
            "destructive_not_allowed",
        ),
        (database.url(), "CREATE TABLE t (id int", 65, "desired_syntax"),
        (
            database.url(),
            "INSERT INTO t VALUES (1);",
            77,
            "statement_not_admitted",
        ),
        ("mysql://u:hunter2@h/d".into(), good, 77, "unsupported_engine"),
        ("postgres://u:hun@ter2@h/d".into(), good, 65, "malformed_target"),
        (
            "postgres://u:hunter2@127.0.0.1:1/d".into(),
            good,
            75,
            "connection_refused",
        ),
        (
            database.url().replace("app:", "nobody-hunter2:"),
            good,
            65,
            "authentication_failed",
        ),
    ] {
        let ran = case(&url, sql);
        let last = ran.err.lines().last().unwrap_or_default();
        assert_eq!(ran.status, status, "{code}: {}", ran.err);
        assert!(last.starts_with(&format!("error: {code}: ")), "{}", ran.err);
    }
    assert_eq!(
        database
            .text("SELECT count(*) FROM pg_class WHERE relname = 'gone'")
            .await,
        "1"
    );
}

#[test]
fn a_url_with_a_password_is_not_taken_as_an_argument() {
    let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(["observe", "--database-url-file", "postgres://u:hunter2@h/d"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(64));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.starts_with("error: secret_in_arguments: ") && !text.contains("hunter2"),
        "{text}"
    );
}

#[test]
fn help_of_every_subcommand_shows_an_example_that_works_as_it_stands() {
    for (command, runs) in [
        ("observe", false),
        ("plan", false),
        ("apply", false),
        ("diff", true),
        ("scratch", false),
    ] {
        let help = run(&[command, "--help"]);
        assert_eq!(help.status, 0);
        let (_, example) = help
            .out
            .split_once("Example:\n")
            .unwrap_or_else(|| panic!("{command} has no example"));
        assert!(example.contains(&format!("ptah-runner {command} ")), "{example}");
        if runs {
            let folder = tempfile::tempdir().unwrap();
            let program = Path::new(env!("CARGO_BIN_EXE_ptah-runner"));
            let script = example
                .replace("ptah-runner", &format!("{} ", program.display()))
                .replace("-o sql", "-o sql --scratch \"$HOMES\"");
            let output = Command::new("bash")
                .args(["-euc", &script])
                .env("HOMES", &server().pg_home)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let out = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(
                out.contains("ALTER TABLE public.t ALTER COLUMN a TYPE bigint;"),
                "{out}"
            );
        }
    }
}

#[tokio::test]
async fn the_sidecar_serves_one_request_and_ends_on_sigterm() {
    use ptah_engine::{Deadline, Scratch, Target};
    let folder = tempfile::Builder::new().prefix("ptah-pod-").tempdir().unwrap();
    let (shared, work) = (folder.path().join("shared"), folder.path().join("work"));
    std::fs::create_dir(&shared).unwrap();
    let home = path(&server().pg_home);
    let mut sidecar = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args([
            "scratch",
            "--directory",
            path(&shared),
            "--work",
            path(&work),
            "--servers",
            home,
            "--templates",
            home,
        ])
        .spawn()
        .unwrap();
    let deadline = Deadline::after(std::time::Duration::from_secs(120));
    let scratch = Scratch::sidecar(&shared, server().major, &deadline)
        .await
        .unwrap();
    let database = server().database().await;
    let target = Target::from_url(&database.url()).unwrap();
    let desired = declared("CREATE TABLE t (id int);");
    let policy = ptah_contract::policy::SchemaPolicy::default();
    let planned = ptah_engine::plan(&target, desired.path(), &scratch, &policy, &deadline)
        .await
        .unwrap();
    assert_eq!(planned.statement_count, 1);
    let answered = std::fs::metadata(shared.join("ready.json")).unwrap();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&answered.permissions()) & 0o777,
        0o640
    );
    let killed = Command::new("kill")
        .arg(sidecar.id().to_string())
        .status()
        .unwrap();
    assert!(killed.success() && sidecar.wait().unwrap().success());
    assert!(
        std::fs::read_dir(shared.join("socket")).unwrap().next().is_none(),
        "the server still runs"
    );
}
