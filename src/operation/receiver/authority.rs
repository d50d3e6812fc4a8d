//! Whether this Pod may speak for the claim in status, at this moment.
//!
//! Promises: every object is read from the API server itself, never from a cache; what cannot be confirmed is
//! refused. [`judge`] is the whole rule about the claim, without I/O.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::PostParams;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::{ActiveOperation, OperationType, PtahSchema};
use ptah_contract::protocol::{Operation, OperationIdentity, RESULT_AUDIENCE};

use super::delivery::Delivery;
use super::refusal::Refusal;

const REVIEW_LIMIT: Duration = Duration::from_secs(5);
/// How far clocks of two machines may be apart.
pub const LEEWAY: SignedDuration = SignedDuration::from_secs(60);

/// What the Pod asks leave for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// To begin: after a yes it may send statements.
    Preflight,
    /// To deliver. A run may have ended after the instant at which it could last have begun.
    Upload,
}

/// Reviews the token, and returns the ServiceAccount's name.
///
/// # Errors
/// 401 for a token that is not ours, 403 for one of another Pod, 503 when it cannot be reviewed.
pub async fn authenticate(client: &Client, delivery: &Delivery) -> Result<String, Refusal> {
    let review = TokenReview {
        spec: TokenReviewSpec {
            token: delivery.token().to_owned(),
            audiences: Some(vec![RESULT_AUDIENCE.to_owned()]),
        },
        ..TokenReview::default()
    };
    let api = Api::<TokenReview>::all(client.clone());
    let answer = tokio::time::timeout(REVIEW_LIMIT, api.create(&PostParams::default(), &review))
        .await
        .map_err(|error| Refusal::Unavailable(Box::new(error)))??;
    let status = answer.status.unwrap_or_default();
    if status.authenticated != Some(true) {
        return Err(Refusal::Unauthenticated("the token is not valid for results"));
    }
    // A server that knows nothing of audiences leaves this empty: the token may then be anybody's.
    if status.audiences.as_deref() != Some(&[RESULT_AUDIENCE.to_owned()]) {
        return Err(Refusal::Unauthenticated("the token is not for this audience"));
    }
    let user = status.user.unwrap_or_default();
    let prefix = format!("system:serviceaccount:{}:", delivery.identity.namespace);
    let account = user
        .username
        .as_deref()
        .and_then(|name| name.strip_prefix(&prefix));
    let Some(account) = account.filter(|account| !account.is_empty()) else {
        return Err(Refusal::Forbidden(
            "the token is of no service account of the resource's namespace",
        ));
    };
    let bound = |key, value: &String| extra(&user, key) == Some(std::slice::from_ref(value));
    if !bound("authentication.kubernetes.io/pod-name", &delivery.pod.pod_name)
        || !bound("authentication.kubernetes.io/pod-uid", &delivery.pod.pod_uid)
    {
        return Err(Refusal::Forbidden("the token is not bound to this pod"));
    }
    Ok(account.to_owned())
}

fn extra<'u>(user: &'u UserInfo, key: &str) -> Option<&'u [String]> {
    user.extra.as_ref()?.get(key).map(Vec::as_slice)
}

