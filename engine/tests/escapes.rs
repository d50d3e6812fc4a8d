//! Desired SQL that tries to leave the scratch server, or to keep it.
//!
//! Every file of `tests/escapes` holds attempts: `-- case: name`, `-- expect: code` (or `planned`), `-- words: what the
//! message must say | and this`, `-- since: 15` where an older server refuses otherwise, then the SQL. Each runs as in
//! a Pod: a sidecar's server, declared SQL as the loading role. After each the world must be as it was: no file, no
//! connection, no other role, no other setting, and the next honest plan is made.
//! `PTAH_CASE=name` runs one case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ptah_contract::policy::SchemaPolicy;
use ptah_engine::scratch::{self, Limits};
use ptah_engine::{Deadline, Planned, Scratch, Target, plan};
use support::{PASSWORD, TestDatabase, declared, server};
use tokio_postgres::{Client, NoTls};

/// What only the operation's container may read.
const SECRET: &str = "c4nary-Ohgh7eip";
/// The operation's user in a Pod.
const OPERATION: u32 = 65_532;

struct Case {
    name: String,
    expect: String,
    words: Vec<String>,
    sql: String,
}

/// A Pod's scratch server, and what must stay untouched.
struct Yard {
    scratch: Scratch,
    admin: Client,
    canary: PathBuf,
    planted: PathBuf,
    listener: TcpListener,
    database: TestDatabase,
    _shared: tempfile::TempDir,
    _open: tempfile::TempDir,
}

