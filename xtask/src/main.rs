//! The command line of the library beside it: `cargo xtask --help`.

use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::cache::Cache;
use xtask::cache::{base, debian, postgres};
use xtask::node::Node;
use xtask::{progress, run};

/// What a developer and the build server run.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Prepared things outside the work tree: programs, database servers, base image.
    Cache {
        /// What to do with them.
        #[command(subcommand)]
        what: Option<CacheTask>,
    },
    /// The test node: a real one-node Kubernetes on this machine.
    Cluster {
        /// What to do with it.
        #[command(subcommand)]
        what: ClusterTask,
    },
}

#[derive(Subcommand)]
enum CacheTask {
    /// Makes everything that tests need (the default).
    Prepare,
    /// Removes everything.
    Clean,
    /// Prints where it is.
    Path,
}

#[derive(Subcommand)]
enum ClusterTask {
    /// Starts the node, unless it runs.
    Up,
    /// Stops the node and removes its state.
    Down,
    /// Prints the path of the administrator's kubeconfig.
    Kubeconfig,
    /// Says which of its processes run.
    Status,
    /// Runs a command inside the node's network.
    Exec {
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, required = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    match work(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn work(task: Task) -> Result<ExitCode> {
    let cache = Cache::open()?;
    match task {
        Task::Cache { what } => on_cache(&cache, what.unwrap_or(CacheTask::Prepare)),
        Task::Cluster { what } => on_cluster(&Node::of_environment(&cache)?, what),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn on_cache(cache: &Cache, what: CacheTask) -> Result<()> {
    match what {
        CacheTask::Prepare => {
            debian::ensure(debian::NODE)?;
            debian::ensure(debian::IMAGES)?;
            postgres::home(cache, postgres::MAJORS.iter().map(|(major, _)| *major))?;
            base::root_file_system(cache)?;
            base::certificates(cache)?;
            xtask::cache::programs::prepare(cache)?;
            progress::note(format!("everything is in {}", cache.root().display()));
            Ok(())
        }
        CacheTask::Clean => cache.clean(),
        CacheTask::Path => {
            println!("{}", cache.root().display());
            Ok(())
        }
    }
}

fn on_cluster(node: &Node, what: ClusterTask) -> Result<()> {
    match what {
        ClusterTask::Up => {
            node.up()?;
            progress::note(format!("export KUBECONFIG={}", node.kubeconfig()?.display()));
            Ok(())
        }
        ClusterTask::Down => node.down(),
        ClusterTask::Kubeconfig => {
            println!("{}", node.kubeconfig()?.display());
            Ok(())
        }
        ClusterTask::Status => {
            for (name, runs) in node.status() {
                println!("{name:<24} {}", if runs { "runs" } else { "does not run" });
            }
            println!("{:<24} {}", "files", node.paths().root().display());
            Ok(())
        }
        ClusterTask::Exec { words } => {
            let (program, arguments) = words
                .split_first()
                .map_or(("sh", &[][..]), |(p, a)| (p.as_str(), a));
            let mut command: Command = node.command(program)?;
            run::shown(command.args(arguments))
        }
    }
}
