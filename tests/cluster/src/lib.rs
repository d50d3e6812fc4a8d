//! The product on a real node: what the tests of the cluster group share.
//!
//! Assumes that `cargo xtask test --only cluster` brought the node up and pushed the images. The chart is installed once
//! for all tests; each test has a namespace and a database of its own.

pub mod api;
mod git_site;
mod objects;
pub mod registry;
mod secrets;
pub use git_site::GitSite;
pub use objects::bare;

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use xtask::cache::Cache;
use xtask::node::Node;
use xtask::stage::{self, Cluster, Database};
use xtask::{demo, images};

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// What all tests share.
pub struct Shared {
    /// The node.
    pub cluster: Cluster,
    /// The node again, for its audit log.
    pub node: Node,
    /// A server for the tests' databases.
    pub database: Database,
    /// What was built.
    pub images: images::Images,
    /// Folder of `kubectl-ptah`.
    pub plugin: std::path::PathBuf,
    /// The manager's name for the API server.
    pub manager: String,
}

/// The manager that is installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manager {
    /// The one that we ship.
    #[default]
    Shipped,
    /// One that can be made to die after any action.
    WithFailpoints,
    /// The release of the previous commit, chart and all.
    Previous,
}

/// The installed product; set up by the first test that asks.
pub fn shared() -> &'static Shared {
    shared_with(Manager::Shipped)
}

/// The same with another manager, if this is the first to ask.
pub fn shared_with(manager: Manager) -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    static SETTING_UP: Mutex<()> = Mutex::new(());
    let _one = SETTING_UP.lock().unwrap_or_else(PoisonError::into_inner);
    SHARED.get_or_init(|| set_up(manager).expect("the product is installed"))
}

fn set_up(manager: Manager) -> Result<Shared> {
    let cache = Cache::open()?;
    let node = Node::of_environment(&cache)?;
    let mut images = images::read(&node)?;
    if manager == Manager::WithFailpoints {
        images.manager = images
            .manager_failpoints
            .clone()
            .context("there is no manager with failpoints")?;
    }
    let cluster = Cluster::Node(node.clone());
    clear(&cluster)?;
    if manager == Manager::Previous {
        // In place of whatever release is there: a Service that is made anew has another address.
        let previous = images.previous.as_ref().context("there is no previous release")?;
        let (manager, runner) = (&previous.manager, &previous.runner_postgresql);
        stage::install_chart(&cluster, &previous.chart, manager, runner, &[])?;
    } else {
        stage::install(&cluster, &images, &[])?;
    }
    let database = Database::start(&cluster, "test-database", &images.test_postgresql)?;
    let plugin = demo::build_plugin()?;
    let manager = format!("system:serviceaccount:{}:{}", stage::NAMESPACE, stage::RELEASE);
    Ok(Shared {
        cluster,
        node,
        database,
        images,
        plugin,
        manager,
    })
}

/// Takes away what another test program left behind: another manager would read and plan all of it anew, at once.
fn clear(cluster: &Cluster) -> Result<()> {
    let all = cluster.ask(&["get", "namespace", "-o", "name"])?;
    let left: Vec<&str> = all
        .lines()
        .filter(|name| name.starts_with("namespace/test-"))
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    // What a manager that is gone would have to let go stays, and is no reason to fail.
    let _ = cluster.ask(&[&["delete", "--timeout=120s"], left.as_slice()].concat());
    Ok(())
}

/// One test's namespace, database and schema, named alike. At its end nothing of it may show a
/// secret. It goes with the test, unless that failed: many that refresh are work for the node that others wait for.
pub struct World {
    /// Name of all three.
    pub name: String,
    /// The URL that the Secret holds.
    pub url: String,
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let kept = secrets::are_kept(self);
            let namespace = self.namespace();
            let arguments = [
                "delete",
                "namespace",
                &namespace,
                "--ignore-not-found",
                "--wait=false",
            ];
            // The API server may be what the test took away.
            let _ = shared().cluster.ask(&arguments);
            kept.expect("what is secret is shown nowhere");
        }
    }
}

impl World {
    /// Makes namespace, database and Secret. Nothing of the name is there: what another program left went before.
    pub fn new(name: &str) -> Result<Self> {
        let shared = shared();
        let namespace = format!("test-{name}");
        shared.cluster.restricted_namespace(&namespace)?;
        let url = shared
            .database
            .create(&format!("test_{}", name.replace('-', "_")))?;
        let world = Self {
            name: name.to_owned(),
            url: url.clone(),
        };
        world.secret(&url)?;
        Ok(world)
    }

    /// The namespace.
    pub fn namespace(&self) -> String {
        format!("test-{}", self.name)
    }

    /// The database.
    pub fn database(&self) -> String {
        format!("test_{}", self.name.replace('-', "_"))
    }

