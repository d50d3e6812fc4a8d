//! The arrows that exist: the diagram's, and those that its text demands. This file is their one definition.

use ptah_api::Phase::{self, *};

/// The diagram of a schema's life.
const DIAGRAM: &[(Phase, Phase)] = &[
    (Pending, Resolving),
    (Resolving, Verifying),
    (Resolving, Observing),
    (Verifying, Observing),
    (Verifying, Blocked),
    (Observing, Planning),
    (Planning, InSync),
    (Planning, AwaitingApproval),
    (Planning, ReadyToApply),
    (AwaitingApproval, ReadyToApply),
    (ReadyToApply, Applying),
    (Applying, VerifyingConvergence),
    (VerifyingConvergence, InSync),
    (InSync, Resolving),
    (Blocked, Resolving),
    (Planning, Blocked),
    (Pending, Blocked),
    (Applying, Failed),
    (Failed, Resolving),
    (Pending, Suspended),
    (Suspended, Pending),
];

/// What the text demands beside them.
const TEXT: &[(Phase, Phase)] = &[
    (ReadyToApply, Resolving),
    (AwaitingApproval, Resolving),
    (Resolving, Failed),
    (Observing, Failed),
    (Planning, Failed),
    (Planning, Observing),
    (Applying, AwaitingApproval),
    (Applying, Pending),
    (VerifyingConvergence, Pending),
    (VerifyingConvergence, AwaitingApproval),
    (VerifyingConvergence, ReadyToApply),
    (VerifyingConvergence, Blocked),
    // The reserved approval was withdrawn before Apply was claimed.
    (ReadyToApply, AwaitingApproval),
    // A resource whose spec names no realm has nothing that could be read.
    (Pending, Failed),
];

/// Whether a phase may follow another.
pub(super) fn allowed(from: Phase, to: Phase) -> bool {
    let edited = to == Pending && !matches!(from, Applying | VerifyingConvergence);
    edited || DIAGRAM.contains(&(from, to)) || TEXT.contains(&(from, to))
}

/// Every arrow of the diagram.
pub(super) fn diagram() -> &'static [(Phase, Phase)] {
    DIAGRAM
}
