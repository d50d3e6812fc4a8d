//! Stores a plan: the object, each chunk as an immutable ConfigMap, and `Ready=True` as the commit.
//!
//! Promises: resumed by content after a crash anywhere; an object under a needed name that holds something else is
//! neither overwritten nor deleted (the next pass finds and names it).

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::{self, reasons, types};
use ptah_api::{
    ImmutableObjectReference, PlanChunk, PtahSchema, PtahSchemaPlan, PtahSchemaPlanSpec,
    PtahSchemaPlanStatus, names,
};
use ptah_contract::digest::Digest;
use ptah_contract::plan_chunks::{self, CHUNK_KEY};

use super::load::load;
use crate::lifecycle::evidence::PlanEvidence;
use crate::lifecycle::publication::Publication;
use crate::owner::controller_reference;

/// Why a plan could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused or could not be asked.
    #[error("the plan could not be stored")]
    Api(#[from] kube::Error),
    /// The document cannot be cut.
    #[error("the plan could not be stored")]
    Chunks(#[from] plan_chunks::Error),
    /// The name is taken by a plan of other content.
    #[error("PtahSchemaPlan {0:?} is there already and binds something else; it is left alone: delete it")]
    Taken(String),
}

/// Stores the plan, or completes one that was begun.
///
/// # Errors
/// When the API server refuses, or the document does not fit sixteen chunks.
pub async fn publish(client: &Client, schema: &PtahSchema, publication: &Publication) -> Result<(), Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let plans: Api<PtahSchemaPlan> = Api::namespaced(client.clone(), &namespace);
    let pieces = plan_chunks::split(&publication.document)?;
    let wanted = object(schema, publication, &pieces);
    let plan = match plans.create(&PostParams::default(), &wanted).await {
        Ok(plan) => plan,
        Err(kube::Error::Api(status)) if status.is_already_exists() => plans.get(&publication.name).await?,
        Err(error) => return Err(error.into()),
    };
    if !same(&plan, &wanted) {
        return Err(Error::Taken(publication.name.clone()));
    }
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    for (index, piece) in pieces.iter().enumerate() {
        let chunk = chunk(schema, &plan, index, piece);
        match maps.create(&PostParams::default(), &chunk).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            other => {
                other?;
            }
        }
    }
    // What is committed is what can be read back.
    if load(client, &namespace, &publication.name).await? != PlanEvidence::Missing {
        return Ok(());
    }
    commit(&plans, &plan).await
}

/// Marks the storage as whole.
async fn commit(plans: &Api<PtahSchemaPlan>, plan: &PtahSchemaPlan) -> Result<(), Error> {
    let mut conditions = plan.status.clone().unwrap_or_default().conditions;
    let generation = plan.metadata.generation.unwrap_or(1);
    let now = Time(jiff::Timestamp::now());
    conditions::set(
        &mut conditions,
        types::READY,
        "True",
        reasons::PUBLISHED,
        "every byte is stored",
        generation,
        &now,
    );
    let status = PtahSchemaPlanStatus {
        observed_generation: Some(generation),
        conditions,
    };
    let patch = serde_json::json!({
        "metadata": {"uid": plan.uid(), "resourceVersion": plan.resource_version()}, "status": status,
    });
    plans
        .patch_status(&plan.name_any(), &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    Ok(())
}

/// What is recorded (the manager's own image, say) may differ from an earlier attempt; what is bound may not.
fn same(found: &PtahSchemaPlan, wanted: &PtahSchemaPlan) -> bool {
    found.spec.fingerprint == wanted.spec.fingerprint
        && found.spec.binding == wanted.spec.binding
        && found.spec.chunks == wanted.spec.chunks
        && found.spec.schema_ref == wanted.spec.schema_ref
}

fn object(schema: &PtahSchema, publication: &Publication, pieces: &[&[u8]]) -> PtahSchemaPlan {
    let mut plan = PtahSchemaPlan::new(
        &publication.name,
        PtahSchemaPlanSpec {
            schema_ref: ImmutableObjectReference {
                name: schema.name_any(),
                uid: schema.uid().unwrap_or_default(),
            },
            fingerprint: publication.fingerprint.to_string(),
            binding: publication.binding.clone(),
            size: i64::try_from(publication.document.len()).unwrap_or(i64::MAX),
            dialect: publication.dialect.clone(),
            chunks: pieces
                .iter()
                .enumerate()
                .map(|(index, piece)| PlanChunk {
                    index: i32::try_from(index).unwrap_or(i32::MAX),
                    name: names::chunk_name(&publication.name, index),
                    size: i32::try_from(piece.len()).unwrap_or(i32::MAX),
                    digest: Digest::of(piece).to_string(),
                })
                .collect(),
            recorded: publication.recorded.clone(),
        },
    );
    plan.metadata.namespace = schema.namespace();
    plan.metadata.labels = Some(labels(schema, &publication.name));
    plan.metadata.owner_references = controller_reference(schema);
    plan
}

fn chunk(schema: &PtahSchema, plan: &PtahSchemaPlan, index: usize, piece: &[u8]) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(names::chunk_name(&plan.name_any(), index)),
            namespace: plan.namespace(),
            labels: Some(labels(schema, &plan.name_any())),
            owner_references: controller_reference(plan),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        binary_data: Some([(CHUNK_KEY.to_owned(), ByteString(piece.to_vec()))].into()),
        ..ConfigMap::default()
    }
}

fn labels(schema: &PtahSchema, plan: &str) -> std::collections::BTreeMap<String, String> {
    [
        (names::LABEL_MANAGED_BY.to_owned(), names::MANAGED_BY.to_owned()),
        (names::LABEL_SCHEMA.to_owned(), schema.name_any()),
        (names::LABEL_PLAN.to_owned(), plan.to_owned()),
    ]
    .into()
}
