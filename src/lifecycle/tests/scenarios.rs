//! One scenario for each arrow and each refusal. Every pass is checked against the diagram by the world.

use ptah_api::Phase;
use ptah_api::conditions::types;
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{ApplyReport, Operation, Step as OperationStep};
use serde_json::json;

use super::super::evidence::{Claimant, SourceEvidence};
use super::arrows;
use super::runner::failure;
use super::sources;
use super::world::World;

fn pair(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

fn in_sync() -> World {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
    world
}

#[test]
fn promise_p010_p011_a_change_is_published_and_waits_and_nothing_has_run() {
    let mut world = World::new(json!({}));
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(
        world.condition(types::APPROVAL_REQUIRED),
        pair("True", "PlanReady")
    );
    assert_eq!(world.ran, Vec::<String>::new());
    assert_eq!(world.created.len(), 2, "one reading and one plan");
    assert_eq!(world.lease, None);
    assert_eq!(world.condition(types::READY), pair("False", "AwaitingApproval"));
    assert_eq!(world.condition(types::STALLED), (String::new(), String::new()));
}

#[test]
fn promise_p028_no_change_is_convergence_without_an_apply() {
    let mut world = World::new(json!({}));
    world.database = Digest::of(b"one");
    world.settle();
    assert_eq!(world.condition(types::IN_SYNC), pair("True", "ScopedConverged"));
    assert_eq!(world.ran, Vec::<String>::new());
}

#[test]
fn a_steady_refresh_costs_one_job_and_two_status_writes_and_leaves_ready_alone_whatever_the_source() {
    let always = || json!({"policy": {"apply": "Always"}});
    for (mut world, meanwhile) in [
        (World::new(always()), Phase::Observing),
        (sources::git_world(always()), Phase::Resolving),
        (sources::oci_world(always()), Phase::Resolving),
        // Nothing is known yet that would speak against it.
        (sources::git_world(always()).manager_looks(), Phase::InSync),
        (sources::oci_world(always()).manager_looks(), Phase::InSync),
    ] {
        world.settle();
        assert_eq!(world.phase(), Phase::InSync);
        let (jobs, writes) = (world.created.len(), world.status_writes);
        let ready =
            |world: &World| ptah_api::conditions::find(&world.status().conditions, types::READY).cloned();
        let before = ready(&world);
        world.advance(601);
        world.pass();
        assert_eq!(world.phase(), meanwhile);
        assert_eq!(world.condition(types::IN_SYNC), pair("True", "ScopedConverged"));
        world.settle();
        assert_eq!(world.phase(), Phase::InSync);
        assert_eq!((world.created.len() - jobs, world.status_writes - writes), (1, 2));
        assert_eq!(ready(&world), before);
    }
}

#[test]
fn a_resting_pass_writes_nothing() {
    let mut world = in_sync();
    for seconds in [0, 1, 100] {
        world.advance(seconds);
        let step = world.pass();
        assert_eq!((step.status, step.before, step.after), (None, vec![], vec![]));
    }
}

#[test]
fn promise_p033_a_database_that_is_away_for_a_day_is_read_again_and_again_and_then_again() {
    let mut world = in_sync();
    let mut tried = 0;
    for _ in 0..24 * 60 {
        world.fail_next = Some((
            Operation::Observe,
            failure("connection_failed", FailureClass::Transient),
        ));
        let before = world.created.len();
        world.advance(60);
        world.settle();
        tried += world.created.len() - before;
    }
    assert_eq!(world.phase(), Phase::Failed);
    assert!(tried > 24 * 6, "{tried} readings in a day: no count ends them");
    world.fail_next = None;
    world.advance(601);
    world.settle();
    assert_eq!(world.condition(types::IN_SYNC), pair("True", "ScopedConverged"));
}

#[test]
fn drift_made_by_hand_is_found_by_the_refresh_and_planned() {
    let mut world = in_sync();
    world.edit_spec(json!({"policy": {"apply": "OnApproval"}}));
    world.settle();
    world.database = Digest::of(b"by hand");
    world.advance(601);
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(world.condition(types::IN_SYNC), pair("False", "ScopedChanges"));
}

#[test]
fn after_a_day_the_refresh_plans_anew() {
    let mut world = in_sync();
    let jobs = world.created.len();
    world.advance(24 * 3600 + 1);
    world.settle();
    assert_eq!((world.phase(), world.created.len() - jobs), (Phase::InSync, 2));
}

#[test]
fn promise_p047_p048_an_edit_of_the_files_is_read_at_once_and_retires_the_plan() {
    let mut world = World::new(json!({}));
    world.settle();
    let first = world.status().plan.unwrap();
    world.approve();
    world.edit_source("two");
    world.settle();
    let second = world.status().plan.unwrap();
    assert_ne!(first.fingerprint, second.fingerprint);
    assert_eq!(
        (world.phase(), world.ran.len()),
        (Phase::AwaitingApproval, 0),
        "an approval of another plan decides nothing"
    );
    world.pass();
    assert!(world.approvals[0].stale);
}

#[test]
fn promise_p049_another_config_map_with_the_same_files_retires_the_plan() {
    let mut world = World::new(json!({}));
    world.settle();
    let first = world.status().plan.unwrap();
    if let SourceEvidence::Resolved(source) = &mut world.source {
        source.config_map.uid = "cm-2".into();
    }
    world.settle();
    assert_ne!(world.status().plan.unwrap().fingerprint, first.fingerprint);
}

#[test]
fn promise_p032_never_records_plans_and_runs_none_for_ever() {
    let mut world = World::new(json!({"policy": {"apply": "Never"}}));
    for _ in 0..3 {
        world.settle();
        assert_eq!(world.phase(), Phase::Blocked);
        assert_eq!(world.condition(types::READY), pair("False", "ApplyDisabled"));
        assert_eq!(world.condition(types::STALLED).0, "");
        assert!(world.status().plan.is_some());
        world.advance(601);
    }
    assert_eq!(world.ran, Vec::<String>::new());
    assert_eq!(
        world.plans.len(),
        1,
        "the same plan comes back as the same object"
    );
}

#[test]
fn promise_p034_a_blocked_resource_goes_through_everything_at_each_interval() {
    let mut world = World::new(json!({"policy": {"apply": "Never"}}));
    world.settle();
    let jobs = world.created.len();
    world.advance(601);
    world.settle();
    assert_eq!(world.created.len() - jobs, 2);
}

#[test]
fn promise_p031_a_destructive_plan_without_leave_is_published_and_blocked_and_cannot_run() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.destructive = true;
    world.settle();
    assert_eq!(world.phase(), Phase::Blocked);
    assert_eq!(
        world.condition(types::APPROVAL_REQUIRED),
        pair("False", "DestructiveChangesDisabled")
    );
    assert_eq!(world.condition(types::READY), pair("False", "PolicyBlocked"));
    assert_eq!(world.condition(types::STALLED).0, "True");
    world.approve();
    world.settle();
    assert_eq!(world.ran, Vec::<String>::new());
}

