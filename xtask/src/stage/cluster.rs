//! A cluster, by the real `kubectl` and `helm`.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::node::Node;
use crate::run;

/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The test node, or a cluster that the user already has.
#[derive(Debug, Clone)]
pub enum Cluster {
    /// The test node.
    Node(Node),
    /// A context of the user's own kubeconfig.
    Context(String),
}

impl Cluster {
    /// A `kubectl` that speaks to it.
    pub fn kubectl(&self) -> Result<Command> {
        match self {
            Self::Node(node) => node.kubectl(),
            Self::Context(name) => {
                let mut command = Command::new("kubectl");
                command.args(["--context", name]);
                Ok(command)
            }
        }
    }

    /// A `helm` that speaks to it.
    pub fn helm(&self) -> Result<Command> {
        match self {
            Self::Node(node) => node.helm(),
            Self::Context(name) => {
                let mut command = Command::new("helm");
                command.args(["--kube-context", name]);
                Ok(command)
            }
        }
    }

    /// Standard output of `kubectl` with these arguments.
    pub fn ask(&self, arguments: &[&str]) -> Result<String> {
        run::output(self.kubectl()?.args(arguments))
    }

    /// An object, or `None` when there is none.
    pub fn get(&self, namespace: &str, kind: &str, name: &str) -> Result<Option<Value>> {
        let text = self.ask(&[
            "get",
            kind,
            name,
            "-n",
            namespace,
            "-o",
            "json",
            "--ignore-not-found",
        ])?;
        if text.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(&text)
            .map(Some)
            .with_context(|| format!("{kind} {name} is not JSON"))
    }

    /// Applies manifests.
    pub fn apply(&self, manifests: &str) -> Result<()> {
        let mut child = self
            .kubectl()?
            .args(["apply", "-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start kubectl")?;
        child
            .stdin
            .take()
            .context("no way to kubectl")?
            .write_all(manifests.as_bytes())?;
        let ended = child.wait_with_output()?;
        if !ended.status.success() {
            bail!(
                "kubectl apply failed: {}",
                String::from_utf8_lossy(&ended.stderr).trim()
            );
        }
        Ok(())
    }

    /// Makes a namespace that enforces the restricted Pod Security Standard.
    pub fn restricted_namespace(&self, name: &str) -> Result<()> {
        self.apply(&format!(
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  labels: \
             {{pod-security.kubernetes.io/enforce: restricted}}\n"
        ))
    }

    /// What nodes turn Pods away for, as the end of a sentence; empty when they do not, or when it cannot be told.
    fn node_troubles(&self) -> String {
        let taints = self.ask(&["get", "nodes", "-o", "jsonpath={.items[*].spec.taints[*].key}"]);
        match taints {
            Ok(taints) if !taints.is_empty() => {
                format!(" (its nodes turn Pods away: {taints})")
            }
            _ => String::new(),
        }
    }

    /// Waits until `met` gives something; the error says what was waited for, and whether the nodes take no Pods.
    pub fn wait<T>(
        &self,
        what: &str,
        limit: Duration,
        mut met: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        let until = Instant::now() + limit;
        loop {
            if let Some(found) = met()? {
                return Ok(found);
            }
            if Instant::now() > until {
                bail!(
                    "waited {} s in vain for {what}{}",
                    limit.as_secs(),
                    self.node_troubles()
                );
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}
