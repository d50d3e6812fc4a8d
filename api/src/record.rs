//! `PtahResultRecord`: what a runner delivered, kept until it is consumed. Treat every record as confidential.

use k8s_openapi::ByteString;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One immutable part of a delivered result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "operator.ptah.run",
    version = "v1alpha1",
    kind = "PtahResultRecord",
    plural = "ptahresultrecords",
    singular = "ptahresultrecord",
    shortname = "ptahresult",
    namespaced,
    derive = "PartialEq",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self == oldSelf", "a result cannot be changed"))]
pub struct PtahResultRecordSpec {
    /// Part of the result that this is.
    #[serde(rename = "type")]
    pub kind: ResultRecordType,
    /// The part's bytes, at most 512 KiB.
    #[schemars(schema_with = "data_schema")]
    pub data: ByteString,
}

/// Parts of a delivered result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResultRecordType {
    /// Key material for one attempt (reserved; never written).
    Credential,
    /// What will be stored: identity, size, digest, chunks.
    Intent,
    /// Payload bytes.
    Chunk,
    /// The commit: names the intent and every chunk by UID.
    Complete,
    /// Fences an attempt against further delivery (reserved; never written).
    Retired,
}

fn data_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "format": "byte", "minLength": 1, "maxLength": 699_052})
}
