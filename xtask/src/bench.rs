//! Measures what sources cost beside git, and the product on the test node; writes tables with the machine and the commit.

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
    let mut table = heading()?;
    print!("{table}");
    let sources = program("ptah-sources-tests", "bench_sources");
    let measured = tables(sources, &mut table).and_then(|()| {
        let mut cluster = program("ptah-cluster-tests", "bench");
        cluster.args(arguments).env("PTAH_NODE_DIR", node.paths().root());
        node.environment(&mut cluster)?;
        tables(cluster, &mut table)
    });
    let folder = workspace::target_dir().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join(format!("{}.md", commit()?));
    fs::write(&file, table).with_context(|| format!("cannot write {}", file.display()))?;
    progress::note(format!("the table is in {}", file.display()));
    node.down()?;
    measured
}

/// The measuring program of a package.
fn program(package: &str, name: &str) -> Command {
    let mut cargo = run::cargo();
    let runner = workspace::target_dir().join("images/ptah-runner/ptah-runner");
    cargo
        .args(["run", "--quiet", "-p", package, "--bin", name, "--"])
        .env("PTAH_RUNNER", runner);
    cargo
}

/// Runs a measuring program, shows what it prints, and keeps it.
fn tables(mut program: Command, text: &mut String) -> Result<()> {
    let mut child = program
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let lines = BufReader::new(child.stdout.take().context("no word from the program")?).lines();
    for line in lines {
        let line = line?;
        println!("{line}");
        text.push_str(&line);
        text.push('\n');
    }
    println!();
    text.push('\n');
    let ended = child.wait()?;
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
