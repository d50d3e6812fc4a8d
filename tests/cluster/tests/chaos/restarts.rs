//! The manager dies after each of its actions in turn.

use std::time::Instant;

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

/// Approves whatever waits, until the change is proven.
fn to_the_end(shared: &Shared, worlds: &[World]) {
    let until = Instant::now() + ptah_cluster_tests::PATIENCE * 2;
    let mut open: Vec<&World> = worlds.iter().collect();
    while !open.is_empty() {
        open.retain(|world| {
            let schema = world.read().unwrap();
            let (status, plan) = (&schema["status"], &schema["status"]["plan"]);
            if status["phase"] == "AwaitingApproval" && plan["approval"].is_null() {
                let name = format!("a-{}", &status["lastAttemptTime"].as_str().unwrap_or("x").len());
                // The webhook dies with the manager, and an approval may be there already.
                let _ = world.approve(&format!("{name}-{}", approvals(shared, world)));
            }
            !(status["phase"] == "InSync" && schema["metadata"]["finalizers"].is_null())
        });
        assert!(
            Instant::now() < until,
            "no end: {:?}",
            open.iter()
                .map(|world| (&world.name, world.read().unwrap()["status"].to_string()))
                .collect::<Vec<_>>()
        );
    }
}

fn approvals(shared: &Shared, world: &World) -> usize {
    let names = shared.cluster.ask(&[
        "get",
        "ptahschemaapproval",
        "-n",
        &world.namespace(),
        "-o",
        "name",
    ]);
    names.unwrap_or_default().lines().count()
}

#[test]
fn a_manager_that_dies_after_any_action_goes_on_from_what_the_api_server_holds() {
    let (shared, _alone) = alone();
    let first = failing_at("restart-none", NEVER);
    to_the_end(shared, std::slice::from_ref(&first));
    let left = first.read().unwrap()["metadata"]["annotations"][ANNOTATION].clone();
    let actions = NEVER - left.as_str().unwrap().parse::<u32>().unwrap();
    assert!(actions > 25, "a change costs {actions} actions");

    let indices: Vec<u32> = (1..=actions).collect();
    for wave in indices.chunks(WAVE) {
        let worlds: Vec<World> = wave
            .iter()
            .map(|index| failing_at(&format!("restart-{index}"), *index))
            .collect();
        to_the_end(shared, &worlds);
        for (world, index) in worlds.iter().zip(wave) {
            let schema = world.read().unwrap();
            let left = &schema["metadata"]["annotations"][ANNOTATION];
            assert!(left.is_null(), "the manager did not die at action {index}");
            let reason = converged(&schema);
            assert!(
                ["True/ScopedConverged", "True/ConvergedAfterUnknownOutcome"].contains(&reason.as_str()),
                "action {index}: {reason}"
            );
            let runs = jobs_of(world, "apply").len();
            assert!(runs <= 1, "action {index}: {runs} Jobs may have written");
            nothing_is_left(shared, world);
            let namespace = world.namespace();
            shared
                .cluster
                .ask(&["delete", "namespace", &namespace, "--wait=false"])
                .unwrap();
        }
    }
}
