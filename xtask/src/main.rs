//! The command line of the library beside it: `cargo xtask --help`.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};
use xtask::cache::Cache;
use xtask::cache::{base, debian, pg_dump, postgres, programs, rust_tools};
use xtask::demo::ImagesFrom;
use xtask::images::{self, Destination, Loader, Options, Profile};
use xtask::node::Node;
use xtask::test::{self, Group};
use xtask::{bench, demo, fuzz, generated, lint, progress, run};

/// What a developer and the build server run.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// The main job, as a user sees it: install, declare, read the plan, approve, converge; then edit, then drift.
    Demo {
        /// Approve without asking.
        #[arg(long)]
        yes: bool,
        /// Leave everything running and say how to go on using it.
        #[arg(long)]
        keep: bool,
        /// Where the files are: git and oci start a real Git server and use a real registry.
        #[arg(long, value_enum, default_value_t = demo::Kind::ConfigMap)]
        source: demo::Kind,
        /// Sign each artifact with the real cosign, declare whose signature is believed, and sign with another key at the
        /// end.
        #[arg(long)]
        signed: bool,
        #[command(flatten)]
        theirs: Theirs,
    },
    /// Writes the CRDs into the chart, from the API's types.
    Crds,
    /// Prepared things outside the work tree: programs, database servers, base image.
    Cache {
        /// What to do with them.
        #[command(subcommand)]
        what: Option<CacheTask>,
    },
    /// Builds the product's images and pushes them to the test node.
    Images {
        /// Build the binaries as for a release.
        #[arg(long)]
        release: bool,
        /// The PostgreSQL servers that go into the runner's image.
        #[arg(long, value_delimiter = ',', default_values_t = [postgres::NODE_MAJOR])]
        servers: Vec<u32>,
    },
    /// Runs the tests.
    Test {
        /// One group instead of all.
        #[arg(long)]
        only: Option<Group>,
        /// Only tests whose names contain this.
        #[arg(last = true)]
        name: Option<String>,
    },
    /// Measures what the product costs, and writes a table with the machine and the commit.
    Bench {
        /// Arguments of the measuring program, such as --resources 1,20 --tables 100.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Checks form, warnings, licences, the chart, generated files and file lengths.
    Lint {
        /// Only what needs no compiler.
        #[arg(long)]
        quick: bool,
    },
    /// Feeds the parsers of hostile bytes with libFuzzer; a fault is left in fuzz/artifacts/<target>/.
    Fuzz {
        /// One target instead of all; a file of fuzz/targets/.
        target: Option<String>,
        /// For how long each target runs.
        #[arg(long, value_name = "N", default_value_t = 20)]
        seconds: u64,
        /// Only run the seeds through every target, as a test and without libFuzzer.
        #[arg(long, conflicts_with_all = ["target", "seconds", "input"])]
        seeds_only: bool,
        /// Only run this file through the target, such as a fault that was found.
        #[arg(long, value_name = "FILE", requires = "target", conflicts_with = "seconds")]
        input: Option<PathBuf>,
    },
    /// The test node: a real one-node Kubernetes on this machine.
    Cluster {
        /// What to do with it.
        #[command(subcommand)]
        what: ClusterTask,
    },
}

/// A cluster of your own in place of the test node.
#[derive(Args)]
struct Theirs {
    /// Use this context of your own kubeconfig in place of the test node, with one of --registry, --load and --image.
    #[arg(long, value_name = "NAME", requires = "images")]
    context: Option<String>,
    /// Build the images and push them below this prefix, such as registry.example/team; the cluster pulls them from there.
    #[arg(long, value_name = "PREFIX", requires = "context", group = "images")]
    registry: Option<String>,
    /// Speak plain HTTP to that registry.
    #[arg(long, requires = "registry")]
    plain_http: bool,
    /// Build the images and load them into the nodes of a kind or k3d cluster.
    #[arg(long, value_name = "PROGRAM", requires = "context", group = "images")]
    load: Option<Loader>,
    /// Images that the cluster can pull, by digest: manager=…, runner-postgresql=…, test-postgresql=….
    #[arg(
        long,
        value_name = "NAME=REFERENCE@DIGEST",
        requires = "context",
        group = "images"
    )]
    image: Vec<String>,
}

