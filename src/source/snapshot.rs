//! The immutable copy of a source: `ptah-src-<hash>`, owned by the resource.
//!
//! A namespace's users can write ConfigMaps too: an object is used when its bytes give the digest, whoever made it, and
//! is otherwise left alone.

use std::collections::BTreeSet;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, ListParams, PostParams, Preconditions};
use kube::{Api, Client, ResourceExt as _};
use ptah_api::{PtahSchema, PtahSchemaStatus, names};
use ptah_contract::protocol::paths;
use ptah_resolver::config_map::Content;

use super::config_map::data_of;
use crate::owner::controller_reference;

/// What stands under a snapshot's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Missing,
    Present,
    Taken,
}

pub(super) async fn state(
    client: &Client,
    namespace: &str,
    name: &str,
    content: &Content,
) -> Result<State, kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    Ok(match api.get_opt(name).await? {
        None => State::Missing,
        Some(object) if holds(&object, content) => State::Present,
        Some(_) => State::Taken,
    })
}

/// Whether an object is, byte for byte, the snapshot of this content.
fn holds(object: &ConfigMap, content: &Content) -> bool {
    let data = data_of(object);
    object.immutable == Some(true)
        && data.len() == content.bytes.len() + 1
        && data.get(paths::MANIFEST_KEY) == Some(&content.manifest.to_bytes())
        && content
            .bytes
            .iter()
            .enumerate()
            .all(|(index, bytes)| data.get(&paths::snapshot_key(index)) == Some(bytes))
}

/// Writes the snapshot. One that is there already is not touched; the next pass checks what it holds.
///
/// # Errors
/// When the API server refuses.
pub async fn ensure(client: &Client, schema: &PtahSchema, content: &Content) -> Result<(), kube::Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let digest = content.manifest.content_digest();
    let object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(names::snapshot_name(&schema.uid().unwrap_or_default(), &digest)),
            namespace: Some(namespace),
            labels: Some(
                [
                    (names::LABEL_MANAGED_BY.to_owned(), names::MANAGED_BY.to_owned()),
                    (names::LABEL_SCHEMA.to_owned(), schema.name_any()),
                    (names::LABEL_SNAPSHOT.to_owned(), "true".to_owned()),
                ]
                .into(),
            ),
            owner_references: controller_reference(schema),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        data: Some(
            [(
                paths::MANIFEST_KEY.to_owned(),
                String::from_utf8_lossy(&content.manifest.to_bytes()).into_owned(),
            )]
            .into(),
        ),
        binary_data: Some(
            content
                .bytes
                .iter()
                .enumerate()
                .map(|(index, bytes)| (paths::snapshot_key(index), ByteString(bytes.clone())))
                .collect(),
        ),
    };
    match api.create(&PostParams::default(), &object).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Deletes this resource's snapshots that nothing names any more, each by its UID.
///
/// # Errors
/// When the API server refuses.
pub async fn collect(
    client: &Client,
    schema: &PtahSchema,
    status: &PtahSchemaStatus,
) -> Result<(), kube::Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let uid = schema.uid().unwrap_or_default();
    let keep = named(status);
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let selector = format!(
        "{}=true,{}={}",
        names::LABEL_SNAPSHOT,
        names::LABEL_SCHEMA,
        schema.name_any()
    );
    for object in api
        .list_metadata(&ListParams::default().labels(&selector))
        .await?
    {
        let owned = object
            .owner_references()
            .iter()
            .any(|owner| owner.uid == uid && owner.controller == Some(true));
        if !owned || keep.contains(&object.name_any()) {
            continue;
        }
        let preconditions = Preconditions {
            uid: object.uid(),
            resource_version: None,
        };
        let delete = DeleteParams {
            preconditions: Some(preconditions),
            ..DeleteParams::default()
        };
        match api.delete(&object.name_any(), &delete).await {
            Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 => {}
            other => {
                other?;
            }
        }
    }
    Ok(())
}

/// Every snapshot that status still names: the source's, and the one of an owed proof. A claim is always made from one
/// of these, and a plan goes with its source.
fn named(status: &PtahSchemaStatus) -> BTreeSet<String> {
    let pending = status.pending_observation.as_ref().map(|pending| &pending.source);
    let sources = [status.source.as_ref(), pending];
    sources
        .into_iter()
        .flatten()
        .filter_map(|source| source.snapshot.clone())
        .collect()
}
