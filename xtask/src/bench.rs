//! Measures what the product costs on the test node, and writes a table with the machine and the commit.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::cache::Cache;
use crate::images::{self, Options};
use crate::node::Node;
use crate::{progress, run, workspace};

/// Prepares a fresh node, measures, and takes it away; `arguments` go to the program that does (`bench --help`).
pub fn run(cache: &Cache, arguments: &[String]) -> Result<()> {
    let node = Node::of_environment(cache)?;
    // Whatever earlier runs left would be counted as well.
    node.down()?;
    node.up()?;
    images::build_and_push(cache, &node, &Options::default())?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "run",
            "--quiet",
            "-p",
            "ptah-cluster-tests",
            "--bin",
            "bench",
            "--",
        ])
        .args(arguments)
        .current_dir(workspace::root())
        .env("PTAH_NODE_DIR", node.paths().root())
        .env(
            "PTAH_RUNNER",
            workspace::target_dir().join("images/ptah-runner/ptah-runner"),
        )
        .stdout(Stdio::piped());
    node.environment(&mut cargo)?;
    let mut table = heading()?;
    print!("{table}");
    let mut child = cargo.spawn().context("cannot start cargo")?;
    for line in BufReader::new(child.stdout.take().context("no word from the program")?).lines() {
        let line = line?;
        println!("{line}");
        table.push_str(&line);
        table.push('\n');
    }
    let ended = child.wait()?;
    let folder = workspace::target_dir().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join(format!("{}.md", commit()?));
    fs::write(&file, table).with_context(|| format!("cannot write {}", file.display()))?;
    progress::note(format!("the table is in {}", file.display()));
    node.down()?;
    ensure!(ended.success(), "the measurement ended with {ended}");
    Ok(())
}

fn commit() -> Result<String> {
    run::output(
        Command::new("git")
            .args(["describe", "--always", "--dirty"])
            .current_dir(workspace::root()),
    )
}

fn heading() -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse::<u64>().ok());
    Ok(format!(
        "# Commit {}, {cores} cores, {} GiB, one node with everything on it\n\n",
        commit()?,
        memory.unwrap_or(0) / 1024 / 1024
    ))
}
