//! May this person approve this plan now, and what is stamped if so.
//!
//! Promises: an approval is admitted only for the plan that waits at this moment, by schema UID, plan UID and
//! fingerprint, with the plan's bytes stored whole; who approved, when, and in which request is what the API server
//! says, never what the request's body says. [`decide`] reads no clock and talks to nobody.

use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::UserInfo;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, Operation};
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::{is_true, types};
use ptah_api::effective::Effective;
use ptah_api::{ApprovalIdentity, ImmutableObjectReference, Phase, PtahSchema, PtahSchemaPlan};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Groups that are kept of an approver who is in more.
pub const MAX_GROUPS: usize = 64;

/// What a person writes into an approval. Everything else there is replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// The schema.
    pub schema_ref: ImmutableObjectReference,
    /// The plan.
    pub plan_ref: ImmutableObjectReference,
    /// The plan's fingerprint.
    pub plan_fingerprint: String,
}

/// The request to approve.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// UID of the admission request.
    pub uid: &'a str,
    /// Namespace of the approval.
    pub namespace: &'a str,
    /// Who asks, as authenticated.
    pub user: &'a UserInfo,
    /// What they wrote.
    pub written: &'a Written,
}

/// What an admitted approval is stamped with.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// Who decided.
    pub approver: ApprovalIdentity,
    /// When.
    pub approved_at: Time,
    /// In which request.
    pub mutation_request_uid: String,
}

/// Why an approval is not admitted, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not an object that this webhook is for.
    #[error("this webhook answers for the creation of ptahschemaapprovals only")]
    Unexpected,
    /// The three references are not there.
    #[error("spec must name schemaRef (name, uid), planRef (name, uid) and planFingerprint: {0}")]
    Malformed(String),
    /// Nobody is named by the request.
    #[error(
        "the request names no user, so nobody can be recorded as the approver; authenticate and try again"
    )]
    Anonymous,
    /// There is no such schema.
    #[error(
        "there is no ptahschema {0}; name the schema in spec.schemaRef as kubectl get ptahschema shows it"
    )]
    NoSchema(String),
    /// The schema was made again.
    #[error(
        "ptahschema {0} is not the object that spec.schemaRef.uid names; it was made again: read it, and approve the plan that waits now"
    )]
    OtherSchema(String),
    /// The schema goes away.
    #[error("ptahschema {0} is being deleted; nothing of it will run")]
    Deleting(String),
    /// A newer spec was not looked at yet.
    #[error(
        "ptahschema {0} was edited and the operator has not answered the edit yet; wait until it waits for an approval again"
    )]
    Unanswered(String),
    /// Something is running.
    #[error("an operation of ptahschema {0} is under way; wait until it is in phase AwaitingApproval")]
    Busy(String),
    /// No decision is asked for.
    #[error(
        "ptahschema {schema} does not wait for an approval (phase {phase}); only a plan that waits can be approved"
    )]
    NotWaiting {
        /// The schema.
        schema: String,
        /// Its phase.
        phase: String,
    },
    /// Another plan waits.
    #[error(
        "{field} is not that of the plan that waits for ptahschema {schema}; read the current plan (kubectl ptah plan) and approve that one"
    )]
    OtherPlan {
        /// The schema.
        schema: String,
        /// The field that differs.
        field: &'static str,
    },
    /// The decision is made.
    #[error(
        "the plan of ptahschema {schema} is approved already, by {approval}; delete that approval first to withdraw it"
    )]
    AlreadyApproved {
        /// The schema.
        schema: String,
        /// Name of the approval.
        approval: String,
    },
    /// The plan object is gone.
    #[error("the plan object {0} does not exist; the operator will make it again, then approve it")]
    NoPlan(String),
    /// The plan object contradicts itself.
    #[error("the plan object {name} is not what it claims ({what}); delete it and the operator plans again")]
    BrokenPlan {
        /// The plan.
        name: String,
        /// What does not hold.
        what: &'static str,
    },
    /// The SQL is not stored whole.
    #[error("plan {0} is not Ready: its SQL is not stored whole yet; try again once it is")]
    NotReady(String),
    /// The plan was made for components that have changed.
    #[error("plan {0} was made by another version of the operator; wait for the plan that replaces it")]
    OtherBinding(String),
    /// Policy forbids it.
    #[error(
        "plan {0} destroys data and spec.policy.allowDestructive is not true; an approval does not override the policy"
    )]
    Destructive(String),
    /// It cannot be checked now.
    #[error("the approval cannot be checked now, try again: {0}")]
    Unavailable(String),
}

/// Reads what the decision rests on, and decides.
///
/// # Errors
/// [`Refusal`].
pub async fn answer(
    client: &Client,
    request: &AdmissionRequest<DynamicObject>,
    now: Timestamp,
) -> Result<Stamp, Refusal> {
    if request.resource.resource != "ptahschemaapprovals" || request.operation != Operation::Create {
        return Err(Refusal::Unexpected);
    }
    let (Some(namespace), Some(object)) = (&request.namespace, &request.object) else {
        return Err(Refusal::Unexpected);
    };
    let written: Written =
        Written::deserialize(&object.data["spec"]).map_err(|error| Refusal::Malformed(error.to_string()))?;
    let schema: Option<PtahSchema> = read(client, namespace, &written.schema_ref.name).await?;
    let plan: Option<PtahSchemaPlan> = read(client, namespace, &written.plan_ref.name).await?;
    let request = Request {
        uid: &request.uid,
        namespace,
        user: &request.user_info,
        written: &written,
    };
    decide(&request, schema.as_ref(), plan.as_ref(), now)
}

