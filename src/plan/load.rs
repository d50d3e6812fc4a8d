//! Whether a plan object and its chunks are what their digests say. Nothing is trusted for its name or its owner.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::{self, types};
use ptah_api::{PtahSchemaPlan, PtahSchemaPlanSpec};
use ptah_contract::plan_chunks::{self, CHUNK_KEY};

use crate::lifecycle::evidence::PlanEvidence;

/// Reads a plan object uncached, with all of its chunks.
///
/// # Errors
/// When the API server cannot be asked.
pub async fn load(client: &Client, namespace: &str, name: &str) -> Result<PlanEvidence, kube::Error> {
    let plans: Api<PtahSchemaPlan> = Api::namespaced(client.clone(), namespace);
    let Some(plan) = plans.get_opt(name).await? else {
        return Ok(PlanEvidence::Missing);
    };
    let altered = |what: String| {
        Ok(PlanEvidence::Altered {
            message: format!("PtahSchemaPlan {name:?}: {what}"),
        })
    };
    let fingerprint = match plan.spec.binding.fingerprint() {
        Ok(fingerprint) if fingerprint.to_string() == plan.spec.fingerprint => fingerprint,
        Ok(_) => return altered("its binding does not give its fingerprint".to_owned()),
        Err(error) => return altered(error.to_string()),
    };
    let ready = plan
        .status
        .as_ref()
        .is_some_and(|status| conditions::is_true(&status.conditions, types::READY));
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let mut chunks: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for chunk in &plan.spec.chunks {
        let Some(object) = maps.get_opt(&chunk.name).await? else {
            return if ready {
                altered(format!("chunk {:?} is gone", chunk.name))
            } else {
                Ok(PlanEvidence::Missing)
            };
        };
        let bytes = object
            .binary_data
            .as_ref()
            .and_then(|data| data.get(CHUNK_KEY))
            .map(|bytes| bytes.0.clone());
        chunks.insert(chunk.name.clone(), bytes.unwrap_or_default());
    }
    if let Err(error) = join(&plan.spec, &chunks) {
        return altered(error.to_string());
    }
    if !ready {
        return Ok(PlanEvidence::Missing);
    }
    Ok(PlanEvidence::Stored {
        uid: plan.uid().unwrap_or_default(),
        fingerprint,
        created_at: plan.creation_timestamp().map(|time| time.0).unwrap_or_default(),
    })
}

/// Reassembles a plan's document from its chunks and checks every size and digest.
fn join(
    spec: &PtahSchemaPlanSpec,
    chunks: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<u8>, plan_chunks::Error> {
    let (recorded, whole) = spec.parts();
    plan_chunks::join(&recorded, whole, |name| chunks.get(name).map(Vec::as_slice))
}
