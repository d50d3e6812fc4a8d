//! Runs and what becomes of them: dispatched, withdrawn, failed, lost, proven. Every pass is checked against the diagram
//! by the world.

use ptah_api::Phase;
use ptah_api::conditions::types;
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{ApplyReport, Operation};
use serde_json::json;

use super::runner::failure;
use super::world::World;

fn pair(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

#[test]
fn promise_p017_p018_p030_an_approved_plan_runs_once_and_is_proven_under_the_same_lease() {
    let mut world = World::new(json!({}));
    world.settle();
    world.approve();
    world.until(Phase::VerifyingConvergence);
    let lease = world
        .lease
        .clone()
        .expect("the Apply's Lease is kept for the proof");
    assert_eq!(world.condition(types::APPLYING), pair("False", "JobCompleted"));
    assert_ne!(
        world.condition(types::IN_SYNC).0,
        "True",
        "the Job's end proves nothing"
    );
    world.pass();
    let proof = world.status().active_operation.unwrap();
    assert!(proof.proof && proof.steps == ["Observe", "Plan"]);
    assert_eq!(world.lease, Some(lease));
    world.settle();
    assert_eq!(world.condition(types::IN_SYNC), pair("True", "ScopedConverged"));
    assert_eq!(world.condition(types::READY), pair("True", "InSync"));
    assert_eq!(
        (world.ran.len(), world.created.len(), world.lease.clone()),
        (1, 4, None)
    );
    assert_eq!(world.status().applied.unwrap().content_digest, Digest::of(b"one"));
    assert!(world.approvals[0].consumed);
}

#[test]
fn a_permitted_destructive_plan_and_one_that_changes_privileges_need_a_person_even_under_always() {
    for destructive in [true, false] {
        let mut world = World::new(json!({"policy": {"apply": "Always", "allowDestructive": true}}));
        (world.destructive, world.privileged) = (destructive, !destructive);
        world.settle();
        assert_eq!(world.phase(), Phase::AwaitingApproval);
        let reason = if destructive {
            "PlanReady"
        } else {
            "PrivilegeChanges"
        };
        assert_eq!(world.condition(types::APPROVAL_REQUIRED), pair("True", reason));
        world.approve();
        world.settle();
        assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 1));
    }
}

#[test]
fn promise_p035_an_apply_is_watched_to_its_end_while_suspended_and_proven_after() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::Applying);
    world.until_dispatched();
    world.edit_spec(json!({"policy": {"apply": "Always"}, "suspend": true}));
    world.run_jobs();
    world.pass();
    assert_eq!(world.phase(), Phase::VerifyingConvergence);
    let jobs = world.created.len();
    for _ in 0..5 {
        world.pass();
        world.advance(5);
    }
    assert_eq!(
        (world.created.len(), world.phase()),
        (jobs, Phase::VerifyingConvergence)
    );
    assert!(world.lease.is_some());
    world.edit_spec(json!({"suspend": false}));
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 1));
}

#[test]
fn an_edit_during_an_apply_is_answered_after_the_proof() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::VerifyingConvergence);
    world.edit_source("two");
    world.settle();
    assert!(
        world
            .taken
            .contains(&(Phase::VerifyingConvergence, Phase::Pending))
    );
    assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 2));
    assert_eq!(world.status().applied.unwrap().content_digest, Digest::of(b"two"));
}

#[test]
fn a_proof_that_finds_a_difference_publishes_its_own_plan() {
    for (apply, phase) in [("OnApproval", Phase::AwaitingApproval), ("Always", Phase::InSync)] {
        let mut world = World::new(json!({"policy": {"apply": apply}}));
        if apply == "OnApproval" {
            world.settle();
            world.approve();
        }
        world.until(Phase::VerifyingConvergence);
        world.database = Digest::of(b"changed under the proof");
        world.settle();
        world.advance(61);
        world.settle();
        assert_eq!(world.phase(), phase);
    }
}

