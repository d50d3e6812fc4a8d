//! The corpus: pairs of schemas from `tests/corpus`, each planned and applied in both directions on a real server, and
//! judged by `pg_dump` alone: the result is dumped as a fresh database of the target's SQL is.
//!
//! `support/corpus.rs` tells how a table file is written, `support/dump.rs` what two dumps may differ in.
//! `PTAH_PG_DUMP` names the program. Forward runs in one transaction and backward statement by statement. Of each case one
//! of the two is run; `PTAH_CORPUS=both` and `PTAH_CASE` run both, `PTAH_CORPUS=full` both in both modes,
//! `PTAH_CORPUS=sensitive` only what differs between server versions, `PTAH_CORPUS=sides` plans nothing and only dumps both
//! sides, `PTAH_CORPUS=dumps` declares each dump as it comes and finds nothing to plan, and `PTAH_CASE=text` takes the cases
//! whose `file: name` contains the text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/dump.rs"]
mod dump;
mod support;
#[path = "support/corpus.rs"]
mod table;

use std::path::Path;
use std::time::Duration;

use ptah_contract::policy::{SchemaPolicy, TransactionMode};
use ptah_engine::{ApplyOutcome, Deadline, Planned, Scratch, Target, apply, plan};
use support::{PASSWORD, TestDatabase, declared, server};
use table::{Case, Direction};

/// What `PTAH_CORPUS` asks for.
fn word(asked: &str) -> bool {
    std::env::var("PTAH_CORPUS").is_ok_and(|word| word == asked)
}

/// Those that this server has, chosen by `PTAH_CASE`.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let only = std::env::var("PTAH_CASE").ok();
    let mut cases = table::read_all(&folder).unwrap_or_else(|why| panic!("{why}"));
    cases.retain(|case| {
        server().major >= case.since
            && only
                .as_deref()
                .is_none_or(|text| format!("{}: {}", case.file, case.name).contains(text))
    });
    cases
}

/// The directions of a case that are run. There and back in turn, one a case, so that the run stays short; both where they
/// are asked for.
fn ways(case: &Case) -> Vec<Direction> {
    let mut ways: Vec<Direction> = Direction::BOTH
        .into_iter()
        .filter(|way| case.goes(*way))
        .collect();
    let all = word("full") || word("both") || std::env::var_os("PTAH_CASE").is_some();
    if !all && ways.len() > 1 {
        ways.remove(case.line % 2);
    }
    ways
}

/// The transaction modes of a direction.
fn modes(direction: Direction) -> &'static [TransactionMode] {
    if word("full") {
        return &[TransactionMode::File, TransactionMode::None];
    }
    match direction {
        Direction::Forward => &[TransactionMode::File],
        Direction::Backward => &[TransactionMode::None],
    }
}

