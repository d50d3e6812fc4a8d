//! Carries a step out: effects, at most one status write, effects. It stops at the first failure; whatever is left is
//! decided anew from what the API server holds.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::{self, reasons, types};
use ptah_api::{
    ImmutableObjectReference, PtahSchema, PtahSchemaApproval, PtahSchemaApprovalStatus, PtahSchemaStatus,
    names,
};
use serde_json::json;

use super::context::Context;
use super::gather::Gathered;
use super::run::Error;
use crate::lifecycle::step::{ApprovalMark, Effect, Notice, Step};
use crate::operation::job;
use crate::{plan, source, telemetry};

/// Carries the step out.
pub(super) async fn carry_out(
    context: &Context,
    schema: &PtahSchema,
    gathered: &Gathered,
    step: &Step,
) -> Result<(), Error> {
    let before = schema.status.clone().unwrap_or_default();
    for effect in &step.before {
        perform(context, schema, &before, gathered, effect).await?;
        done(context, schema).await?;
    }
    let mut written = schema.clone();
    if let Some(status) = &step.status {
        written = write_status(&context.client, schema, status).await?;
        written.spec = schema.spec.clone();
        context.metrics.status_writes.inc();
        done(context, schema).await?;
    }
    let after = written.status.clone().unwrap_or_default();
    for effect in &step.after {
        perform(context, &written, &after, gathered, effect).await?;
        done(context, schema).await?;
    }
    Ok(())
}

/// After each action: where a manager that is built for tests can die.
#[cfg(feature = "failpoints")]
use super::failpoint::passed as done;
#[cfg(not(feature = "failpoints"))]
async fn done(_: &Context, _: &PtahSchema) -> Result<(), Error> {
    Ok(())
}

/// Writes the whole status, if nobody wrote the resource since it was read: a pass that decided on an older state
/// must not be carried out. The finalizer may have been changed by this very pass, so it is not compared.
async fn write_status(
    client: &Client,
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
) -> Result<PtahSchema, Error> {
    let api: Api<PtahSchema> = Api::namespaced(client.clone(), &schema.namespace().unwrap_or_default());
    let mut object = api.get(&schema.name_any()).await?;
    if object.uid() != schema.uid()
        || object.status != schema.status
        || object.metadata.generation != schema.metadata.generation
    {
        return Err(Error::Changed);
    }
    object.status = Some(status.clone());
    object.metadata.managed_fields = None;
    Ok(api
        .replace_status(&schema.name_any(), &PostParams::default(), &object)
        .await?)
}

async fn perform(
    context: &Context,
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    gathered: &Gathered,
    effect: &Effect,
) -> Result<(), Error> {
    let client = &context.client;
    let uid = schema.uid().unwrap_or_default();
    match effect {
        Effect::AddFinalizer => finalizer(client, schema, true).await,
        Effect::RemoveFinalizer => finalizer(client, schema, false).await,
        Effect::EnsureSnapshot => match &gathered.content {
            Some(content) => Ok(source::ensure(client, schema, content).await?),
            None => Err(Error::Changed),
        },
        Effect::AskSource { anew } => {
            let wanted = gathered.wanted.as_ref().ok_or(Error::Changed)?;
            context.in_process.ask(schema, wanted, *anew);
            Ok(())
        }
        Effect::ForgetAnswer => {
            context.in_process.forget(schema);
            Ok(())
        }
        Effect::CollectSnapshots => Ok(source::collect(client, schema, status).await?),
        Effect::AcquireLease(claim) => Ok(context
            .leases
            .acquire(claim, &uid, &format!("v1-{}", gathered.evidence.nonce))
            .await?),
        Effect::RenewLease(claim) => Ok(context.leases.renew(claim, &uid).await?),
        Effect::ReleaseLease(claim) => Ok(context.leases.release(claim, &uid).await?),
        Effect::CreateJob => create_job(context, schema, status).await,
        Effect::SetJobTtl { name } => set_ttl(client, schema, name).await,
        Effect::PublishPlan(publication) => Ok(plan::publish(client, schema, publication).await?),
        Effect::MarkApproval { approval, mark } => mark_approval(client, schema, approval, *mark).await,
        Effect::Emit(notice) => {
            // An Event that cannot be written changes nothing that matters.
            if let Err(error) = telemetry::emit(client, schema, notice).await {
                tracing::warn!(error = %error, reason = notice.reason, "the Event could not be written");
            }
            Ok(())
        }
    }
}

