//! Policies in ConfigMaps of the resource's namespace, read uncached.
//!
//! A source policy may be edited in place: its UID and the digest of its bytes say which one was meant. A verification
//! policy must be immutable; another one is another ConfigMap.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::{
    CommitTermsStatus, ConfigMapKeySelector, GitVerification, PolicyBindingStatus, TrustedRootStatus,
};
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::source_policy::{MAX_POLICY_BYTES, SourcePolicy};
use ptah_verifier::{CommitPolicy, Policy, PolicyDocument, Root};

/// A policy, and which one it is.
pub(super) struct Held<T> {
    pub policy: T,
    pub binding: PolicyBindingStatus,
}

/// A verification policy with the trusted roots that it names.
pub(super) struct Verification {
    pub policy: Policy,
    /// Its digest covers the roots.
    pub binding: PolicyBindingStatus,
    pub roots: Vec<TrustedRootStatus>,
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
    let found = match document(client, namespace, selector, field, MAX_POLICY_BYTES).await? {
        Ok(found) => found,
        Err(failure) => return Ok(Err(failure)),
    };
    Ok(match SourcePolicy::parse(&found.bytes) {
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

/// The verification policy that `spec.desired.verificationPolicyFrom` names.
pub(super) async fn verification(
    client: &Client,
    namespace: &str,
    selector: &ConfigMapKeySelector,
) -> Asked<Verification> {
    let field = "spec.desired.verificationPolicyFrom";
    let found = match document(
        client,
        namespace,
        selector,
        field,
        ptah_verifier::MAX_POLICY_BYTES,
    )
    .await?
    {
        Ok(found) => found,
        Err(failure) => return Ok(Err(failure)),
    };
    let unusable = |error: ptah_verifier::Error| {
        Ok(Err(Failure::new(
            error.code(),
            error.class(),
            format!("{field}: {error}"),
        )))
    };
    let document = match PolicyDocument::parse(&found.bytes) {
        Ok(document) => document,
        Err(error) => return unusable(error),
    };
    if !found.immutable {
        return Ok(Err(mutable("verification_policy_mutable", field, &selector.name)));
    }
    let mut roots = Vec::new();
    for reference in document.roots() {
        let selector = ConfigMapKeySelector {
            name: reference.name.clone(),
            key: reference.key.clone(),
            optional: None,
        };
        let field = "trusted_root_from of the verification policy";
        let root = match value(client, namespace, &selector, field, "trusted_root_missing").await? {
            Ok(root) => root,
            Err(failure) => return Ok(Err(failure)),
        };
        if !root.immutable {
            return Ok(Err(mutable("trusted_root_mutable", field, &selector.name)));
        }
        roots.push(Root {
            reference: reference.clone(),
            uid: root.binding.uid,
            bytes: root.bytes,
        });
    }
    let policy = match document.bind(&roots) {
        Ok(policy) => policy,
        Err(error) => return unusable(error),
    };
    let roots = roots.into_iter().map(|root| TrustedRootStatus {
        name: root.reference.name,
        key: root.reference.key,
        uid: root.uid,
    });
    Ok(Ok(Verification {
        binding: PolicyBindingStatus {
            digest: policy.digest(),
            ..found.binding
        },
        policy,
        roots: roots.collect(),
    }))
}

/// Whose signatures `spec.desired.git.verification` asks for.
pub(super) async fn commits(
    client: &Client,
    namespace: &str,
    declared: &GitVerification,
) -> Asked<(CommitPolicy, CommitTermsStatus)> {
    let field = "spec.desired.git.verification.keysFrom";
    let selector = &declared.keys_from;
    let found = match value(client, namespace, selector, field, "commit_keys_missing").await? {
        Ok(found) => found,
        Err(failure) => return Ok(Err(failure)),
    };
    if !found.immutable {
        return Ok(Err(mutable("commit_keys_mutable", field, &selector.name)));
    }
    let committers = declared.committers.clone().unwrap_or_default();
    let uid = found.binding.uid.clone();
    let policy = CommitPolicy::new(declared.mode.to_contract(), committers.clone(), &found.bytes, uid);
    Ok(match policy {
        Ok(policy) => {
            let terms = CommitTermsStatus {
                mode: declared.mode,
                committers,
                keys_uid: found.binding.uid,
                keys_digest: found.binding.digest,
            };
            Ok((policy, terms))
        }
        Err(error) => {
            let message = format!("spec.desired.git.verification: {error}");
            Err(Failure::new(error.code(), error.class(), message))
        }
    })
}

fn mutable(code: &str, field: &str, name: &str) -> Failure {
    let message = format!(
        "{field}: ConfigMap {name:?} is not immutable; make one with immutable: true, under another name, and name that"
    );
    Failure::new(code, FailureClass::Input, message)
}

/// A value, and the object that holds it.
pub(super) struct Document {
    pub bytes: Vec<u8>,
    binding: PolicyBindingStatus,
    immutable: bool,
}

async fn document(
    client: &Client,
    namespace: &str,
    selector: &ConfigMapKeySelector,
    field: &str,
    most: usize,
) -> Asked<Document> {
    let found = value(client, namespace, selector, field, "policy_missing").await?;
    Ok(found.and_then(|found| match found.bytes.len() {
        size if size <= most => Ok(found),
        size => Err(Failure::new(
            "policy_too_large",
            FailureClass::Input,
            format!(
                "{field}: ConfigMap {:?} holds a policy of {size} bytes, {most} are read",
                selector.name
            ),
        )),
    }))
}

/// What a key of a ConfigMap holds; `missing` is the code of its absence.
pub(super) async fn value(
    client: &Client,
    namespace: &str,
    selector: &ConfigMapKeySelector,
    field: &str,
    missing: &str,
) -> Asked<Document> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let refuse = |what: String| {
        Ok(Err(Failure::new(
            missing,
            FailureClass::Input,
            format!("{field}: {what}"),
        )))
    };
    let name = &selector.name;
    let Some(object) = api.get_opt(name).await? else {
        return refuse(format!(
            "there is no ConfigMap {name:?} in namespace {namespace:?}"
        ));
    };
    let Some(bytes) = super::config_map::data_of(&object).remove(&selector.key) else {
        return refuse(format!("ConfigMap {name:?} has no key {:?}", selector.key));
    };
    Ok(Ok(Document {
        binding: PolicyBindingStatus {
            name: name.clone(),
            uid: object.uid().unwrap_or_default(),
            digest: Digest::of(&bytes),
        },
        bytes,
        immutable: object.immutable == Some(true),
    }))
}
