//! How long a plan takes and what it needs, by the number of tables.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use ptah_cluster_tests::shared;
use ptah_sources_tests::measure;
use serde_json::Value;
use xtask::cache::{Cache, postgres};

/// A table with what tables have, and a foreign key to the one before it.
fn table(index: usize, more: &str) -> String {
    let reference = match index {
        0 => String::new(),
        _ => format!(", parent bigint REFERENCES t{} (id)", index - 1),
    };
    format!(
        "CREATE TABLE t{index} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, \
         amount numeric(12, 2) NOT NULL DEFAULT 0 CHECK (amount >= 0), made_at timestamptz NOT NULL DEFAULT now(){reference}{more});\n\
         CREATE INDEX t{index}_name ON t{index} (name);\n"
    )
}

/// Tables that are made in one transaction.
const AT_ONCE: usize = 200;

/// Rows of the table: everything is new, nothing changes, ten tables change.
pub fn measure(tables: usize) -> Result<Vec<String>> {
    let name = format!("bench_{tables}");
    shared().database.create(&name)?;
    let url = shared().database.url_from_here(&name);
    let all = |changed: usize| {
        (0..tables).fold(String::new(), |mut sql, index| {
            let more = if index < changed { ", note text" } else { "" };
            let _ = write!(sql, "{}", table(index, more));
            sql
        })
    };
    let mut rows = Vec::new();
    rows.push(row(tables, "everything is new", &url, &all(0))?);
    // A transaction holds a lock for each thing that it makes, and a server has room for some thousand.
    for first in (0..tables).step_by(AT_ONCE) {
        let some: String = (first..tables.min(first + AT_ONCE))
            .map(|index| table(index, ""))
            .collect();
        shared()
            .database
            .sql(&name, &format!("SET ROLE {name}_app; {some}"))?;
    }
    rows.push(row(tables, "none", &url, &all(0))?);
    rows.push(row(tables, "ten tables", &url, &all(10))?);
    Ok(rows)
}

fn row(tables: usize, changes: &str, url: &str, sql: &str) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let (secret, desired) = (folder.path().join("url"), folder.path().join("schema.sql"));
    fs::write(&secret, url)?;
    fs::write(&desired, sql)?;
    let servers = postgres::home(&Cache::open()?, [postgres::NODE_MAJOR])?;
    let runner = std::env::var_os("PTAH_RUNNER").context("PTAH_RUNNER names the runner's binary")?;
    let output = folder.path().join("plan.json");
    let mut command = Command::new(runner);
    command
        .args(["plan", "-o", "json", "--database-url-file"])
        .arg(&secret)
        .arg("--desired")
        .arg(&desired)
        .arg("--scratch")
        .arg(servers)
        .stdout(fs::File::create(&output)?)
        .stderr(Stdio::inherit());
    let measure::Cost {
        seconds,
        memory: peak,
        status,
    } = measure::run(&mut command, measure::own).context("cannot run the runner")?;
    ensure!(status.success(), "the runner ended with {status}");
    let text = fs::read_to_string(&output)?;
    let plan: Value = serde_json::from_str(&text).context("the plan is not JSON")?;
    let statements = plan["statements"].as_array().map_or(0, Vec::len);
    Ok(format!(
        "| {tables} | {changes} | {seconds:.1} | {statements} | {} MiB |",
        peak / 1024
    ))
}