#[test]
fn promise_p031_a_protected_table_blocks_and_publishes_nothing() {
    let mut world = World::new(json!({"policy": {"protectedTables": ["t"]}}));
    world.fail_next = Some((Operation::Plan, failure("protected_table", FailureClass::Refused)));
    world.settle();
    assert_eq!((world.phase(), world.plans.len()), (Phase::Blocked, 0));
    assert_eq!(world.condition(types::READY), pair("False", "ProtectedTable"));
    assert_eq!(world.lease, None);
}

#[test]
fn promise_p035_p036_suspending_drops_what_reads_gives_the_lease_back_and_resuming_starts_over() {
    let mut world = World::new(json!({}));
    world.until(Phase::Planning);
    world.pass();
    world.pass();
    assert!(world.lease.is_some());
    world.edit_spec(json!({"suspend": true}));
    let step = world.pass();
    assert!(
        step.status.unwrap().pending_lock_release.is_some(),
        "the release is staged first"
    );
    world.settle();
    assert_eq!((world.phase(), world.lease.clone()), (Phase::Suspended, None));
    assert_eq!(world.condition(types::SUSPENDED), pair("True", "Requested"));
    let jobs = world.created.len();
    world.advance(10_000);
    world.settle();
    assert_eq!(world.created.len(), jobs, "a suspended resource starts no Job");
    world.edit_spec(json!({"suspend": false}));
    let step = world.pass();
    assert_eq!(
        step.trail[..3],
        [Phase::Suspended, Phase::Pending, Phase::Resolving]
    );
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
}

