//! Reads what a pass decides on. Everything comes uncached from the API server, but the census of realms and the manager's
//! own looks at sources.

use kube::{Client, ResourceExt as _};
use ptah_api::effective::{Effective, realm_of};
use ptah_api::{OperationType, Phase, PtahSchema, PtahSchemaApproval};
use ptah_contract::protocol::{Outcome, result_name};
use ptah_resolver::config_map::Content;

use super::context::Context;
use super::run::Error;
use crate::lifecycle::evidence::{
    ApprovalEvidence, Evidence, JobEvidence, LeaseEvidence, PlanEvidence, ResultEvidence, SourceEvidence,
};
use crate::lifecycle::publication;
use crate::operation::{harvest, job, records};
use crate::source::Wanted;
use crate::{plan, realm, source};
use ptah_api::conditions::{self, types};

/// Evidence, and what an effect may need beside it.
pub(super) struct Gathered {
    pub evidence: Evidence,
    /// Bytes of the source, where a snapshot of them may have to be written.
    pub content: Option<Content>,
    /// The source, where the manager looks at it itself.
    pub wanted: Option<Wanted>,
}

/// Gathers what the resource's records call for.
pub(super) async fn gather(context: &Context, schema: &PtahSchema) -> Result<Gathered, Error> {
    let client = &context.client;
    let status = schema.status.clone().unwrap_or_default();
    let realm = realm_of(schema);
    let mut evidence = Evidence {
        components: context.components(&schema.spec.target.engine),
        nonce: nonce(),
        source: SourceEvidence::NotRead,
        claimants: realm
            .map(|realm| {
                let all = context.schemas.state();
                realm::claimants(schema, realm, all.iter().map(AsRef::as_ref))
            })
            .unwrap_or_default(),
        lease: LeaseEvidence::NotRead,
        job: JobEvidence::NotRead,
        result: ResultEvidence::NotRead,
        plan: PlanEvidence::NotRead,
        approvals: Vec::new(),
        apply_pod_active: false,
    };
    let (mut content, mut wanted) = (None, None);
    let operation = status.active_operation.as_ref();
    let writing = operation
        .is_some_and(|operation| operation.kind == OperationType::Apply && operation.dispatch_started);
    if !writing && schema.metadata.deletion_timestamp.is_none() && !schema.is_suspended() {
        let resolution = source::resolve(client, schema, &context.in_process).await?;
        (evidence.source, content, wanted) = (resolution.evidence, resolution.content, resolution.wanted);
    }
    let uid = schema.uid().unwrap_or_default();
    if let Some(operation) = operation {
        evidence.job = harvest::read(client, schema, operation).await?;
        if matches!(evidence.job, JobEvidence::Finished { .. }) {
            evidence.result = result(client, schema, operation).await?;
        }
    }
    let holder = match (operation, &status.pending_observation) {
        (Some(operation), _) if operation.kind != OperationType::Observe && !operation.proof => {
            Some((operation.coordination_digest, operation.id.clone()))
        }
        (_, Some(pending)) => Some((
            pending.plan.coordination_digest,
            pending.apply_operation_id.clone(),
        )),
        _ => None,
    };
    if let Some((realm, operation_id)) = holder {
        evidence.lease = context.leases.read(&realm, &uid, &operation_id).await?;
    }
    let applying = operation
        .filter(|_| writing)
        .map(|operation| operation.job_name.as_str());
    let applied = status
        .pending_observation
        .as_ref()
        .map(|pending| pending.apply_job_name.as_str());
    if let Some(job) = applied.or(applying) {
        let namespace = schema.namespace().unwrap_or_default();
        evidence.apply_pod_active = harvest::pod_active(client, &namespace, job).await?;
    }
    evidence.plan = plan_evidence(context, schema, &evidence).await?;
    if status.plan.is_some() {
        evidence.approvals = approvals(client, schema).await?;
    }
    Ok(Gathered {
        evidence,
        content,
        wanted,
    })
}

