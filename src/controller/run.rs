//! Watches, wakes, and passes.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use jiff::{Timestamp, Unit};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{self, Action, Config, Controller};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Api, Client, ResourceExt as _};
use ptah_api::{PtahSchema, PtahSchemaApproval, PtahSchemaPlan, names};
use tokio_util::sync::CancellationToken;

use super::carry_out::carry_out;
use super::context::Context;
use super::gather::gather;
use super::watch;
use crate::lifecycle;
use crate::lifecycle::step::Requeue;
use crate::operation::job;
use crate::{plan, realm};

/// Why a pass ended early. Every one is tried again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused or could not be asked.
    #[error("the API server refused or could not be asked")]
    Api(#[from] kube::Error),
    /// The resource changed under the pass.
    #[error("the resource changed meanwhile")]
    Changed,
    /// A Lease.
    #[error(transparent)]
    Lease(#[from] realm::Error),
    /// A plan.
    #[error(transparent)]
    Plan(#[from] plan::Error),
    /// A Job.
    #[error(transparent)]
    Job(#[from] job::Error),
}

impl Error {
    /// Whether this is the ordinary course of things: somebody else was faster.
    fn is_contention(&self) -> bool {
        match self {
            Self::Changed | Self::Lease(realm::Error::Held) => true,
            Self::Api(kube::Error::Api(status)) => status.code == 409,
            _ => false,
        }
    }
}

/// Runs the controller until `stop`, watching by `client`; requests go by the context's own. `wakes` names resources whose
/// source the manager has looked at.
pub async fn run(
    controller: Controller<PtahSchema>,
    client: Client,
    context: Arc<Context>,
    wakes: impl Stream<Item = ObjectRef<PtahSchema>> + Send + 'static,
    stop: CancellationToken,
) {
    let jobs = watch::config().labels(&format!("{}={}", names::LABEL_MANAGED_BY, names::MANAGED_BY));
    let metrics = context.metrics.clone();
    let sources: Store<PtahSchema> = controller.store();
    controller
        .with_config(Config::default().concurrency(4))
        .owns(Api::<Job>::all(client.clone()), jobs)
        .owns(Api::<PtahSchemaPlan>::all(client.clone()), watch::config())
        .watches(
            Api::<PtahSchemaApproval>::all(client.clone()),
            watch::config(),
            |approval| {
                let namespace = approval.namespace()?;
                Some(ObjectRef::new(&approval.spec.schema_ref.name).within(&namespace))
            },
        )
        // A source or a policy that was edited, and a snapshot or a plan's chunk that somebody took away. The authorities of
        // `caFrom` are read when the source is. By their metadata alone:
        // the manager's memory does not grow with what ConfigMaps hold.
        .watches(
            Api::<PartialObjectMeta<ConfigMap>>::all(client),
            watch::config(),
            move |object| {
                let (name, namespace) = (object.name_any(), object.namespace());
                let of = object.labels().get(names::LABEL_SCHEMA);
                let wakes = |schema: &PtahSchema| {
                    schema.namespace() == namespace
                        && (of == Some(&schema.name_any())
                            || schema.spec.desired.config_maps().any(|named| named == name))
                };
                let woken: Vec<_> = sources
                    .state()
                    .iter()
                    .filter(|schema| wakes(schema))
                    .map(|schema| ObjectRef::from_obj(&**schema))
                    .collect();
                woken
            },
        )
        .reconcile_on(wakes)
        .graceful_shutdown_on(stop.cancelled_owned())
        .run(reconcile, on_error, context)
        .for_each(|ended| {
            // A watch that ends in an error is begun anew by itself; a pass that did was told of already.
            if let Err(controller::Error::QueueError(error)) = ended {
                metrics.failed_watches.inc();
                tracing::warn!(error = %chain(&error), "a watch was broken and begins anew");
            }
            futures::future::ready(())
        })
        .await;
}

async fn reconcile(schema: Arc<PtahSchema>, context: Arc<Context>) -> Result<Action, Error> {
    let api: Api<PtahSchema> =
        Api::namespaced(context.client.clone(), &schema.namespace().unwrap_or_default());
    let Some(schema) = api.get_opt(&schema.name_any()).await? else {
        return Ok(Action::await_change());
    };
    context.metrics.passes.inc();
    let gathered = gather(&context, &schema).await?;
    // Status keeps whole seconds, so that what is written reads back as it was.
    let now = Timestamp::now().round(Unit::Second).unwrap_or_default();
    let step = lifecycle::next(&schema, &gathered.evidence, now);
    let from = schema
        .status
        .as_ref()
        .and_then(|status| status.phase)
        .unwrap_or_default();
    if step.trail.len() > 1 {
        tracing::info!(
            namespace = schema.namespace(), name = schema.name_any(), from = ?from, to = ?step.trail.last(), "phase"
        );
    }
    carry_out(&context, &schema, &gathered, &step).await?;
    Ok(match step.requeue {
        Requeue::Now => Action::requeue(Duration::ZERO),
        Requeue::After(wait) => Action::requeue(wait.max(Duration::from_millis(100))),
        Requeue::OnChange => Action::await_change(),
    })
}

fn on_error(schema: Arc<PtahSchema>, error: &Error, context: Arc<Context>) -> Action {
    let (namespace, name) = (schema.namespace().unwrap_or_default(), schema.name_any());
    if error.is_contention() {
        tracing::debug!(namespace, name, error = %chain(error), "pass overtaken");
        return Action::requeue(Duration::from_secs(1));
    }
    context.metrics.failed_passes.inc();
    tracing::warn!(namespace, name, error = %chain(error), "pass failed");
    Action::requeue(Duration::from_secs(5))
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
