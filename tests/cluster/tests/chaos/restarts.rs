//! The manager dies after each of its actions in turn.

use std::collections::BTreeMap;
use std::thread;

use super::*;

const ANNOTATION: &str = "failpoint.operator.ptah.run/restart-at";
/// Resources at the same time: every one's crash is a crash for all the others too.
const WAVE: u32 = 12;

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
fn to(end: &str, shared: &Shared, worlds: &BTreeMap<u32, World>) {
    let mut open: Vec<&World> = worlds.values().collect();
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

/// Whether the manager died for this resource: the annotation goes when it does.
fn died(world: &World) -> bool {
    world.read().unwrap()["metadata"]["annotations"][ANNOTATION].is_null()
}

/// The resources of a wave, made side by side.
fn wave(indices: std::ops::Range<u32>, end: &str) -> BTreeMap<u32, World> {
    let make = |index: u32| failing_at(&format!("restart-{}-{index}", end.to_lowercase()), index);
    thread::scope(|scope| {
        let made: Vec<_> = indices
            .map(|index| (index, scope.spawn(move || make(index))))
            .collect();
        made.into_iter()
            .map(|(index, world)| (index, world.join().unwrap()))
            .collect()
    })
}

#[test]
fn a_manager_that_dies_after_any_action_goes_on_from_what_the_api_server_holds() {
    let (shared, _alone) = alone();
    // How many actions a life has is found out by the first that ends before its last one: renewals, and passes that
    // were overtaken, make one life a little longer than another.
    let mut first = 1;
    for (end, least) in [(WAITING, 10), (PROVEN, 20)] {
        let lived = loop {
            let indices = first..first + WAVE;
            let worlds = wave(indices.clone(), end);
            to(end, shared, &worlds);
            for (index, world) in &worlds {
                lost_nothing(shared, world, *index, end);
            }
            if let Some((lived, _)) = worlds.iter().find(|(_, world)| !died(world)) {
                break *lived;
            }
            first = indices.end;
        };
        assert!(lived > least, "a life to {end} has only {lived} actions");
        first = lived;
    }
}

fn lost_nothing(shared: &Shared, world: &World, index: u32, end: &str) {
    let schema = world.read().unwrap();
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
}
