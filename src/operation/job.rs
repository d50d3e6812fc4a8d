//! The Job of a claim, built from the resource and the installation alone: the same claim gives the same Job.
//!
//! Promises: no container holds a Kubernetes credential for the API server; the source's files reach the container
//! with the database URL only after another container checked them, and that one alone holds the source's credential;
//! desired SQL runs in a third container, under another uid, that holds neither; every container meets the restricted Pod
//! Security Standard.

mod container;
mod request;
mod source;
mod volume;

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use ptah_api::{ActiveOperation, OperationType, PtahSchema, PtahSchemaStatus, names};
use ptah_contract::protocol::ResultDelivery;

use crate::lifecycle::claim;
use crate::owner::controller_reference;

pub use container::SOURCE;
use request::Files;
pub use request::{Error, identity};

/// Seconds between SIGTERM and SIGKILL: time to cancel a statement on the server and to deliver what is known.
pub const GRACE_SECONDS: i64 = 30;
/// A finished Job goes this many seconds after its result was read.
pub const TTL_SECONDS: i32 = 300;

/// What the installation adds to every Job.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Digest-pinned runner image of the resource's engine.
    pub runner_image: String,
    /// Digest-pinned image of this manager: recorded on the Job.
    pub controller_image: String,
    /// Where results go.
    pub delivery: ResultDelivery,
}

/// Builds the Job of `status.activeOperation`.
///
/// # Errors
/// When the claim's request cannot be made from the status.
pub fn build(
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    operation: &ActiveOperation,
    settings: &Settings,
) -> Result<Job, Error> {
    let request = request::of(schema, status, operation, settings)?;
    let deadline = i64::try_from(request.deadline_seconds).unwrap_or(i64::MAX) + GRACE_SECONDS;
    let metadata = metadata(schema, operation, settings, &serde_json::to_string(&request)?);
    let (containers, init_containers, volumes) = pod_parts(schema, status, operation, settings)?;
    let execution = schema.spec.execution.clone().unwrap_or_default();
    let pod = PodSpec {
        active_deadline_seconds: Some(deadline),
        affinity: execution.affinity,
        automount_service_account_token: Some(false),
        containers,
        enable_service_links: Some(false),
        image_pull_secrets: execution.image_pull_secrets,
        init_containers: (!init_containers.is_empty()).then_some(init_containers),
        node_selector: execution.node_selector,
        priority_class_name: execution.priority_class_name,
        restart_policy: Some("Never".to_owned()),
        runtime_class_name: execution.runtime_class_name,
        security_context: Some(container::pod_security()),
        service_account_name: Some(
            execution
                .service_account_name
                .unwrap_or_else(|| "default".to_owned()),
        ),
        termination_grace_period_seconds: Some(GRACE_SECONDS),
        tolerations: execution.tolerations,
        volumes: Some(volumes),
        ..PodSpec::default()
    };
    Ok(Job {
        metadata: ObjectMeta {
            name: Some(operation.job_name.clone()),
            namespace: schema.namespace(),
            owner_references: controller_reference(schema),
            ..metadata.clone()
        },
        spec: Some(JobSpec {
            active_deadline_seconds: Some(deadline),
            backoff_limit: Some(0),
            completion_mode: Some("NonIndexed".to_owned()),
            completions: Some(1),
            parallelism: Some(1),
            pod_replacement_policy: Some("Failed".to_owned()),
            template: PodTemplateSpec {
                metadata: Some(metadata),
                spec: Some(pod),
            },
            ..JobSpec::default()
        }),
        status: None,
    })
}

type Parts = (Vec<Container>, Vec<Container>, Vec<Volume>);