/// The plan that the claim's result would be, or the one that waits.
async fn plan_evidence(
    context: &Context,
    schema: &PtahSchema,
    evidence: &Evidence,
) -> Result<PlanEvidence, Error> {
    let status = schema.status.clone().unwrap_or_default();
    let namespace = schema.namespace().unwrap_or_default();
    let name = match (&status.active_operation, &evidence.result) {
        (Some(operation), ResultEvidence::Delivered(outcome)) if operation.kind == OperationType::Plan => {
            published_name(schema, operation.proof, outcome, evidence)
        }
        (Some(operation), _) if operation.kind == OperationType::Plan => None,
        _ => status.plan.as_ref().map(|plan| plan.name.clone()),
    };
    match name {
        Some(name) => Ok(plan::load(&context.client, &namespace, &name).await?),
        None => Ok(PlanEvidence::NotRead),
    }
}

fn published_name(
    schema: &PtahSchema,
    proof: bool,
    outcome: &Outcome,
    evidence: &Evidence,
) -> Option<String> {
    let status = schema.status.clone()?;
    let policy = match status.pending_observation.as_ref().filter(|_| proof) {
        Some(pending) => pending.policy.clone(),
        None => Effective::of(schema).ok()?.policy,
    };
    let source = status.source.clone()?;
    let made = publication::of(schema, &status, &source, &policy, &evidence.components, outcome);
    made.ok().flatten().map(|publication| publication.name)
}

async fn result(
    client: &Client,
    schema: &PtahSchema,
    operation: &ptah_api::ActiveOperation,
) -> Result<ResultEvidence, Error> {
    let identity = job::identity(schema, operation);
    let name = result_name(
        &identity.namespace,
        &identity.uid,
        &identity.operation_id,
        &identity.job_name,
    );
    let bytes = match records::load(client, &identity.namespace, &name, &identity).await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(ResultEvidence::Absent),
        Err(records::Error::Api(error)) => return Err(error.into()),
        Err(error) => return Ok(ResultEvidence::Unreadable(error.to_string())),
    };
    Ok(match Outcome::from_bytes(&bytes) {
        Ok(outcome) if outcome.operation_id == operation.id => ResultEvidence::Delivered(Box::new(outcome)),
        Ok(_) => ResultEvidence::Unreadable("it is of another operation".to_owned()),
        Err(error) => ResultEvidence::Unreadable(error.to_string()),
    })
}

/// Approvals that name this schema, oldest first.
async fn approvals(client: &Client, schema: &PtahSchema) -> Result<Vec<ApprovalEvidence>, Error> {
    let phase = schema
        .status
        .as_ref()
        .and_then(|status| status.phase)
        .unwrap_or_default();
    if !matches!(
        phase,
        Phase::AwaitingApproval | Phase::ReadyToApply | Phase::Applying
    ) {
        return Ok(Vec::new());
    }
    let api: kube::Api<PtahSchemaApproval> =
        kube::Api::namespaced(client.clone(), &schema.namespace().unwrap_or_default());
    let mut found: Vec<PtahSchemaApproval> = api.list(&Default::default()).await?.items;
    found.retain(|approval| approval.spec.schema_ref.name == schema.name_any());
    found.sort_by_key(|approval| (approval.creation_timestamp(), approval.name_any()));
    Ok(found.iter().map(evidence_of).collect())
}

fn evidence_of(approval: &PtahSchemaApproval) -> ApprovalEvidence {
    let conditions = approval
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    let spec = &approval.spec;
    ApprovalEvidence {
        reference: ptah_api::ImmutableObjectReference {
            name: approval.name_any(),
            uid: approval.uid().unwrap_or_default(),
        },
        schema: spec.schema_ref.clone(),
        plan: spec.plan_ref.clone(),
        plan_fingerprint: spec.plan_fingerprint.clone(),
        approver: spec.approver.clone(),
        approved_at: spec.approved_at.0,
        stamped: !spec.approver.username.is_empty() && !spec.mutation_request_uid.is_empty(),
        deleting: approval.metadata.deletion_timestamp.is_some(),
        consumed: conditions::is_true(conditions, types::CONSUMED),
        stale: conditions::is_true(conditions, types::STALE),
    }
}

/// 32 hex digits from the system's generator.
fn nonce() -> String {
    format!("{:032x}", rand::random::<u128>())
}
