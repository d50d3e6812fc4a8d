//! Upgrading from the release before, and taking the product away.

// A failed step of a test is a failed test.
#![allow(clippy::unwrap_used)]

use ptah_cluster_tests::{Manager, PATIENCE, World, condition, shared_with};
use serde_json::json;
use xtask::stage::{self, NAMESPACE};

const BEFORE: &str = "CREATE TABLE a (id bigint PRIMARY KEY);";
const AFTER: &str = "CREATE TABLE a (id bigint PRIMARY KEY, note text);";

#[test]
fn an_upgrade_keeps_what_is_in_flight_and_an_uninstall_keeps_the_data() {
    let shared = shared_with(Manager::Previous);
    let declared = |name: &str, apply: &str, source: &str| {
        let world = World::new(name).unwrap();
        world.source(&json!({"t.sql": source})).unwrap();
        let policy = json!({"apply": apply, "statementLockTimeout": "170s"});
        world.schema(&json!({"policy": policy})).unwrap();
        world
    };
    let columns = |world: &World| {
        world
            .sql("SELECT attname::text FROM pg_attribute WHERE attrelid = 'a'::regclass AND attnum > 0 ORDER BY attnum")
            .unwrap()
    };
    let resting = declared("release-rests", "Always", BEFORE);
    resting.until_phase("InSync").unwrap();
    let waiting = declared("release-waits", "OnApproval", BEFORE);
    let old_plan = waiting.until_phase("AwaitingApproval").unwrap()["status"]["plan"].clone();
    let running = declared("release-runs", "Always", BEFORE);
    running.until_phase("InSync").unwrap();
    let lock = shared.database.session(&running.database()).unwrap();
    lock.run("BEGIN; LOCK TABLE a IN ACCESS SHARE MODE").unwrap();
    running.source(&json!({"t.sql": AFTER})).unwrap();
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND application_name = 'ptah' AND wait_event_type = 'Lock'";
    shared
        .cluster
        .wait("the run to wait for the table", PATIENCE, || {
            Ok((running.sql(waits)? == ["1"]).then_some(()))
        })
        .unwrap();

    stage::install(&shared.cluster, &shared.images, &[]).unwrap();

    // What ran was not touched, and is proven by the new release.
    let claim = &running.read().unwrap()["status"]["activeOperation"];
    assert_eq!(claim["type"], "Apply");
    drop(lock);
    running
        .until("the run to be proven", |schema| {
            schema["status"]["phase"] == "InSync" && schema["status"]["pendingObservation"].is_null()
        })
        .unwrap();
    assert_eq!(columns(&running), ["id", "note"]);
    // A proof ends under the components that its run began with; what follows is read and planned anew.
    let done = running
        .until("the new release's own word", |schema| {
            let image = &schema["status"]["executionBinding"]["executorImage"];
            schema["status"]["phase"] == "InSync" && *image == shared.images.runner_postgresql
        })
        .unwrap();
    let applies = |world: &World| {
        let jobs = world.jobs().unwrap();
        jobs.iter().filter(|name| name.starts_with("ptah-apply-")).count()
    };
    assert_eq!(applies(&running), 2, "the run is not repeated");

    // A plan that the old release made is not run by the new one: it is made anew, and decided anew.
    let renewed = waiting
        .until("a plan of the new release", |schema| {
            let plan = &schema["status"]["plan"];
            schema["status"]["phase"] == "AwaitingApproval" && plan["fingerprint"] != old_plan["fingerprint"]
        })
        .unwrap();
    let old = |part: &str| old_plan[part].as_str();
    assert!(
        waiting
            .approve_as("late", &renewed, old("name"), old("uid"), old("fingerprint"))
            .is_err(),
        "a plan of the old release can still be approved"
    );
    waiting.approve("now").unwrap();
    waiting.until_phase("InSync").unwrap();
    resting.until_phase("InSync").unwrap();
    assert_eq!(applies(&resting), 1);

    stage::uninstall(&shared.cluster).unwrap();
    for world in [&resting, &waiting, &running] {
        let schema = world.read().unwrap();
        assert_eq!(
            condition(&schema, "InSync").split('/').next(),
            Some("True"),
            "resources and CRDs stay"
        );
        assert!(columns(world).contains(&"id".to_owned()), "the data stays");
    }
    let left = [
        "get",
        "deployment,service,validatingadmissionpolicy,mutatingwebhookconfiguration",
        "-n",
        NAMESPACE,
        "-o",
        "name",
    ];
    assert_eq!(
        shared.cluster.ask(&left).unwrap(),
        "",
        "nothing of the release is left but its data"
    );
    // Without the operator a resource can be deleted: it holds nothing, so nothing holds it.
    let namespace = resting.namespace();
    shared
        .cluster
        .ask(&["delete", "ptahschema", "app", "-n", &namespace, "--timeout=30s"])
        .unwrap();

    stage::install(&shared.cluster, &shared.images, &[]).unwrap();
    let again = running.until_phase("InSync").unwrap();
    assert_eq!(again["status"]["applied"], done["status"]["applied"]);
    assert_eq!(applies(&running), 2, "coming back changes nothing");
}
