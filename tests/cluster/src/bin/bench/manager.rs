//! What the manager costs, by the number of resources.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use ptah_cluster_tests::api::administrator;
use ptah_cluster_tests::{Shared, shared};
use ptah_sources_tests::measure;
use serde_json::{Value, json};
use xtask::node::audit::{AuditLog, Request};
use xtask::node::process::Process;
use xtask::stage::{NAMESPACE, RELEASE};

use super::hollow;

/// Up to so many resources run real Pods against a real database.
pub const REAL: usize = 20;
/// Resources in one namespace.
const A_NAMESPACE: usize = 100;
/// How long everything may take for one resource, in seconds.
const PATIENCE_EACH: u64 = 3;
/// How long the manager is watched doing nothing.
const IDLE: Duration = Duration::from_secs(60);
/// Clock ticks a second, as Linux tells them to programs on every architecture that we build for.
const TICKS: f64 = 100.0;

/// One row of the table.
pub fn measure(resources: usize) -> Result<String> {
    let shared = shared();
    let stub = (resources > REAL).then(|| Stub::start(shared)).transpose()?;
    let first = first_plans(shared, resources)?;
    let steady = refreshes(shared, resources)?;
    drop(stub);
    Ok(format!(
        "| {resources} | {} | {:.1} | {:.2} | {:.1} | {:.2} | {:.2} cores | {} MiB ({} MiB) | {:.0} |",
        first.seconds,
        first.requests,
        steady.jobs,
        steady.requests,
        steady.writes,
        steady.cpu,
        steady.memory / 1024,
        steady.peak / 1024,
        steady.idle,
    ))
}

struct First {
    seconds: String,
    requests: f64,
}

/// From creation to a published plan, which waits.
fn first_plans(shared: &Shared, resources: usize) -> Result<First> {
    let log = AuditLog::from_now(shared.node.paths().audit_log())?;
    let namespaces = create(shared, "bench-plan", resources, "24h")?;
    let all = settled(shared, &namespaces, resources, "AwaitingApproval")?;
    let requests = of_manager(shared, &log)?.len();
    let mut seconds: Vec<i64> = all.iter().filter_map(to_a_plan).collect();
    seconds.sort_unstable();
    ensure!(seconds.len() == resources, "a resource without a plan");
    let at = |part: usize| seconds[(resources * part / 100).min(resources - 1)];
    let text = format!("{}, {}, {}", at(50), at(95), seconds[resources - 1]);
    remove(shared, &namespaces)?;
    Ok(First {
        seconds: text,
        requests: requests as f64 / resources as f64,
    })
}

fn to_a_plan(schema: &Value) -> Option<i64> {
    let created = instant(&schema["metadata"]["creationTimestamp"])?;
    let planned = instant(&schema["status"]["plan"]["createdAt"])?;
    Some(planned.duration_since(created).as_secs())
}

/// The times of the next refresh of all of them, added up, in seconds.
fn next(schemas: &[Value]) -> i64 {
    let times = schemas
        .iter()
        .filter_map(|schema| instant(&schema["status"]["nextReconciliationTime"]));
    times.map(jiff::Timestamp::as_second).sum()
}

fn instant(text: &Value) -> Option<jiff::Timestamp> {
    text.as_str()?.parse().ok()
}

struct Steady {
    jobs: f64,
    requests: f64,
    writes: f64,
    cpu: f64,
    memory: u64,
    peak: u64,
    idle: f64,
}

