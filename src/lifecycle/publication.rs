//! From a delivered plan to the object that is published: the manager's own reading of the document.

use ptah_api::{PlanRecord, PolicyBindingStatus, PtahSchema, PtahSchemaStatus, SourceStatus};
use ptah_contract::digest::Digest;
use ptah_contract::plan_contract::{
    self, CONTRACT_VERSION, CommitVerificationBinding, SchemaPlanBinding, plan_name,
};
use ptah_contract::plan_document::{PlanDocument, PlanDocumentError};
use ptah_contract::policy::SchemaPolicy;
use ptah_contract::protocol::{Outcome, PlanResult};

use super::evidence::Components;

/// A plan ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// Name of the plan object.
    pub name: String,
    /// Its identity.
    pub fingerprint: Digest,
    /// What it binds.
    pub binding: SchemaPlanBinding,
    /// The document's bytes.
    pub document: Vec<u8>,
    /// `postgres` or `mysql`.
    pub dialect: String,
    /// Recorded beside it.
    pub recorded: PlanRecord,
}

/// A delivered plan that cannot be published.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document cannot be read.
    #[error("the delivered plan document cannot be read")]
    Document(#[from] PlanDocumentError),
    /// It contradicts what was delivered beside it.
    #[error("the delivered plan document {0}")]
    Contradiction(&'static str),
    /// The binding has no fingerprint.
    #[error("the plan cannot be identified")]
    Binding(#[from] plan_contract::Error),
    /// The policy has no fingerprint.
    #[error("the policy cannot be identified")]
    Policy(#[from] serde_json::Error),
    /// Something that a plan binds is not known.
    #[error("the plan cannot be bound: {0} is not known")]
    Unbound(&'static str),
}

/// What a plan of this outcome would be; `None` when the outcome carries no changes.
///
/// # Errors
/// When the document cannot be read, or does not fit what was claimed.
pub fn of(
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    source: &SourceStatus,
    policy: &SchemaPolicy,
    components: &Components,
    outcome: &Outcome,
) -> Result<Option<Publication>, Error> {
    let Some(plan) = outcome
        .plan
        .as_ref()
        .filter(|plan| plan.result == PlanResult::Changes)
    else {
        return Ok(None);
    };
    let bytes = plan
        .document
        .as_ref()
        .ok_or(Error::Unbound("the document"))?
        .as_bytes();
    let document = PlanDocument::decode(bytes)?;
    if document.from_fingerprint != plan.actual_state_fingerprint
        || document.to_fingerprint != plan.desired_state_fingerprint
    {
        return Err(Error::Contradiction(
            "names other states than the result beside it",
        ));
    }
    let mut exclude = document.exclude.clone();
    exclude.sort();
    if exclude != policy.exclude {
        return Err(Error::Contradiction(
            "was made for another set of excluded objects",
        ));
    }
    if document.transaction_mode != policy.transaction_mode {
        return Err(Error::Contradiction("was made for another transaction mode"));
    }
    let operation = status
        .active_operation
        .as_ref()
        .ok_or(Error::Unbound("the claim"))?;
    let binding = SchemaPlanBinding {
        contract_version: CONTRACT_VERSION,
        resource_uid: schema
            .metadata
            .uid
            .clone()
            .ok_or(Error::Unbound("the resource's UID"))?,
        source: source.binding().ok_or(Error::Unbound("the source"))?,
        content_digest: source.content_digest,
        plan_digest: Digest::of(bytes),
        coordination_digest: operation.coordination_digest,
        target_identity_digest: outcome
            .target
            .as_ref()
            .ok_or(Error::Unbound("the target"))?
            .identity_digest,
        actual_state_fingerprint: plan.actual_state_fingerprint,
        desired_state_fingerprint: plan.desired_state_fingerprint,
        policy_fingerprint: policy.fingerprint()?,
        verification_policy: source.verification_policy(),
        source_policy: source
            .source_policy
            .as_ref()
            .map(PolicyBindingStatus::to_contract),
        commit_verification: source
            .commit_verification()
            .map(|digest| CommitVerificationBinding { digest }),
        execution_binding: status
            .execution_binding
            .as_ref()
            .ok_or(Error::Unbound("the execution binding"))?
            .to_contract(),
        destructive: document.destructive,
        privilege_changes: privilege_kinds(&document),
        statement_count: u32::try_from(document.statements.len())
            .map_err(|_| Error::Contradiction("has too many statements"))?,
    };
    let fingerprint = binding.fingerprint()?;
    Ok(Some(Publication {
        name: plan_name(&fingerprint),
        fingerprint,
        binding,
        document: bytes.to_vec(),
        dialect: document.dialect,
        recorded: PlanRecord {
            controller_image: components.controller_image.clone(),
            controller_revision: components.controller_revision.clone(),
            source: source.describe(),
        },
    }))
}

/// Kinds by name, in the one order that the contract demands.
fn privilege_kinds(document: &PlanDocument) -> Vec<String> {
    let mut kinds: Vec<String> = document
        .privilege_changes()
        .into_iter()
        .map(|kind| format!("{kind:?}"))
        .collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
