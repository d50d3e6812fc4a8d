//! Sources that the manager looks at itself.

use ptah_api::conditions::types;
use ptah_api::{DesiredSource, OperationType, Phase, SourceTerms};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{SourceReport, Step as OperationStep, StepFailure};
use serde_json::{Value, json};

use super::super::evidence::{SourceAnswer, SourceEvidence};
use super::runner::failure;
use super::sources::{always, commit, git, git_world, oci_world, pair, replace_policy, trail};
use super::world::World;

/// One look, as the manager's memory holds it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub answer: SourceAnswer,
    anew: bool,
    /// What it was asked for, and by which edit: another question is not answered by it.
    of: Option<(DesiredSource, SourceTerms, Option<i64>)>,
    /// What stood at the source when it began.
    stands: Option<SourceReport>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            answer: SourceAnswer::NotAsked,
            anew: false,
            of: None,
            stands: None,
        }
    }
}

impl World {
    fn terms(&self) -> SourceTerms {
        self.source.terms().cloned().unwrap_or_default()
    }

    pub(super) fn looked_at(&self, look: &Look) -> SourceEvidence {
        let SourceEvidence::InPod(terms) = self.source.clone() else {
            return self.source.clone();
        };
        let generation = self.schema.metadata.generation;
        let question = (self.schema.spec.desired.clone(), terms.clone(), generation);
        let answer = match &look.of {
            Some(of) if *of == question => look.answer.clone(),
            _ => SourceAnswer::NotAsked,
        };
        SourceEvidence::InManager { terms, answer }
    }

    pub(super) fn ask(&mut self, anew: bool) {
        let (terms, generation) = (self.terms(), self.schema.metadata.generation);
        self.look = Some(Look {
            answer: SourceAnswer::UnderWay,
            anew,
            stands: Some(self.stands(&terms)),
            of: Some((self.schema.spec.desired.clone(), terms, generation)),
        });
    }

    /// The look under way ends.
    pub(super) fn land(&mut self) {
        let Some(look) = self
            .look
            .clone()
            .filter(|look| look.answer == SourceAnswer::UnderWay)
        else {
            return;
        };
        let found = match self.refuse_next.take() {
            Some((step, failure)) => Err(Box::new(StepFailure { step, failure })),
            None => Ok(Box::new(look.stands.clone().unwrap())),
        };
        let anew = look.anew;
        let answer = SourceAnswer::Here { anew, found };
        self.look = Some(Look { answer, ..look });
    }
}

fn kinds(world: &World, from: usize) -> Vec<OperationType> {
    let kind = |id: &String| {
        let mut jobs = world.jobs.values().map(|job| &job.request.operation);
        jobs.find(|operation| operation.id == *id).unwrap().kind
    };
    world.created[from..].iter().map(kind).collect()
}

fn worlds(spec: fn() -> Value) -> [World; 2] {
    [
        git_world(spec()).manager_looks(),
        oci_world(spec()).manager_looks(),
    ]
}

#[test]
fn what_the_manager_found_is_taken_in_the_diagrams_order_before_a_job_is_made() {
    for mut world in worlds(|| json!({})) {
        let oci = world.schema.spec.desired.oci_ref.is_some();
        world.pass();
        assert_eq!((world.phase(), world.created.len()), (Phase::Resolving, 0));
        assert_eq!(world.condition(types::RECONCILING).0, "True");
        world.run_jobs();
        let phases = trail(&mut world);
        let mut expected = vec![Phase::Resolving];
        expected.extend(oci.then_some(Phase::Verifying));
        expected.extend([Phase::Observing, Phase::Planning, Phase::AwaitingApproval]);
        assert_eq!(phases, expected);
        assert_eq!(kinds(&world, 0), [OperationType::Observe, OperationType::Plan]);
        let resolved = if oci { "DigestPinned" } else { "CommitResolved" };
        assert_eq!(world.condition(types::ARTIFACT_RESOLVED), pair("True", resolved));
        let steps = &world.jobs.values().next().unwrap().request.operation;
        assert_eq!(steps.terms, None, "no Pod resolves what is resolved");
    }
}

#[test]
fn promise_p071_a_commit_that_leaves_the_files_costs_no_plan_and_other_files_do() {
    let mut world = git_world(always()).manager_looks();
    world.settle();
    let (first, jobs) = (commit(&world), world.created.len());
    world.push("one");
    world.advance(601);
    world.settle();
    assert_ne!(commit(&world), first);
    assert_eq!(kinds(&world, jobs), [OperationType::Observe]);
    world.push("two");
    world.advance(601);
    world.settle();
    use OperationType::{Apply, Observe, Plan};
    assert_eq!(kinds(&world, jobs + 1), [Observe, Plan, Apply, Plan]);
    assert_eq!(world.database, Digest::of(b"two"));
}

#[test]
fn a_database_that_was_changed_by_hand_is_read_again_with_the_files() {
    let mut world = git_world(always()).manager_looks();
    world.settle();
    let jobs = world.created.len();
    world.database = Digest::of(b"changed by hand");
    world.advance(601);
    world.settle();
    use OperationType::{Apply, Observe, Plan};
    assert_eq!(kinds(&world, jobs), [Observe, Observe, Plan, Apply, Plan]);
    assert_eq!(
        (world.phase(), world.database),
        (Phase::InSync, Digest::of(b"one"))
    );
}

