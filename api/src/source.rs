//! Where desired state comes from: `spec.desired` names exactly one source.

use kube::KubeSchema;
use ptah_contract::commit::SignedObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::{ConfigMapKeySelector, SecretKeySelector};

/// The source of a schema: exactly one of `ociRef`, `configMap` and `git`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = ("[has(self.ociRef), has(self.configMap), has(self.git)].filter(x, x).size() == 1", "name exactly one source: ociRef, configMap or git"),
    validation = ("!has(self.ociRef) || has(self.verificationPolicyFrom)", "an OCI source needs verificationPolicyFrom"),
    validation = ("has(self.ociRef) || !(has(self.verificationPolicyFrom) || has(self.registryAuthFrom) || has(self.transport))", "verificationPolicyFrom, registryAuthFrom and transport belong to an OCI source"),
    validation = ("!has(self.ociRef) || !has(self.sourcePolicyFrom)", "sourcePolicyFrom belongs to a ConfigMap or Git source")
)]
pub struct DesiredSource {
    /// OCI artifact by tag or digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 7, max = 1024), regex(pattern = r"^oci://[^\s?#]+$"))]
    pub oci_ref: Option<String>,
    /// Registry credentials; absent means anonymous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry_auth_from: Option<RegistryAuthSource>,
    /// Policy that the artifact is held to, in an immutable ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_policy_from: Option<ConfigMapKeySelector>,
    /// How the registry is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<OciTransport>,
    /// Files in a ConfigMap of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapSource>,
    /// Files in a Git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
    /// Policy that a ConfigMap or Git source is held to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_policy_from: Option<ConfigMapKeySelector>,
}

impl DesiredSource {
    /// Names of the ConfigMaps that it is read from or held to.
    pub fn config_maps(&self) -> impl Iterator<Item = &str> {
        let keys = self.git.as_ref().and_then(GitSource::verification);
        let policies = [
            self.source_policy_from.as_ref(),
            self.verification_policy_from.as_ref(),
            keys.map(|verification| &verification.keys_from),
        ];
        let source = self.config_map.iter().map(|source| source.name.as_str());
        let policies = policies.into_iter().flatten().map(|policy| policy.name.as_str());
        source.chain(policies)
    }
}

/// Keys of a ConfigMap as files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapSource {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Which keys, and the path that each has as a file. Absent: every key, each as a file of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 256),
        // Two items of one path are refused by the API server itself: the paths are the list's keys.
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["path"])
    )]
    pub items: Option<Vec<ConfigMapItem>>,
}

/// One selected key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapItem {
    /// Key in `data` or `binaryData`.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Relative path of the file, with `/` between its parts.
    #[schemars(length(min = 1, max = 1024))]
    pub path: String,
}

/// A path of a repository at a ref.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitSource {
    /// `https://`, `ssh://` or `user@host:path`.
    #[schemars(length(min = 1, max = 2048))]
    #[x_kube(validation = ("self.startsWith('https://') || self.startsWith('ssh://') || self.matches('^[A-Za-z0-9._-]+@[^:/]+:.+$')", "a repository is https://, ssh:// or user@host:path"))]
    pub repository: String,
    /// Branch, tag, full ref name, `HEAD`, or a commit id.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = 1024))]
    pub reference: String,
    /// A folder or one file.
    #[schemars(length(min = 1, max = 1024))]
    pub path: String,
    /// Credentials, in a Secret of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_from: Option<SecretReference>,
    /// Certificate authorities of the server, in a ConfigMap of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_from: Option<ConfigMapKeySelector>,
    /// Whose signature the commit or its tag must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<GitVerification>")]
    pub verification: Option<Declared<GitVerification>>,
}

/// A field that an earlier version of the API stored unchecked. What is not understood is kept, so that one such object
/// does not make the list of all objects unreadable; whoever uses the field refuses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Declared<T> {
    /// What the schema admits.
    Known(T),
    /// What it admitted once.
    Other(serde_json::Value),
}