/// Refreshes of resources that are in sync, and the manager at rest between them.
fn refreshes(shared: &Shared, resources: usize) -> Result<Steady> {
    // A Job controller with its default limits makes some five Jobs a second.
    let interval = Duration::from_secs((resources as u64 / 3).max(60));
    let namespaces = create(
        shared,
        hollow::STEADY,
        resources,
        &format!("{}s", interval.as_secs()),
    )?;
    let before = settled(shared, &namespaces, resources, "InSync")?;
    let process = manager(shared)?;
    let (log, ticks, since) = (
        AuditLog::from_now(shared.node.paths().audit_log())?,
        process.ticks()?,
        Instant::now(),
    );
    std::thread::sleep(interval + Duration::from_secs(10));
    let seconds = since.elapsed().as_secs_f64();
    let cpu = (process.ticks()? - ticks) as f64 / TICKS / seconds;
    let after = settled(shared, &namespaces, resources, "InSync")?;
    let requests = of_manager(shared, &log)?;
    let count =
        |met: &dyn Fn(&Request) -> bool| requests.iter().filter(|request| met(request)).count() as f64;
    let jobs = count(&|r| r.verb == "create" && r.resource == "jobs");
    let writes = count(&|r| r.resource == "ptahschemas" && r.subresource == "status" && r.verb != "get");
    // Each refresh puts the next one off by an interval: that, and not the Jobs, says how many there were.
    let refreshed = (next(&after) - next(&before)) as f64 / interval.as_secs_f64();
    ensure!(refreshed >= 1.0, "nothing was refreshed");
    let (memory, peak) = (process.resident()?, measure::own(process.pid));

    declare(shared, hollow::STEADY, resources, "24h")?;
    settled(shared, &namespaces, resources, "InSync")?;
    without_jobs(shared, &namespaces)?;
    let log = AuditLog::from_now(shared.node.paths().audit_log())?;
    std::thread::sleep(IDLE);
    let idle = of_manager(shared, &log)?.len() as f64 * 3600.0 / IDLE.as_secs_f64();
    remove(shared, &namespaces)?;
    Ok(Steady {
        jobs: jobs / refreshed,
        requests: requests.len() as f64 / refreshed,
        writes: writes / refreshed,
        cpu,
        memory,
        peak,
        idle,
    })
}

/// The resources' namespaces, each with its part of the numbers.
fn parts(prefix: &str, resources: usize) -> Vec<(String, Vec<usize>)> {
    let numbers: Vec<usize> = (0..resources).collect();
    let parts = numbers.chunks(A_NAMESPACE).enumerate();
    parts
        .map(|(index, part)| (format!("{prefix}-{resources}-{index}"), part.to_vec()))
        .collect()
}

/// Makes the resources, in namespaces of some size; those that run share one server, with a database each.
fn create(shared: &Shared, prefix: &str, resources: usize, interval: &str) -> Result<Vec<String>> {
    let real = resources <= REAL;
    let mut namespaces = Vec::new();
    for (namespace, part) in parts(prefix, resources) {
        shared.cluster.restricted_namespace(&namespace)?;
        let mut manifests = vec![json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "sql", "namespace": namespace},
            "data": {"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, name text NOT NULL);"}})];
        for number in part {
            if real {
                let url = shared.database.create(&format!("bench_{number}"))?;
                if prefix == hollow::STEADY {
                    let login = format!("bench_{number}_app");
                    let table = "CREATE TABLE t (id bigint PRIMARY KEY, name text NOT NULL)";
                    shared.database.sql(
                        &format!("bench_{number}"),
                        &format!("{table}; ALTER TABLE t OWNER TO {login}"),
                    )?;
                }
                manifests.push(json!({"apiVersion": "v1", "kind": "Secret",
                    "metadata": {"name": format!("db-{number}"), "namespace": namespace}, "stringData": {"url": url}}));
            }
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
        shared.cluster.apply(&list.to_string())?;
        namespaces.push(namespace);
    }
    declare(shared, prefix, resources, interval)?;
    Ok(namespaces)
}