#[test]
fn promise_p070_a_look_that_fails_says_why_and_makes_no_job() {
    let mut world = git_world(always()).manager_looks();
    world.settle();
    let jobs = world.created.len();
    world.refuse_next = Some((
        OperationStep::Resolve,
        failure("address_not_allowed", FailureClass::Refused),
    ));
    world.advance(601);
    world.settle();
    assert_eq!((world.phase(), world.created.len()), (Phase::Failed, jobs));
    assert_eq!(
        world.condition(types::RECONCILIATION_FAILED),
        pair("True", "ResolveFailed")
    );
    assert_eq!(
        world.condition(types::ARTIFACT_RESOLVED),
        pair("Unknown", "RefreshFailed")
    );
    world.settle();
    assert_eq!(world.phase(), Phase::Failed, "it waits for the retry interval");
    world.advance(31);
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
}

#[test]
fn promise_p023_an_artifact_that_the_policy_refuses_blocks_and_makes_no_job() {
    let mut world = oci_world(json!({})).manager_looks();
    world.settle();
    let jobs = world.created.len();
    world.push("two");
    world.refuse_next = Some((
        OperationStep::Verify,
        failure("policy_refused", FailureClass::Refused),
    ));
    world.advance(601);
    world.settle();
    assert_eq!((world.phase(), world.created.len()), (Phase::Blocked, jobs));
    assert_eq!(
        world.condition(types::ARTIFACT_VERIFIED),
        pair("False", "PolicyRefused")
    );
    assert_eq!(world.status().plan, None);
}

#[test]
fn promise_p082_a_replaced_policy_is_asked_about_at_once_and_retires_the_plan() {
    for mut world in worlds(|| json!({})) {
        world.settle();
        let plan = world.status().plan.unwrap();
        replace_policy(&mut world);
        world.settle();
        assert_ne!(world.status().plan.unwrap().fingerprint, plan.fingerprint);
    }
}

#[test]
fn a_plan_of_a_replaced_policy_retires_though_its_successor_cannot_be_asked_about() {
    let mut world = git_world(json!({})).manager_looks();
    world.settle();
    assert!(world.status().plan.is_some());
    replace_policy(&mut world);
    world.refuse_next = Some((
        OperationStep::Resolve,
        failure("connection_failed", FailureClass::Transient),
    ));
    world.settle();
    assert_eq!((world.phase(), world.status().plan), (Phase::Failed, None));
}

#[test]
fn an_edit_is_not_answered_by_what_was_asked_before_it() {
    let mut world = git_world(json!({})).manager_looks();
    world.pass();
    world.edit_spec(json!({"desired": git("https://git.example/other.git", "main", "db")}));
    world.run_jobs();
    world.settle();
    let source = world.status().source.unwrap().git.unwrap();
    assert_eq!(source.repository, "https://git.example/other.git");
    // The same place, and a push and an edit of something else while it is looked at.
    let mut world = git_world(always()).manager_looks();
    world.pass();
    world.push("two");
    world.edit_spec(json!({"interval": "9m"}));
    world.settle();
    assert_eq!(world.database, Digest::of(b"two"));
    // The last answer of a refresh may stand on what was known; an edit's may not.
    let mut world = oci_world(always()).manager_looks();
    world.settle();
    world.advance(601);
    world.pass();
    world.run_jobs();
    world.edit_spec(json!({"interval": "9m"}));
    world.pass();
    let look = world.look.clone().unwrap();
    assert_eq!((look.answer, look.anew), (SourceAnswer::UnderWay, true));
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
}

#[test]
fn a_refresh_that_is_not_steady_relies_on_nothing_that_was_known() {
    let anew = |world: &World| world.look.clone().unwrap().anew;
    let mut world = oci_world(always()).manager_looks();
    world.settle();
    world.advance(601);
    world.pass();
    assert!(!anew(&world));
    world.settle();
    // A day without a plan: every step is gone through again, verification too.
    world.advance(24 * 60 * 60);
    world.pass();
    assert!(anew(&world));
}

#[test]
fn a_manager_that_starts_anew_asks_again() {
    for mut world in worlds(always) {
        for _ in 0..3 {
            world.pass();
            world.look = Some(Look::default());
        }
        assert_eq!((world.phase(), world.created.len()), (Phase::Resolving, 0));
        world.settle();
        assert_eq!(world.phase(), Phase::InSync);
    }
}

#[test]
fn a_plan_that_waits_is_decided_while_nothing_is_due() {
    let mut world = git_world(json!({})).manager_looks();
    world.settle();
    let asked = |world: &World| world.look.clone().unwrap().answer != SourceAnswer::NotAsked;
    assert!(!asked(&world));
    world.approve();
    world.settle();
    assert_eq!(world.phase(), Phase::InSync);
    assert_eq!(world.ran.len(), 1);
}