#[test]
fn a_failed_apply_that_committed_nothing_spends_its_approval_and_plans_anew() {
    let mut world = World::new(json!({}));
    world.settle();
    world.approve();
    world.apply_report = Some(ApplyReport::NothingCommitted {
        failure: failure("statement_failed", FailureClass::Attention),
    });
    world.settle();
    assert_eq!(world.phase(), Phase::Failed);
    assert!(world.approvals[0].consumed);
    assert_eq!(world.lease, None);
    world.advance(31);
    world.settle();
    assert_eq!(
        (world.phase(), world.ran.len()),
        (Phase::AwaitingApproval, 1),
        "a spent approval decides nothing"
    );
}

#[test]
fn under_always_the_same_failing_plan_waits_longer_each_time_and_at_most_an_interval() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    let mut waits = Vec::new();
    for round in 1..=6 {
        world.apply_report = Some(ApplyReport::NothingCommitted {
            failure: failure("statement_failed", FailureClass::Attention),
        });
        let began = world.now;
        while world.ran.len() < round {
            world.settle();
            world.advance(10);
        }
        waits.push(world.now.duration_since(began).as_secs());
    }
    assert!(waits.windows(2).all(|pair| pair[0] <= pair[1] + 10), "{waits:?}");
    assert!(waits.last() <= Some(&700) && waits[3] >= 200, "{waits:?}");
}

#[test]
fn an_uncertain_apply_is_never_repeated_and_the_database_settles_it() {
    for finished in [true, false] {
        let mut world = World::new(json!({"policy": {"apply": "Always"}}));
        world.apply_report = Some(ApplyReport::Uncertain {
            failure: failure("outcome_unknown", FailureClass::Attention),
            statements: 0,
        });
        world.until(Phase::VerifyingConvergence);
        assert_eq!(
            world.condition(types::READY),
            pair("Unknown", "ApplyOutcomeUnknown")
        );
        assert_eq!(world.condition(types::APPLYING), pair("False", "OutcomeUnknown"));
        if finished {
            world.database = Digest::of(b"one");
        }
        world.settle();
        if !finished {
            assert_eq!(
                (world.phase(), world.ran.len()),
                (Phase::ReadyToApply, 1),
                "the next run waits"
            );
            world.advance(61);
            world.settle();
        }
        assert_eq!(world.phase(), Phase::InSync);
        let (reason, runs) = if finished {
            ("ConvergedAfterUnknownOutcome", 1)
        } else {
            ("ScopedConverged", 2)
        };
        assert_eq!(world.condition(types::IN_SYNC), pair("True", reason));
        assert_eq!(
            (world.ran.len(), world.status().applied.is_some()),
            (runs, !finished)
        );
    }
}

#[test]
fn an_apply_job_that_is_gone_is_an_unknown_outcome_and_is_not_created_again() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::Applying);
    world.until_dispatched();
    let operation = world.status().active_operation.unwrap();
    world.jobs.remove(&operation.job_name);
    world.pass();
    assert_eq!(world.phase(), Phase::VerifyingConvergence);
    assert_eq!(world.condition(types::APPLYING), pair("False", "OutcomeUnknown"));
    assert_eq!(world.created.iter().filter(|id| **id == operation.id).count(), 1);
}

#[test]
fn promise_p037_p038_a_result_across_a_break_of_the_lease_is_not_read() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::Planning);
    world.until_dispatched();
    world.run_jobs();
    world.lease = None;
    world.pass();
    assert!(
        world.status().active_operation.unwrap().lease_continuity_lost,
        "marked before anything is taken"
    );
    world.pass();
    assert_eq!(world.plans.len(), 0);
    assert!(world.taken.contains(&(Phase::Planning, Phase::Observing)));
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
}

#[test]
fn a_withdrawn_approval_is_noticed_before_anything_is_sent() {
    let mut world = World::new(json!({}));
    world.settle();
    world.approve();
    world.until(Phase::Applying);
    world.approvals.clear();
    world.pass();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(
        world.condition(types::APPROVAL_REQUIRED),
        pair("True", "ApprovalRevoked")
    );
    world.settle();
    assert_eq!((world.ran.len(), world.lease.clone()), (0, None));
}

