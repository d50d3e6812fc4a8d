//! The API server is silent, others write, another manager takes over, the namespace goes.

use std::thread;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn an_api_server_that_is_silent_for_two_minutes_during_a_run_costs_nothing_but_time() {
    let (shared, _alone) = alone();
    let world = in_sync("silent");
    let held = holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE");
    run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
    let server = shared.node.process("kube-apiserver").unwrap();
    server.pause();
    let since = Instant::now();
    drop(held);
    // The database is reached without the API server: the run goes on and commits.
    let committed = shared.cluster.wait("the commit", Duration::from_secs(60), || {
        Ok((changed(&world) == ["a", "b"]).then_some(()))
    });
    let left = Duration::from_secs(120).saturating_sub(since.elapsed());
    thread::park_timeout(left);
    server.resume();
    committed.unwrap();
    let done = world.until_phase("InSync");
    let done = match done {
        Ok(done) if changed(&world) == ["a", "b"] => done,
        // The first look may have met the state before the edit was answered, or an API server that starts again.
        _ => world
            .until("the declared state, proven", |schema| {
                schema["status"]["phase"] == "InSync" && schema["status"]["pendingObservation"].is_null()
            })
            .unwrap(),
    };
    assert_eq!(converged(&done), "True/ScopedConverged");
    assert_eq!(jobs_of(&world, "apply").len(), 1, "the run is not repeated");
    nothing_is_left(shared, &world);
}

#[test]
fn somebody_who_writes_the_resource_all_the_time_delays_the_manager_and_breaks_nothing() {
    let (shared, _beside) = beside_others();
    let world = World::new("contended").unwrap();
    world.source(&json!({"t.sql": BEFORE})).unwrap();
    world.schema(&json!({"policy": {"apply": "Always"}})).unwrap();
    let namespace = world.namespace();
    let mut writes = 0;
    let until = Instant::now() + ptah_cluster_tests::PATIENCE;
    loop {
        writes += 1;
        let annotation = format!("example.org/tick={writes}");
        shared
            .cluster
            .ask(&[
                "annotate",
                "--overwrite",
                "-n",
                &namespace,
                "ptahschema/app",
                &annotation,
            ])
            .unwrap();
        if world.read().unwrap()["status"]["phase"] == "InSync" {
            break;
        }
        assert!(Instant::now() < until, "{:#}", world.read().unwrap()["status"]);
    }
    assert!(writes > 10, "{writes} writes came between");
    nothing_is_left(shared, &world);
    assert_eq!(jobs_of(&world, "apply").len(), 1);
}

#[test]
fn a_manager_that_was_paused_does_nothing_after_another_took_over() {
    let (shared, _alone) = alone();
    let world = in_sync("paused");
    managers(shared, 2);
    let leader = shared
        .cluster
        .ask(&[
            "get",
            "lease",
            "ptah-operator.operator.ptah.run",
            "-n",
            NAMESPACE,
            "-o",
            "jsonpath={.spec.holderIdentity}",
        ])
        .unwrap();
    // In the middle of a run, with a claim in its memory.
    let held = holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE");
    run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
    let paused = Process::of_pod(&leader, "ptah-operator").unwrap();
    assert_eq!(paused.len(), 1, "{leader} is a Pod with one manager");
    paused[0].pause();
    drop(held);
    let done = world.until("another manager to prove the run", |schema| {
        schema["status"]["phase"] == "InSync" && changed(&world) == ["a", "b"]
    });
    paused[0].resume();
    let done = done.unwrap();
    assert_eq!(converged(&done), "True/ScopedConverged");
    assert_eq!(jobs_of(&world, "apply").len(), 1);
    nothing_is_left(shared, &world);
    // It ends, and starts again as a follower: what it held in memory is gone.
    shared
        .cluster
        .wait("the paused manager to end", ptah_cluster_tests::PATIENCE, || {
            Ok((!paused[0].runs()).then_some(()))
        })
        .unwrap();
    let version = world.read().unwrap()["metadata"]["resourceVersion"].clone();
    managers(shared, 1);
    assert_eq!(world.read().unwrap()["metadata"]["resourceVersion"], version);
}

#[test]
fn a_namespace_that_is_deleted_during_a_run_goes_and_leaves_no_lease() {
    let (shared, _beside) = beside_others();
    for moment in ["planning", "running"] {
        let world = in_sync(&format!("deleted-{moment}"));
        let (namespace, lease) = (world.namespace(), lease_of(&world.read().unwrap()));
        let held =
            (moment == "running").then(|| holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE"));
        if held.is_some() {
            run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
        } else {
            world.source(&json!({"t.sql": AFTER})).unwrap();
            world
                .until("a plan to be made", |schema| {
                    schema["status"]["activeOperation"]["type"] == "Plan"
                })
                .unwrap();
        }
        shared
            .cluster
            .ask(&["delete", "namespace", &namespace, "--wait=false"])
            .unwrap();
        drop(held);
        shared
            .cluster
            .wait("the namespace to be gone", ptah_cluster_tests::PATIENCE, || {
                Ok(shared
                    .cluster
                    .ask(&["get", "namespace", &namespace, "--ignore-not-found", "-o", "name"])?
                    .is_empty()
                    .then_some(()))
            })
            .unwrap();
        assert_eq!(holder(shared, &lease), "", "{moment}: the realm's Lease is held");
        // Deleting a resource sends no SQL: a run under way ends as it may, and no other begins.
        assert!([Vec::<String>::new(), vec!["a".to_owned(), "b".to_owned()]].contains(&changed(&world)));
    }
}