/// The one create of a claim. A Job of the name that is there already is judged by the next pass.
async fn create_job(context: &Context, schema: &PtahSchema, status: &PtahSchemaStatus) -> Result<(), Error> {
    let Some(operation) = &status.active_operation else {
        return Err(Error::Changed);
    };
    let proven = status.pending_observation.as_ref().filter(|_| operation.proof);
    let engine = proven.map_or(schema.spec.target.engine.as_str(), |pending| {
        pending.target.engine.as_str()
    });
    let runner_image = context.components(engine).runner_image;
    let settings = job::Settings {
        runner_image: runner_image.ok_or(Error::Changed)?,
        controller_image: context.installation.controller_image.clone(),
        delivery: context.delivery(),
    };
    let job = job::build(schema, status, operation, &settings)?;
    let api: Api<Job> = Api::namespaced(context.client.clone(), &schema.namespace().unwrap_or_default());
    match api.create(&PostParams::default(), &job).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 403 | 422) => {
            // Nobody reads the manager's log: the resource says that the cluster refuses its Jobs.
            let note = format!("Job {:?} is refused: {}", operation.job_name, status.message);
            let notice = Notice {
                warning: true,
                reason: "JobRefused",
                note,
            };
            telemetry::emit(&context.client, schema, &notice).await?;
            Err(kube::Error::Api(status).into())
        }
        other => {
            other?;
            context.metrics.jobs_created.inc();
            Ok(())
        }
    }
}

async fn set_ttl(client: &Client, schema: &PtahSchema, name: &str) -> Result<(), Error> {
    let api: Api<Job> = Api::namespaced(client.clone(), &schema.namespace().unwrap_or_default());
    let patch = json!({"spec": {"ttlSecondsAfterFinished": job::TTL_SECONDS}});
    match api
        .patch(name, &PatchParams::default(), &Patch::Merge(patch))
        .await
    {
        // A Job that is gone needs no end.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => Ok(other.map(|_| ())?),
    }
}

async fn finalizer(client: &Client, schema: &PtahSchema, present: bool) -> Result<(), Error> {
    let api: Api<PtahSchema> = Api::namespaced(client.clone(), &schema.namespace().unwrap_or_default());
    let object = api.get(&schema.name_any()).await?;
    if object.uid() != schema.uid() {
        return Err(Error::Changed);
    }
    let mut finalizers = object.finalizers().to_vec();
    finalizers.retain(|finalizer| finalizer != names::FINALIZER);
    if present {
        finalizers.push(names::FINALIZER.to_owned());
    }
    if finalizers == object.finalizers() {
        return Ok(());
    }
    let patch = json!({"metadata": {
        "uid": object.uid(), "resourceVersion": object.resource_version(), "finalizers": finalizers,
    }});
    api.patch(&schema.name_any(), &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    Ok(())
}

async fn mark_approval(
    client: &Client,
    schema: &PtahSchema,
    approval: &ImmutableObjectReference,
    mark: ApprovalMark,
) -> Result<(), Error> {
    let api: Api<PtahSchemaApproval> =
        Api::namespaced(client.clone(), &schema.namespace().unwrap_or_default());
    let Some(object) = api
        .get_opt(&approval.name)
        .await?
        .filter(|found| found.uid().as_ref() == Some(&approval.uid))
    else {
        // A spent approval must be marked before anything runs under it; any other mark is for the reader alone.
        return if mark == ApprovalMark::Consumed {
            Err(Error::Changed)
        } else {
            Ok(())
        };
    };
    let mut conditions = object.status.clone().unwrap_or_default().conditions;
    let generation = object.metadata.generation.unwrap_or(1);
    let now = Time(jiff::Timestamp::now());
    let mut set = |kind, status, reason, message| {
        conditions::set(&mut conditions, kind, status, reason, message, generation, &now);
    };
    match mark {
        ApprovalMark::Accepted | ApprovalMark::Consumed => {
            let current = "it decides the current plan";
            set(types::ACCEPTED, "True", reasons::CURRENT_PLAN, current);
            set(types::STALE, "False", reasons::CURRENT_PLAN, current);
            if mark == ApprovalMark::Consumed {
                let spent = "the plan was dispatched under it; it is spent";
                set(types::CONSUMED, "True", reasons::DISPATCH_COMMITTED, spent);
            }
        }
        ApprovalMark::Stale => {
            set(
                types::STALE,
                "True",
                reasons::STALE_PLAN,
                "it decides a plan that no longer stands",
            );
        }
        ApprovalMark::Superseded => {
            set(
                types::STALE,
                "True",
                reasons::SUPERSEDED_APPROVAL,
                "another approval decided the plan first",
            );
        }
    }
    let status = PtahSchemaApprovalStatus {
        observed_generation: Some(generation),
        conditions,
    };
    if object.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let patch = json!({
        "metadata": {"uid": object.uid(), "resourceVersion": object.resource_version()}, "status": status,
    });
    api.patch_status(&approval.name, &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    Ok(())
}
