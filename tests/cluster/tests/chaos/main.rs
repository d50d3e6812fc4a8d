//! A hostile week in production: processes die, pause, and lose each other. A test that disturbs the whole node runs
//! alone, the others beside each other.

// What tests share is part of the tests.
#![allow(clippy::unwrap_used)]

mod cluster;
mod restarts;
mod runs;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use anyhow::Result;
use ptah_cluster_tests::{Manager, Shared, World, condition, shared_with};
use serde_json::{Value, json};
use xtask::node::process::Process;
use xtask::stage::{NAMESPACE, RELEASE, Session};

static NODE: RwLock<()> = RwLock::new(());

/// The product with a manager that can be made to die, for a test that disturbs everybody.
fn alone() -> (&'static Shared, RwLockWriteGuard<'static, ()>) {
    let held = NODE.write().unwrap_or_else(PoisonError::into_inner);
    (shared_with(Manager::WithFailpoints), held)
}

/// The same for a test that disturbs nobody but itself.
fn beside_others() -> (&'static Shared, RwLockReadGuard<'static, ()>) {
    let held = NODE.read().unwrap_or_else(PoisonError::into_inner);
    (shared_with(Manager::WithFailpoints), held)
}

/// Two tables; the second has one column more in [`AFTER`].
const BEFORE: &str = "CREATE TABLE a (id bigint PRIMARY KEY);\nCREATE TABLE b (id bigint PRIMARY KEY);";
/// What is declared next: the run changes the first table, then the second.
const AFTER: &str =
    "CREATE TABLE a (id bigint PRIMARY KEY, note text);\nCREATE TABLE b (id bigint PRIMARY KEY, note text);";

/// A schema in sync with [`BEFORE`], whose runs wait for locks as long as a test may hold them.
fn in_sync(name: &str) -> World {
    let world = World::new(name).unwrap();
    world.sql(BEFORE).unwrap();
    for table in ["a", "b"] {
        world.own(table).unwrap();
    }
    world.source(&json!({"t.sql": BEFORE})).unwrap();
    world
        .schema(&json!({
            "policy": {"apply": "Always", "statementLockTimeout": "170s", "lockTimeout": "170s"},
            "execution": {"failureRetryInterval": "5s"},
        }))
        .unwrap();
    world.until_phase("InSync").unwrap();
    world
}

/// Holds whatever these statements lock, in the world's database, until it is dropped.
fn holding<'a>(shared: &'a Shared, world: &World, statements: &str) -> Session<'a> {
    let session = shared.database.session(&world.database()).unwrap();
    session.run("BEGIN").unwrap();
    session.run(statements).unwrap();
    session
}

/// Declares [`AFTER`] and waits until its run has begun and waits for the lock that `wait_event_type` names.
fn run_until_it_waits(shared: &Shared, world: &World, query: &str) -> Value {
    world.source(&json!({"t.sql": AFTER})).unwrap();
    let waiting = shared
        .cluster
        .wait("the run to wait", ptah_cluster_tests::PATIENCE, || {
            Ok((world.sql(query)? != ["0"]).then_some(()))
        });
    waiting.unwrap();
    let schema = world.read().unwrap();
    assert_eq!(schema["status"]["activeOperation"]["type"], "Apply");
    schema
}

/// Sessions of a run that wait for a table's lock.
const WAITS_FOR_A_TABLE: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
     AND application_name = 'ptah' AND wait_event_type = 'Lock'";

/// Names of the tables that have the new column.
fn changed(world: &World) -> Vec<String> {
    let text = "SELECT attrelid::regclass::text FROM pg_attribute WHERE attname = 'note' AND NOT attisdropped ORDER BY 1";
    world.sql(text).unwrap()
}

/// The Pod of the claim in status.
fn pod_of(shared: &Shared, world: &World, schema: &Value) -> String {
    let job = schema["status"]["activeOperation"]["jobName"].as_str().unwrap();
    let selector = format!("batch.kubernetes.io/job-name={job}");
    let path = "jsonpath={.items[0].metadata.name}";
    let namespace = world.namespace();
    let arguments = ["get", "pods", "-n", &namespace, "-l", &selector, "-o", path];
    shared.cluster.ask(&arguments).unwrap()
}

/// Kills the runner of a Pod, as a node that runs out of memory does.
fn kill_runner(pod: &str) {
    let runners = Process::of_pod(pod, "ptah-runner").unwrap();
    assert!(!runners.is_empty(), "{pod} has a runner");
    for runner in runners {
        runner.end(std::time::Duration::ZERO).unwrap();
    }
}

/// Sets the number of managers, and waits until they are there or gone.
fn managers(shared: &Shared, count: u32) {
    let replicas = format!("--replicas={count}");
    let deployment = format!("deployment/{RELEASE}");
    let ask = |arguments: &[&str]| -> Result<String> { shared.cluster.ask(arguments) };
    ask(&["scale", "-n", NAMESPACE, &deployment, &replicas]).unwrap();
    ask(&[
        "rollout",
        "status",
        "-n",
        NAMESPACE,
        &deployment,
        "--timeout=120s",
    ])
    .unwrap();
    shared
        .cluster
        .wait("the managers to be gone", ptah_cluster_tests::PATIENCE, || {
            Ok((manager_pods(shared)?.len() == count as usize).then_some(()))
        })
        .unwrap();
}

/// Names of the managers' Pods.
fn manager_pods(shared: &Shared) -> Result<Vec<String>> {
    let selector = "app.kubernetes.io/component=manager";
    let path = "jsonpath={.items[*].metadata.name}";
    let names = shared
        .cluster
        .ask(&["get", "pods", "-n", NAMESPACE, "-l", selector, "-o", path])?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

/// Nothing is in flight, owed or held.
fn nothing_is_left(shared: &Shared, world: &World) {
    world
        .until("no finalizer and nothing owed", |schema| {
            let status = &schema["status"];
            schema["metadata"]["finalizers"].is_null()
                && ["activeOperation", "pendingObservation", "pendingLockRelease"]
                    .iter()
                    .all(|record| status[record].is_null())
        })
        .unwrap();
    let schema = world.read().unwrap();
    assert_eq!(
        holder(shared, &lease_of(&schema)),
        "",
        "the realm's Lease is held"
    );
}

/// Name of the Lease of the realm that the resource last worked in.
fn lease_of(schema: &Value) -> String {
    let realm = schema["status"]["target"]["coordinationDigest"].as_str().unwrap();
    ptah_api::names::realm_lease_name(&realm.parse().unwrap())
}

/// Who holds a Lease; nobody holds one that is not there.
fn holder(shared: &Shared, lease: &str) -> String {
    let found = shared
        .cluster
        .get(NAMESPACE, "lease", lease)
        .unwrap()
        .unwrap_or_default();
    found["spec"]["holderIdentity"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Jobs of this kind, oldest first.
fn jobs_of(world: &World, kind: &str) -> Vec<String> {
    let mut jobs = world.jobs().unwrap();
    jobs.retain(|name| name.split('-').nth(1) == Some(kind));
    jobs
}

/// Reason of `InSync=True`.
fn converged(schema: &Value) -> String {
    condition(schema, "InSync")
}