/// Reads Pod, Job and resource, and compares them with what the Pod says.
///
/// # Errors
/// 403 when any differs, 503 when the claim may still come or the API server is away.
pub async fn authorize(
    client: &Client,
    delivery: &Delivery,
    account: &str,
    moment: Moment,
    now: Timestamp,
) -> Result<(), Refusal> {
    let (identity, pod) = (&delivery.identity, &delivery.pod);
    let namespace = identity.namespace.as_str();

    let live = Api::<Pod>::namespaced(client.clone(), namespace)
        .get_opt(&pod.pod_name)
        .await?;
    let live = live.filter(|live| live.uid().as_ref() == Some(&pod.pod_uid));
    let live = live.ok_or(Refusal::Forbidden("the pod does not exist"))?;
    if live
        .spec
        .as_ref()
        .and_then(|spec| spec.service_account_name.as_deref())
        != Some(account)
    {
        return Err(Refusal::Forbidden("the pod runs as another service account"));
    }
    if !controlled(live.owner_references(), "Job", &identity.job_name, &pod.job_uid) {
        return Err(Refusal::Forbidden("the pod is not of this job"));
    }

    let job = Api::<Job>::namespaced(client.clone(), namespace)
        .get_opt(&identity.job_name)
        .await?;
    let job = job.filter(|job| job.uid().as_ref() == Some(&pod.job_uid));
    let job = job.ok_or(Refusal::Forbidden("the job does not exist"))?;
    if !controlled(
        job.owner_references(),
        &identity.kind,
        &identity.name,
        &identity.uid,
    ) {
        return Err(Refusal::Forbidden("the job is not of this resource"));
    }
    // The manager sets it when it is done with the Job: whatever comes now comes too late.
    if job
        .spec
        .as_ref()
        .is_some_and(|spec| spec.ttl_seconds_after_finished.is_some())
    {
        return Err(Refusal::Forbidden("the operation is settled"));
    }
    let leaving = live.metadata.deletion_timestamp.is_some() || job.metadata.deletion_timestamp.is_some();
    if leaving && moment == Moment::Preflight {
        return Err(Refusal::Forbidden("the pod or its job is being deleted"));
    }

    let schema = Api::<PtahSchema>::namespaced(client.clone(), namespace)
        .get_opt(&identity.name)
        .await?;
    judge(schema.as_ref(), identity, moment, now)
}

fn controlled(owners: &[OwnerReference], kind: &str, name: &str, uid: &str) -> bool {
    owners.iter().any(|owner| {
        owner.controller == Some(true) && owner.kind == kind && owner.name == name && owner.uid == uid
    })
}

/// Whether the resource's claim is the one that the Pod speaks for.
///
/// # Errors
/// 403, or 503 when a newer state of the resource may still confirm it.
pub fn judge(
    schema: Option<&PtahSchema>,
    identity: &OperationIdentity,
    moment: Moment,
    now: Timestamp,
) -> Result<(), Refusal> {
    let schema = schema
        .filter(|schema| schema.uid().as_ref() == Some(&identity.uid))
        .ok_or(Refusal::Forbidden("the resource does not exist"))?;
    let claim = schema
        .status
        .as_ref()
        .and_then(|status| status.active_operation.as_ref());
    let Some(claim) = claim else {
        // The claim is older than its Pod. Where the resource itself is older than the claim, we were shown the past.
        let past = schema.generation() < identity.generation;
        return Err(if past {
            Refusal::NotYet
        } else {
            Refusal::Forbidden("the resource has no claim")
        });
    };
    if !same(claim, identity) {
        return Err(Refusal::Forbidden("the resource's claim is another"));
    }
    if claim.lease_continuity_lost {
        return Err(Refusal::Forbidden("the claim lost the lease of its realm"));
    }
    if holds_lease(claim) {
        if claim.lease_epoch.is_none() {
            return Err(Refusal::Forbidden("the claim holds no lease"));
        }
        if !claim.dispatch_started {
            return Err(Refusal::NotYet);
        }
    }
    if moment == Moment::Preflight && claim.kind == OperationType::Apply {
        let last = claim
            .execution_not_after
            .as_ref()
            .and_then(|last| last.0.checked_add(LEEWAY).ok());
        if last.is_none_or(|last| now > last) {
            return Err(Refusal::Forbidden("the time to begin this run is over"));
        }
    }
    Ok(())
}

fn same(claim: &ActiveOperation, identity: &OperationIdentity) -> bool {
    let kind = match claim.kind {
        OperationType::Observe => Operation::Observe,
        OperationType::Plan => Operation::Plan,
        OperationType::Apply => Operation::Apply,
    };
    claim.id == identity.operation_id
        && claim.job_name == identity.job_name
        && kind == identity.operation
        && claim.input_fingerprint == identity.input_fingerprint
        && claim.generation == identity.generation
        && claim.execution_binding_id == identity.execution_binding
}

/// Plan and Apply work under the realm's Lease, and so does the proof after an Apply, whatever its kind.
fn holds_lease(claim: &ActiveOperation) -> bool {
    claim.proof || claim.kind != OperationType::Observe
}