async fn read<K>(client: &Client, namespace: &str, name: &str) -> Result<Option<K>, Refusal>
where
    K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    // An empty name would read the collection.
    if name.is_empty() {
        return Ok(None);
    }
    Api::<K>::namespaced(client.clone(), namespace)
        .get_opt(name)
        .await
        .map_err(|error| {
            tracing::warn!(%error, "could not read what an approval names");
            Refusal::Unavailable("the API server did not give the schema or the plan".to_owned())
        })
}

/// Decides. The order of the questions is the order in which an answer helps most.
///
/// # Errors
/// [`Refusal`].
pub fn decide(
    request: &Request<'_>,
    schema: Option<&PtahSchema>,
    plan: Option<&PtahSchemaPlan>,
    now: Timestamp,
) -> Result<Stamp, Refusal> {
    let written = request.written;
    let named = format!("{}/{}", request.namespace, written.schema_ref.name);
    let username = request
        .user
        .username
        .clone()
        .filter(|name| !name.is_empty())
        .ok_or(Refusal::Anonymous)?;
    let schema = schema.ok_or_else(|| Refusal::NoSchema(named.clone()))?;
    waits(schema, written, &named)?;
    holds(schema, plan, written)?;
    let mut groups = request.user.groups.clone().unwrap_or_default();
    groups.truncate(MAX_GROUPS);
    Ok(Stamp {
        approver: ApprovalIdentity {
            username,
            uid: request.user.uid.clone().filter(|uid| !uid.is_empty()),
            groups,
        },
        // Whole seconds, as Kubernetes writes its times.
        approved_at: Time(Timestamp::from_second(now.as_second()).unwrap_or(now)),
        mutation_request_uid: request.uid.to_owned(),
    })
}

/// The schema waits for a decision on exactly this plan.
fn waits(schema: &PtahSchema, written: &Written, named: &str) -> Result<(), Refusal> {
    let named = || named.to_owned();
    if schema.uid().as_deref() != Some(&written.schema_ref.uid) {
        return Err(Refusal::OtherSchema(named()));
    }
    if schema.metadata.deletion_timestamp.is_some() {
        return Err(Refusal::Deleting(named()));
    }
    let status = schema.status.clone().unwrap_or_default();
    if status.active_operation.is_some() {
        return Err(Refusal::Busy(named()));
    }
    let phase = status.phase.unwrap_or_default();
    let Some(current) = &status.plan else {
        return Err(Refusal::NotWaiting {
            schema: named(),
            phase: format!("{phase:?}"),
        });
    };
    if let Some(approval) = &current.approval {
        return Err(Refusal::AlreadyApproved {
            schema: named(),
            approval: approval.name.clone(),
        });
    }
    if phase != Phase::AwaitingApproval || !is_true(&status.conditions, types::APPROVAL_REQUIRED) {
        return Err(Refusal::NotWaiting {
            schema: named(),
            phase: format!("{phase:?}"),
        });
    }
    let fingerprint = current.fingerprint.to_string();
    for (field, same) in [
        ("spec.planRef.name", current.name == written.plan_ref.name),
        ("spec.planRef.uid", current.uid == written.plan_ref.uid),
        ("spec.planFingerprint", fingerprint == written.plan_fingerprint),
    ] {
        if !same {
            return Err(Refusal::OtherPlan {
                schema: named(),
                field,
            });
        }
    }
    if status.observed_generation != Some(schema.generation()) {
        return Err(Refusal::Unanswered(named()));
    }
    Ok(())
}

/// The plan object is the one that the schema names, is what it claims, is stored whole, and may run.
fn holds(schema: &PtahSchema, plan: Option<&PtahSchemaPlan>, written: &Written) -> Result<(), Refusal> {
    let name = written.plan_ref.name.clone();
    let plan = plan.ok_or_else(|| Refusal::NoPlan(name.clone()))?;
    let broken = |what| {
        Err(Refusal::BrokenPlan {
            name: name.clone(),
            what,
        })
    };
    if plan.uid().as_deref() != Some(&written.plan_ref.uid) {
        return broken("its UID is another");
    }
    if plan.spec.fingerprint != written.plan_fingerprint {
        return broken("its fingerprint is another");
    }
    if !plan.spec.binds_its_fingerprint() {
        return broken("its binding does not give its fingerprint");
    }
    if plan.spec.binding.resource_uid != written.schema_ref.uid || plan.spec.schema_ref != written.schema_ref
    {
        return broken("it is for another schema");
    }
    let conditions = plan
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    if !is_true(conditions, types::READY) {
        return Err(Refusal::NotReady(name));
    }
    let epoch = schema
        .status
        .as_ref()
        .and_then(|status| status.execution_binding.as_ref())
        .map(|b| &b.epoch);
    if epoch != Some(&plan.spec.binding.execution_binding.epoch) {
        return Err(Refusal::OtherBinding(name));
    }
    let allowed = Effective::of(schema).is_ok_and(|effective| effective.policy.allow_destructive);
    if plan.spec.binding.destructive && !allowed {
        return Err(Refusal::Destructive(name));
    }
    Ok(())
}

impl Stamp {
    /// The change to the object. `add` replaces what the request's body said.
    ///
    /// # Errors
    /// Never in practice: the values are plain JSON.
    pub fn patch<P: DeserializeOwned>(&self) -> Result<P, Refusal> {
        serde_json::from_value(json!([
            {"op": "add", "path": "/spec/approver", "value": self.approver},
            {"op": "add", "path": "/spec/approvedAt", "value": self.approved_at},
            {"op": "add", "path": "/spec/mutationRequestUID", "value": self.mutation_request_uid},
        ]))
        .map_err(|error| Refusal::Unavailable(error.to_string()))
    }
}
