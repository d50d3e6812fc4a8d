//! The cycle of a resource with nothing in flight: when to read again, and what a plan that waits may do.

use std::time::Duration;

use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{OperationType, Phase};
use ptah_contract::digest::Digest;

use super::claim::Purpose;
use super::evidence::{SourceAnswer, SourceEvidence};
use super::pass::Pass;
use super::step::{Effect, Requeue, Step};
use super::{approval, reading, report, source};

/// A no-change plan older than this is made anew at the next refresh.
const STEADY_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Decides what an idle resource does.
pub(super) fn run(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    let answered = pass.status.observed_generation == Some(pass.schema.generation());
    let phase = pass.status.phase.unwrap_or_default();
    let edited = source::edited(&pass) || policy_moved(&pass, effective);
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
        if !source::is_awaited(&pass) {
            pass.phase(Phase::Pending);
        }
        pass.status.failed_applies = None;
    }
    begin(pass, effective, coordination)
}

/// Starts the cycle: resolves the source and claims the reading.
pub(super) fn begin(mut pass: Pass<'_>, effective: &Effective, coordination: Digest) -> Step {
    if let Some(step) = source::awaited(&mut pass, effective) {
        return step;
    }
    let working = matches!(
        pass.status.phase,
        Some(Phase::Resolving | Phase::Verifying | Phase::Observing | Phase::Planning)
    );
    if working && !source::is_awaited(&pass) {
        // Nothing is in flight, so this is what a cycle that was cut short left behind.
        pass.phase(Phase::Pending);
    }
    let refresh = pass.status.phase == Some(Phase::InSync);
    pass.phase(Phase::Resolving);
    let evidence = pass.evidence;
    let mut moved = source::moved(&pass);
    // Whether the content is known before the Pod starts.
    let known = match &evidence.source {
        SourceEvidence::Resolved(source) => {
            if !source.snapshot_present {
                pass.before.push(Effect::EnsureSnapshot);
            }
            if moved {
                source::take_config_map(&mut pass, source);
            } else if !pass.condition_is(types::ARTIFACT_RESOLVED, "True") {
                report::snapshot_taken(&mut pass, source);
            }
            true
        }
        SourceEvidence::InPod(_) => {
            if moved {
                // What was planned from another place, or under another policy, retires before its successor is known.
                pass.retire_plan();
            }
            false
        }
        SourceEvidence::InManager { terms, answer } => {
            pass.after.push(Effect::ForgetAnswer);
            let found = match answer {
                SourceAnswer::Here { found, .. } => found,
                SourceAnswer::NotAsked | SourceAnswer::UnderWay => return pass.finish(Requeue::Now),
            };
            pass.status.source_terms = Some(terms.clone());
            match found {
                Err(failed) => {
                    if moved {
                        // As above: what was planned under other terms retires, whatever comes of these.
                        pass.retire_plan();
                    }
                    pass.of_class(failed.failure.class);
                    return report::source_failed(pass, effective, failed);
                }
                Ok(found) => match reading::take_found(&mut pass, terms, found) {
                    Ok(same) => moved = !same,
                    Err(message) => {
                        return report::resolve_failed(pass, effective, reasons::RESOLVE_FAILED, message);
                    }
                },
            }
            true
        }
        SourceEvidence::Refused { failure, reason } => {
            let (message, reason) = (report::sentence(failure), *reason);
            pass.of_class(failure.class);
            return report::resolve_failed(pass, effective, reason, &message);
        }
        SourceEvidence::NotRead => return pass.finish(Requeue::Now),
    };
    pass.status.source_terms = evidence.source.terms().cloned();
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
    let steady = refresh && !moved && steady(&pass, effective);
    let what = if known {
        pass.phase(Phase::Observing);
        "the database is being read"
    } else {
        "the source is being resolved"
    };
    claim_reading(pass, effective, coordination, steady, what)
}

fn claim_reading(
    mut pass: Pass<'_>,
    effective: &Effective,
    coordination: Digest,
    refresh: bool,
    what: &str,
) -> Step {
    let operation = pass.claim(
        effective,
        coordination,
        OperationType::Observe,
        if refresh { Purpose::Refresh } else { Purpose::Cycle },
    );
    pass.status.active_operation = Some(operation);
    pass.status.last_attempt_time = Some(pass.time());
    pass.working(what);
    pass.after.push(Effect::CreateJob);
    pass.finish(Requeue::After(Duration::from_secs(30)))
}

/// Whether the plan that waits was made under another policy.
fn policy_moved(pass: &Pass<'_>, effective: &Effective) -> bool {
    pass.status
        .plan
        .as_ref()
        .is_some_and(|plan| effective.policy.fingerprint().ok() != Some(plan.policy_fingerprint))
}

/// Whether a refresh may stand on the last no-change plan: nothing that it was made from has moved. Of a source that the
/// Pod resolves, the Pod says the rest.
pub(super) fn steady(pass: &Pass<'_>, effective: &Effective) -> bool {
    let (Some(proven), Some(source)) = (&pass.status.proven, &pass.status.source) else {
        return false;
    };
    let binding = pass
        .status
        .execution_binding
        .as_ref()
        .map(|binding| binding.epoch.as_str());
    source::is_what_was_proven(source, proven)
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
