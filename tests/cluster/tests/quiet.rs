//! What a steady refresh and an idle manager cost, counted from the API server's audit log.

use std::time::Duration;

use ptah_cluster_tests::{PATIENCE, World, shared};
use serde_json::json;
use xtask::node::audit::{AuditLog, Request};

/// Asked for at the end of what is counted.
const MARK: &str = "audit-mark";
const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

#[test]
fn a_steady_refresh_costs_one_job_and_two_status_writes() {
    let world = World::new("steady").unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY);"}))
        .unwrap();
    world
        .schema(&json!({"policy": {"apply": "Always"}, "interval": "20s"}))
        .unwrap();
    let settled = world.until_phase("InSync").unwrap();
    let log = AuditLog::from_now(shared().node.paths().audit_log()).unwrap();
    let refreshed = |from: &serde_json::Value| {
        let next = from["status"]["nextReconciliationTime"].clone();
        world.until("a refresh", |schema| {
            schema["status"]["phase"] == "InSync" && schema["status"]["nextReconciliationTime"] != next
        })
    };
    let after = refreshed(&settled).unwrap();
    // What is seen may not be in the log yet; what was asked later is not there before it.
    let status_writes = |mine: &[Request]| {
        let writes = mine
            .iter()
            .filter(|r| r.resource == "ptahschemas" && r.subresource == "status");
        writes.count()
    };
    shared()
        .cluster
        .wait("the writes in the audit log", PATIENCE, || {
            Ok((status_writes(&writes(&log, &world.namespace())) >= 2).then_some(()))
        })
        .unwrap();
    assert_eq!(world.find("configmap", MARK).unwrap(), None);
    shared()
        .cluster
        .wait("the mark in the audit log", PATIENCE, || {
            let asked = log.requests()?;
            Ok(asked.iter().any(|request| request.name == MARK).then_some(()))
        })
        .unwrap();
    let mine = writes(&log, &world.namespace());
    let count = |verb: &str, resource: &str, subresource: &str| {
        mine.iter()
            .filter(|r| r.verb == verb && r.resource == resource && r.subresource == subresource)
            .count()
    };
    assert_eq!(count("create", "jobs", ""), 1, "{mine:#?}");
    assert_eq!(status_writes(&mine), 2, "{mine:#?}");
    assert_eq!(after["status"]["conditions"], settled["status"]["conditions"]);
}

#[test]
fn an_idle_manager_writes_nothing_but_its_lease() {
    let world = World::new("idle").unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY);"}))
        .unwrap();
    world
        .schema(&json!({"policy": {"apply": "Always"}, "interval": "24h"}))
        .unwrap();
    world.until_phase("InSync").unwrap();
    let log = AuditLog::from_now(shared().node.paths().audit_log()).unwrap();
    // The manager is seen to live by its Lease: three renewals, and nothing else in this test's namespace.
    shared()
        .cluster
        .wait(
            "three renewals of the manager's Lease",
            PATIENCE.max(Duration::from_secs(120)),
            || {
                let renewed = requests(&log)
                    .iter()
                    .filter(|r| {
                        r.resource == "leases"
                            && r.name.contains("operator.ptah.run")
                            && WRITES.contains(&r.verb.as_str())
                    })
                    .count();
                Ok((renewed >= 3).then_some(()))
            },
        )
        .unwrap();
    let mine = writes(&log, &world.namespace());
    assert!(mine.is_empty(), "{mine:#?}");
}

/// The manager's requests.
fn requests(log: &AuditLog) -> Vec<Request> {
    log.requests()
        .unwrap()
        .into_iter()
        .filter(|request| request.user == shared().manager)
        .collect()
}

/// The manager's writes in a namespace.
fn writes(log: &AuditLog, namespace: &str) -> Vec<Request> {
    requests(log)
        .into_iter()
        .filter(|request| request.namespace == namespace && WRITES.contains(&request.verb.as_str()))
        .collect()
}