impl Yard {
    async fn new() -> Self {
        // `serve` runs as another process in a Pod; what it starts is the same, and another user's here as there.
        let shared = tempfile::tempdir().unwrap();
        std::fs::set_permissions(shared.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let (directory, work) = (shared.path().join("scratch"), shared.path().join("work"));
        std::fs::create_dir(&directory).unwrap();
        let open = tempfile::tempdir().unwrap();
        std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let canary = open.path().join("url");
        std::fs::write(&canary, SECRET).unwrap();
        std::fs::set_permissions(&canary, std::fs::Permissions::from_mode(0o440)).unwrap();
        chown(&canary, Some(OPERATION), Some(OPERATION)).expect("these tests give files away, as root");
        let homes = server().pg_home.clone();
        let at = directory.clone();
        tokio::spawn(async move { scratch::serve(&at, &homes, &homes, &work, Deadline::default()).await });
        let scratch = Scratch::sidecar(&directory, server().major, &minutes())
            .await
            .unwrap()
            .with_limits(Limits {
                statement: Duration::from_secs(3),
                database: 32 << 20,
            });
        Self {
            scratch,
            admin: superuser(&directory).await,
            canary,
            planted: open.path().join("planted"),
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            database: server().database().await,
            _shared: shared,
            _open: open,
        }
    }

    fn fill(&self, sql: &str) -> String {
        let port = self.listener.local_addr().unwrap().port().to_string();
        let deep = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
        sql.replace("{canary}", &self.canary.to_string_lossy())
            .replace("{file}", &self.planted.to_string_lossy())
            .replace("{port}", &port)
            .replace("{deep}", &deep)
            .replace("{cr}", "\r")
            .replace("{lf}", "\n")
            .replace("{nbsp}", "\u{a0}")
            .replace("{nul}", "\0")
    }

    async fn plan(&self, sql: &str) -> ptah_engine::Result<Planned> {
        let target = Target::from_url(&self.database.url()).unwrap();
        let desired = declared(sql);
        plan(
            &target,
            desired.path(),
            &self.scratch,
            &SchemaPolicy::default(),
            &minutes(),
        )
        .await
    }

    async fn attempt(&self, case: &Case) -> Result<(), String> {
        let (code, said, ran) = match self.plan(&self.fill(&case.sql)).await {
            Ok(planned) => ("planned", String::from_utf8(planned.document).unwrap(), true),
            Err(error) => {
                let failure = error.to_failure();
                let refused_unseen = failure.sqlstate.is_none()
                    && matches!(error.code(), "statement_not_admitted" | "desired_syntax");
                (error.code(), format!("{error} {failure:?}"), !refused_unseen)
            }
        };
        if code != case.expect {
            return Err(format!("{code}, not {}: {said:.400}", case.expect));
        }
        if let Some(word) = case.words.iter().find(|word| !said.contains(word.as_str())) {
            return Err(format!("{said:.400} does not say {word}"));
        }
        for secret in [SECRET, PASSWORD] {
            if said.contains(secret) {
                return Err("a secret shows".to_owned());
            }
        }
        self.untouched().await?;
        if ran { self.usable().await } else { Ok(()) }
    }

    async fn untouched(&self) -> Result<(), String> {
        if self.planted.exists() {
            return Err("a file was written".to_owned());
        }
        self.listener.set_nonblocking(true).unwrap();
        if self.listener.accept().is_ok() {
            return Err("a connection was opened".to_owned());
        }
        let found = self.admin.query_one(STATE, &[]).await.unwrap();
        let state: String = found.get(0);
        if state != "ptah_scratch_admin|off|loader:false,false,false,false,|0" {
            return Err(format!("the server's state is {state}"));
        }
        Ok(())
    }

    /// The next plan is made as if nothing had been.
    async fn usable(&self) -> Result<(), String> {
        let honest = self.plan("CREATE TABLE honest (a int CHECK (a > 0));").await;
        match honest {
            Ok(planned) if planned.statement_count == 1 => Ok(()),
            Ok(planned) => Err(format!(
                "an honest plan has {} statements",
                planned.statement_count
            )),
            Err(error) => Err(format!("no honest plan: {error}")),
        }
    }
}

/// Superusers and roles of the server's own that others belong to; settings that were changed; what the loading role
/// may do and what is set for it; subscriptions and other databases.
const STATE: &str = "SELECT concat_ws('|',
  (SELECT string_agg(rolname, ',') FROM pg_roles WHERE rolsuper),
  current_setting('fsync'),
  (SELECT string_agg('changed: ' || name, ',') FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'),
  (SELECT string_agg(format('loader:%s,%s,%s,%s,%s', rolsuper::text, rolcreaterole::text, rolreplication::text,
     rolbypassrls::text, (SELECT string_agg(m.roleid::regrole::text, ',') FROM pg_auth_members m
       WHERE m.member = r.oid AND m.roleid::regrole::text ~ '^pg_')), ',')
   FROM pg_roles r WHERE rolname = 'ptah_scratch_loader'),
  (SELECT count(*) FROM pg_subscription) + (SELECT count(*) FROM pg_event_trigger)
   + (SELECT count(*) FROM pg_database WHERE datname !~ '^(scratch_[0-9]+|postgres|template[01])$'))";

fn minutes() -> Deadline {
    Deadline::after(Duration::from_secs(590))
}

/// As whoever broke out of the loading role would be.
async fn superuser(directory: &Path) -> Client {
    let text = std::fs::read_to_string(directory.join("ready.json")).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut config = tokio_postgres::Config::new();
    config
        .host_path(directory.join("socket"))
        .user(ready["user"].as_str().unwrap())
        .password(ready["password"].as_str().unwrap())
        .dbname("postgres");
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/escapes")
        .join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let only = std::env::var("PTAH_CASE").ok();
    let mut cases = Vec::new();
    for block in text.split("\n-- case: ").skip(1) {
        let (mut sql, mut expect, mut words) = (String::new(), String::new(), Vec::new());
        let mut versions = 14..=18;
        let mut lines = block.lines();
        let name = lines.next().unwrap().to_owned();
        for line in lines {
            if let Some(code) = line.strip_prefix("-- expect: ") {
                code.clone_into(&mut expect);
            } else if let Some(text) = line.strip_prefix("-- words:") {
                words = text.split('|').map(|word| word.trim().to_owned()).collect();
            } else if let Some(text) = line.strip_prefix("-- since: ") {
                versions = text.trim().parse().unwrap()..=18;
            } else if let Some(text) = line.strip_prefix("-- until: ") {
                versions = 14..=text.trim().parse().unwrap();
            } else {
                sql.push_str(line);
                sql.push('\n');
            }
        }
        if only.as_deref().is_none_or(|only| only == name) && versions.contains(&server().major) {
            cases.push(Case {
                name,
                expect,
                words,
                sql,
            });
        }
    }
    cases
}

async fn all_of(file: &str) {
    let yard = Yard::new().await;
    let cases = cases(file);
    let mut failures = Vec::new();
    for case in &cases {
        if let Err(why) = yard.attempt(case).await {
            failures.push(format!("{}: {why}", case.name));
        }
    }
    failures.extend(yard.usable().await.err());
    assert!(
        failures.is_empty(),
        "{} of {} attempts:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_declares_nothing_is_refused_by_name_before_a_server_sees_it() {
    all_of("admission.sql").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_second_statement_is_smuggled_past_the_parser() {
    all_of("smuggled.sql").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_admitted_can_do_nothing_but_make_objects_in_its_own_database() {
    all_of("contained.sql").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_or_fills_something_is_ended_says_what_to_do_and_leaves_nothing() {
    all_of("limits.sql").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_became_superuser_there_finds_no_credential_and_no_file_of_the_operation() {
    let yard = Yard::new().await;
    let read = async |path: &str| {
        let answer = yard.admin.query_one("SELECT pg_read_file($1)", &[&path]).await;
        answer.map(|row| row.get::<_, String>(0))
    };
    for path in [
        yard.canary.to_string_lossy().into_owned(),
        format!("/proc/{}/environ", std::process::id()),
        format!("/proc/{}/mem", std::process::id()),
    ] {
        let error = read(&path).await.expect_err(&path);
        assert_eq!(error.code().unwrap().code(), "42501", "{path}: {error}");
    }
    // The server's own process: neither its arguments nor its environment name anything secret.
    for about in ["environ", "cmdline"] {
        let row = yard
            .admin
            .query_one(
                "SELECT encode(pg_read_binary_file('/proc/self/' || $1), 'escape')",
                &[&about],
            )
            .await;
        let text: String = row.unwrap().get(0);
        for secret in [SECRET, PASSWORD, "postgres://", "password", "PGPASS"] {
            assert!(!text.contains(secret), "{about}: {text}");
        }
    }
    let row = yard
        .admin
        .query_one(
            "SELECT current_setting('listen_addresses') || '|' || current_setting('shared_preload_libraries')
             || '|' || (SELECT count(*) FROM pg_hba_file_rules WHERE auth_method NOT IN ('scram-sha-256', 'reject'))",
            &[],
        )
        .await;
    assert_eq!(row.unwrap().get::<_, String>(0), "||0");
}
