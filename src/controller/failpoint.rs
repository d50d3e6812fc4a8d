//! Where a manager that is built for tests can be made to die.
//!
//! A resource that carries the annotation `failpoint.operator.ptah.run/restart-at: "N"` ends the process just after its
//! Nth action from then on (an effect or the status write), once. The process starts anew in place, with nothing in
//! memory, as a container does after a crash, but without the kubelet's growing pause. Without the feature
//! `failpoints`, which no released image has, nothing of this is compiled.

use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use ptah_api::PtahSchema;
use serde_json::json;

use super::context::Context;
use super::run::Error;

const ANNOTATION: &str = "failpoint.operator.ptah.run/restart-at";

/// One action on this resource was done.
pub(super) async fn passed(context: &Context, schema: &PtahSchema) -> Result<(), Error> {
    let api: Api<PtahSchema> =
        Api::namespaced(context.client.clone(), &schema.namespace().unwrap_or_default());
    // The count stands in the resource: other resources' crashes must not lose it.
    let Some(live) = api.get_opt(&schema.name_any()).await? else {
        return Ok(());
    };
    let Some(left) = live
        .annotations()
        .get(ANNOTATION)
        .and_then(|left| left.parse::<u32>().ok())
    else {
        return Ok(());
    };
    let next = left.checked_sub(1).filter(|next| *next > 0);
    let patch = json!({"metadata": {"annotations": {ANNOTATION: next.map(|next| next.to_string())}}});
    api.patch(&schema.name_any(), &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    if next.is_none() {
        restart(schema);
    }
    Ok(())
}

fn restart(schema: &PtahSchema) {
    use std::os::unix::process::CommandExt as _;
    tracing::warn!(namespace = schema.namespace(), "failpoint: starting anew");
    let error = std::process::Command::new("/proc/self/exe")
        .args(std::env::args_os().skip(1))
        .exec();
    tracing::error!(%error, "failpoint: could not start anew");
    std::process::abort();
}
