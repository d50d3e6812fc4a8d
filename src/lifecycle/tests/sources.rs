//! Sources that a Pod resolves: a Git repository, an OCI artifact.

use ptah_api::conditions::types;
use ptah_api::{OperationType, Phase, PolicyBindingStatus, SourceTerms};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{ApplyReport, Operation, Step as OperationStep};
use serde_json::{Value, json};

use super::super::evidence::SourceEvidence;
use super::super::step::Effect;
use super::runner::failure;
use super::world::World;

/// `spec.desired` of a Git source.
pub(super) fn git(repository: &str, reference: &str, path: &str) -> Value {
    json!({"git": {"repository": repository, "ref": reference, "path": path}})
}

pub(super) fn policy(name: &str) -> PolicyBindingStatus {
    PolicyBindingStatus {
        name: name.into(),
        uid: format!("uid-{name}"),
        digest: Digest::of(name.as_bytes()),
    }
}

/// A world whose files are in a Git repository.
pub(super) fn git_world(spec: Value) -> World {
    let mut spec = spec;
    spec["desired"] = git("https://git.example/app.git", "main", "db");
    let mut world = World::new(spec);
    world.push("one");
    world
}

/// A world whose files are in an OCI artifact.
pub(super) fn oci_world(spec: Value) -> World {
    let mut spec = spec;
    spec["desired"] = json!({"ociRef": "oci://registry.example/app:v1",
        "verificationPolicyFrom": {"name": "policy", "key": "policy.yaml"}});
    let mut world = World::new(spec);
    world.source = SourceEvidence::InPod(SourceTerms {
        verification_policy: Some(policy("policy")),
        ..SourceTerms::default()
    });
    world.push("one");
    world
}

/// Puts another policy in the place of the one that an artifact is held to, or of a Git source's.
pub(super) fn replace_policy(world: &mut World) {
    let SourceEvidence::InPod(terms) = &mut world.source else {
        panic!("{:?} is held to no policy", world.source);
    };
    match &mut terms.verification_policy {
        Some(held) => *held = policy("another"),
        None => terms.source_policy = Some(policy("another")),
    }
}

pub(super) fn pair(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

pub(super) fn always() -> Value {
    json!({"policy": {"apply": "Always"}})
}

pub(super) fn commit(world: &World) -> String {
    world.status().source.unwrap().git.unwrap().commit
}

/// Phases of the resource's own trail, from a claim to the next rest.
pub(super) fn trail(world: &mut World) -> Vec<Phase> {
    let mut phases = vec![world.phase()];
    for _ in 0..20 {
        let step = world.pass();
        phases.extend(step.trail.into_iter().skip(1));
        world.run_jobs();
    }
    phases
}

#[test]
fn promise_p061_p062_a_commit_is_resolved_by_the_pod_that_reads_and_observation_follows_directly() {
    let mut world = git_world(json!({}));
    let trail = trail(&mut world);
    assert_eq!(
        trail,
        [
            Phase::Pending,
            Phase::Resolving,
            Phase::Observing,
            Phase::Planning,
            Phase::AwaitingApproval
        ]
    );
    assert_eq!(world.created.len(), 2, "resolving and reading share a Pod");
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("True", "CommitResolved")
    );
    assert_eq!(
        world.condition(types::ARTIFACT_VERIFIED),
        (String::new(), String::new())
    );
    let source = world.status().source.unwrap();
    let git = source.git.clone().unwrap();
    assert_eq!(
        (git.repository.as_str(), git.reference.as_str(), git.path.as_str()),
        ("https://git.example/app.git", "main", "db")
    );
    let message = ptah_api::conditions::find(&world.status().conditions, types::ARTIFACT_RESOLVED)
        .unwrap()
        .message
        .clone();
    assert!(message.contains(&git.commit), "{message}");
    assert_eq!(source.snapshot, None);
}

#[test]
fn promise_p022_p023_a_digest_is_pinned_then_verified_then_read() {
    let mut world = oci_world(json!({}));
    let trail = trail(&mut world);
    assert_eq!(
        trail,
        [
            Phase::Pending,
            Phase::Resolving,
            Phase::Verifying,
            Phase::Observing,
            Phase::Planning,
            Phase::AwaitingApproval
        ]
    );
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("True", "DigestPinned")
    );
    assert_eq!(
        world.condition(types::ARTIFACT_VERIFIED),
        pair("True", "PolicySatisfied")
    );
    let artifact = world.status().source.unwrap().artifact.unwrap();
    assert!(artifact.verified);
    assert_eq!(artifact.verification_policy_uid, "uid-policy");
    assert_eq!(artifact.requested_reference, "oci://registry.example/app:v1");
}

