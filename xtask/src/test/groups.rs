//! What each group of tests is: which packages, and what must be there before they run.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Count, Group, libtest};
use crate::cache::{Cache, debian, pg_dump, postgres, programs};
use crate::images::{self, Options};
use crate::node::Node;
use crate::{progress, run, workspace};

/// The package with the tests of the cluster group.
pub const CLUSTER_TESTS: &str = "ptah-cluster-tests";

/// Names the folder of the programs that the tests of sources run; without it they prepare it themselves.
pub const SOURCE_PROGRAMS: &str = "PTAH_SOURCE_PROGRAMS";

const ENGINE_TESTS: &[&str] = &["ptah-engine", "ptah-runner"];
const SOURCE_TESTS: &[&str] = &[
    "ptah-resolver",
    "ptah-verifier",
    "ptah-sources-tests",
    "ptah-status-tests",
];

/// Tests of the runner that want Git servers and registries, and no database.
const RUNNER_SOURCE_TESTS: [&str; 5] = [
    "resolve_git",
    "resolve_oci",
    "verify_blob",
    "verify_git",
    "verify_oci",
];

/// The workspace's packages, as cargo tells them.
#[derive(Deserialize)]
pub struct Packages {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

impl Packages {
    /// Asks cargo.
    pub fn read() -> Result<Self> {
        let text = run::output(cargo("metadata").args(["--no-deps", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("cannot read what cargo says about the workspace")
    }

    /// Whether the package is there and has integration tests.
    pub fn has_tests(&self, package: &str) -> bool {
        self.packages
            .iter()
            .filter(|known| known.name == package)
            .flat_map(|known| &known.targets)
            .any(|target| target.kind.iter().any(|kind| kind == "test"))
    }

    /// Names of the integration tests of these packages.
    fn tests_of(&self, of: &[&str]) -> Vec<&str> {
        self.packages
            .iter()
            .filter(|known| of.contains(&known.name.as_str()))
            .flat_map(|known| &known.targets)
            .filter(|target| target.kind.iter().any(|kind| kind == "test"))
            .map(|target| target.name.as_str())
            .collect()
    }
}

/// Runs one group.
pub fn run(cache: &Cache, packages: &Packages, group: Group, filter: Option<&str>) -> Result<Count> {
    match group {
        Group::Unit => unit(filter),
        Group::Engine => {
            let mut tests = packages.tests_of(ENGINE_TESTS);
            tests.retain(|test| !RUNNER_SOURCE_TESTS.contains(test));
            engine(cache, &tests, filter)
        }
        Group::Sources => {
            let mut tests = packages.tests_of(SOURCE_TESTS);
            let runner = packages.tests_of(&["ptah-runner"]);
            tests.extend(
                runner
                    .into_iter()
                    .filter(|test| RUNNER_SOURCE_TESTS.contains(test)),
            );
            sources(cache, &tests, filter)
        }
        Group::Cluster => cluster(cache, &packages.tests_of(&[CLUSTER_TESTS]), filter),
    }
}

fn unit(filter: Option<&str>) -> Result<Count> {
    let mut count = libtest::run(filtered(test().args(["--workspace", "--lib", "--bins"]), filter))?;
    count += libtest::run(filtered(test().args(["--workspace", "--doc"]), filter))?;
    Ok(count)
}

/// The PostgreSQL versions that the engine's tests run on: the node's first, since what fails there fails everywhere,
/// then the oldest and the newest. The ones between are left to `PTAH_PG_MAJOR=15 cargo test -p ptah-engine`.
const ENGINE_MAJORS: [u32; 3] = [postgres::NODE_MAJOR, 14, 18];

/// Tests on the node's version only: what they are about (the scratch server's role and limits, connections, arguments)
/// is the same in every version.
const ENGINE_ONCE: [&str; 5] = ["command_line", "escapes", "resolve_git", "strangers", "tls"];

/// How much of the corpus is run; what no version treats otherwise is not run again on each.
const CORPUS: &str = "PTAH_CORPUS";

fn engine(cache: &Cache, tests: &[&str], filter: Option<&str>) -> Result<Count> {
    if tests.is_empty() {
        return integration(tests, Group::Engine, filter, &[]);
    }
    // `ptah-runner resolve git` is among these tests.
    debian::ensure(debian::GIT_TESTS)?;
    let home = postgres::home(cache, ENGINE_MAJORS)?;
    let pg_dump = pg_dump::program(cache)?;
    let mut count = Count::default();
    for major in ENGINE_MAJORS {
        progress::heading(format!("engine: PostgreSQL {major}"));
        let mut environment = vec![
            ("PTAH_PG_HOME", home.clone()),
            ("PTAH_PG_MAJOR", PathBuf::from(major.to_string())),
            ("PTAH_PG_DUMP", pg_dump.clone()),
            ("TMPDIR", in_memory()),
        ];
        let again = major != postgres::NODE_MAJOR;
        if again && std::env::var_os(CORPUS).is_none() {
            environment.push((CORPUS, "sensitive".into()));
        }
        let chosen: Vec<&str> = tests
            .iter()
            .copied()
            .filter(|test| !(again && ENGINE_ONCE.contains(test)))
            .collect();
        count += integration(&chosen, Group::Engine, filter, &environment)?;
    }
    Ok(count)
}

/// Where the servers have their data: in memory, where there is a file system for that with room, since each test makes
/// databases of some hundred files each.
fn in_memory() -> PathBuf {
    const ROOM: u64 = 4 << 30;
    let shared = PathBuf::from("/dev/shm");
    let room = rustix::fs::statvfs(&shared).map_or(0, |fs| fs.f_bavail.saturating_mul(fs.f_frsize));
    if room >= ROOM {
        shared
    } else {
        std::env::temp_dir()
    }
}

fn sources(cache: &Cache, tests: &[&str], filter: Option<&str>) -> Result<Count> {
    debian::ensure(debian::GIT_TESTS)?;
    let programs = programs::sources(cache)?;
    let environment = [(SOURCE_PROGRAMS, programs.bin().to_owned())];
    integration(tests, Group::Sources, filter, &environment)
}

fn cluster(cache: &Cache, tests: &[&str], filter: Option<&str>) -> Result<Count> {
    if tests.is_empty() {
        return integration(tests, Group::Cluster, filter, &[]);
    }
    let node = Node::of_environment(cache)?;
    let was_up = node.status().iter().all(|(_, runs)| *runs);
    node.up()?;
    let options = Options {
        failpoints: true,
        previous: true,
        ..Options::default()
    };
    images::build_and_push(cache, &node, &options)?;
    let mut cargo = only(tests);
    node.environment(&mut cargo)?;
    cargo
        .env("PTAH_NODE_DIR", node.paths().root())
        .env("PTAH_IMAGES", node.paths().images())
        // They wait for Pods more than they compute.
        .env("RUST_TEST_THREADS", "6")
        .env("PTAH_TEST_LOGS", logs(Group::Cluster)?);
    let count = libtest::run(filtered(&mut cargo, filter))?;
    progress::note(format!(
        "the node's logs are in {}",
        node.paths().logs().display()
    ));
    if !was_up {
        node.down()?;
    }
    Ok(count)
}

fn integration(
    tests: &[&str],
    group: Group,
    filter: Option<&str>,
    environment: &[(&str, PathBuf)],
) -> Result<Count> {
    if tests.is_empty() {
        progress::note(format!("the group {} has no tests yet", group.name()));
        return Ok(Count::default());
    }
    let logs = logs(group)?;
    let mut cargo = only(tests);
    cargo
        .env("PTAH_TEST_LOGS", &logs)
        .envs(environment.iter().cloned());
    let count = libtest::run(filtered(&mut cargo, filter))?;
    progress::note(format!("the servers' logs are in {}", logs.display()));
    Ok(count)
}

// Where the tests of a group leave the logs of the servers that they start.
fn logs(group: Group) -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let folder = workspace::target_dir().join("test-logs").join(group.name());
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Database servers run as another user.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o1777))?;
    Ok(folder)
}

/// These integration tests. The whole workspace is named, so that its dependencies are compiled once, with the same
/// features for every group.
fn only(tests: &[&str]) -> Command {
    let mut cargo = test();
    cargo.arg("--workspace");
    for name in tests {
        cargo.args(["--test", name]);
    }
    cargo
}

fn test() -> Command {
    let mut cargo = cargo("test");
    cargo.args(["--no-fail-fast"]);
    cargo
}

fn cargo(command: &str) -> Command {
    let mut cargo = run::cargo();
    cargo.arg(command);
    cargo
}

fn filtered<'a>(cargo: &'a mut Command, filter: Option<&str>) -> &'a mut Command {
    match filter {
        Some(name) => cargo.args(["--", name]),
        None => cargo,
    }
}
