//! The manager dies after each of its actions in turn.

use super::*;

const ANNOTATION: &str = "failpoint.operator.ptah.run/restart-at";
/// More than a change costs.
const NEVER: u32 = 10_000;
/// Resources at the same time: every one's crash is a crash for all the others too.
const WAVE: usize = 8;

fn failing_at(name: &str, index: u32) -> World {
    let world = World::new(name).unwrap();
    world.source(&json!({"t.sql": BEFORE})).unwrap();
    world
        .schema_with(&json!({ANNOTATION: index.to_string()}), &json!({}))
        .unwrap();
    world
}

/// Where a story ends: an action before the plan waits needs no run to be seen to its end.
const WAITING: &str = "AwaitingApproval";
const PROVEN: &str = "InSync";

/// Waits until all of them rest in this phase; what waits on the way is approved.
fn to(end: &str, shared: &Shared, worlds: &[World]) {
    let mut open: Vec<&World> = worlds.iter().collect();
    let patience = ptah_cluster_tests::PATIENCE * 2;
    let waited = shared.cluster.wait(&format!("{end} everywhere"), patience, || {
        open.retain(|world| {
            let schema = world.read().unwrap();
            let status = &schema["status"];
            if end == PROVEN && status["phase"] == WAITING && status["plan"]["approval"].is_null() {
                // The webhook dies with the manager, and an approval may be there already.
                let _ = world.approve(&format!("a-{}", approvals(shared, world)));
            }
            !(status["phase"] == end && schema["metadata"]["finalizers"].is_null())
        });
        Ok(open.is_empty().then_some(()))
    });
    let status = |world: &&World| world.read().unwrap()["status"].to_string();
    assert!(
        waited.is_ok(),
        "no end: {:?}",
        open.iter().map(status).collect::<Vec<_>>()
    );
}

fn approvals(shared: &Shared, world: &World) -> usize {
    let namespace = world.namespace();
    let arguments = ["get", "ptahschemaapproval", "-n", &namespace, "-o", "name"];
    shared.cluster.ask(&arguments).unwrap_or_default().lines().count()
}

/// Actions so far on a resource that never makes the manager die.
fn actions(world: &World) -> u32 {
    let left = world.read().unwrap()["metadata"]["annotations"][ANNOTATION].clone();
    NEVER - left.as_str().unwrap().parse::<u32>().unwrap()
}

#[test]
fn a_manager_that_dies_after_any_action_goes_on_from_what_the_api_server_holds() {
    let (shared, _alone) = alone();
    let undisturbed = failing_at("restart-none", NEVER);
    let only = std::slice::from_ref(&undisturbed);
    to(WAITING, shared, only);
    let planned = actions(&undisturbed);
    to(PROVEN, shared, only);
    let proven = actions(&undisturbed);
    assert!(
        planned > 10 && proven > planned + 10,
        "{planned}, {proven} actions"
    );

    let first: Vec<u32> = (1..=planned).collect();
    let then: Vec<u32> = (planned + 1..=proven).collect();
    for (indices, end) in [(first, WAITING), (then, PROVEN)] {
        for wave in indices.chunks(WAVE) {
            let failing = |index: &u32| failing_at(&format!("restart-{index}"), *index);
            let worlds: Vec<World> = wave.iter().map(failing).collect();
            to(end, shared, &worlds);
            for (world, index) in worlds.iter().zip(wave) {
                died_once_and_lost_nothing(shared, world, *index, proven, end);
            }
        }
    }
}

fn died_once_and_lost_nothing(shared: &Shared, world: &World, index: u32, last: u32, end: &str) {
    let schema = world.read().unwrap();
    let left = &schema["metadata"]["annotations"][ANNOTATION];
    // A pass that was overtaken is made again: one life may have an action or two more than another.
    assert!(
        left.is_null() || index + 2 > last,
        "the manager did not die at action {index}"
    );
    let (reason, runs) = (converged(&schema), jobs_of(world, "apply").len());
    if end == PROVEN {
        let proven = ["True/ScopedConverged", "True/ConvergedAfterUnknownOutcome"];
        assert!(proven.contains(&reason.as_str()), "action {index}: {reason}");
        assert!(runs <= 1, "action {index}: {runs} Jobs may have written");
    } else {
        assert_eq!(
            (reason.as_str(), runs),
            ("False/ScopedChanges", 0),
            "action {index}"
        );
    }
    nothing_is_left(shared, world);
    let namespace = world.namespace();
    shared
        .cluster
        .ask(&["delete", "namespace", &namespace, "--wait=false"])
        .unwrap();
}
