//! Reads a ConfigMap uncached and takes its selected keys as files. Nothing is written here.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::reasons;
use ptah_api::{ConfigMapSource, ImmutableObjectReference, PtahSchema, names};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_resolver::config_map::{self, Content};

use super::snapshot::{self, State};
use crate::lifecycle::evidence::{ResolvedSource, SourceEvidence};

/// A source as it was found, with its bytes where a snapshot of them may have to be written.
#[derive(Debug)]
pub struct Resolution {
    /// What the lifecycle decides on.
    pub evidence: SourceEvidence,
    /// The files.
    pub content: Option<Content>,
}

/// Resolves `spec.desired`.
///
/// # Errors
/// When the API server cannot be asked. What is wrong with the source itself is evidence, not an error.
pub async fn resolve(client: &Client, schema: &PtahSchema) -> Result<Resolution, kube::Error> {
    let Some(source) = &schema.spec.desired.config_map else {
        let kind = if schema.spec.desired.git.is_some() {
            "git"
        } else {
            "ociRef"
        };
        return Ok(refused(
            reasons::SOURCE_NOT_SUPPORTED,
            failure(
                "source_not_supported",
                FailureClass::Input,
                format!("spec.desired.{kind} is not resolved by this version; use spec.desired.configMap"),
            ),
        ));
    };
    let namespace = schema.namespace().unwrap_or_default();
    if schema.spec.desired.source_policy_from.is_some() {
        return Ok(refused(
            reasons::SOURCE_NOT_SUPPORTED,
            failure("source_policy_not_supported", FailureClass::Input,
                "spec.desired.sourcePolicyFrom is not evaluated by this version; a policy that cannot be checked refuses \
                 the source".to_owned()),
        ));
    }
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let Some(object) = api.get_opt(&source.name).await? else {
        return Ok(refused(
            reasons::RESOLVE_FAILED,
            failure(
                "config_map_missing",
                FailureClass::Input,
                format!(
                    "spec.desired.configMap: there is no ConfigMap {:?} in namespace {namespace:?}",
                    source.name
                ),
            ),
        ));
    };
    let content = match config_map::resolve(&data_of(&object), selection(source).as_deref()) {
        Ok(content) => content,
        Err(error) => {
            let mut failure = error.to_failure();
            failure.message = format!("spec.desired.configMap {:?}: {}", source.name, failure.message);
            return Ok(refused(reasons::RESOLVE_FAILED, failure));
        }
    };
    let uid = schema.uid().unwrap_or_default();
    let digest = content.manifest.content_digest();
    let name = names::snapshot_name(&uid, &digest);
    let state = snapshot::state(client, &namespace, &name, &content).await?;
    if state == State::Taken {
        return Ok(refused(
            reasons::SNAPSHOT_NAME_TAKEN,
            failure(
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
        source_policy: None,
        snapshot: name,
        snapshot_present: state == State::Present,
    });
    Ok(Resolution {
        evidence,
        content: Some(content),
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

fn refused(reason: &'static str, failure: Failure) -> Resolution {
    Resolution {
        evidence: SourceEvidence::Refused { failure, reason },
        content: None,
    }
}

fn failure(code: &str, class: FailureClass, message: String) -> Failure {
    Failure {
        code: code.to_owned(),
        class,
        message,
        object: None,
        sqlstate: None,
        statement: None,
    }
}
