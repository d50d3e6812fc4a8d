//! Outcomes from what the engine returned.

use ptah_contract::failure::Failure;
use ptah_contract::plan_document::POSTGRES;
use ptah_contract::protocol::{
    Operation, Outcome, PROTOCOL_VERSION, Request, Step, StepFailure, TargetReading,
};
use ptah_engine::{Observation, Target};

/// Nothing yet.
pub(super) fn empty(request: &Request) -> Outcome {
    Outcome {
        version: PROTOCOL_VERSION,
        operation: request.identity.operation,
        operation_id: request.identity.operation_id.clone(),
        source: None,
        target: None,
        observe: None,
        plan: None,
        apply: None,
        failure: None,
    }
}

/// The operation's main step failed.
pub(super) fn failed(request: &Request, failure: Failure) -> Outcome {
    let step = match request.identity.operation {
        Operation::Observe => Step::Observe,
        Operation::Plan => Step::Plan,
        Operation::Apply => Step::Apply,
    };
    Outcome {
        failure: Some(StepFailure { step, failure }),
        ..empty(request)
    }
}

/// The database that was reached.
pub(super) fn reading(target: &Target, observation: &Observation) -> TargetReading {
    let version = observation.server.version;
    TargetReading {
        identity_digest: target.identity_digest(),
        server_identity: observation.server.identity,
        dialect: POSTGRES.to_owned(),
        server_version: format!("{}.{}", version / 10_000, version % 10_000),
    }
}
