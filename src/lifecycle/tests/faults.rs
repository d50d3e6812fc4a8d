//! Where a pass is cut short, and what the cut leaves: a manager that is killed, or an answer that never came.

use ptah_api::{ImmutableObjectReference, PtahSchema, PtahSchemaStatus};
use ptah_contract::digest::Digest;

use super::super::evidence::SourceEvidence;
use super::super::step::Effect;
use super::looks::Look;
use super::world::{Request, World};

/// One thing that a pass does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// The status write.
    Write(Box<PtahSchemaStatus>),
    /// An effect.
    Effect(Effect),
    /// A create of a Job that was sent earlier, with what it was made from.
    Job(Box<Request>),
}

/// Where a pass ends, counted in actions over all passes from when the cut was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Just before the action of this index: the manager is killed.
    Before(usize),
    /// Just after it: killed, or the answer was lost.
    After(usize),
    /// The request was sent and no answer came; the API server carries it out only after the next pass.
    Late(usize),
}

/// The cut that is due, and the request that is still under way.
#[derive(Clone, Default)]
pub(super) struct Faults {
    cut: Option<Cut>,
    index: usize,
    late: Option<Late>,
}

impl Faults {
    /// Whether a cut that was asked for has not happened yet.
    pub fn is_due(&self) -> bool {
        self.cut.is_some()
    }

    /// Whether a request is under way.
    pub fn is_late(&self) -> bool {
        self.late.is_some()
    }
}

#[derive(Clone)]
struct Late {
    action: Action,
    guard: Guard,
    passes: usize,
}

/// What must not have changed meanwhile, as the request says by its resource version.
#[derive(Clone)]
enum Guard {
    Nothing,
    Resource(Box<PtahSchema>),
    Lease(Option<(String, String)>),
    Approval(ImmutableObjectReference, bool, bool),
    Source(Option<Digest>),
}

impl World {
    /// Cuts the pass that would perform the action of this index.
    pub fn cut(&mut self, cut: Cut) {
        self.faults.cut = Some(cut);
        self.faults.index = 0;
    }

    /// Does one action, unless the cut is here. Whether the pass goes on.
    pub(super) fn attempt(&mut self, action: Action) -> bool {
        let index = self.faults.index;
        self.faults.index += 1;
        let due = self.faults.cut;
        let here = matches!(due, Some(Cut::Before(at) | Cut::After(at) | Cut::Late(at)) if at == index);
        if !here {
            self.act(&action);
            return true;
        }
        self.faults.cut = None;
        // What a manager has found out for itself dies with it.
        self.look = self.look.take().map(|_| Look::default());
        match due {
            Some(Cut::After(_)) => {
                self.act(&action);
                self.look = self.look.take().map(|_| Look::default());
            }
            Some(Cut::Late(_)) => {
                let guard = self.guard(&action);
                let action = match action {
                    Action::Effect(Effect::CreateJob) => Action::Job(Box::new(self.claimed())),
                    other => other,
                };
                let passes = 1;
                self.faults.late = Some(Late {
                    action,
                    guard,
                    passes,
                });
            }
            _ => {}
        }
        false
    }

    /// Carries out a request that was under way, if what it was made for has not changed.
    pub(super) fn late_arrivals(&mut self) {
        let Some(mut late) = self.faults.late.take() else {
            return;
        };
        if late.passes > 0 {
            late.passes -= 1;
            self.faults.late = Some(late);
            return;
        }
        if self.holds(&late.guard) {
            self.act(&late.action);
        }
    }

    fn guard(&self, action: &Action) -> Guard {
        match action {
            Action::Write(_) | Action::Effect(Effect::AddFinalizer | Effect::RemoveFinalizer) => {
                Guard::Resource(Box::new(self.schema.clone()))
            }
            Action::Effect(Effect::AcquireLease(_) | Effect::RenewLease(_) | Effect::ReleaseLease(_)) => {
                Guard::Lease(self.lease.clone())
            }
            Action::Effect(Effect::MarkApproval { approval, .. }) => {
                let (consumed, stale) = self.marks(approval);
                Guard::Approval(approval.clone(), consumed, stale)
            }
            Action::Effect(Effect::EnsureSnapshot) => Guard::Source(self.content()),
            _ => Guard::Nothing,
        }
    }

    fn holds(&self, guard: &Guard) -> bool {
        match guard {
            Guard::Nothing => true,
            Guard::Resource(was) => !self.gone && **was == self.schema,
            Guard::Lease(was) => *was == self.lease,
            Guard::Approval(approval, consumed, stale) => self.marks(approval) == (*consumed, *stale),
            Guard::Source(was) => *was == self.content(),
        }
    }

    fn marks(&self, approval: &ImmutableObjectReference) -> (bool, bool) {
        let found = self.approvals.iter().find(|found| found.reference == *approval);
        found.map_or((false, false), |found| (found.consumed, found.stale))
    }

    fn content(&self) -> Option<Digest> {
        match &self.source {
            SourceEvidence::Resolved(source) => Some(source.content_digest),
            _ => None,
        }
    }
}
