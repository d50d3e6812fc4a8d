//! `PtahSchemaPlan` and `PtahSchemaApproval`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use ptah_contract::plan_chunks::{Recorded, Whole};
use ptah_contract::plan_contract::SchemaPlanBinding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::{ApprovalIdentity, ImmutableObjectReference};

/// An immutable plan: what it binds, and where its bytes stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "operator.ptah.run",
    version = "v1alpha1",
    kind = "PtahSchemaPlan",
    plural = "ptahschemaplans",
    singular = "ptahschemaplan",
    shortname = "ptahplan",
    namespaced,
    status = "PtahSchemaPlanStatus",
    derive = "PartialEq",
    printcolumn(name = "Schema", type_ = "string", json_path = ".spec.schemaRef.name"),
    printcolumn(name = "Fingerprint", type_ = "string", json_path = ".spec.fingerprint"),
    printcolumn(
        name = "Statements",
        type_ = "integer",
        json_path = ".spec.binding.statementCount"
    ),
    printcolumn(
        name = "Destructive",
        type_ = "boolean",
        json_path = ".spec.binding.destructive"
    ),
    printcolumn(
        name = "Privileges",
        type_ = "string",
        json_path = ".spec.binding.privilegeChanges"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    cel
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self == oldSelf", "a plan cannot be changed"))]
pub struct PtahSchemaPlanSpec {
    /// The schema that the plan is for.
    pub schema_ref: ImmutableObjectReference,
    /// Identity of the plan: the fingerprint of `binding`. This is what an approval names.
    #[schemars(regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub fingerprint: String,
    /// Everything that the plan binds (plan contract version 2).
    #[schemars(schema_with = "binding_schema")]
    pub binding: SchemaPlanBinding,
    /// Length of the plan document in bytes.
    #[schemars(range(min = 1, max = 8_388_608))]
    pub size: i64,
    /// `postgres` or `mysql`.
    pub dialect: String,
    /// Where the document's bytes stand, in order.
    #[schemars(length(min = 1, max = 16))]
    pub chunks: Vec<PlanChunk>,
    /// Recorded, not bound.
    pub recorded: PlanRecord,
}

impl PtahSchemaPlanSpec {
    /// The plan's parts and its whole, as [`ptah_contract::plan_chunks`] checks them.
    #[must_use]
    pub fn parts(&self) -> (Vec<Recorded<'_>>, Whole) {
        let recorded = self.chunks.iter().map(|chunk| Recorded {
            index: i64::from(chunk.index),
            name: &chunk.name,
            size: i64::from(chunk.size),
            digest: &chunk.digest,
        });
        let whole = Whole {
            size: self.size,
            digest: self.binding.plan_digest,
        };
        (recorded.collect(), whole)
    }

    /// Whether what the plan binds gives the fingerprint that it names: an approval names the latter alone.
    #[must_use]
    pub fn binds_its_fingerprint(&self) -> bool {
        self.binding
            .fingerprint()
            .is_ok_and(|found| found.to_string() == self.fingerprint)
    }
}

/// One immutable ConfigMap that holds a part of the plan document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanChunk {
    /// Position, from 0.
    #[schemars(range(min = 0, max = 15))]
    pub index: i32,
    /// Name of the ConfigMap.
    pub name: String,
    /// Length in bytes.
    #[schemars(range(min = 1, max = 524_288))]
    pub size: i32,
    /// SHA-256 of the bytes.
    #[schemars(regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub digest: String,
}

/// What a reader may want to know and nothing depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRecord {
    /// Digest-pinned image of the manager that published the plan.
    pub controller_image: String,
    /// Its revision.
    pub controller_revision: String,
    /// Where the files came from, in words: a ConfigMap's name, a commit, a reference.
    pub source: String,
}