fn pod_parts(
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
    operation: &ActiveOperation,
    settings: &Settings,
) -> Result<Parts, Error> {
    let target = request::target(schema, status, operation);
    let mut volumes = vec![
        volume::request(),
        volume::pod(),
        volume::database(target)?,
        volume::result_token(),
        volume::work("work", "256Mi"),
    ];
    let resources = schema
        .spec
        .execution
        .as_ref()
        .and_then(|execution| execution.resources.clone());
    let mut init = Vec::new();
    if operation.kind == OperationType::Apply {
        volumes.push(volume::plan(status)?);
    } else {
        match request::files(schema, status, operation)? {
            Files::Source => {
                let desired = request::desired(schema, status, operation);
                let (given, mounts) = source::volumes(desired, operation.terms.as_ref())
                    .into_iter()
                    .unzip();
                volumes.extend::<Vec<Volume>>(given);
                volumes.push(volume::work("content", "1Gi"));
                volumes.push(volume::work("source-work", "2Gi"));
                init.push(container::source(&settings.runner_image, mounts));
            }
            Files::Snapshot(name) => {
                volumes.push(volume::snapshot(name));
                volumes.push(volume::work("content", "64Mi"));
                init.push(container::snapshot(&settings.runner_image));
            }
            Files::None => volumes.push(volume::work("content", "1Mi")),
        }
        volumes.push(volume::work("scratch", "16Mi"));
        volumes.push(volume::work("scratch-data", "4Gi"));
        init.push(container::scratch(&settings.runner_image));
    }
    Ok((
        vec![container::main(
            &settings.runner_image,
            operation.kind,
            volumes.iter().any(|volume| volume.name == "source"),
            resources,
        )],
        init,
        volumes,
    ))
}

/// Labels and annotations of the Job and of its Pod.
fn metadata(
    schema: &PtahSchema,
    operation: &ActiveOperation,
    settings: &Settings,
    request: &str,
) -> ObjectMeta {
    let extra = schema
        .spec
        .execution
        .as_ref()
        .and_then(|execution| execution.pod_metadata.clone())
        .unwrap_or_default();
    let mut labels: BTreeMap<String, String> = extra.labels.unwrap_or_default();
    let mut annotations: BTreeMap<String, String> = extra.annotations.unwrap_or_default();
    for (key, value) in [
        (names::LABEL_MANAGED_BY, names::MANAGED_BY.to_owned()),
        (
            names::LABEL_COMPONENT,
            names::COMPONENT_SCHEMA_OPERATION.to_owned(),
        ),
        (names::LABEL_SCHEMA, schema.name_any()),
        (
            names::LABEL_OPERATION,
            claim::operation(operation.kind).label().to_owned(),
        ),
        (names::LABEL_OPERATION_ID, names::short_hash(&[&operation.id])),
    ] {
        labels.insert(key.to_owned(), value);
    }
    for (key, value) in [
        (names::ANNOTATION_REQUEST, request.to_owned()),
        (names::ANNOTATION_OPERATION_ID, operation.id.clone()),
        (
            names::ANNOTATION_INPUT_FINGERPRINT,
            operation.input_fingerprint.to_string(),
        ),
        (
            names::ANNOTATION_EXECUTION_BINDING,
            operation.execution_binding_id.clone(),
        ),
        (
            names::ANNOTATION_CONTROLLER_IMAGE,
            settings.controller_image.clone(),
        ),
    ] {
        annotations.insert(key.to_owned(), value);
    }
    if operation.kind == OperationType::Apply {
        annotations.insert(names::ANNOTATION_SAFE_TO_EVICT.to_owned(), "false".to_owned());
        if let Some(plan) = schema.status.as_ref().and_then(|status| status.plan.as_ref()) {
            annotations.insert(
                names::ANNOTATION_PLAN_FINGERPRINT.to_owned(),
                plan.fingerprint.to_string(),
            );
        }
    }
    ObjectMeta {
        labels: Some(labels),
        annotations: Some(annotations),
        ..ObjectMeta::default()
    }
}

/// Whether a Job of the claim's name is the one that the claim made: our resource is its one controller, and it
/// carries the claim's own id.
#[must_use]
pub fn is_ours(job: &Job, schema: &PtahSchema, operation: &ActiveOperation) -> bool {
    let owners = job.owner_references();
    let owned = matches!(owners, [owner] if Some(&owner.uid) == schema.metadata.uid.as_ref()
        && owner.controller == Some(true) && owner.block_owner_deletion == Some(true));
    owned
        && job.annotations().get(names::ANNOTATION_OPERATION_ID) == Some(&operation.id)
        && job.annotations().get(names::ANNOTATION_INPUT_FINGERPRINT)
            == Some(&operation.input_fingerprint.to_string())
}

#[cfg(test)]
mod tests;
