//! The order of one pass over a schema.
//!
//! What is owed comes first (a Lease to give back), then what is in flight, then what must be proven, then whether
//! the resource may do anything at all, and only then its cycle: resolve, observe, plan, approve, apply, prove.

use jiff::Timestamp;
use ptah_api::conditions::{reasons, types};
use ptah_api::effective::{Effective, realm_of};
use ptah_api::{ExecutionBindingStatus, OperationType, Phase, PtahSchema, names};
use ptah_contract::realm::Engine;

use super::evidence::Evidence;
use super::pass::Pass;
use super::step::{Effect, Requeue, Step};
use super::{claim, cycle, proof, supervise};

/// The next step of a schema.
#[must_use]
pub fn next(schema: &PtahSchema, evidence: &Evidence, now: Timestamp) -> Step {
    let mut pass = Pass::new(schema, evidence, now);
    if let Some(release) = pass.status.pending_lock_release.take() {
        pass.before.push(Effect::ReleaseLease(super::step::LeaseClaim {
            coordination_digest: release.coordination_digest,
            operation_id: release.operation_id,
            epoch: Some(release.lease_epoch),
            duration_seconds: release.lease_duration_seconds,
        }));
        return pass.finish(Requeue::Now);
    }
    if schema.metadata.deletion_timestamp.is_some() {
        return supervise::deletion(pass);
    }
    let effective = match Effective::of(schema) {
        Ok(effective) => effective,
        Err(error) => return configuration_error(pass, &format!("{error}: {}", error.source)),
    };
    pass.status.effective = Some(effective.to_status());
    if evidence.components.runner_image.is_some() {
        bind_execution(&mut pass);
    }
    // What is in flight or owed is seen to its end first, whatever the spec says by now.
    let realm = realm_of(schema);
    if let Some(operation) = &pass.status.active_operation {
        let coordination = realm.unwrap_or(operation.coordination_digest);
        return supervise::live_claim(pass, &effective, coordination);
    }
    if let Some(pending) = &pass.status.pending_observation {
        let coordination = realm.unwrap_or(pending.plan.coordination_digest);
        return proof::owed(pass, &effective, coordination);
    }
    if pass.has_finalizer() {
        pass.before.push(Effect::RemoveFinalizer);
    }
    idle(pass, &effective)
}

/// A resource with nothing in flight and nothing owed.
pub(super) fn idle(mut pass: Pass<'_>, effective: &Effective) -> Step {
    let Some(engine) = Engine::from_name(&pass.schema.spec.target.engine) else {
        return unsupported_engine(pass, "no engine of that name exists");
    };
    let Some(coordination) = realm_of(pass.schema) else {
        return configuration_error(
            pass,
            "spec.target: name one of coordinationKey and realmRef, and not both",
        );
    };
    if pass.evidence.components.runner_image.is_none() {
        return unsupported_engine(
            pass,
            &format!("this installation has no runner for {}", engine.name()),
        );
    }
    if let Some(step) = refused_at_the_gate(&mut pass, effective) {
        return step;
    }
    pass.set(
        types::ENGINE_SUPPORTED,
        "True",
        reasons::SUPPORTED_ENGINE,
        "the engine is supported",
    );
    cycle::run(pass, effective, coordination)
}

/// Whether the resource may start anything: suspension, realm grants, the realm's census.
fn refused_at_the_gate(pass: &mut Pass<'_>, effective: &Effective) -> Option<Step> {
    if pass.schema.is_suspended() {
        pass.phase_from_pending(Phase::Suspended);
        pass.set(
            types::SUSPENDED,
            "True",
            reasons::REQUESTED,
            "spec.suspend is set; set it to false to go on",
        );
        pass.rest(
            types::READY,
            "False",
            reasons::SUSPENDED,
            "spec.suspend is set; set it to false to go on",
        );
        pass.status.next_reconciliation_time = None;
        return Some(pass.take().finish(Requeue::OnChange));
    }
    if pass.status.phase == Some(Phase::Suspended) {
        pass.phase(Phase::Pending);
    }
    pass.clear(types::SUSPENDED);
    if pass.schema.spec.target.realm_ref.is_some() {
        let message = "spec.target.realmRef: no PtahRealm admits this namespace; use coordinationKey for a database of \
                       one namespace";
        return Some(blocked_realm(
            pass.take(),
            effective,
            reasons::REALM_NOT_AUTHORIZED,
            message,
        ));
    }
    let shared = pass.schema.spec.target.shared_realm.unwrap_or(false);
    let claimants = &pass.evidence.claimants;
    if claimants.is_empty() || (shared && claimants.iter().all(|claimant| claimant.shared)) {
        return None;
    }
    let others: Vec<&str> = claimants
        .iter()
        .map(|claimant| claimant.name.as_str())
        .take(5)
        .collect();
    let message = format!(
        "spec.target.coordinationKey is also claimed by {}; give each database its own key, or set sharedRealm: true on \
         every resource that manages a part of it",
        others.join(", ")
    );
    Some(blocked_realm(
        pass.take(),
        effective,
        reasons::REALM_CONFLICT,
        &message,
    ))
}