    /// The Secret with the URL.
    pub fn secret(&self, url: &str) -> Result<()> {
        shared().cluster.apply(
            &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": self.namespace()},
                "stringData": {"url": url}})
            .to_string(),
        )
    }

    /// The ConfigMap with the SQL, by key.
    pub fn source(&self, data: &Value) -> Result<()> {
        shared().cluster.apply(
            &json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "sql", "namespace": self.namespace()}, "data": data})
            .to_string(),
        )
    }

    /// The schema; `spec` is merged over the smallest one.
    pub fn schema(&self, spec: &Value) -> Result<()> {
        self.schema_with(&json!({}), spec)
    }

    /// The same with annotations.
    pub fn schema_with(&self, annotations: &Value, spec: &Value) -> Result<()> {
        self.declare("app", "db", annotations, spec)
    }

    /// The schema as the API server holds it.
    pub fn read(&self) -> Result<Value> {
        self.read_of("app")
    }

    /// A schema of any name. Asked many times a second, so not by a program for each answer.
    pub fn read_of(&self, name: &str) -> Result<Value> {
        let collection = api::collection(&self.namespace(), "ptahschemas");
        let answer = api::ask(&api::Who::Administrator, &collection, api::Ask::Get(name), false)?;
        answer.map_err(|no| anyhow::anyhow!("there is no schema {name}: {}", no.message))
    }

    /// Waits for a schema that satisfies `met`; the error shows the last one.
    pub fn until(&self, what: &str, met: impl Fn(&Value) -> bool) -> Result<Value> {
        self.until_of("app", what, met)
    }

    /// Waits for a phase that answers the present generation, and until nothing is owed any more: status says the phase
    /// first, and the passes after it give back the Lease and then the finalizer.
    pub fn until_phase(&self, phase: &str) -> Result<Value> {
        self.until(&format!("phase {phase}"), |schema| {
            let status = &schema["status"];
            let rests = ["activeOperation", "pendingLockRelease"]
                .iter()
                .all(|record| status[record].is_null());
            let held = schema["metadata"]["finalizers"]
                .as_array()
                .is_some_and(|all| all.contains(&json!(ptah_api::names::FINALIZER)));
            status["phase"] == phase
                && status["observedGeneration"] == schema["metadata"]["generation"]
                && rests
                && (!held || !status["pendingObservation"].is_null())
        })
    }

    /// Approves the plan that waits, as `user` with `groups` where one is given.
    pub fn approve(&self, name: &str) -> Result<()> {
        let approval = self.approval(name, &self.read()?);
        shared().cluster.apply(&approval.to_string())
    }

    /// An approval of what the schema's status calls its plan.
    pub fn approval(&self, name: &str, schema: &Value) -> Value {
        let plan = &schema["status"]["plan"];
        let part = |key: &str| plan[key].as_str();
        self.approval_of(name, schema, part("name"), part("uid"), part("fingerprint"))
    }

    fn approval_of(
        &self,
        name: &str,
        schema: &Value,
        plan: Option<&str>,
        uid: Option<&str>,
        fingerprint: Option<&str>,
    ) -> Value {
        json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval",
            "metadata": {"name": name, "namespace": self.namespace()},
            "spec": {
                "schemaRef": {"name": "app", "uid": schema["metadata"]["uid"]},
                "planRef": {"name": plan, "uid": uid},
                "planFingerprint": fingerprint,
            },
        })
    }

    /// Creates an approval with these references.
    pub fn approve_as(
        &self,
        name: &str,
        schema: &Value,
        plan: Option<&str>,
        uid: Option<&str>,
        fingerprint: Option<&str>,
    ) -> Result<()> {
        let manifest = self.approval_of(name, schema, plan, uid, fingerprint);
        shared().cluster.apply(&manifest.to_string())
    }

    /// SQL by hand, in this test's database.
    pub fn sql(&self, statements: &str) -> Result<Vec<String>> {
        shared().database.sql(&self.database(), statements)
    }

    /// Names of the Jobs of this namespace, oldest first.
    pub fn jobs(&self) -> Result<Vec<String>> {
        let text = shared().cluster.ask(&[
            "get",
            "jobs",
            "-n",
            &self.namespace(),
            "--sort-by=.metadata.creationTimestamp",
            "-o",
            "name",
        ])?;
        Ok(text
            .lines()
            .map(|line| line.trim_start_matches("job.batch/").to_owned())
            .collect())
    }

    /// Snapshots of this namespace.
    pub fn snapshots(&self) -> Result<Vec<String>> {
        let text = shared()
            .cluster
            .ask(&["get", "configmap", "-n", &self.namespace(), "-o", "name"])?;
        Ok(text
            .lines()
            .filter_map(|line| line.strip_prefix("configmap/"))
            .filter(|name| name.starts_with("ptah-src-"))
            .map(str::to_owned)
            .collect())
    }
}

/// `status/reason` of a condition.
pub fn condition(schema: &Value, kind: &str) -> String {
    let found = schema["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["type"] == kind);
    found.map_or_else(String::new, |c| {
        format!(
            "{}/{}",
            c["status"].as_str().unwrap_or_default(),
            c["reason"].as_str().unwrap_or_default()
        )
    })
}

/// Message of a condition.
pub fn message(schema: &Value, kind: &str) -> String {
    let found = schema["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["type"] == kind);
    found
        .and_then(|c| c["message"].as_str())
        .unwrap_or_default()
        .to_owned()
}
