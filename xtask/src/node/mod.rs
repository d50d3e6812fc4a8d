//! A real one-node Kubernetes on this machine: etcd, the API server with an audit log, controller manager,
//! scheduler, containerd, kubelet, kube-proxy, CoreDNS and a registry, in a network namespace of their own.
//!
//! `up` is harmless when the node runs and recovers from whatever an earlier one left: processes that died, mounts,
//! a namespace, a reboot. A node that is not whole is taken down and started anew with empty state; only the
//! registry's content is kept. Everything needs root.

pub mod audit;
mod config;
pub mod network;
pub mod paths;
mod pki;
pub mod process;
mod start;
mod stop;
pub mod wait;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cache::programs::{self, Programs};
use crate::cache::{Cache, debian, lock_file};
use crate::{progress, run};
use paths::Paths;
use process::{Process, Processes};

/// Every process of the node, in the order in which they start.
pub const PROCESSES: &[&str] = &[
    "etcd",
    "registry",
    "kube-apiserver",
    "containerd",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "coredns",
];

/// The node, running or not.
#[derive(Debug, Clone)]
pub struct Node {
    cache: Cache,
    paths: Paths,
}

impl Node {
    /// The node whose folder the environment names (`$PTAH_NODE_DIR`, else beside the cache).
    pub fn of_environment(cache: &Cache) -> Result<Self> {
        Ok(Self {
            cache: cache.clone(),
            paths: Paths::of_environment(cache.root())?,
        })
    }

    /// Where the node's files are.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The programs that it consists of, and those that talk to it; built when they are missing.
    pub fn programs(&self) -> Result<Programs> {
        programs::prepare(&self.cache)
    }

    /// Starts the node unless it runs, and returns when it takes Pods.
    pub fn up(&self) -> Result<()> {
        if !rustix::process::geteuid().is_root() {
            bail!("the node needs root: it makes namespaces, mounts and control groups");
        }
        debian::ensure(debian::NODE)?;
        let programs = self.programs()?;
        let _held = self.lock()?;
        if self.is_whole(&programs) {
            return Ok(());
        }
        stop::everything(&self.paths, &self.processes())?;
        progress::step("start the node", || {
            start::everything(&self.paths, &self.processes(), &programs).inspect_err(|_| {
                progress::note(format!("the node's logs are in {}", self.paths.logs().display()));
            })
        })
    }

    /// Ends the node and removes what it left; its logs and the registry's content stay.
    pub fn down(&self) -> Result<()> {
        let _held = self.lock()?;
        progress::step("stop the node", || {
            stop::everything(&self.paths, &self.processes())
        })
    }

    /// For every process of the node, whether it runs.
    pub fn status(&self) -> Vec<(&'static str, bool)> {
        let processes = self.processes();
        PROCESSES
            .iter()
            .map(|name| (*name, processes.runs(name)))
            .collect()
    }

    /// The administrator's kubeconfig; an error that says so when no node was started.
    pub fn kubeconfig(&self) -> Result<PathBuf> {
        let path = self.paths.kubeconfig();
        if !path.is_file() {
            bail!("the node is not up; start it with: cargo xtask cluster up");
        }
        Ok(path)
    }

    /// A command that runs `program` inside the node's network, with its tools and its kubeconfig.
    pub fn command(&self, program: impl AsRef<Path>) -> Result<Command> {
        let mut command = network::enter(program);
        self.environment(&mut command)?;
        Ok(command)
    }

    /// A `kubectl` that speaks to the node as its administrator.
    pub fn kubectl(&self) -> Result<Command> {
        self.tool("kubectl")
    }

    /// A `helm` that speaks to the node as its administrator.
    pub fn helm(&self) -> Result<Command> {
        self.tool("helm")
    }

    /// Puts the node's tools in front of the command's `PATH`, and its kubeconfig into its environment.
    pub fn environment(&self, command: &mut Command) -> Result<()> {
        command
            .env("PATH", self.programs()?.search_path())
            .env("KUBECONFIG", self.paths.kubeconfig());
        Ok(())
    }

    /// Ends one process of the node, for tests that want to see what its absence does.
    pub fn end(&self, name: &str) -> Result<()> {
        self.processes().end(name, Duration::from_secs(3))
    }

    /// A running process of the node, for tests that want to see what its silence does.
    pub fn process(&self, name: &str) -> Result<Process> {
        self.processes()
            .get(name)
            .with_context(|| format!("{name} does not run"))
    }

    fn tool(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(self.programs()?.path(name));
        self.environment(&mut command)?;
        Ok(command)
    }

    fn processes(&self) -> Processes {
        Processes::at(self.paths.processes(), self.paths.logs())
    }

    fn lock(&self) -> Result<File> {
        let root = self.paths.root();
        fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        lock_file(&self.paths.join("lock"))
    }

    fn is_whole(&self, programs: &Programs) -> bool {
        self.status().iter().all(|(_, runs)| *runs)
            && run::succeeds(
                Command::new(programs.path("kubectl"))
                    .arg("--kubeconfig")
                    .arg(self.paths.kubeconfig())
                    .args(["wait", "--for=condition=Ready", "node/node1", "--timeout=5s"]),
            )
    }
}