/// Both sides of every case load as the database's owner, rows and checks fit. Each is rolled back, so that one
/// database serves all.
#[tokio::test(flavor = "multi_thread")]
async fn every_case_loads() {
    let database = server().database().await;
    let client = database.client().await;
    let mut failures = Vec::new();
    let cases = cases();
    for case in &cases {
        for direction in Direction::BOTH {
            let way = case.way(direction);
            // The checks are for the state after the way: on the other side without rows they must be understood.
            let checks = case.way(match direction {
                Direction::Forward => Direction::Backward,
                Direction::Backward => Direction::Forward,
            });
            let parts = [case.start(direction), &way.rows, &checks.checks];
            for (part, sql) in ["sql", "rows", "check"].into_iter().zip(parts) {
                let sql = if part == "sql" {
                    format!("BEGIN;{sql}")
                } else {
                    sql.to_owned()
                };
                if let Err(error) = client.batch_execute(&sql).await {
                    failures.push(format!(
                        "{}.sql:{}: {} ({direction:?}'s {part}): {}",
                        case.file,
                        case.line,
                        case.name,
                        error
                            .as_db_error()
                            .map_or_else(|| error.to_string(), ToString::to_string)
                    ));
                    break;
                }
            }
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    }
    let count = cases.len();
    println!("{count} cases, {} failures", failures.len());
    assert!(
        failures.is_empty(),
        "{}\n{} failures in {count} cases",
        failures.join("\n"),
        failures.len(),
    );
}

#[derive(Default)]
struct Tally {
    passed: usize,
    refused: usize,
    failures: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pair_ends_as_pg_dump_says() {
    let mut cases = cases();
    cases.retain(|case| case.sensitive || !word("sensitive"));
    let (even, odd) = tokio::join!(lane(&cases, 0), lane(&cases, 1));
    let failures = [even.failures, odd.failures].concat();
    let summary = format!(
        "{} passed, {} failed, {} refused as expected",
        even.passed + odd.passed,
        failures.len(),
        even.refused + odd.refused
    );
    println!("{summary}");
    assert!(failures.is_empty(), "{}\n{summary}", failures.join("\n"));
}

async fn lane(cases: &[Case], first: usize) -> Tally {
    let start = Deadline::after(Duration::from_secs(60));
    let scratch = Scratch::child(&server().pg_home, server().major, &start)
        .await
        .unwrap();
    let mut tally = Tally::default();
    for case in cases.iter().skip(first).step_by(2) {
        let mut fail = |what: &str, why: String| {
            tally.failures.push(format!(
                "{}.sql:{}: {} ({what}): {why}",
                case.file, case.line, case.name
            ));
        };
        let mut sides = match sides(case).await {
            Ok(sides) => sides,
            Err(why) => {
                fail("loading", why);
                continue;
            }
        };
        if word("sides") {
            tally.passed += 1;
        } else if word("dumps") {
            for (dump, database) in sides.dumps.iter().zip(&sides.databases) {
                match database {
                    Some(database) => match its_own(dump, database, &scratch).await {
                        Ok(Seen::Applied) => tally.passed += 1,
                        Ok(Seen::Refused) => tally.refused += 1,
                        Err(why) => fail("its own dump", why),
                    },
                    None => fail("its own dump", "was not loaded".into()),
                }
            }
        } else {
            for direction in ways(case) {
                for mode in modes(direction) {
                    match run(case, direction, *mode, &mut sides, &scratch).await {
                        Ok(Seen::Applied) => tally.passed += 1,
                        Ok(Seen::Refused) => tally.refused += 1,
                        Err(why) => fail(&format!("{direction:?}, {mode:?}"), why),
                    }
                }
            }
        }
        for database in sides.databases.into_iter().flatten() {
            dropped(&database).await;
        }
    }
    tally
}

/// What `pg_dump` writes of a database, declared as it comes, is no change of that database. Kinds that are refused by
/// name are refused here as well.
async fn its_own(dump: &str, database: &TestDatabase, scratch: &Scratch) -> Result<Seen, String> {
    let deadline = Deadline::after(Duration::from_secs(60));
    let target = Target::from_url(&database.url()).unwrap();
    let to = declared(dump);
    match plan(&target, to.path(), scratch, &SchemaPolicy::default(), &deadline).await {
        Ok(planned) if planned.no_change => Ok(Seen::Applied),
        Ok(planned) => Err(format!("plans\n{}", statements(&planned))),
        Err(error) if matches!(error.code(), "unsupported_object" | "empty_desired_state") => {
            Ok(Seen::Refused)
        }
        Err(error) => Err(format!("{}: {error}", error.code())),
    }
}

/// `from`, then `to`.
struct Sides {
    /// As their SQL alone makes them.
    dumps: [String; 2],
    /// The databases that were dumped, each until a direction starts from it.
    databases: [Option<TestDatabase>; 2],
}

async fn sides(case: &Case) -> Result<Sides, String> {
    let (from, to) = (loaded(&case.from).await?, loaded(&case.to).await?);
    let dumps = [dumped(&from).await?, dumped(&to).await?];
    if dump::difference(&dumps[0], &dumps[1]).is_empty() != case.same {
        let why = if case.same {
            "the sides differ"
        } else {
            "the sides are the same"
        };
        return Err(why.to_owned());
    }
    Ok(Sides {
        dumps,
        databases: [Some(from), Some(to)],
    })
}

enum Seen {
    Applied,
    Refused,
}

async fn run(
    case: &Case,
    direction: Direction,
    mode: TransactionMode,
    sides: &mut Sides,
    scratch: &Scratch,
) -> Result<Seen, String> {
    let database = match sides.databases[direction as usize].take() {
        Some(database) => database,
        None => loaded(case.start(direction)).await?,
    };
    filled(&database, &case.way(direction).rows).await?;
    let seen = walk(case, direction, mode, &sides.dumps, scratch, &database).await;
    dropped(&database).await;
    seen
}

async fn walk(
    case: &Case,
    direction: Direction,
    mode: TransactionMode,
    [from, to]: &[String; 2],
    scratch: &Scratch,
    database: &TestDatabase,
) -> Result<Seen, String> {
    let way = case.way(direction);
    let [start, end] = match direction {
        Direction::Forward => [from, to],
        Direction::Backward => [to, from],
    };
    let deadline = Deadline::after(Duration::from_secs(60));
    let target = Target::from_url(&database.url()).unwrap();
    let policy = SchemaPolicy {
        allow_destructive: true,
        transaction_mode: mode,
        ..SchemaPolicy::default()
    };
    let to = declared(case.end(direction));
    let planned = match (
        plan(&target, to.path(), scratch, &policy, &deadline).await,
        &way.refused,
    ) {
        (Ok(planned), None) => planned,
        (Ok(planned), Some((code, _))) => {
            return Err(format!(
                "planned, but {code} was expected:\n{}",
                statements(&planned)
            ));
        }
        (Err(error), Some((code, text))) if error.code() == code && error.to_string().contains(text) => {
            return Ok(Seen::Refused);
        }
        (Err(error), _) => return Err(format!("{}: {error}", error.code())),
    };
    let sql = statements(&planned);
    if case.same && !planned.no_change {
        return Err(format!("both sides are the same, but the plan is\n{sql}"));
    }
    let outcome = apply(
        &target,
        &planned.document,
        planned.digest,
        &policy,
        async || Ok(()),
        &deadline,
    )
    .await;
    match (&outcome, &way.fails) {
        (ApplyOutcome::Applied { statements }, None) if *statements == planned.statement_count => {}
        (
            ApplyOutcome::NothingCommitted { failure } | ApplyOutcome::Uncertain { failure, .. },
            Some(state),
        ) if failure.sqlstate.as_ref() == Some(state) => {
            if mode == TransactionMode::File {
                same(&dumped(database).await?, start)
                    .map_err(|why| format!("a failed transaction left\n{why}\nof\n{sql}"))?;
            }
            return Ok(Seen::Refused);
        }
        _ => return Err(format!("{outcome:?}\n{sql}")),
    }
    same(&dumped(database).await?, end).map_err(|why| format!("the dumps differ:\n{why}\nafter\n{sql}"))?;
    let again = plan(&target, to.path(), scratch, &policy, &deadline)
        .await
        .map_err(|error| format!("again: {}: {error} after\n{sql}", error.code()))?;
    if !again.no_change {
        return Err(format!("not converged: {}\nafter\n{sql}", statements(&again)));
    }
    for check in way.checks.lines().filter(|line| !line.trim().is_empty()) {
        let answer = database.text(check).await;
        if answer != "t" {
            return Err(format!("{check} gives {answer} after\n{sql}"));
        }
    }
    Ok(Seen::Applied)
}

fn statements(planned: &Planned) -> String {
    let statements = &planned.plan.statements;
    statements.iter().map(|one| format!("  {};\n", one.sql)).collect()
}

fn same(found: &str, expected: &str) -> Result<(), String> {
    let difference = dump::difference(found, expected);
    if difference.is_empty() {
        return Ok(());
    }
    Err(difference.join("\n"))
}

async fn loaded(sql: &str) -> Result<TestDatabase, String> {
    let database = server().database().await;
    filled(&database, sql).await?;
    Ok(database)
}

async fn filled(database: &TestDatabase, sql: &str) -> Result<(), String> {
    let client = database.client().await;
    let done = client.batch_execute(sql).await;
    done.map_err(|error| format!("does not load: {:?}", error.as_db_error()))
}

/// Some hundred databases would fill the disk.
async fn dropped(database: &TestDatabase) {
    let root = server().client("root_of_tests", "postgres").await;
    let drop = format!("DROP DATABASE {} WITH (FORCE)", database.name);
    root.batch_execute(&drop).await.unwrap();
}

async fn dumped(database: &TestDatabase) -> Result<String, String> {
    let program =
        std::env::var("PTAH_PG_DUMP").expect("PTAH_PG_DUMP names pg_dump, no older than the server");
    let output = tokio::process::Command::new(program)
        .args([
            "--schema-only",
            "--no-password",
            "--host",
            "127.0.0.1",
            "--username",
            "app",
        ])
        .args(["--port", &database.port.to_string(), &database.name])
        .env("PGPASSWORD", PASSWORD)
        .env("PGSSLMODE", "disable")
        .output()
        .await
        .unwrap();
    if !output.status.success() {
        return Err(format!("pg_dump: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8(output.stdout).unwrap())
}
