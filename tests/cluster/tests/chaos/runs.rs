//! The runner dies, or cannot say what it did.

use ptah_cluster_tests::{World, condition};
use serde_json::Value;

use super::*;

/// Waits until [`AFTER`] stands, and checks that nothing was lost on the way.
fn settled(shared: &Shared, world: &World) -> Value {
    let done = world
        .until("the declared state, proven", |schema| {
            schema["status"]["phase"] == "InSync"
                && schema["status"]["pendingObservation"].is_null()
                && changed(world) == ["a", "b"]
        })
        .unwrap();
    nothing_is_left(shared, world);
    done
}

#[test]
fn a_runner_that_is_killed_before_its_first_statement_has_sent_nothing() {
    let (shared, _beside) = beside_others();
    let world = in_sync("killed-before");
    // The run's advisory lock: it is waited for outside of any transaction.
    let held = holding(shared, &world, "SELECT pg_advisory_lock(1237737229)");
    world.source(&json!({"t.sql": AFTER})).unwrap();
    let schema = world
        .until("the run to be dispatched", |schema| {
            let operation = &schema["status"]["activeOperation"];
            operation["type"] == "Apply" && operation["dispatchStarted"] == true
        })
        .unwrap();
    let connected = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ptah'";
    shared
        .cluster
        .wait(
            "the run to wait for the lock",
            ptah_cluster_tests::PATIENCE,
            || Ok((world.sql(connected)? != ["0"]).then_some(())),
        )
        .unwrap();
    kill_runner(&pod_of(shared, &world, &schema));
    world
        .until("the outcome to be unknown", |schema| {
            condition(schema, "Applying") == "False/OutcomeUnknown"
                || schema["status"]["pendingObservation"]["outcome"] == "OutcomeUnknown"
        })
        .unwrap();
    assert_eq!(changed(&world), Vec::<String>::new());
    drop(held);
    let done = settled(shared, &world);
    // Nobody repeats a run: another plan was made from what the database said.
    assert_eq!(converged(&done), "True/ScopedConverged");
    assert_eq!(
        jobs_of(&world, "apply").len(),
        2,
        "the killed, and the one that did it"
    );
}

#[test]
fn a_runner_that_is_killed_during_its_transaction_leaves_the_database_as_it_was() {
    let (shared, _beside) = beside_others();
    let world = in_sync("killed-during");
    let held = holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE");
    let schema = run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
    kill_runner(&pod_of(shared, &world, &schema));
    world
        .until("the outcome to be unknown", |schema| {
            schema["status"]["pendingObservation"]["outcome"] == "OutcomeUnknown"
        })
        .unwrap();
    drop(held);
    let done = settled(shared, &world);
    assert_eq!(converged(&done), "True/ScopedConverged");
}

/// Takes the managers away, lets the run have its lock, and waits until it has committed.
fn commits_while_nobody_listens(shared: &Shared, world: &World, held: Session<'_>) {
    managers(shared, 0);
    drop(held);
    let committed = || Ok((changed(world) == ["a", "b"]).then_some(()));
    let waited = shared
        .cluster
        .wait("the commit", ptah_cluster_tests::PATIENCE, committed);
    waited.unwrap();
}

#[test]
fn a_runner_that_is_killed_after_its_commit_is_an_unknown_outcome_that_the_database_settles() {
    let (shared, _alone) = alone();
    let world = in_sync("killed-after");
    let held = holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE");
    let schema = run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
    let pod = pod_of(shared, &world, &schema);
    commits_while_nobody_listens(shared, &world, held);
    kill_runner(&pod);
    managers(shared, 1);
    let done = settled(shared, &world);
    assert_eq!(converged(&done), "True/ConvergedAfterUnknownOutcome");
    assert_eq!(jobs_of(&world, "apply").len(), 1, "the run is not repeated");
}

#[test]
fn a_result_that_nobody_could_take_for_a_while_is_delivered_when_the_receiver_is_back() {
    let (shared, _alone) = alone();
    let world = in_sync("unreachable");
    let held = holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE");
    run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
    commits_while_nobody_listens(shared, &world, held);
    managers(shared, 1);
    let done = settled(shared, &world);
    assert_eq!(converged(&done), "True/ScopedConverged");
    assert_eq!(
        done["status"]["applied"]["contentDigest"],
        done["status"]["source"]["contentDigest"]
    );
    assert_eq!(jobs_of(&world, "apply").len(), 1);
}

#[test]
fn a_lease_that_is_taken_away_during_a_run_makes_its_outcome_unknown_and_the_database_settles_it() {
    let (shared, _beside) = beside_others();
    let world = in_sync("lease-lost");
    let held = holding(shared, &world, "LOCK TABLE b IN ACCESS SHARE MODE");
    let schema = run_until_it_waits(shared, &world, WAITS_FOR_A_TABLE);
    let lease = lease_of(&schema);
    shared
        .cluster
        .ask(&["delete", "lease", &lease, "-n", NAMESPACE])
        .unwrap();
    world
        .until("the break to be noticed", |schema| {
            schema["status"]["activeOperation"]["leaseContinuityLost"] == true
        })
        .unwrap();
    drop(held);
    let done = settled(shared, &world);
    // The run was allowed to begin, and committed; what it reported is not believed.
    assert_eq!(converged(&done), "True/ConvergedAfterUnknownOutcome");
    assert_eq!(jobs_of(&world, "apply").len(), 1);
}