#[test]
fn the_phase_follows_the_containers_of_a_reading_and_not_those_of_a_refresh() {
    for mut world in [git_world(always()), oci_world(always())] {
        world.pass();
        world.pass();
        assert_eq!(world.phase(), Phase::Resolving);
        world.source_reached = true;
        let step = world.pass();
        let (from, to) = (step.trail.first(), step.trail.last());
        assert_eq!((from, to), (Some(&Phase::Resolving), Some(&Phase::Observing)));
        let writes = world.status_writes;
        world.pass();
        assert_eq!(world.status_writes, writes, "it is said once");
        world.settle();
        assert_eq!(world.phase(), Phase::InSync);
        world.advance(601);
        world.pass();
        world.pass();
        assert_eq!(world.phase(), Phase::Resolving);
    }
}

#[test]
fn promise_p071_a_commit_that_leaves_the_files_keeps_the_plan_and_other_files_retire_it() {
    let mut world = git_world(json!({}));
    world.settle();
    let (plan, first) = (world.status().plan.unwrap(), commit(&world));
    let since = world.status().source.unwrap().resolved_at;
    world.push("one");
    world.advance(601);
    world.settle();
    assert_ne!(commit(&world), first, "the branch is read again at the interval");
    assert_eq!(world.status().plan.unwrap(), plan);
    assert_eq!(world.status().source.unwrap().resolved_at, since);
    world.push("two");
    world.advance(601);
    world.settle();
    assert_ne!(world.status().plan.unwrap().fingerprint, plan.fingerprint);
}

#[test]
fn promise_p072_another_repository_or_path_retires_the_plan_though_the_files_match() {
    for desired in [
        git("https://git.example/other.git", "main", "db"),
        git("https://git.example/app.git", "main", "schema"),
    ] {
        let mut world = git_world(json!({}));
        world.settle();
        let plan = world.status().plan.unwrap();
        world.approve();
        world.edit_spec(json!({"desired": desired}));
        world.settle();
        assert_ne!(
            world.status().plan.unwrap().fingerprint,
            plan.fingerprint,
            "{desired}"
        );
        assert_eq!(world.ran, Vec::<String>::new(), "{desired}");
    }
    let mut world = git_world(json!({}));
    world.settle();
    let plan = world.status().plan.unwrap();
    world.edit_spec(json!({"desired": git("https://git.example/app.git", "release", "db")}));
    world.settle();
    assert_eq!(
        world.status().plan.unwrap().fingerprint,
        plan.fingerprint,
        "another ref with the same files is the same plan"
    );
}

#[test]
fn a_refresh_that_fetched_nothing_and_finds_another_database_is_made_again_with_the_files() {
    let mut world = git_world(always());
    world.settle();
    let jobs = world.created.len();
    world.database = Digest::of(b"changed by hand");
    world.advance(601);
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
    assert_eq!(world.database, Digest::of(b"one"));
    let kind = |id: &String| {
        let mut jobs = world.jobs.values().map(|job| &job.request.operation);
        jobs.find(|operation| operation.id == *id).unwrap().kind
    };
    let kinds: Vec<OperationType> = world.created[jobs..].iter().map(kind).collect();
    use OperationType::{Apply, Observe, Plan};
    assert_eq!(kinds, [Observe, Observe, Plan, Apply, Plan]);
}

#[test]
fn promise_p023_a_refused_artifact_blocks_and_retires_the_plan_and_a_new_one_is_noticed_at_the_interval() {
    let mut world = oci_world(json!({}));
    world.settle();
    world.approve();
    world.push("two");
    world.refuse_next = Some((
        OperationStep::Verify,
        failure("policy_refused", FailureClass::Refused),
    ));
    world.advance(601);
    world.settle();
    assert_eq!(world.phase(), Phase::Blocked);
    assert_eq!(world.condition(types::READY), pair("False", "PolicyRefused"));
    assert_eq!(
        world.condition(types::ARTIFACT_VERIFIED),
        pair("False", "PolicyRefused")
    );
    assert_eq!(world.condition(types::STALLED).0, "True");
    assert_eq!((world.status().plan, world.ran.len()), (None, 0));
    world.advance(601);
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(
        world.condition(types::ARTIFACT_VERIFIED),
        pair("True", "PolicySatisfied")
    );
}

#[test]
fn promise_p070_p068_a_refused_pull_says_why_and_the_resource_keeps_what_it_applied() {
    let mut world = git_world(always());
    world.settle();
    let applied = world.status().applied.unwrap();
    world.refuse_next = Some((
        OperationStep::Resolve,
        failure("submodule", FailureClass::Refused),
    ));
    world.advance(601);
    world.settle();
    assert_eq!(world.phase(), Phase::Failed);
    let (status, reason) = world.condition(types::RECONCILIATION_FAILED);
    assert_eq!((status.as_str(), reason.as_str()), ("True", "ResolveFailed"));
    let message = ptah_api::conditions::find(&world.status().conditions, types::RECONCILIATION_FAILED)
        .unwrap()
        .message
        .clone();
    assert!(
        message.starts_with("Resolve: submodule: it did not work"),
        "{message}"
    );
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("Unknown", "RefreshFailed")
    );
    assert_eq!(world.status().applied.unwrap(), applied);
    world.advance(31);
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
}

