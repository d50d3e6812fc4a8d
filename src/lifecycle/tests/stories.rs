//! What happens to a resource from its creation to a rest: people and the cluster act at named moments, and the
//! manager answers. Each story can be told with a cut at any action, and must come to the same end.

use std::collections::VecDeque;

use ptah_api::{ImmutableObjectReference, OperationType, Phase};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{ApplyReport, Operation, Step as OperationStep};
use serde_json::json;

use super::super::evidence::Claimant;
use super::super::step::Requeue;
use super::faults::Cut;
use super::runner::failure;
use super::world::World;
use super::{signatures, sources};

/// A moment in the life of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A reading is under way.
    Reading,
    /// A plan is being made.
    Planning,
    /// A plan waits for a person.
    Waiting,
    /// A run is claimed, and nothing has been dispatched.
    Claimed,
    /// A run is under way.
    Running,
    /// A run is being proven.
    Proving,
    /// Nothing is left to do.
    AtRest,
}

/// Moments at which something may come between.
pub(super) const MOMENTS: [Moment; 7] = [
    Moment::Reading,
    Moment::Planning,
    Moment::Waiting,
    Moment::Claimed,
    Moment::Running,
    Moment::Proving,
    Moment::AtRest,
];

impl Moment {
    fn is_now(self, world: &World) -> bool {
        let status = world.status();
        let Some(operation) = status.active_operation else {
            return match self {
                Self::Waiting => world.phase() == Phase::AwaitingApproval,
                Self::AtRest => world.phase() == Phase::InSync && status.pending_lock_release.is_none(),
                _ => false,
            };
        };
        let runs = world
            .jobs
            .get(&operation.job_name)
            .is_some_and(|job| !job.finished);
        match (self, operation.kind) {
            (Self::Reading, OperationType::Observe) => runs,
            (Self::Planning, OperationType::Plan) => runs && !operation.proof,
            (Self::Proving, OperationType::Plan) => runs && operation.proof,
            (Self::Claimed, OperationType::Apply) => !operation.dispatch_started,
            (Self::Running, OperationType::Apply) => runs,
            _ => false,
        }
    }
}

/// What somebody does.
pub(super) type Deed = fn(&mut World);

/// A story.
#[derive(Clone)]
pub(super) struct Story {
    pub name: String,
    pub world: World,
    pub acts: VecDeque<(Moment, Deed)>,
    /// Where it ends; `None` when the resource is deleted.
    pub end: Option<Phase>,
}

impl Story {
    fn new(name: impl Into<String>, spec: serde_json::Value) -> Self {
        Self {
            name: name.into(),
            world: World::new(spec),
            acts: VecDeque::new(),
            end: Some(Phase::InSync),
        }
    }

    fn with(mut self, act: impl FnOnce(&mut World)) -> Self {
        act(&mut self.world);
        self
    }

    fn then(mut self, when: Moment, deed: Deed) -> Self {
        self.acts.push_back((when, deed));
        self
    }

    fn ends(mut self, end: Option<Phase>) -> Self {
        self.end = end;
        self
    }

    /// Tells it with a cut at one action, and checks that nothing is left over. Whether the cut happened.
    pub fn told_with(mut self, cut: Option<Cut>) -> bool {
        if let Some(cut) = cut {
            self.world.cut(cut);
        }
        let name = format!("{} with {cut:?}", self.name);
        let world = self.told(&name);
        let status = world.status();
        let owed = (
            status.active_operation.is_some(),
            status.pending_observation.is_some(),
            status.pending_lock_release.is_some(),
        );
        // Nobody reads the status of a resource that is gone.
        assert!(
            world.gone || owed == (false, false, false),
            "{name}: owed are claim, proof, release: {owed:?}"
        );
        // A Lease whose request came late lapses by itself; any other is given back.
        if !matches!(cut, Some(Cut::Late(_))) {
            assert_eq!(world.lease, None, "{name}: a Lease is left");
        }
        assert_eq!(
            world.schema.metadata.finalizers, None,
            "{name}: the finalizer is left"
        );
        !world.faults.is_due()
    }