#[test]
fn an_edit_before_dispatch_withdraws_the_apply() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::Applying);
    world.edit_source("two");
    world.pass();
    assert!(world.taken.contains(&(Phase::Applying, Phase::Pending)));
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 1));
}

#[test]
fn a_stored_plan_that_was_altered_is_not_run() {
    let mut world = World::new(json!({}));
    world.settle();
    world.approve();
    world.plan_altered = Some(world.status().plan.unwrap().name);
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::Failed, 0));
    world.plan_altered = None;
    world.advance(31);
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 1));
}

#[test]
fn a_deleted_resource_gives_everything_back_and_sends_no_sql() {
    for phase in [
        Phase::Planning,
        Phase::AwaitingApproval,
        Phase::VerifyingConvergence,
    ] {
        let mut world = World::new(json!({}));
        if phase == Phase::VerifyingConvergence {
            world.settle();
            world.approve();
        }
        world.until(phase);
        world.pass();
        let ran = world.ran.len();
        world.schema.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(world.now));
        world.settle();
        assert_eq!(
            (world.schema.metadata.finalizers.clone(), world.lease.clone()),
            (None, None),
            "{phase:?}"
        );
        assert_eq!(world.ran.len(), ran);
    }
}

#[test]
fn a_proof_reads_the_database_and_the_policy_that_the_run_was_claimed_for() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::Applying);
    world.until_dispatched();
    world.edit_spec(json!({
        "target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "another", "key": "url"}},
        "policy": {"apply": "Always", "protectedTables": ["x"]},
    }));
    world.run_jobs();
    world.pass();
    let pending = world.status().pending_observation.unwrap();
    assert_eq!(pending.target.url_from.unwrap().name, "db");
    assert_eq!(pending.policy.protected_tables, Vec::<String>::new());
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::InSync, 1));
}

#[test]
fn a_proof_that_fails_for_a_lasting_reason_is_tried_less_and_less_and_ended_by_an_edit() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::VerifyingConvergence);
    let jobs = world.created.len();
    for _ in 0..120 {
        world.fail_next = Some((
            Operation::Plan,
            failure("unsupported_object", FailureClass::Refused),
        ));
        world.settle();
        world.advance(5);
    }
    let tried = world.created.len() - jobs;
    assert!((4..=12).contains(&tried), "{tried} proofs in ten minutes");
    assert_eq!(world.phase(), Phase::VerifyingConvergence);
    assert!(world.lease.is_some());
    world.edit_spec(json!({"policy": {"apply": "Always", "exclude": ["x"]}}));
    world.advance(600);
    world.pass();
    world.run_jobs();
    world.pass();
    assert_eq!(world.phase(), Phase::Pending);
    world.settle();
    assert_eq!((world.phase(), world.lease.clone()), (Phase::InSync, None));
}

#[test]
fn an_engine_that_nobody_knows_does_not_leave_a_run_unwatched() {
    let mut world = World::new(json!({"policy": {"apply": "Always"}}));
    world.until(Phase::Applying);
    world.until_dispatched();
    world.edit_spec(json!({"target": {"engine": "SQLite", "coordinationKey": "k", "urlFrom": {"name": "db", "key": "url"}}}));
    world.settle();
    assert_eq!(
        (world.phase(), world.lease.clone(), world.ran.len()),
        (Phase::Blocked, None, 1)
    );
    assert!(world.status().applied.is_some(), "the run was proven first");
}

#[test]
fn a_second_approval_of_the_same_plan_does_not_outlive_the_first() {
    let mut world = World::new(json!({}));
    world.settle();
    world.approve();
    world.approve();
    world.apply_report = Some(ApplyReport::NothingCommitted {
        failure: failure("statement_failed", FailureClass::Attention),
    });
    world.settle();
    assert_eq!(world.phase(), Phase::Failed);
    assert!(world.approvals[1].stale);
    world.advance(31);
    world.settle();
    assert_eq!((world.phase(), world.ran.len()), (Phase::AwaitingApproval, 1));
}
