//! What an operation needs and somebody took away.

use ptah_api::Phase;
use ptah_api::conditions::{self, types};
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::Operation;
use serde_json::json;

use super::super::step::Effect;
use super::runner::failure;
use super::world::World;

fn message(world: &World) -> String {
    let status = world.status();
    let found = conditions::find(&status.conditions, types::RECONCILIATION_FAILED);
    found
        .map(|condition| condition.message.clone())
        .unwrap_or_default()
}

/// Every Job that has not ended is ended by its deadline, without a word.
fn pass_the_deadline(world: &mut World) {
    world.deadline = true;
    for job in world.jobs.values_mut().filter(|job| !job.finished) {
        job.finished = true;
        job.result = None;
    }
}

#[test]
fn a_snapshot_is_put_back_before_an_operation_is_claimed_and_never_under_a_claim() {
    for before in [Phase::Observing, Phase::VerifyingConvergence] {
        let mut world = World::new(json!({"policy": {"apply": "Always"}}));
        world.until(before);
        if before == Phase::Observing {
            world.run_jobs();
        }
        world.take_snapshot_away();
        let mut put_back = 0;
        while world
            .status()
            .active_operation
            .is_none_or(|operation| !operation.dispatch_started)
        {
            put_back += world
                .pass()
                .before
                .iter()
                .filter(|effect| **effect == Effect::EnsureSnapshot)
                .count();
        }
        assert_eq!(put_back, 1, "before the claim that follows {before:?}");
        world.take_snapshot_away();
        assert!(!world.pass().before.contains(&Effect::EnsureSnapshot));
        world.settle();
        assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 1));
    }
}

#[test]
fn a_job_that_its_deadline_ended_names_what_its_pod_could_not_start_without() {
    let mut world = World::new(json!({}));
    world.until(Phase::Observing);
    pass_the_deadline(&mut world);
    world.pass();
    let said = message(&world);
    let snapshot = world.status().source.unwrap().snapshot.unwrap();
    for words in [
        "Secret \"db\" with key \"url\" (spec.target.urlFrom)",
        &format!("ConfigMap {snapshot:?}"),
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_proof_whose_files_are_gone_for_good_is_ended_by_an_edit_and_everything_is_read_again() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::VerifyingConvergence);
    world.pass();
    world.edit_source("two");
    pass_the_deadline(&mut world);
    world.pass();
    assert_eq!(
        (world.phase(), world.status().pending_observation),
        (Phase::Pending, None)
    );
    world.deadline = false;
    world.settle();
    assert_eq!((world.phase(), world.lease.clone()), (Phase::InSync, None));
}

#[test]
fn a_secret_that_does_not_grant_is_named_though_the_pod_knows_only_its_files() {
    let mut world = World::new(json!({}));
    world.fail_next = Some((Operation::Observe, failure("not_granted", FailureClass::Refused)));
    world.until(Phase::Failed);
    assert!(
        message(&world).ends_with(": Secret \"db\" with key \"url\" (spec.target.urlFrom)"),
        "{}",
        message(&world)
    );
}