#[test]
fn a_moved_target_is_read_again() {
    let mut world = World::new(json!({}));
    world.until(Phase::Planning);
    world.target = Digest::of(b"another database");
    world.settle();
    assert!(world.taken.contains(&(Phase::Planning, Phase::Observing)));
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(
        world.status().plan.unwrap().target_identity_digest,
        Digest::of(b"another database")
    );
}

#[test]
fn promise_p033_each_step_that_fails_rests_in_failed_and_is_tried_again() {
    for operation in [Operation::Observe, Operation::Plan] {
        let mut world = World::new(json!({}));
        world.fail_next = Some((operation, failure("desired_syntax", FailureClass::Input)));
        world.settle();
        assert_eq!(world.phase(), Phase::Failed);
        assert_eq!(
            world.condition(types::RECONCILIATION_FAILED),
            pair("True", "OperationFailed")
        );
        assert_eq!(world.condition(types::READY).0, "False");
        assert_eq!(world.condition(types::RECONCILING).0, "True", "it retries");
        assert_eq!(world.lease, None);
        world.advance(31);
        world.settle();
        assert_eq!(world.phase(), Phase::AwaitingApproval);
    }
}

#[test]
fn a_source_that_cannot_be_read_fails_with_its_reason_and_is_read_as_soon_as_it_can_be() {
    let mut world = World::new(json!({}));
    world.source = SourceEvidence::Refused {
        failure: failure("config_map_missing", FailureClass::Input),
        reason: "ResolveFailed",
    };
    world.settle();
    assert_eq!(world.phase(), Phase::Failed);
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("False", "ResolveFailed")
    );
    world.edit_source("one");
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("True", "SnapshotTaken")
    );
}

#[test]
fn promise_p043_a_config_map_source_has_no_verify_step_and_no_artifact_verified() {
    let world = in_sync();
    assert_eq!(
        world.condition(types::ARTIFACT_VERIFIED),
        (String::new(), String::new())
    );
    assert!(!world.taken.iter().any(|(_, to)| *to == Phase::Verifying));
}

#[test]
fn no_plan_runs_while_its_source_cannot_be_read() {
    let mut world = World::new(json!({}));
    world.settle();
    world.approve();
    world.source = SourceEvidence::Refused {
        failure: failure("config_map_missing", FailureClass::Input),
        reason: "ResolveFailed",
    };
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::Failed, 0));
}