fn blocked_realm(mut pass: Pass<'_>, effective: &Effective, reason: &'static str, message: &str) -> Step {
    let wait = effective
        .interval
        .duration()
        .min(std::time::Duration::from_secs(60));
    pass.phase_from_pending(Phase::Blocked);
    pass.blocked(reason, message);
    pass.finish_at(wait)
}

fn unsupported_engine(mut pass: Pass<'_>, why: &str) -> Step {
    let engine = pass.schema.spec.target.engine.clone();
    let message = format!("spec.target.engine {engine:?}: {why}; PostgreSQL is supported");
    pass.phase_from_pending(Phase::Blocked);
    pass.set(
        types::ENGINE_SUPPORTED,
        "False",
        reasons::UNSUPPORTED_ENGINE,
        &message,
    );
    pass.blocked(reasons::UNSUPPORTED_ENGINE, &message);
    pass.status.next_reconciliation_time = None;
    pass.finish(Requeue::OnChange)
}

/// A spec that no claim can be made from. It failed, and nothing but an edit will have it tried again.
fn configuration_error(mut pass: Pass<'_>, message: &str) -> Step {
    if pass.status.active_operation.is_none() {
        pass.phase_from_pending(Phase::Failed);
        pass.set(
            types::RECONCILIATION_FAILED,
            "True",
            reasons::CONFIGURATION_ERROR,
            message,
        );
        pass.blocked(reasons::CONFIGURATION_ERROR, message);
        pass.status.next_reconciliation_time = None;
    }
    pass.finish(Requeue::OnChange)
}

/// Records the components that a plan would run with. A change of one is a new epoch: it retires the plan and drops
/// whatever has not been dispatched. A dispatched Apply and its proof go on under the epoch that they began with.
fn bind_execution(pass: &mut Pass<'_>) {
    let components = &pass.evidence.components;
    let fresh = ExecutionBindingStatus {
        epoch: format!("v1-{}", pass.evidence.nonce),
        controller_state_version: components.controller_state_version,
        ptah_version: components.engine_version.clone(),
        executor_image: components.runner_image.clone().unwrap_or_default(),
        runner_protocol_version: components.protocol_version,
    };
    let Some(bound) = &pass.status.execution_binding else {
        pass.status.execution_binding = Some(fresh);
        return;
    };
    let same = ExecutionBindingStatus {
        epoch: fresh.epoch.clone(),
        ..bound.clone()
    } == fresh;
    let may_have_written =
        pass.status.pending_observation.is_some()
            || pass.status.active_operation.as_ref().is_some_and(|operation| {
                operation.kind == OperationType::Apply && operation.dispatch_started
            });
    if same || may_have_written {
        return;
    }
    pass.status.execution_binding = Some(fresh);
    pass.retire_plan();
    pass.drop_claim();
    pass.status.proven = None;
    pass.phase(Phase::Pending);
    pass.set(
        types::PLAN_READY,
        "Unknown",
        reasons::EXECUTION_BINDING_CHANGED,
        "the components that run operations changed; everything is read and planned again",
    );
}

impl Pass<'_> {
    pub(super) fn has_finalizer(&self) -> bool {
        self.schema
            .metadata
            .finalizers
            .iter()
            .flatten()
            .any(|finalizer| finalizer == names::FINALIZER)
    }

    /// Takes the claim away. A Lease that it may hold is owed from this very write on, and its Job is let go.
    pub(super) fn drop_claim(&mut self) {
        self.end_job();
        if let Some(operation) = self.status.active_operation.take()
            && let Some(lease) = claim::lease(&operation)
            && let Some(epoch) = lease.epoch.or_else(|| self.held_epoch())
        {
            self.owe_release(
                lease.coordination_digest,
                &lease.operation_id,
                &epoch,
                lease.duration_seconds,
            );
        }
    }
}
