//! The request document of a claim, made from status: a proof's comes from what its Apply recorded, whatever the spec
//! says by now.

use ptah_api::effective::{Effective, InvalidField};
use ptah_api::{
    ActiveOperation, DatabaseTarget, DesiredSource, OperationType, PtahSchema, PtahSchemaStatus,
    SourceStatus, names,
};
use ptah_contract::protocol::{
    ApplyInput, LastReading, OperationIdentity, PROTOCOL_VERSION, Request, ResultDelivery,
};
use ptah_contract::realm::Engine;

use super::Settings;
use crate::lifecycle::claim;
use crate::source;

/// A claim that its status cannot explain.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that the Job needs is not in status.
    #[error("the Job of this claim cannot be built: {0} is not in status")]
    Missing(&'static str),
    /// What is asked of the source.
    #[error("the Job of this claim cannot be built")]
    Source(#[from] source::Incomplete),
    /// A field of the spec.
    #[error("the Job of this claim cannot be built")]
    Field(#[from] InvalidField),
    /// The request cannot be encoded.
    #[error("the request of this claim cannot be encoded")]
    Encoding(#[from] serde_json::Error),
}

pub(super) fn of(
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    operation: &ActiveOperation,
    settings: &Settings,
) -> Result<Request, Error> {
    let effective = Effective::of(schema)?;
    let proof = status.pending_observation.as_ref().filter(|_| operation.proof);
    let engine =
        Engine::from_name(&target(schema, status, operation).engine).ok_or(Error::Missing("the engine"))?;
    let mut request = Request {
        version: PROTOCOL_VERSION,
        identity: identity(schema, operation),
        steps: claim::steps(
            operation.kind,
            operation.proof,
            operation.terms.as_ref().map(|_| &schema.spec.desired),
        ),
        engine: engine.name().to_owned(),
        coordination_digest: operation.coordination_digest,
        target_identity_digest: proof.map(|pending| pending.plan.target_identity_digest),
        content_digest: None,
        source: None,
        without_files: false,
        policy: proof.map_or_else(|| effective.policy.clone(), |pending| pending.policy.clone()),
        deadline_seconds: effective.active_deadline.as_secs(),
        last: None,
        apply: None,
        delivery: ResultDelivery {
            ..settings.delivery.clone()
        },
    };
    match operation.kind {
        OperationType::Apply => {
            let plan = status.plan.as_ref().ok_or(Error::Missing("the plan"))?;
            request.target_identity_digest = Some(plan.target_identity_digest);
            request.apply = Some(ApplyInput {
                plan_digest: plan.plan_digest,
                size: u64::try_from(plan.size).unwrap_or(0),
                chunks: u32::try_from(plan.chunks).unwrap_or(0),
                plan_fingerprint: plan.fingerprint,
            });
        }
        OperationType::Observe if operation.terms.is_some() => {
            let terms = operation.terms.clone().unwrap_or_default();
            let known = status
                .source
                .as_ref()
                .filter(|_| operation.refresh)
                .and_then(SourceStatus::revision);
            request.source = Some(source::at(&schema.spec.desired, &terms, known)?);
        }
        OperationType::Observe | OperationType::Plan => {
            let known = recorded(status, operation)?;
            request.content_digest = Some(known.content_digest);
            request.without_files = goes_without_files(operation, known);
            if !request.without_files {
                request.source = source::pinned_to(desired(schema, status, operation), known)?;
            }
        }
    }
    if operation.refresh {
        request.last = status.proven.as_ref().map(|proven| LastReading {
            content_digest: proven.content_digest,
            observed_fingerprint: proven.observed_fingerprint,
            scope: proven.scope.clone(),
        });
    }
    Ok(request)
}

/// Which attempt this is, as the receiver compares it with the live claim.
#[must_use]
pub fn identity(schema: &PtahSchema, operation: &ActiveOperation) -> OperationIdentity {
    OperationIdentity {
        namespace: schema.metadata.namespace.clone().unwrap_or_default(),
        kind: "PtahSchema".to_owned(),
        name: schema.metadata.name.clone().unwrap_or_default(),
        uid: schema.metadata.uid.clone().unwrap_or_default(),
        generation: operation.generation,
        execution_binding: operation.execution_binding_id.clone(),
        input_fingerprint: operation.input_fingerprint,
        operation: claim::operation(operation.kind),
        operation_id: operation.id.clone(),
        job_name: operation.job_name.clone(),
    }
}

fn recorded<'a>(
    status: &'a PtahSchemaStatus,
    operation: &ActiveOperation,
) -> Result<&'a SourceStatus, Error> {
    let proof = status.pending_observation.as_ref().filter(|_| operation.proof);
    proof
        .map(|pending| &pending.source)
        .or(status.source.as_ref())
        .ok_or(Error::Missing("the source"))
}

/// A refresh of what the manager found unchanged needs the files only if the database has changed, which is rare, and
/// then it is made again with them.
fn goes_without_files(operation: &ActiveOperation, known: &SourceStatus) -> bool {
    operation.refresh && known.config_map.is_none()
}

/// Where an operation's files come from.
pub(super) enum Files {
    /// Its Pod reaches the source itself.
    Source,
    /// A ConfigMap of this name.
    Snapshot(String),
    /// It has none.
    None,
}

pub(super) fn files(
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    operation: &ActiveOperation,
) -> Result<Files, Error> {
    if operation.terms.is_some() {
        return Ok(Files::Source);
    }
    let known = recorded(status, operation)?;
    Ok(if goes_without_files(operation, known) {
        Files::None
    } else if known.config_map.is_none() {
        Files::Source
    } else {
        let uid = schema.metadata.uid.as_deref().unwrap_or_default();
        Files::Snapshot(names::snapshot_name(uid, &known.content_digest))
    })
}

/// How the source of the operation's files is reached.
pub(super) fn desired<'a>(
    schema: &'a PtahSchema,
    status: &'a PtahSchemaStatus,
    operation: &ActiveOperation,
) -> &'a DesiredSource {
    let proof = status.pending_observation.as_ref().filter(|_| operation.proof);
    proof
        .and_then(|pending| pending.desired.as_ref())
        .unwrap_or(&schema.spec.desired)
}

/// The database that the operation reaches.
pub(super) fn target<'a>(
    schema: &'a PtahSchema,
    status: &'a PtahSchemaStatus,
    operation: &ActiveOperation,
) -> &'a DatabaseTarget {
    let proof = status.pending_observation.as_ref().filter(|_| operation.proof);
    proof.map_or(&schema.spec.target, |pending| &pending.target)
}
