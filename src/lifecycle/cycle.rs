//! The cycle of a resource with nothing in flight: when to read again, and what a plan that waits may do.

use std::time::Duration;

use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{OperationType, Phase, SourceStatus};
use ptah_contract::digest::Digest;

use super::claim::Purpose;
use super::evidence::{ResolvedSource, SourceEvidence};
use super::pass::Pass;
use super::step::{Effect, Requeue, Step};
use super::{approval, report};

/// A no-change plan older than this is made anew at the next refresh.
const STEADY_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Decides what an idle resource does.
pub(super) fn run(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    let answered = pass.status.observed_generation == Some(pass.schema.generation());
    let phase = pass.status.phase.unwrap_or_default();
    let edited = source_moved(&pass) || policy_moved(&pass, effective);
    match phase {
        Phase::AwaitingApproval | Phase::ReadyToApply if answered && !edited => {
            return approval::decide(pass, effective, coordination);
        }
        Phase::InSync | Phase::Blocked | Phase::Failed if answered && !edited && !pass.due() => {
            return pass.finish_scheduled();
        }
        _ => {}
    }
    if !answered {
        pass.phase(Phase::Pending);
        pass.status.failed_applies = None;
    }
    begin(pass, effective, coordination)
}

/// Starts the cycle: resolves the source and claims the reading.
pub(super) fn begin(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    if matches!(
        pass.status.phase,
        Some(Phase::Resolving | Phase::Observing | Phase::Planning)
    ) {
        // Nothing is in flight, so this is what a cycle that was cut short left behind.
        pass.phase(Phase::Pending);
    }
    let refresh = pass.status.phase == Some(Phase::InSync);
    pass.phase(Phase::Resolving);
    let source = match &pass.evidence.source {
        SourceEvidence::Resolved(source) => source.clone(),
        SourceEvidence::Refused { failure, reason } => {
            let (message, reason) = (report::sentence(failure), *reason);
            pass.of_class(failure.class);
            return report::resolve_failed(pass, effective, reason, &message);
        }
        SourceEvidence::NotRead => return pass.finish(Requeue::Now),
    };
    let moved = source_moved(&pass);
    if !source.snapshot_present {
        pass.before.push(Effect::EnsureSnapshot);
    }
    if moved || pass.status.source.is_none() {
        take_source(&mut pass, &source);
    } else if !pass.condition_is(types::ARTIFACT_RESOLVED, "True") {
        report::snapshot_taken(&mut pass, &source);
    }
    if policy_moved(&pass, effective) {
        pass.retire_plan();
    }
    if moved || pass.status.observed_generation != Some(pass.schema.generation()) {
        let message = match &pass.status.proven {
            Some(_) => "another state is declared than the one that was proven",
            None => "nothing is proven of this state yet",
        };
        pass.superseded(message);
    }
    if pass
        .status
        .failed_applies
        .as_ref()
        .is_some_and(|failed| failed.content_digest != source.content_digest)
    {
        pass.status.failed_applies = None;
    }
    pass.phase(Phase::Observing);
    let steady = refresh && !moved && steady(&pass, effective, &source);
    claim_reading(pass, effective, coordination, steady)
}

/// Writes the snapshot again where somebody took it away, before an operation is claimed that reads it: the source
/// still gives the same bytes. Under a claim nothing is put back; its Pod refuses to start without them.
pub(super) fn keep_snapshot(pass: &mut Pass<'_>, content: Digest) {
    if let SourceEvidence::Resolved(source) = &pass.evidence.source
        && source.content_digest == content
        && !source.snapshot_present
    {
        pass.before.push(Effect::EnsureSnapshot);
    }
}

fn claim_reading(mut pass: Pass<'_>, effective: &Effective, coordination: Digest, refresh: bool) -> Step {
    let operation = pass.claim(
        effective,
        coordination,
        OperationType::Observe,
        if refresh { Purpose::Refresh } else { Purpose::Cycle },
    );
    pass.status.active_operation = Some(operation);
    pass.status.last_attempt_time = Some(pass.time());
    pass.working("the database is being read");
    pass.after.push(Effect::CreateJob);
    pass.finish(Requeue::After(Duration::from_secs(30)))
}

/// Records new content: the plan that was made from the old one retires, and its snapshot goes.
fn take_source(pass: &mut Pass<'_>, source: &ResolvedSource) {
    pass.retire_plan();
    pass.status.source = Some(SourceStatus {
        config_map: Some(source.config_map.clone()),
        content_digest: source.content_digest,
        snapshot: Some(source.snapshot.clone()),
        files: source.files,
        bytes: source.bytes,
        resolved_at: pass.time(),
    });
    report::snapshot_taken(pass, source);
    pass.after.push(Effect::CollectSnapshots);
}

/// Whether the source holds other files than the ones last resolved, or is another ConfigMap of the same name. A
/// source that cannot be read moves nothing: it is noticed at the next interval, and no plan runs meanwhile.
pub(super) fn source_moved(pass: &Pass<'_>) -> bool {
    let SourceEvidence::Resolved(now) = &pass.evidence.source else {
        return false;
    };
    pass.status.source.as_ref().is_none_or(|was| {
        was.config_map.as_ref() != Some(&now.config_map) || was.content_digest != now.content_digest
    })
}

/// Whether the plan that waits was made under another policy.
fn policy_moved(pass: &Pass<'_>, effective: &Effective) -> bool {
    pass.status
        .plan
        .as_ref()
        .is_some_and(|plan| effective.policy.fingerprint().ok() != Some(plan.policy_fingerprint))
}

/// Whether a refresh may stand on the last no-change plan: nothing that it was made from has moved.
fn steady(pass: &Pass<'_>, effective: &Effective, source: &ResolvedSource) -> bool {
    let Some(proven) = &pass.status.proven else {
        return false;
    };
    let binding = pass
        .status
        .execution_binding
        .as_ref()
        .map(|binding| binding.epoch.as_str());
    proven.source_uid == source.config_map.uid
        && proven.content_digest == source.content_digest
        && proven.generation == pass.schema.generation()
        && Some(proven.execution_binding_id.as_str()) == binding
        && effective.policy.fingerprint().ok() == Some(proven.policy_fingerprint)
        && super::claim::after(proven.planned_at.0, STEADY_FOR) > pass.now
}

impl Pass<'_> {
    pub(super) fn condition_is(&self, kind: &str, status: &str) -> bool {
        ptah_api::conditions::find(&self.status.conditions, kind).is_some_and(|found| found.status == status)
    }
}

/// A plan that waits is no longer what would be planned now.
pub(super) fn stale_plan(
    mut pass: Pass<'_>,
    effective: &Effective,
    coordination: Digest,
    message: &str,
) -> Step {
    pass.retire_plan();
    pass.set(types::PLAN_READY, "False", reasons::STALE, message);
    pass.emit(true, reasons::STALE_PLAN, message);
    begin(pass, effective, coordination)
}