/// Applies the resources alone, with this interval.
fn declare(shared: &Shared, prefix: &str, resources: usize, interval: &str) -> Result<()> {
    for (namespace, part) in parts(prefix, resources) {
        let mut manifests = Vec::new();
        for number in part {
            let mut schema = json!({"apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
            "metadata": {"name": format!("s-{number}"), "namespace": namespace},
            "spec": {
                "target": {"engine": "PostgreSQL", "coordinationKey": format!("k-{number}"),
                    "urlFrom": {"name": format!("db-{number}"), "key": "url"}},
                "desired": {"configMap": {"name": "sql"}}, "interval": interval,
            }});
            if resources > REAL {
                schema["spec"]["execution"] = json!({"nodeSelector": {"bench.example/none": "takes-it"}});
            }
            manifests.push(schema);
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
        shared.cluster.apply(&list.to_string())?;
    }
    Ok(())
}

/// Waits until the finished Jobs are gone, whose end wakes the manager five minutes after their results were read.
fn without_jobs(shared: &Shared, namespaces: &[String]) -> Result<()> {
    let patience = Duration::from_secs(900);
    shared.cluster.wait("the finished Jobs to go", patience, || {
        for namespace in namespaces {
            let jobs = shared
                .cluster
                .ask(&["get", "jobs", "-n", namespace, "-o", "name"])?;
            if !jobs.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
}

/// Waits until all of them rest in this phase.
fn settled(shared: &Shared, namespaces: &[String], resources: usize, phase: &str) -> Result<Vec<Value>> {
    let patience = Duration::from_secs(180 + PATIENCE_EACH * resources as u64);
    shared
        .cluster
        .wait(&format!("{resources} resources in {phase}"), patience, || {
            let mut all = Vec::new();
            for namespace in namespaces {
                let text = shared
                    .cluster
                    .ask(&["get", "ptahschema", "-n", namespace, "-o", "json"])?;
                let list: Value = serde_json::from_str(&text)?;
                all.extend(list["items"].as_array().cloned().unwrap_or_default());
            }
            let rests = |schema: &Value| {
                schema["status"]["phase"] == phase
                    && schema["status"]["observedGeneration"] == schema["metadata"]["generation"]
                    && schema["status"]["activeOperation"].is_null()
            };
            Ok((all.len() == resources && all.iter().all(rests)).then_some(all))
        })
}

fn remove(shared: &Shared, namespaces: &[String]) -> Result<()> {
    for namespace in namespaces {
        shared
            .cluster
            .ask(&["delete", "namespace", namespace, "--wait=false"])?;
    }
    let patience = Duration::from_secs(900);
    shared.cluster.wait("the namespaces to go", patience, || {
        let left = shared.cluster.ask(&["get", "namespace", "-o", "name"])?;
        Ok((!left
            .lines()
            .any(|name| namespaces.iter().any(|ours| name.ends_with(ours.as_str()))))
        .then_some(()))
    })
}

fn of_manager(shared: &Shared, log: &AuditLog) -> Result<Vec<Request>> {
    let mut requests = log.requests()?;
    requests.retain(|request| request.user == shared.manager);
    Ok(requests)
}

struct Manager {
    pid: u32,
}

fn manager(shared: &Shared) -> Result<Manager> {
    let pods = [
        "get",
        "pods",
        "-n",
        NAMESPACE,
        "-l",
        "app.kubernetes.io/component=manager",
        "-o",
        "jsonpath={.items[0].metadata.name}",
    ];
    let pod = shared.cluster.ask(&pods)?;
    let found = Process::of_pod(&pod, "ptah-operator")?;
    let pid = found.first().context("the manager does not run")?.pid();
    Ok(Manager { pid })
}

impl Manager {
    /// Time on a processor so far, in clock ticks (proc_pid_stat(5), utime and stime).
    fn ticks(&self) -> Result<u64> {
        let text =
            std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).context("the manager ended")?;
        let rest = text.rsplit_once(')').context("a stat line without a name")?.1;
        let field = |index: usize| {
            rest.split_whitespace()
                .nth(index)
                .and_then(|text| text.parse::<u64>().ok())
        };
        Ok(field(11).context("no utime")? + field(12).context("no stime")?)
    }

    /// Memory in use, in KiB.
    fn resident(&self) -> Result<u64> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid)).context("the manager ended")?;
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .context("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).context("no figure")?.parse()?)
    }
}

/// The stub, as long as it lives.
struct Stub {
    _runtime: tokio::runtime::Runtime,
}

impl Stub {
    fn start(shared: &Shared) -> Result<Self> {
        let service = format!("{RELEASE}-results");
        let path = "jsonpath={.spec.clusterIP}";
        let address = shared
            .cluster
            .ask(&["get", "service", &service, "-n", NAMESPACE, "-o", path])?;
        let receiver: SocketAddr = format!("{address}:443").parse()?;
        let (client, runtime) = administrator()?;
        runtime.spawn(async move {
            if let Err(error) = hollow::serve(client, receiver).await {
                eprintln!("the stub ended: {error:#}");
            }
        });
        Ok(Self { _runtime: runtime })
    }
}