#[test]
fn promise_p081_more_than_the_policy_allows_is_told_as_its_refusal_wherever_it_was_found() {
    for looks in [false, true] {
        let mut world = git_world(json!({}));
        if looks {
            world = world.manager_looks();
        }
        world.settle();
        world.refuse_next = Some((
            OperationStep::Resolve,
            failure("source_policy_refused", FailureClass::Refused),
        ));
        world.advance(601);
        world.settle();
        assert_eq!(world.phase(), Phase::Failed, "{looks}");
        assert_eq!(
            world.condition(types::ARTIFACT_RESOLVED),
            pair("False", "SourcePolicyRefused")
        );
        assert_eq!(
            world.condition(types::RECONCILIATION_FAILED),
            pair("True", "SourcePolicyRefused")
        );
    }
}

#[test]
fn promise_p082_a_replaced_policy_is_read_at_once_and_retires_the_plan() {
    for (mut world, field) in [
        (git_world(json!({})), "source"),
        (oci_world(json!({})), "verification"),
    ] {
        world.settle();
        let (plan, jobs) = (world.status().plan.unwrap(), world.created.len());
        replace_policy(&mut world);
        world.settle();
        assert!(
            world.created.len() > jobs,
            "{field}: the source is resolved again under it"
        );
        assert_ne!(
            world.status().plan.unwrap().fingerprint,
            plan.fingerprint,
            "{field}"
        );
        let source = world.status().source.unwrap();
        let bound = match field {
            "source" => source.source_policy.map(|policy| policy.uid),
            _ => source.verification_policy().map(|policy| policy.uid),
        };
        assert_eq!(bound.as_deref(), Some("uid-another"));
    }
}

#[test]
fn promise_p051_the_last_snapshot_goes_with_the_first_resolution_of_the_new_source() {
    let mut world = World::new(always());
    world.settle();
    assert!(world.status().source.unwrap().snapshot.is_some());
    world.edit_spec(
        json!({"desired": {"git": git("https://git.example/app.git", "main", "db")["git"].clone()}}),
    );
    world.push("one");
    let mut collected = false;
    for _ in 0..20 {
        let step = world.pass();
        if step.after.contains(&Effect::CollectSnapshots) {
            let named = step.status.unwrap().source.unwrap().snapshot;
            assert_eq!(named, None, "nothing names it any more");
            collected = true;
        }
        world.run_jobs();
    }
    assert!(collected);
    assert_eq!(world.phase(), Phase::InSync);
}

#[test]
fn promise_p065_a_plan_whose_commit_is_gone_is_not_made_and_the_next_cycle_reads_the_ref() {
    let mut world = git_world(json!({}));
    world.until(Phase::Planning);
    world.push("two");
    world.remote.as_mut().unwrap().gone = true;
    world.settle();
    assert_eq!(world.phase(), Phase::Failed);
    world.advance(31);
    world.settle();
    assert_eq!(world.phase(), Phase::AwaitingApproval);
    assert_eq!(world.status().source.unwrap().content_digest, Digest::of(b"two"));
}

#[test]
fn a_proof_whose_commit_is_gone_ends_and_the_database_is_read_against_what_is_declared() {
    for uncertain in [false, true] {
        let mut world = git_world(json!({}));
        world.settle();
        world.approve();
        world.until(Phase::Applying);
        if uncertain {
            world.apply_report = Some(ApplyReport::Uncertain {
                failure: failure("outcome_unknown", FailureClass::Attention),
                statements: 0,
            });
        }
        world.push("two");
        world.remote.as_mut().unwrap().gone = true;
        world.settle();
        assert_eq!(world.phase(), Phase::AwaitingApproval, "{uncertain}");
        let status = world.status();
        assert_eq!(
            (status.applied, status.pending_observation, world.lease.clone()),
            (None, None, None),
            "{uncertain}: the run is credited to nobody"
        );
        assert_eq!(world.ran.len(), 1, "{uncertain}: nothing runs without a decision");
    }
}

#[test]
fn a_failure_after_the_source_was_read_leaves_what_was_found() {
    let mut world = git_world(json!({}));
    world.fail_next = Some((
        Operation::Observe,
        failure("authentication_failed", FailureClass::Input),
    ));
    world.settle();
    assert_eq!(world.phase(), Phase::Failed);
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("True", "CommitResolved")
    );
    assert_eq!(world.condition(types::DATABASE_REACHABLE).0, "False");
    let mut world = git_world(json!({}));
    world.refuse_next = Some((
        OperationStep::Resolve,
        failure("authentication_failed", FailureClass::Input),
    ));
    world.settle();
    assert_eq!(
        world.condition(types::DATABASE_REACHABLE).0,
        "",
        "the source's server is not the database"
    );
    assert_eq!(world.created.len(), 1, "it waits for the retry interval");
}