impl<T> Declared<T> {
    /// What is understood.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(known) => Some(known),
            Self::Other(_) => None,
        }
    }
}

impl GitSource {
    /// Whose signatures are asked for, as far as that is understood.
    #[must_use]
    pub fn verification(&self) -> Option<&GitVerification> {
        self.verification.as_ref().and_then(Declared::known)
    }
}

/// Whose signatures are believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitVerification {
    /// What has to be signed.
    pub mode: GitVerificationMode,
    /// OpenPGP public keys, or an `allowed_signers` file of OpenSSH, in an immutable ConfigMap of this namespace.
    pub keys_from: ConfigMapKeySelector,
    /// E-mail addresses, one of which the committer or tagger must have. Absent: whoever holds a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), inner(length(min = 3, max = 254)))]
    pub committers: Option<Vec<String>>,
}

/// What has to be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GitVerificationMode {
    /// The commit.
    Head,
    /// The annotated tag that `ref` names.
    Tag,
    /// Both.
    TagAndHead,
}

impl GitVerificationMode {
    /// As the runner protocol says it.
    #[must_use]
    pub fn to_contract(self) -> SignedObject {
        match self {
            Self::Head => SignedObject::Head,
            Self::Tag => SignedObject::Tag,
            Self::TagAndHead => SignedObject::TagAndHead,
        }
    }
}

/// A Secret of this namespace; its keys have fixed names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Registry credentials in a Secret of this namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAuthSource {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// How its keys are read (default `Environment`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<RegistryAuthMode>,
    /// Key of the user name (default `username`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username_key: Option<String>,
    /// Key of the password (default `password`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_key: Option<String>,
    /// Key of a token (default `token`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_key: Option<String>,
    /// Key of a Docker config (default `.dockerconfigjson`).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        rename = "dockerConfigJSONKey"
    )]
    pub docker_config_json_key: Option<String>,
}

/// Form of a registry Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RegistryAuthMode {
    /// User and password, or a token, under keys of their own.
    Environment,
    /// A Docker config document.
    DockerConfigJSON,
}

/// How a registry is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = ("!(has(self.plainHTTP) && self.plainHTTP && has(self.caFrom))", "plainHTTP and caFrom exclude each other"),
    validation = ("!has(self.clientCertificateFrom)", "clientCertificateFrom is not supported: a registry is asked with a password or a token, whose Secret names the registry it may be sent to")
)]
pub struct OciTransport {
    /// Clear text, for trusted networks only.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "plainHTTP")]
    pub plain_http: Option<bool>,
    /// Certificate authorities of the registry, in a ConfigMap of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_from: Option<ConfigMapKeySelector>,
    /// Not supported, and refused where it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::shared::open_object")]
    pub client_certificate_from: Option<serde_json::Value>,
}

/// The database that is brought to the desired state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = ("has(self.coordinationKey) != has(self.realmRef)", "name exactly one of coordinationKey and realmRef"),
    validation = ("has(self.urlFrom) != has(self.connectionFrom)", "name exactly one of urlFrom and connectionFrom")
)]
pub struct DatabaseTarget {
    /// Database family: `PostgreSQL` or `MySQL`. Another name is stored and answered with `UnsupportedEngine`.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Za-z][A-Za-z0-9._-]*$"))]
    pub engine: String,
    /// Name of the physical database, scoped to the namespace; every resource that reaches it uses the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9](?:[a-z0-9._:/-]{0,251}[a-z0-9])?$")
    )]
    pub coordination_key: Option<String>,
    /// A cluster-scoped PtahRealm, for a database that several namespaces manage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realm_ref: Option<RealmReference>,
    /// This resource manages only part of the database; every claimant must say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_realm: Option<bool>,
    /// Secret key that holds the connection URL. Only operation Pods read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_from: Option<SecretKeySelector>,
    /// Secret whose keys `host`, `port`, `user`, `password`, `database`, `sslmode`, `sslrootcert` make the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_from: Option<SecretReference>,
}

/// A PtahRealm by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RealmReference {
    /// Name of the PtahRealm.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub name: String,
}
