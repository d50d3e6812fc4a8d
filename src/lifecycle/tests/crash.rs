//! A pass may end after any single action. Starting again from what the API server holds reaches the same end, with no
//! statement twice and nothing left owed.

use ptah_api::Phase;
use serde_json::json;

use super::world::{Cut, World};

/// From nothing to a proven change.
fn to_the_end(world: &mut World) {
    for _ in 0..20 {
        world.settle();
        match world.phase() {
            Phase::AwaitingApproval => world.approve(),
            Phase::InSync => return,
            // A run whose Job was never seen is an unknown outcome: under `Always` the next one waits its turn.
            Phase::Failed | Phase::ReadyToApply => world.advance(61),
            _ => {}
        }
    }
    panic!("no end: {:?}", world.status());
}

fn checked(mut world: World, cut: Cut) -> bool {
    world.cut(cut);
    to_the_end(&mut world);
    let status = world.status();
    assert_eq!(world.phase(), Phase::InSync, "{cut:?}");
    assert_eq!(
        world.ran.len(),
        1,
        "{cut:?}: statements were sent {} times",
        world.ran.len()
    );
    assert_eq!(
        (
            status.active_operation,
            status.pending_observation,
            status.pending_lock_release
        ),
        (None, None, None)
    );
    assert_eq!(world.lease, None, "{cut:?}: a Lease is left");
    assert_eq!(world.schema.metadata.finalizers, None, "{cut:?}");
    world.was_cut()
}

#[test]
fn a_crash_before_or_after_any_single_action_loses_nothing_and_repeats_nothing() {
    for apply in ["OnApproval", "Always"] {
        let world = World::new(json!({"policy": {"apply": apply}}));
        let mut cuts = 0;
        for index in 0..100 {
            let happened = [Cut::Before(index), Cut::After(index)].map(|cut| checked(world.clone(), cut));
            if happened == [false, false] {
                break;
            }
            cuts += 1;
        }
        assert!(cuts > 15, "only {cuts} actions were cut");
    }
}
