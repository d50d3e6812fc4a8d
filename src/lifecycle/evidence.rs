//! What the driver found out. Absence of a reading is a value of its own, so that nothing is decided on a guess.

use jiff::Timestamp;
use ptah_api::{
    ApprovalIdentity, CurrentPlanStatus, ImmutableObjectReference, PolicyBindingStatus, SourceTerms,
};
use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::protocol::{Outcome, SourceReport, StepFailure};

/// Everything that one pass may need. Driver fields that a phase does not need stay at their `NotRead`.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What this manager would run operations with.
    pub components: Components,
    /// 32 fresh hex digits: the only randomness that a pass may use.
    pub nonce: String,
    /// The source, read now.
    pub source: SourceEvidence,
    /// Other resources that claim the same realm and are neither suspended nor being deleted.
    pub claimants: Vec<Claimant>,
    /// The realm's Lease.
    pub lease: LeaseEvidence,
    /// The claim's Job.
    pub job: JobEvidence,
    /// What the claim's Pod delivered.
    pub result: ResultEvidence,
    /// The plan object that the claim's result would be, or that `status.plan` names.
    pub plan: PlanEvidence,
    /// Approvals that name this schema, oldest first.
    pub approvals: Vec<ApprovalEvidence>,
    /// A Pod of the Apply that runs, or that a proof is owed for, may still be running.
    pub apply_pod_active: bool,
}

/// The components of an execution binding, and what is recorded beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// Version of what the manager keeps in status.
    pub controller_state_version: i32,
    /// Version of the engine.
    pub engine_version: String,
    /// Digest-pinned runner image for the resource's engine; `None` when this installation has none.
    pub runner_image: Option<String>,
    /// Version of the runner protocol.
    pub protocol_version: i32,
    /// Digest-pinned manager image.
    pub controller_image: String,
    /// Revision of the manager.
    pub controller_revision: String,
}

/// The source, as the manager knows it in this pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceEvidence {
    /// Not looked at.
    NotRead,
    /// Its content.
    Resolved(ResolvedSource),
    /// A Pod finds its content; this is what it is held to.
    InPod(SourceTerms),
    /// The manager finds its content, beside its passes.
    InManager {
        /// What it is held to.
        terms: SourceTerms,
        /// How far that is.
        answer: SourceAnswer,
    },
    /// It cannot be used, and why.
    Refused {
        /// Why.
        failure: Failure,
        /// Condition reason.
        reason: &'static str,
    },
}

impl SourceEvidence {
    /// What a source on a network is held to.
    #[must_use]
    pub fn terms(&self) -> Option<&SourceTerms> {
        match self {
            Self::InPod(terms) | Self::InManager { terms, .. } => Some(terms),
            Self::NotRead | Self::Resolved(_) | Self::Refused { .. } => None,
        }
    }
}

/// What became of the manager's own look at a source. It is in memory alone: a manager that starts anew asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAnswer {
    /// Nobody asked, or the answer has grown old.
    NotAsked,
    /// It was asked and has not answered.
    UnderWay,
    /// It answered, and nobody has taken the answer yet.
    Here {
        /// Nothing that was known before was relied on.
        anew: bool,
        /// What was found, whole; or which step failed, and why.
        found: Result<Box<SourceReport>, Box<StepFailure>>,
    },
}

/// Content of a ConfigMap source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSource {
    /// The ConfigMap.
    pub config_map: ImmutableObjectReference,
    /// Identity of the files.
    pub content_digest: Digest,
    /// Number of files.
    pub files: i32,
    /// Bytes of all files.
    pub bytes: i64,
    /// The source policy that it satisfies.
    pub source_policy: Option<PolicyBindingStatus>,
    /// Name that the snapshot has or would have.
    pub snapshot: String,
    /// Whether it is there and gives the digest.
    pub snapshot_present: bool,
}

/// Another resource of the same realm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// `namespace/name`.
    pub name: String,
    /// It declares `sharedRealm`.
    pub shared: bool,
}

/// The realm's Lease as it stands, seen by the holder that this pass would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseEvidence {
    /// Not looked at.
    NotRead,
    /// There is none, it has no holder, or its holder let it lapse.
    Available,
    /// Held by this operation.
    Ours {
        /// Its epoch.
        epoch: String,
        /// A third of its duration has gone by since it was renewed.
        due: bool,
    },
    /// Held by another operation.
    Foreign,
}

/// The claim's Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEvidence {
    /// Not looked at.
    NotRead,
    /// There is none of that name.
    Missing,
    /// One of that name is not ours, or is another than the claim made.
    Foreign,
    /// It has not ended.
    Running {
        /// Why no Pod runs, where the cluster says so (admission, scheduling, image).
        trouble: Option<String>,
        /// The container that reaches the source has done so.
        source_reached: bool,
    },
    /// It has ended.
    Finished {
        /// What its Pod's containers left as a termination message, if anything.
        message: Option<String>,
        /// It was ended by its deadline.
        deadline: bool,
    },
}

/// What the claim's Pod delivered.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultEvidence {
    /// Not looked at.
    NotRead,
    /// Nothing was delivered.
    Absent,
    /// A complete, checked outcome of exactly this claim.
    Delivered(Box<Outcome>),
    /// Something was delivered that is not one.
    Unreadable(String),
}

/// A plan object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanEvidence {
    /// Not looked at.
    NotRead,
    /// There is none, or its storage is not committed yet.
    Missing,
    /// Stored whole, and every byte gives its digest.
    Stored {
        /// UID of the plan object.
        uid: String,
        /// Its fingerprint.
        fingerprint: Digest,
        /// When it was created.
        created_at: Timestamp,
    },
    /// An object under a name that it needs holds something else.
    Altered {
        /// Which object, and what is wrong with it.
        message: String,
    },
}

/// One approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalEvidence {
    /// The approval object.
    pub reference: ImmutableObjectReference,
    /// The schema that it names.
    pub schema: ImmutableObjectReference,
    /// The plan that it names.
    pub plan: ImmutableObjectReference,
    /// The fingerprint that it names.
    pub plan_fingerprint: String,
    /// Who, as stamped at admission.
    pub approver: ApprovalIdentity,
    /// When, as stamped at admission.
    pub approved_at: Timestamp,
    /// It carries a complete stamp.
    pub stamped: bool,
    /// It is being deleted.
    pub deleting: bool,
    /// Its condition `Consumed` is true.
    pub consumed: bool,
    /// Its condition `Stale` is true.
    pub stale: bool,
}

impl ApprovalEvidence {
    /// Whether it decides exactly this plan of exactly this schema and may still be used.
    #[must_use]
    pub fn matches(&self, schema: &ImmutableObjectReference, plan: &CurrentPlanStatus) -> bool {
        self.stamped
            && !self.deleting
            && !self.stale
            && self.schema == *schema
            && self.plan.name == plan.name
            && self.plan.uid == plan.uid
            && self.plan_fingerprint == plan.fingerprint.to_string()
    }
}