impl Theirs {
    fn parse(self) -> Result<Option<demo::Theirs>> {
        let Some(context) = self.context else {
            return Ok(None);
        };
        let images = match (&self.registry, self.load) {
            (Some(prefix), _) => ImagesFrom::Built(Destination::registry(prefix, self.plain_http)?),
            (None, Some(by)) => ImagesFrom::Built(Destination::loaded(by, &context)?),
            (None, None) => ImagesFrom::Named(images::Images::named(&self.image)?),
        };
        Ok(Some(demo::Theirs { context, images }))
    }
}

#[derive(Subcommand)]
enum CacheTask {
    /// Makes everything that tests need (the default).
    Prepare {
        /// One part instead of all.
        #[arg(long)]
        only: Option<Part>,
    },
    /// Removes everything.
    Clean,
    /// Prints where it is.
    Path,
}

/// Parts of the cache.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The PostgreSQL servers and `pg_dump`.
    Servers,
    /// The base image and the certificates of the product's images.
    Base,
    /// The programs of the test node.
    Programs,
    /// What `lint` needs.
    Lint,
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
        Task::Demo {
            yes,
            keep,
            source,
            signed,
            theirs,
        } => {
            let theirs = theirs.parse()?;
            demo::run(
                &cache,
                &demo::Options {
                    yes,
                    keep,
                    source,
                    signed,
                    theirs,
                },
            )?;
        }
        Task::Crds => generated::write()?,
        Task::Cache { what } => on_cache(&cache, what.unwrap_or(CacheTask::Prepare { only: None }))?,
        Task::Cluster { what } => on_cluster(&Node::of_environment(&cache)?, what)?,
        Task::Images { release, servers } => {
            let profile = if release { Profile::Release } else { Profile::Image };
            on_images(
                &cache,
                &Options {
                    profile,
                    majors: servers,
                    ..Options::default()
                },
            )?;
        }
        Task::Bench { arguments } => bench::run(&cache, &arguments)?,
        Task::Lint { quick } => lint::run(&cache, quick)?,
        Task::Fuzz {
            target,
            seconds,
            seeds_only,
            input,
        } => fuzz::run(&fuzz::Options {
            target,
            seconds,
            seeds_only,
            input,
        })?,
        Task::Test { only, name } => {
            let count = test::run(&cache, only, name.as_deref())?;
            println!("{count}");
            return Ok(if count.failed == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn on_cache(cache: &Cache, what: CacheTask) -> Result<()> {
    match what {
        CacheTask::Prepare { only } => {
            let wants = |part| only.is_none_or(|one| one == part);
            if wants(Part::Servers) {
                postgres::home(cache, postgres::MAJORS.iter().map(|(major, _)| *major))?;
                pg_dump::program(cache)?;
            }
            if wants(Part::Base) {
                base::root_file_system(cache)?;
                base::certificates(cache)?;
            }
            if wants(Part::Programs) {
                debian::ensure(debian::NODE)?;
                programs::prepare(cache)?;
            }
            if wants(Part::Lint) {
                rust_tools::cargo_deny(cache)?;
            }
            progress::note(format!("everything asked for is in {}", cache.root().display()));
            Ok(())
        }
        CacheTask::Clean => cache.clean(),
        CacheTask::Path => {
            println!("{}", cache.root().display());
            Ok(())
        }
    }
}

fn on_images(cache: &Cache, options: &Options) -> Result<()> {
    let node = Node::of_environment(cache)?;
    node.up()?;
    let images = images::build_and_push(cache, &node, options)?;
    println!("{}", serde_json::to_string_pretty(&images)?);
    Ok(())
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