    fn told(self, name: &str) -> World {
        let (mut world, mut acts) = (self.world, self.acts);
        for _ in 0..800 {
            if world.gone {
                return world;
            }
            let (before, due) = (world.schema.clone(), world.faults.is_due());
            let step = world.pass();
            if let Some((_, deed)) = acts.pop_front_if(|(when, _)| when.is_now(&world)) {
                deed(&mut world);
                continue;
            }
            let running = world.jobs.values().any(|job| !job.finished);
            world.run_jobs();
            let cut_here = due && !world.faults.is_due();
            if before != world.schema
                || step.requeue == Requeue::Now
                || running
                || cut_here
                || world.faults.is_late()
            {
                continue;
            }
            if world.phase() == Phase::AwaitingApproval && self.end != Some(Phase::AwaitingApproval) {
                world.approve();
            } else if let Some((_, deed)) = acts.pop_front() {
                // The cut took the moment away: it happens anyhow.
                deed(&mut world);
            } else if self.end == Some(world.phase()) {
                return world;
            } else {
                world.advance(61);
            }
        }
        let status = world.status();
        panic!(
            "{name}: no end, but {:?} with claim {:?}, proof {:?} and {:?}",
            status.phase, status.active_operation, status.pending_observation, status.conditions
        );
    }
}

/// Something that may come between at any moment.
struct Interruption {
    name: &'static str,
    deed: Deed,
    after: Option<Deed>,
    end: Option<Phase>,
}

const INTERRUPTIONS: [Interruption; 7] = [
    Interruption {
        name: "another source",
        deed: |world| world.edit_source("two"),
        after: None,
        end: Some(Phase::InSync),
    },
    Interruption {
        name: "another policy",
        deed: |world| world.edit_spec(json!({"policy": {"exclude": ["x"]}})),
        after: None,
        end: Some(Phase::InSync),
    },
    Interruption {
        name: "a suspension and its end",
        deed: |world| world.edit_spec(json!({"suspend": true})),
        after: Some(|world| world.edit_spec(json!({"suspend": false}))),
        end: Some(Phase::InSync),
    },
    Interruption {
        name: "a deletion",
        deed: World::delete,
        after: None,
        end: None,
    },
    Interruption {
        name: "another release of the operator",
        deed: |world| world.components.engine_version = "0.2.0".into(),
        after: None,
        end: Some(Phase::InSync),
    },
    Interruption {
        name: "a lost Lease",
        deed: World::lose_lease,
        after: None,
        end: Some(Phase::InSync),
    },
    Interruption {
        name: "a change of the database by hand",
        deed: |world| world.database = Digest::of(b"by hand"),
        after: Some(|world| world.advance(601)),
        end: Some(Phase::InSync),
    },
];

