//! What becomes of a reading: of the source, whoever found it, and of the database.

use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{
    ActiveOperation, DriftFindingStatus, OperationType, Phase, SourceStatus, SourceTerms, TargetStatus,
};
use ptah_contract::digest::Digest;
use ptah_contract::protocol::{ObserveReport, SourceReport, SourceRevision, TargetReading};

use super::claim::Purpose;
use super::pass::Pass;
use super::step::{Requeue, Step};
use super::{cycle, source};

/// Takes what the reading's own Pod found at the source, in the diagram's order: digest pinned, policy satisfied, or a
/// commit resolved.
pub(super) fn take_source(pass: &mut Pass<'_>, found: Option<&SourceReport>) -> Result<(), &'static str> {
    let terms = pass
        .status
        .active_operation
        .as_ref()
        .and_then(|operation| operation.terms.clone());
    let (held, found) = match (terms, found) {
        (Some(terms), Some(found)) => (terms, found),
        (None, None) => return Ok(()),
        (None, Some(found)) => {
            // A later fetch says what it fetched, and that has to be what it was asked for.
            let pinned = pass.status.source.as_ref().and_then(SourceStatus::revision);
            let same = |pinned: SourceRevision| {
                pinned.revision == found.found.revision && pinned.content_digest == found.found.content_digest
            };
            return match pinned.is_some_and(same) {
                true => Ok(()),
                false => Err("its Pod fetched another revision than it was asked for"),
            };
        }
        (Some(_), None) => return Err("its Pod says nothing of the source that it was asked for"),
    };
    if !take_found(pass, &held, found)? && pass.status.proven.is_some() {
        pass.superseded("another state is declared than the one that was proven");
    }
    pass.phase(Phase::Observing);
    Ok(())
}

/// The source is resolved, and verified where it is an artifact: the database is read next.
pub(super) fn leave_source(pass: &mut Pass<'_>) {
    if pass.status.phase == Some(Phase::Resolving) {
        if pass.schema.spec.desired.oci_ref.is_some() {
            pass.phase(Phase::Verifying);
        }
        pass.phase(Phase::Observing);
    }
}

/// Takes what was found at a source that is held to these terms; whether it binds a plan as what was known before.
pub(super) fn take_found(
    pass: &mut Pass<'_>,
    held: &SourceTerms,
    found: &SourceReport,
) -> Result<bool, &'static str> {
    let artifact = pass.schema.spec.desired.oci_ref.is_some();
    if pass.status.phase != Some(Phase::Observing) {
        pass.phase(Phase::Resolving);
        if artifact {
            pass.phase(Phase::Verifying);
        }
    }
    let before = pass.status.source.clone();
    let policy = held.policy_digest();
    let satisfied = found.verified.as_ref().map(|verified| verified.policy_digest);
    match &found.fetched {
        None if satisfied.is_some() && satisfied != policy => {
            return Err("another policy is reported than was asked for");
        }
        None if source::is_known(pass, &found.found) => source::reaffirm(pass, found.verified.as_ref()),
        None => return Err("nothing was fetched of a source that is not the one that was known"),
        Some(fetched) => {
            if fetched.artifact.is_some() != artifact || satisfied != policy {
                return Err("another kind of source, or another policy, is reported than was asked for");
            }
            source::take_report(pass, held, found, fetched);
        }
    }
    Ok(before
        .zip(pass.status.source.as_ref())
        .is_some_and(|(was, now)| was.binds_as(now)))
}

/// A reading was delivered: a steady one ends the refresh, any other is followed by planning.
pub(super) fn observed(
    mut pass: Pass<'_>,
    effective: &Effective,
    coordination: Digest,
    operation: &ActiveOperation,
    reading: &ObserveReport,
    target: &TargetReading,
) -> Step {
    pass.end_job();
    pass.set(
        types::DATABASE_REACHABLE,
        "True",
        reasons::OBSERVED,
        &format!("server version {}", target.server_version),
    );
    if reading.files_missing {
        // The Pod stood on what was known of the source, and the database is not what was known: read it with the files.
        pass.status.active_operation = None;
        return observe_again(pass, effective, coordination);
    }
    let source = pass.status.source.clone();
    let stands = pass.status.proven.as_ref().is_some_and(|proven| {
        reading.steady
            && operation.refresh
            && source
                .as_ref()
                .is_some_and(|source| source::is_what_was_proven(source, proven))
            && proven.observed_fingerprint == reading.fingerprint
            && proven.target_identity_digest == target.identity_digest
    });
    if stands {
        pass.status.active_operation = None;
        pass.phase(Phase::Planning);
        pass.phase(Phase::InSync);
        pass.status.last_successful_reconciliation = Some(pass.time());
        return pass.finish_at(effective.interval.duration());
    }
    take_reading(&mut pass, operation, reading, target);
    pass.phase(Phase::Planning);
    pass.status.active_operation = None;
    claim_plan(pass, effective, coordination)
}

/// Claims planning. Its Lease is taken before anything is created.
fn claim_plan(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    if let Some(content) = pass.status.source.as_ref().map(|source| source.content_digest) {
        source::keep_snapshot(&mut pass, content);
    }
    let operation = pass.claim(effective, coordination, OperationType::Plan, Purpose::Cycle);
    pass.status.active_operation = Some(operation);
    pass.status.last_attempt_time = Some(pass.time());
    pass.working("a plan is being made and proven");
    pass.finish(Requeue::Now)
}

/// The reading cannot be planned on: read again. `Planning` to `Observing` is an arrow of its own.
pub(super) fn observe_again(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    pass.retire_plan();
    pass.phase(Phase::Observing);
    if pass.status.pending_lock_release.is_some() {
        // The Lease goes first; the pass after that starts the cycle from the source.
        return pass.finish(Requeue::Now);
    }
    cycle::begin(pass, effective, coordination)
}

fn take_reading(
    pass: &mut Pass<'_>,
    operation: &ActiveOperation,
    reading: &ObserveReport,
    target: &TargetReading,
) {
    let drift = reading.drift.as_ref();
    let before = pass.status.target.take();
    pass.status.target = Some(TargetStatus {
        engine: pass.schema.spec.target.engine.clone(),
        coordination_digest: operation.coordination_digest,
        identity_digest: target.identity_digest,
        server_identity: target.server_identity,
        server_version: target.server_version.clone(),
        observed_fingerprint: reading.fingerprint,
        dialect: target.dialect.clone(),
        drift_report_digest: drift
            .map(|drift| drift.digest)
            .or(before.and_then(|b| b.drift_report_digest)),
        last_observed_at: pass.time(),
        highest_drift_severity: drift
            .and_then(|drift| drift.highest_severity)
            .map(|severity| severity.word().to_owned()),
        drift_finding_count: drift.map_or(0, |drift| i32::try_from(drift.total).unwrap_or(i32::MAX)),
        drift_findings: drift
            .map(|drift| {
                drift
                    .findings
                    .iter()
                    .map(|finding| DriftFindingStatus {
                        category: finding.category.clone(),
                        count: i32::try_from(finding.count).unwrap_or(i32::MAX),
                        severity: finding.severity.word().to_owned(),
                    })
                    .collect()
            })
            .unwrap_or_default(),
    });
    let (status, message) = match drift {
        Some(drift) if drift.total > 0 => (
            "True",
            format!("{} differences from the desired state", drift.total),
        ),
        Some(_) => ("False", "no difference from the desired state".to_owned()),
        None => return,
    };
    pass.set(types::DRIFT_DETECTED, status, reasons::OBSERVED, &message);
}
