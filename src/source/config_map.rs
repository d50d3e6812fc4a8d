//! Reads a ConfigMap uncached and takes its selected keys as files. Nothing is written here.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::reasons;
use ptah_api::{ConfigMapSource, ImmutableObjectReference, PtahSchema, names};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::source_policy::Refusal;
use ptah_resolver::config_map;

use super::snapshot::{self, State};
use super::{Resolution, policy};
use crate::lifecycle::evidence::{ResolvedSource, SourceEvidence};

/// Resolves `spec.desired.configMap`.
pub(super) async fn resolve(
    client: &Client,
    schema: &PtahSchema,
    source: &ConfigMapSource,
) -> Result<Resolution, kube::Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let policy = match &schema.spec.desired.source_policy_from {
        None => None,
        Some(selector) => match policy::source(client, &namespace, selector).await? {
            Ok(held) => Some(held),
            Err(failure) => return Ok(refused(reasons::RESOLVE_FAILED, failure)),
        },
    };
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let Some(object) = api.get_opt(&source.name).await? else {
        return Ok(refused(
            reasons::RESOLVE_FAILED,
            Failure::new(
                "config_map_missing",
                FailureClass::Input,
                format!(
                    "spec.desired.configMap: there is no ConfigMap {:?} in namespace {namespace:?}",
                    source.name
                ),
            ),
        ));
    };
    let data = data_of(&object);
    let size = data.values().map(|bytes| bytes.len() as u64).sum();
    let judged = policy
        .as_ref()
        .map_or(Ok(()), |held| held.policy.check_config_map(&source.name, size));
    if let Err(refusal) = judged {
        return Ok(refused_by_policy(&refusal));
    }
    let content = match config_map::resolve(&data, selection(source).as_deref()) {
        Ok(content) => content,
        Err(error) => {
            let mut failure = error.to_failure();
            failure.message = format!("spec.desired.configMap {:?}: {}", source.name, failure.message);
            return Ok(refused(reasons::RESOLVE_FAILED, failure));
        }
    };
    let judged = policy
        .as_ref()
        .map_or(Ok(()), |held| held.policy.check_content(&content.manifest));
    if let Err(refusal) = judged {
        return Ok(refused_by_policy(&refusal));
    }
    let uid = schema.uid().unwrap_or_default();
    let digest = content.manifest.content_digest();
    let name = names::snapshot_name(&uid, &digest);
    let state = snapshot::state(client, &namespace, &name, &content).await?;
    if state == State::Taken {
        return Ok(refused(
            reasons::SNAPSHOT_NAME_TAKEN,
            Failure::new(
                "snapshot_name_taken",
                FailureClass::Attention,
                format!(
                    "ConfigMap {name:?} holds something else than the snapshot of that name; it is left alone: delete it"
                ),
            ),
        ));
    }
    let evidence = SourceEvidence::Resolved(ResolvedSource {
        config_map: ImmutableObjectReference {
            name: source.name.clone(),
            uid: object.uid().unwrap_or_default(),
        },
        content_digest: digest,
        files: i32::try_from(content.manifest.files().len()).unwrap_or(i32::MAX),
        bytes: i64::try_from(content.manifest.total_bytes()).unwrap_or(i64::MAX),
        source_policy: policy.map(|held| held.binding),
        snapshot: name,
        snapshot_present: state == State::Present,
    });
    Ok(Resolution {
        evidence,
        content: Some(content),
        wanted: None,
    })
}

/// `data` and `binaryData` as one map of bytes. The API server refuses a key that stands in both.
pub(super) fn data_of(object: &ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let text = object
        .data
        .iter()
        .flatten()
        .map(|(key, text)| (key.clone(), text.clone().into_bytes()));
    let binary = object
        .binary_data
        .iter()
        .flatten()
        .map(|(key, bytes)| (key.clone(), bytes.0.clone()));
    text.chain(binary).collect()
}

fn selection(source: &ConfigMapSource) -> Option<Vec<(String, String)>> {
    source.items.as_ref().map(|items| {
        items
            .iter()
            .map(|item| (item.key.clone(), item.path.clone()))
            .collect()
    })
}

fn refused_by_policy(refusal: &Refusal) -> Resolution {
    let message = format!("spec.desired.sourcePolicyFrom: {refusal}");
    refused(
        reasons::SOURCE_POLICY_REFUSED,
        Failure::new(refusal.code(), refusal.class(), message),
    )
}

fn refused(reason: &'static str, failure: Failure) -> Resolution {
    Resolution::refused(reason, failure)
}