/// Whether the plan's bytes are stored whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PtahSchemaPlanStatus {
    /// Generation that the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready=True` is the commit of the storage: before it a plan can be neither approved nor run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// One person's decision for exactly one plan. The three references are written by the person; the rest is stamped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "operator.ptah.run",
    version = "v1alpha1",
    kind = "PtahSchemaApproval",
    plural = "ptahschemaapprovals",
    singular = "ptahschemaapproval",
    shortname = "ptahapprove",
    namespaced,
    status = "PtahSchemaApprovalStatus",
    derive = "PartialEq",
    printcolumn(name = "Schema", type_ = "string", json_path = ".spec.schemaRef.name"),
    printcolumn(name = "Plan", type_ = "string", json_path = ".spec.planRef.name"),
    printcolumn(name = "Approver", type_ = "string", json_path = ".spec.approver.username"),
    printcolumn(
        name = "Accepted",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Accepted')].status"
    ),
    printcolumn(
        name = "Stale",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Stale')].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    cel
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self == oldSelf", "an approval cannot be changed; delete it and create another"))]
pub struct PtahSchemaApprovalSpec {
    /// The schema.
    pub schema_ref: ImmutableObjectReference,
    /// The plan.
    pub plan_ref: ImmutableObjectReference,
    /// The plan's `spec.fingerprint`.
    #[schemars(regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub plan_fingerprint: String,
    /// Who decided. Stamped at admission; what the request says here is replaced.
    pub approver: ApprovalIdentity,
    /// When. Stamped at admission.
    pub approved_at: Time,
    /// UID of the admission request that stamped it.
    #[serde(rename = "mutationRequestUID")]
    pub mutation_request_uid: String,
}

/// What became of an approval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PtahSchemaApprovalStatus {
    /// Generation that the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Accepted`, `Consumed`, `Stale`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// The binding's own type lives in the contract and knows no schema; this is its shape for the API server.
fn binding_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let digest = || serde_json::json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"});
    let policy = || {
        serde_json::json!({"type": "object", "nullable": true, "required": ["uid", "digest"],
            "properties": {"uid": {"type": "string"}, "digest": digest()}})
    };
    let kinds = [
        "Definer",
        "FunctionReplacement",
        "Grant",
        "Ownership",
        "Revoke",
        "Role",
        "RoleMembership",
        "RowSecurityPolicy",
        "SecurityDefiner",
    ];
    schemars::json_schema!({
        "type": "object",
        "required": ["contractVersion", "resourceUID", "source", "contentDigest", "planDigest", "coordinationDigest",
            "targetIdentityDigest", "actualStateFingerprint", "desiredStateFingerprint", "policyFingerprint",
            "executionBinding", "destructive", "privilegeChanges", "statementCount"],
        "properties": {
            "contractVersion": {"type": "integer", "format": "int32", "enum": [2]},
            "resourceUID": {"type": "string"},
            "source": {"type": "object", "required": ["kind"], "properties": {
                "kind": {"type": "string", "enum": ["oci", "configMap", "git"]},
                "artifactDigest": digest(), "uid": {"type": "string"}, "locatorDigest": digest()}},
            "contentDigest": digest(), "planDigest": digest(), "coordinationDigest": digest(),
            "targetIdentityDigest": digest(), "actualStateFingerprint": digest(),
            "desiredStateFingerprint": digest(), "policyFingerprint": digest(),
            "verificationPolicy": policy(), "sourcePolicy": policy(),
            "commitVerification": {"type": "object", "nullable": true, "required": ["digest"],
                "properties": {"digest": digest()}},
            "executionBinding": {"type": "object",
                "required": ["epoch", "controllerStateVersion", "engineVersion", "runnerImage", "protocolVersion"],
                "properties": {
                    "epoch": {"type": "string", "pattern": "^v1-[0-9a-f]{32}$"},
                    "controllerStateVersion": {"type": "integer", "format": "int32", "minimum": 1},
                    "engineVersion": {"type": "string"}, "runnerImage": {"type": "string"},
                    "protocolVersion": {"type": "integer", "format": "int32", "minimum": 1}}},
            "destructive": {"type": "boolean"},
            "privilegeChanges": {"type": "array", "maxItems": 16, "x-kubernetes-list-type": "set",
                "items": {"type": "string", "enum": kinds}},
            "statementCount": {"type": "integer", "format": "int32", "minimum": 1},
        },
    })
}
