//! Policies in ConfigMaps of the resource's namespace, read uncached.
//!
//! A source policy may be edited in place: its UID and the digest of its bytes say which one was meant. A verification
//! policy must be immutable; another one is another ConfigMap.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::{ConfigMapKeySelector, PolicyBindingStatus};
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::source_policy::{MAX_POLICY_BYTES, SourcePolicy};

/// A policy, and which one it is.
pub(super) struct Held<T> {
    pub policy: T,
    pub binding: PolicyBindingStatus,
}

/// What asking for a policy came to: the API server was away, or the policy cannot be used, or here it is.
pub(super) type Asked<T> = Result<Result<T, Failure>, kube::Error>;

/// The source policy that `spec.desired.sourcePolicyFrom` names.
pub(super) async fn source(
    client: &Client,
    namespace: &str,
    selector: &ConfigMapKeySelector,
) -> Asked<Held<SourcePolicy>> {
    let field = "spec.desired.sourcePolicyFrom";
    let found = match document(client, namespace, selector, field).await? {
        Ok(found) => found,
        Err(failure) => return Ok(Err(failure)),
    };
    Ok(match SourcePolicy::parse(&found.policy) {
        Ok(policy) => Ok(Held {
            policy,
            binding: found.binding,
        }),
        Err(error) => Err(Failure::new(
            error.code(),
            error.class(),
            format!("{field}: {error}"),
        )),
    })
}

/// The verification policy that `spec.desired.verificationPolicyFrom` names. Its words are for whoever verifies.
pub(super) async fn verification(
    client: &Client,
    namespace: &str,
    selector: &ConfigMapKeySelector,
) -> Asked<PolicyBindingStatus> {
    let field = "spec.desired.verificationPolicyFrom";
    let found = match document(client, namespace, selector, field).await? {
        Ok(found) => found,
        Err(failure) => return Ok(Err(failure)),
    };
    if let Err(error) = ptah_verifier::Policy::parse(&found.policy) {
        return Ok(Err(Failure::new(
            error.code(),
            error.class(),
            format!("{field}: {error}"),
        )));
    }
    if !found.immutable {
        return Ok(Err(Failure::new(
            "verification_policy_mutable",
            FailureClass::Input,
            format!(
                "{field}: ConfigMap {:?} is not immutable; make one with immutable: true, under another name, and name that",
                selector.name
            ),
        )));
    }
    Ok(Ok(found.binding))
}

struct Document {
    policy: Vec<u8>,
    binding: PolicyBindingStatus,
    immutable: bool,
}

async fn document(
    client: &Client,
    namespace: &str,
    selector: &ConfigMapKeySelector,
    field: &str,
) -> Asked<Document> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let refuse = |code: &str, message: String| {
        Ok(Err(Failure::new(
            code,
            FailureClass::Input,
            format!("{field}: {message}"),
        )))
    };
    let Some(object) = api.get_opt(&selector.name).await? else {
        return refuse(
            "policy_missing",
            format!(
                "there is no ConfigMap {:?} in namespace {namespace:?}",
                selector.name
            ),
        );
    };
    let binary = object
        .binary_data
        .as_ref()
        .and_then(|data| data.get(&selector.key));
    let text = object.data.as_ref().and_then(|data| data.get(&selector.key));
    let bytes = match (binary, text) {
        (Some(binary), _) => binary.0.clone(),
        (None, Some(text)) => text.clone().into_bytes(),
        (None, None) => {
            return refuse(
                "policy_missing",
                format!("ConfigMap {:?} has no key {:?}", selector.name, selector.key),
            );
        }
    };
    if bytes.len() > MAX_POLICY_BYTES {
        return refuse(
            "policy_too_large",
            format!(
                "ConfigMap {:?} holds a policy of {} bytes, {MAX_POLICY_BYTES} are read",
                selector.name,
                bytes.len()
            ),
        );
    }
    Ok(Ok(Document {
        binding: PolicyBindingStatus {
            name: selector.name.clone(),
            uid: object.uid().unwrap_or_default(),
            digest: Digest::of(&bytes),
        },
        policy: bytes,
        immutable: object.immutable == Some(true),
    }))
}
