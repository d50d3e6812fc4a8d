//! What one pass does: effects that must come first, at most one status write, then the effects that the write made
//! survivable, in order.

use std::time::Duration;

use ptah_api::{ImmutableObjectReference, Phase, PtahSchemaStatus};
use ptah_contract::digest::Digest;

use super::publication::Publication;

/// A change outside the resource's status. Each is idempotent: done again after a crash, it changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Put the finalizer on the resource.
    AddFinalizer,
    /// Take the finalizer off.
    RemoveFinalizer,
    /// Write the snapshot of the source that was resolved in this pass.
    EnsureSnapshot,
    /// Look at a source on a network from the manager. The answer is evidence of a later pass.
    AskSource {
        /// Rely on nothing that was known before.
        anew: bool,
    },
    /// The answer was taken: it is not taken again.
    ForgetAnswer,
    /// Delete this resource's snapshots that nothing names any more.
    CollectSnapshots,
    /// Take the realm's Lease for this operation.
    AcquireLease(LeaseClaim),
    /// Renew it.
    RenewLease(LeaseClaim),
    /// Give it back, if holder and epoch are still these.
    ReleaseLease(LeaseClaim),
    /// Create the Job of `status.activeOperation`: exactly one create.
    CreateJob,
    /// Let the finished Job go after five minutes.
    SetJobTtl {
        /// Name of the Job.
        name: String,
    },
    /// Store a plan: object, chunks, then `Ready=True`.
    PublishPlan(Box<Publication>),
    /// Mark an approval.
    MarkApproval {
        /// Which.
        approval: ImmutableObjectReference,
        /// How.
        mark: ApprovalMark,
    },
    /// Tell people.
    Emit(Notice),
}

/// A realm's Lease and who holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseClaim {
    /// The realm.
    pub coordination_digest: Digest,
    /// The operation that holds it.
    pub operation_id: String,
    /// The epoch that is expected; `None` while acquiring.
    pub epoch: Option<String>,
    /// Its duration in seconds.
    pub duration_seconds: i32,
}

/// What becomes of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMark {
    /// It is the one that the plan will run under.
    Accepted,
    /// An Apply was dispatched under it; it is spent whatever comes of that.
    Consumed,
    /// It decides a plan that no longer stands.
    Stale,
    /// Another approval decided first.
    Superseded,
}

/// An Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// A Warning rather than a Normal Event.
    pub warning: bool,
    /// Reason.
    pub reason: &'static str,
    /// Note.
    pub note: String,
}

/// When the resource is looked at again if nothing wakes it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// At once: this step's own effects are the news.
    Now,
    /// After this long.
    After(Duration),
    /// Only when something changes.
    OnChange,
}

/// One pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Effects before the write. The write happens only when all of them succeeded.
    pub before: Vec<Effect>,
    /// The whole new status; `None` when nothing is to be written.
    pub status: Option<Box<PtahSchemaStatus>>,
    /// Effects after the write.
    pub after: Vec<Effect>,
    /// Phases passed through, from the stored one to the new one. Neighbours are arrows of the diagram.
    pub trail: Vec<Phase>,
    /// When to look again.
    pub requeue: Requeue,
}
