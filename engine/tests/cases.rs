//! Every folder of `tests/cases` is a promise: `from.sql` on a real server, planned to `to.sql`, applied, and
//! planned again to no change, in one transaction and statement by statement.
//!
//! `plan.sql` holds the exact statements of the first; `rows.sql` runs after `from.sql`, and every line of
//! `check.sql` must give `t` afterwards; `since.txt` names the first server version that has the syntax; `refused.txt` holds the code instead, and what the message must name.
//! `PTAH_UPDATE=1` writes `plan.sql`, `PTAH_CASE=name` runs one case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ptah_contract::policy::{SchemaPolicy, TransactionMode};
use ptah_engine::{ApplyOutcome, Deadline, Scratch, Target, apply, plan};
use support::server;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let only = std::env::var("PTAH_CASE").ok();
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    cases.retain(|case| only.as_deref().is_none_or(|name| case.ends_with(name)));
    cases.sort();
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p028_every_case_is_applied_and_then_plans_to_no_change() {
    let cases = cases();
    // Two lanes, each with a scratch server of its own, as two Pods would have.
    let (even, odd) = tokio::join!(lane(&cases, 0), lane(&cases, 1));
    let failures = [even, odd].concat();
    assert!(
        failures.is_empty(),
        "{} failures in {} cases:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

async fn lane(cases: &[PathBuf], first: usize) -> Vec<String> {
    let deadline = Deadline::after(Duration::from_secs(580));
    let scratch = Scratch::child(&server().pg_home, server().major, &deadline)
        .await
        .unwrap();
    let mut failures = Vec::new();
    for case in cases.iter().skip(first).step_by(2) {
        for mode in [TransactionMode::File, TransactionMode::None] {
            if let Err(why) = run(case, mode, &scratch, &deadline).await {
                failures.push(format!(
                    "{} ({mode:?}): {why}",
                    case.file_name().unwrap().to_string_lossy()
                ));
            }
        }
    }
    failures
}

async fn run(
    case: &Path,
    mode: TransactionMode,
    scratch: &Scratch,
    deadline: &Deadline,
) -> Result<(), String> {
    let read = |name: &str| std::fs::read_to_string(case.join(name)).ok();
    let refused = read("refused.txt");
    if refused.is_some() && mode == TransactionMode::None {
        return Ok(());
    }
    let since = read("since.txt")
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(14);
    if server().major < since {
        return Ok(());
    }
    let database = server().database().await;
    for sql in [read("from.sql"), read("rows.sql")].into_iter().flatten() {
        database
            .client()
            .await
            .batch_execute(&sql)
            .await
            .map_err(|e| format!("from: {:?}", e.as_db_error()))?;
    }
    let target = Target::from_url(&database.url()).unwrap();
    let policy = SchemaPolicy {
        allow_destructive: true,
        transaction_mode: mode,
        ..SchemaPolicy::default()
    };
    let to = case.join("to.sql");
    let planned = match (plan(&target, &to, scratch, &policy, deadline).await, refused) {
        (Ok(planned), None) => planned,
        (Ok(_), Some(code)) => return Err(format!("planned, but {code} was expected")),
        (Err(error), None) => return Err(format!("{}: {error}", error.code())),
        (Err(error), Some(expected)) => {
            let found = format!("{}: {error}", error.code());
            let missing = expected.lines().find(|line| !found.contains(line));
            return missing.map_or(Ok(()), |line| Err(format!("{found} lacks {line}")));
        }
    };
    let sql: String = planned
        .plan
        .statements
        .iter()
        .map(|s| format!("-- {} | {}\n{};\n", s.severity.word(), s.reason, s.sql))
        .collect();
    // Older servers print the columns of a view's query otherwise.
    if mode == TransactionMode::File && server().major >= 17 {
        if std::env::var_os("PTAH_UPDATE").is_some() {
            std::fs::write(case.join("plan.sql"), &sql).unwrap();
        } else if let Some(expected) = read("plan.sql")
            && expected != sql
        {
            return Err(format!("the plan is\n{sql}\nand should be\n{expected}"));
        }
    }
    let outcome = apply(
        &target,
        &planned.document,
        planned.digest,
        &policy,
        async || Ok(()),
        deadline,
    )
    .await;
    if outcome
        != (ApplyOutcome::Applied {
            statements: planned.statement_count,
        })
    {
        return Err(format!("{outcome:?}\n{sql}"));
    }
    let again = plan(&target, &to, scratch, &policy, deadline)
        .await
        .map_err(|e| format!("again: {}: {e}", e.code()))?;
    if !again.no_change || again.observation.fingerprint != again.desired_fingerprint {
        let rest: Vec<&str> = again.plan.statements.iter().map(|s| s.sql.as_str()).collect();
        return Err(format!("not converged: {rest:?} after\n{sql}"));
    }
    for check in read("check.sql")
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim().is_empty())
    {
        let answer = database.text(check).await;
        if answer != "t" {
            return Err(format!("{check} gives {answer}"));
        }
    }
    Ok(())
}
