//! Types that several kinds share.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, LocalObjectReference, ResourceRequirements, Toleration};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One key of a Secret in the resource's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(self.optional) || !self.optional", "the key is required; optional must be absent or false"))]
pub struct SecretKeySelector {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key in it.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Must be absent or false: a key that this API names is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// One key of a ConfigMap in the resource's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(self.optional) || !self.optional", "the key is required; optional must be absent or false"))]
pub struct ConfigMapKeySelector {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key in it.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Must be absent or false: a key that this API names is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// An object of the same namespace by name and UID, so that one made again under the name is another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImmutableObjectReference {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
}

/// Who approved, as the API server authenticated them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalIdentity {
    /// User name.
    pub username: String,
    /// UID, where the authenticator gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Groups, at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub groups: Vec<String>,
}

/// How operation Pods run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionSpec {
    /// Lifetime of one operation Job in seconds (default 900).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 30, max = 86400))]
    pub active_deadline_seconds: Option<i64>,
    /// Wait before a failed operation is tried again (default 30s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(h|m|s|ms))+$"))]
    #[x_kube(validation = ("duration(self) >= duration('5s') && duration(self) <= duration('1h')", "must be a duration from 5s to 1h"))]
    pub failure_retry_interval: Option<String>,
    /// Limit for opening the database connection (default 10s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(h|m|s|ms))+$"))]
    #[x_kube(validation = ("duration(self) >= duration('1s') && duration(self) <= duration('10m')", "must be a duration from 1s to 10m"))]
    pub connect_timeout: Option<String>,
    /// Resources of the container that runs SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Identity of operation Pods. It needs no Kubernetes permission and its token is not mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Pull Secrets of operation Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_secrets: Option<Vec<LocalObjectReference>>,
    /// Node selector of operation Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<BTreeMap<String, String>>,
    /// Tolerations of operation Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerations: Option<Vec<Toleration>>,
    /// Affinity of operation Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    /// RuntimeClass of operation Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_class_name: Option<String>,
    /// PriorityClass of operation Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// Extra labels and annotations of operation Jobs and Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_metadata: Option<PodMetadata>,
}

/// Extra labels and annotations, such as a mesh's opt-out. Keys of Kubernetes and of this project are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodMetadata {
    /// Labels, at most 16; a value is at most 63 long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "label_map")]
    #[x_kube(
        validation = (KEY_RULE, KEY_MESSAGE),
        validation = (RESERVED_RULE, RESERVED_MESSAGE),
        validation = ("self.all(k, self[k].matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'))", "a label's value is empty or letters, digits, '-', '_' and '.'")
    )]
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations, at most 16; a value is at most 1024 long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "annotation_map")]
    #[x_kube(validation = (KEY_RULE, KEY_MESSAGE), validation = (RESERVED_RULE, RESERVED_MESSAGE))]
    pub annotations: Option<BTreeMap<String, String>>,
}

const KEY_RULE: &str = "self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$') && (k.contains('/') ? k.split('/')[0].size() <= 253 && k.split('/')[1].size() <= 63 : k.size() <= 63))";
const KEY_MESSAGE: &str =
    "keys are qualified names: an optional DNS prefix and '/', then at most 63 characters";
const RESERVED_RULE: &str = "self.all(k, !(k in ['controller-uid', 'job-name']) && !k.matches('^([^/]*[.])?(ptah[.]run|kubernetes[.]io|k8s[.]io)/'))";
const RESERVED_MESSAGE: &str =
    "keys below ptah.run, kubernetes.io and k8s.io, and the keys controller-uid and job-name, are reserved";

fn bounded_map(longest: u32) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "nullable": true,
        "maxProperties": 16,
        "additionalProperties": {"type": "string", "maxLength": longest},
    })
}

fn label_map(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    bounded_map(63)
}

fn annotation_map(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    bounded_map(1024)
}

/// A document whose fields are defined elsewhere.
pub(crate) fn open_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}