/// Every story: what may come between, at every moment; and what may go wrong.
pub(super) fn all() -> Vec<Story> {
    let mut stories = vec![
        Story::new("an approved change", json!({})),
        Story::new("a change under Always", json!({"policy": {"apply": "Always"}})),
        Story::new("nothing to change", json!({})).with(|world| world.database = Digest::of(b"one")),
        Story::new("a steady refresh", json!({})).then(Moment::AtRest, |world| world.advance(601)),
        Story::new(
            "a plan that is only recorded",
            json!({"policy": {"apply": "Never"}}),
        )
        .ends(Some(Phase::Blocked)),
        Story::new("a destructive plan without leave", json!({}))
            .with(|world| world.destructive = true)
            .ends(Some(Phase::Blocked)),
        Story::new(
            "a destructive plan with leave",
            json!({"policy": {"apply": "Always", "allowDestructive": true}}),
        )
        .with(|world| world.destructive = true),
        Story::new("a realm that two claim, until one goes", json!({}))
            .with(|world| {
                world.claimants = vec![Claimant {
                    name: "ns/other".into(),
                    shared: false,
                }];
            })
            .then(Moment::AtRest, |world| world.claimants.clear()),
        Story::new("an approval that is withdrawn", json!({}))
            .then(Moment::Claimed, |world| world.approvals.clear()),
        Story::new("two approvals of one plan", json!({})).then(Moment::Waiting, |world| {
            world.approve();
            world.approve();
        }),
        Story::new("an approval of a plan that is gone", json!({})).then(Moment::Waiting, |world| {
            world.approve();
            world.edit_source("two");
        }),
        Story::new("a stored plan that was altered", json!({}))
            .then(Moment::Waiting, |world| {
                world.plan_altered = world.status().plan.map(|plan| plan.name);
                world.approve();
            })
            .then(Moment::AtRest, |world| world.plan_altered = None),
        Story::new("a stored plan that was deleted", json!({})).then(Moment::Waiting, |world| {
            world.plans.clear();
        }),
        Story::new("a realm that another holds for a while", json!({}))
            .with(|world| world.foreign_lease = true)
            .then(Moment::AtRest, |world| world.foreign_lease = false),
        Story::new("a run that committed nothing", json!({})).then(Moment::Claimed, |world| {
            world.apply_report = Some(ApplyReport::NothingCommitted {
                failure: failure("statement_failed", FailureClass::Attention),
            });
        }),
        Story::new("a run that may have committed and did", json!({}))
            .then(Moment::Claimed, uncertain)
            .then(Moment::Proving, |world| world.database = Digest::of(b"one")),
        Story::new("a run that may have committed and did not", json!({})).then(Moment::Claimed, uncertain),
        Story::new("a run whose Job was deleted", json!({})).then(Moment::Running, |world| {
            let name = world.status().active_operation.unwrap().job_name;
            world.jobs.remove(&name);
        }),
        Story::new("another ConfigMap of the same name", json!({})).then(Moment::Waiting, |world| {
            world.edit_source("one");
            if let super::super::evidence::SourceEvidence::Resolved(source) = &mut world.source {
                source.config_map = ImmutableObjectReference {
                    name: "sql".into(),
                    uid: "cm-2".into(),
                };
            }
        }),
    ];
    stories.extend(of_pod_sources());
    stories.extend(of_pod_sources().into_iter().map(|story| Story {
        name: format!("{}, where the manager looks", story.name),
        world: story.world.manager_looks(),
        ..story
    }));
    for operation in [Operation::Observe, Operation::Plan] {
        let story = Story::new(format!("a {operation:?} that fails once"), json!({}));
        stories.push(story.with(|world| {
            world.fail_next = Some((operation, failure("connection_failed", FailureClass::Transient)));
        }));
    }
    for interruption in INTERRUPTIONS {
        for moment in MOMENTS {
            let name = format!("{} at {moment:?}", interruption.name);
            let mut story = Story::new(name, json!({}))
                .then(moment, interruption.deed)
                .ends(interruption.end);
            if let Some(after) = interruption.after {
                story = story.then(Moment::AtRest, after);
            }
            stories.push(story);
        }
    }
    stories
}

/// Stories of sources that the reading's own Pod resolves.
fn of_pod_sources() -> Vec<Story> {
    let story = |name: &str, world: World| Story {
        world,
        ..Story::new(name, json!({}))
    };
    let git = |name: &str| story(name, sources::git_world(json!({})));
    let gone: Deed = |world| {
        world.push("two");
        if let Some(remote) = &mut world.remote {
            remote.gone = true;
        }
    };
    let mut stories = vec![
        git("a Git source"),
        story("an OCI source", sources::oci_world(json!({}))),
        git("a refused pull").with(|world| {
            world.refuse_next = Some((
                OperationStep::Resolve,
                failure("submodule", FailureClass::Refused),
            ));
        }),
        story("a refused artifact", sources::oci_world(json!({}))).with(|world| {
            world.refuse_next = Some((
                OperationStep::Verify,
                failure("policy_refused", FailureClass::Refused),
            ));
        }),
        story("a signed commit", signatures::signed_world(json!({}))),
        story("a tip that nobody signed", signatures::signed_world(json!({}))).then(
            Moment::Waiting,
            |world| {
                world.push("two");
                world.refuse_next = Some((
                    OperationStep::Resolve,
                    failure("commit_signature_refused", FailureClass::Refused),
                ));
                world.advance(601);
            },
        ),
        git("a commit that is gone before its plan is made").then(Moment::Planning, gone),
        git("a commit that is gone before its run is proven").then(Moment::Proving, gone),
        git("a commit that is gone while it runs").then(Moment::Running, gone),
        git("from Git to a ConfigMap").then(Moment::Waiting, |world| {
            world.remote = None;
            world.edit_source("two");
            world.edit_spec(json!({"desired": {"configMap": {"name": "sql"}}}));
        }),
    ];
    for moment in MOMENTS {
        let push: Deed = |world| world.push("two");
        stories.push(git(&format!("a push at {moment:?}")).then(moment, push).then(
            Moment::AtRest,
            |world| {
                world.advance(601);
            },
        ));
    }
    stories
}

fn uncertain(world: &mut World) {
    world.apply_report = Some(ApplyReport::Uncertain {
        failure: failure("outcome_unknown", FailureClass::Attention),
        statements: 0,
    });
}