#[test]
fn promise_p031_claimants_of_one_realm_block_each_other_unless_all_share_it() {
    let mut world = World::new(json!({}));
    world.claimants = vec![Claimant {
        name: "PtahSchema ns/other".into(),
        shared: true,
    }];
    world.settle();
    assert_eq!(world.phase(), Phase::Blocked);
    assert_eq!(world.condition(types::READY), pair("False", "RealmConflict"));
    assert_eq!(world.created.len(), 0);
    world.edit_spec(json!({"target": {
        "engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "db", "key": "url"}, "sharedRealm": true}}));
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
}

#[test]
fn promise_p031_an_unknown_engine_a_missing_runner_and_a_realm_are_blocked_with_what_to_do() {
    for (target, reason) in [
        (
            json!({"engine": "SQLite", "coordinationKey": "k"}),
            "UnsupportedEngine",
        ),
        (
            json!({"engine": "PostgreSQL", "realmRef": {"name": "r"}}),
            "RealmNotAuthorized",
        ),
    ] {
        let mut world = World::new(json!({"target": target}));
        world.settle();
        assert_eq!(
            (world.phase(), world.condition(types::READY)),
            (Phase::Blocked, pair("False", reason))
        );
        assert_eq!(world.created.len(), 0);
    }
    let mut world = World::new(json!({}));
    world.components.runner_image = None;
    world.settle();
    assert_eq!(
        world.condition(types::ENGINE_SUPPORTED),
        pair("False", "UnsupportedEngine")
    );
}

#[test]
fn another_runner_image_is_a_new_epoch_and_retires_the_plan() {
    let mut world = World::new(json!({}));
    world.settle();
    let (before, epoch) = (
        world.status().plan.unwrap(),
        world.status().execution_binding.unwrap().epoch,
    );
    world.approve();
    world.components.runner_image = Some(format!("r.example/runner@{}", Digest::of(b"new")));
    world.settle();
    let status = world.status();
    assert_ne!(status.execution_binding.unwrap().epoch, epoch);
    assert_ne!(status.plan.unwrap().fingerprint, before.fingerprint);
    assert_eq!(world.ran.len(), 0);
}

#[test]
fn a_waiting_plan_is_kept_by_a_refresh_that_finds_the_same() {
    let mut world = World::new(json!({}));
    world.settle();
    let plan = world.status().plan.unwrap();
    world.advance(601);
    world.settle();
    assert_eq!(world.status().plan.unwrap(), plan);
    assert_eq!(
        world
            .events
            .iter()
            .filter(|reason| **reason == "PlanPublished")
            .count(),
        1
    );
}

#[test]
fn a_realm_that_another_operation_holds_is_waited_for() {
    let mut world = World::new(json!({}));
    world.foreign_lease = true;
    world.until(Phase::Planning);
    for _ in 0..5 {
        world.pass();
    }
    assert_eq!((world.phase(), world.created.len()), (Phase::Planning, 1));
    world.foreign_lease = false;
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
}

#[test]
fn promise_p020_every_arrow_of_the_diagram_is_taken_by_some_scenario() {
    let mut taken = std::collections::BTreeSet::new();
    let mut collect = |mut world: World, script: &dyn Fn(&mut World)| {
        script(&mut world);
        taken.extend(world.taken);
    };
    let always = || World::new(json!({"policy": {"apply": "Always"}}));
    collect(always(), &|world| {
        world.settle();
        world.advance(601);
        world.settle();
        world.edit_spec(json!({"suspend": true}));
        world.settle();
        world.edit_spec(json!({"suspend": false}));
        world.settle();
        world.claimants = vec![Claimant {
            name: "x".into(),
            shared: false,
        }];
        world.edit_source("two");
        world.settle();
        world.claimants.clear();
        world.advance(61);
        world.settle();
    });
    collect(World::new(json!({})), &|world| {
        world.settle();
        world.approve();
        world.apply_report = Some(ApplyReport::NothingCommitted {
            failure: failure("statement_failed", FailureClass::Attention),
        });
        world.settle();
        world.advance(31);
        world.settle();
    });
    collect(World::new(json!({"policy": {"apply": "Never"}})), &|world| {
        world.settle();
        world.advance(601);
        world.settle();
    });
    collect(World::new(json!({})), &|world| {
        world.database = Digest::of(b"one");
        world.settle();
    });
    for refused in [false, true] {
        collect(super::sources::oci_world(json!({})), &|world| {
            if refused {
                world.refuse_next = Some((
                    OperationStep::Verify,
                    failure("policy_refused", FailureClass::Refused),
                ));
            }
            world.settle();
        });
    }
    let missing: Vec<_> = arrows::diagram()
        .iter()
        .filter(|arrow| !taken.contains(*arrow))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_edit_takes_the_word_of_convergence_back_at_once() {
    let mut world = in_sync();
    world.edit_source("two");
    world.pass();
    assert_eq!(
        world.condition(types::IN_SYNC),
        pair("Unknown", "DesiredStateChanged")
    );
    assert_eq!(world.condition(types::READY).0, "Unknown");
    assert_eq!(world.condition(types::RECONCILING).0, "True");
}

#[test]
fn every_resting_phase_rests() {
    let mut worlds = vec![
        in_sync(),
        World::new(json!({})),
        World::new(json!({"policy": {"apply": "Never"}})),
    ];
    let mut conflict = World::new(json!({}));
    conflict.claimants = vec![Claimant {
        name: "x".into(),
        shared: false,
    }];
    worlds.push(conflict);
    worlds.push(World::new(
        json!({"target": {"engine": "SQLite", "coordinationKey": "k"}}),
    ));
    worlds.push(World::new(json!({"suspend": true})));
    let mut failed = World::new(json!({}));
    failed.fail_next = Some((Operation::Observe, failure("desired_syntax", FailureClass::Input)));
    worlds.push(failed);
    for mut world in worlds {
        world.settle();
        world.advance(1);
        let step = world.pass();
        assert_eq!(
            (step.status, step.before, step.after),
            (None, vec![], vec![]),
            "{:?}",
            world.phase()
        );
    }
}
