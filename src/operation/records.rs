//! Delivered results at rest: immutable `PtahResultRecord`s, written by the receiver, read by the manager.
//!
//! Promises: one attempt has one result. The same bytes from the same Pod may be stored again at any point of an
//! interrupted delivery and give the same receipt; other bytes are a conflict and change nothing. [`load`] returns a
//! result only when it is committed and every UID, size and digest holds. Records belong to the operation's Job and
//! go with it.
//!
//! A payload of at most [`INLINE_BYTES`] stands in its intent, which is then the commit. A larger one is an intent
//! that lists its chunks, the chunks, and a completion that names intent and chunks by UID: the commit.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::PostParams;
use kube::{Api, Client, Error as KubeError, ResourceExt as _};
use ptah_api::{PtahResultRecord, PtahResultRecordSpec, ResultRecordType, names};
use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use ptah_contract::protocol::{MAX_OUTCOME_BYTES, OperationIdentity, PodIdentity};
use serde::{Deserialize, Serialize};

/// Largest payload that stands in the intent itself.
pub const INLINE_BYTES: usize = 256 * 1024;
/// Largest part of a payload.
pub const CHUNK_BYTES: usize = 512 * 1024;
const VERSION: u32 = 1;

/// What the sender is told once its result is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Receipt {
    /// Name of the intent.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// SHA-256 of the payload.
    pub digest: Digest,
    /// Its length in bytes.
    pub size: u64,
}

/// A result that cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused or is away.
    #[error("the API server did not take or give a result record")]
    Api(#[from] KubeError),
    /// Another result of the same attempt is stored already.
    #[error("record {0} holds another result of the same attempt")]
    Conflict(String),
    /// What is stored is not what it says.
    #[error("record {name} {what}")]
    Corrupt {
        /// Name of the record.
        name: String,
        /// What does not hold.
        what: &'static str,
    },
    /// Larger than a result can be.
    #[error("a result of {0} bytes is too large")]
    TooLarge(usize),
    /// A document of ours cannot be encoded.
    #[error("a result record cannot be encoded")]
    Encoding(#[from] serde_json::Error),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Intent {
    version: u32,
    identity: OperationIdentity,
    pod: PodIdentity,
    digest: Digest,
    size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inline: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chunks: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    digest: Digest,
    size: u64,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Complete {
    #[serde(rename = "manifestUID")]
    manifest_uid: String,
    #[serde(rename = "manifestDigest")]
    manifest_digest: Digest,
    #[serde(rename = "chunkUIDs")]
    chunk_uids: Vec<String>,
}

/// One result on its way into storage. The order is [`Self::intent`], [`Self::chunks`], [`Self::complete`]; each may
/// be repeated, by any replica.
#[derive(Debug)]
pub struct Publication<'a> {
    name: &'a str,
    identity: &'a OperationIdentity,
    pod: &'a PodIdentity,
    payload: &'a [u8],
    digest: Digest,
    manifest: Vec<u8>,
    manifest_uid: String,
    chunk_uids: Vec<String>,
}

impl<'a> Publication<'a> {
    /// Prepares a result; nothing is written yet.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn new(
        name: &'a str,
        identity: &'a OperationIdentity,
        pod: &'a PodIdentity,
        payload: &'a [u8],
    ) -> Result<Self, Error> {
        if payload.len() > MAX_OUTCOME_BYTES {
            return Err(Error::TooLarge(payload.len()));
        }
        let digest = Digest::of(payload);
        let inline = payload.len() <= INLINE_BYTES;
        let parts = || {
            payload.chunks(CHUNK_BYTES).map(|part| Part {
                digest: Digest::of(part),
                size: part.len() as u64,
            })
        };
        let manifest = canonical::to_bytes(&Intent {
            version: VERSION,
            identity: identity.clone(),
            pod: pod.clone(),
            digest,
            size: payload.len() as u64,
            inline: inline.then(|| STANDARD.encode(payload)),
            chunks: if inline { Vec::new() } else { parts().collect() },
        })?;
        let (manifest_uid, chunk_uids) = (String::new(), Vec::new());
        Ok(Self {
            name,
            identity,
            pod,
            payload,
            digest,
            manifest,
            manifest_uid,
            chunk_uids,
        })
    }

    /// Whether the intent is the commit.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.payload.len() <= INLINE_BYTES
    }

    /// Writes the intent.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another result of the attempt is there.
    pub async fn intent(&mut self, client: &Client) -> Result<(), Error> {
        let uid = self
            .keep(client, self.name, ResultRecordType::Intent, self.manifest.clone())
            .await?;
        self.manifest_uid = uid;
        Ok(())
    }

    /// Writes the chunks of a payload that does not stand in its intent.
    ///
    /// # Errors
    /// As [`Self::intent`].
    pub async fn chunks(&mut self, client: &Client) -> Result<(), Error> {
        self.chunk_uids.clear();
        if !self.is_inline() {
            for (index, part) in self.payload.chunks(CHUNK_BYTES).enumerate() {
                let name = chunk_name(self.name, index);
                let uid = self
                    .keep(client, &name, ResultRecordType::Chunk, part.to_vec())
                    .await?;
                self.chunk_uids.push(uid);
            }
        }
        Ok(())
    }

    /// Commits, reads everything back, and makes out the receipt.
    ///
    /// # Errors
    /// As [`Self::intent`], and [`Error::Corrupt`] when what is read back is something else.
    pub async fn complete(&self, client: &Client) -> Result<Receipt, Error> {
        if !self.is_inline() {
            let complete = canonical::to_bytes(&Complete {
                manifest_uid: self.manifest_uid.clone(),
                manifest_digest: Digest::of(&self.manifest),
                chunk_uids: self.chunk_uids.clone(),
            })?;
            self.keep(
                client,
                &complete_name(self.name),
                ResultRecordType::Complete,
                complete,
            )
            .await?;
        }
        let stored = load(client, &self.identity.namespace, self.name, self.identity).await?;
        if stored.is_none_or(|stored| Digest::of(&stored) != self.digest) {
            return corrupt(self.name, "did not keep what was written to it");
        }
        Ok(Receipt {
            name: self.name.to_owned(),
            uid: self.manifest_uid.clone(),
            digest: self.digest,
            size: self.payload.len() as u64,
        })
    }

    /// Creates a record, or accepts the one that is there when it is the same; returns its UID.
    async fn keep(
        &self,
        client: &Client,
        name: &str,
        kind: ResultRecordType,
        data: Vec<u8>,
    ) -> Result<String, Error> {
        let api = Api::<PtahResultRecord>::namespaced(client.clone(), &self.identity.namespace);
        let record = self.record(name, kind, data);
        let stored = match api.create(&PostParams::default(), &record).await {
            Ok(stored) => stored,
            Err(KubeError::Api(status)) if status.is_already_exists() => api.get(name).await?,
            Err(error) => return Err(error.into()),
        };
        if stored.spec != record.spec || !owned_by(&stored, &self.pod.job_uid) {
            return Err(Error::Conflict(name.to_owned()));
        }
        stored.uid().ok_or_else(|| Error::Corrupt {
            name: name.to_owned(),
            what: "has no UID",
        })
    }

    fn record(&self, name: &str, kind: ResultRecordType, data: Vec<u8>) -> PtahResultRecord {
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        PtahResultRecord {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                namespace: Some(self.identity.namespace.clone()),
                labels: Some(BTreeMap::from([
                    label(names::LABEL_MANAGED_BY, names::MANAGED_BY),
                    label(names::LABEL_RESULT_RECORD, &format!("{kind:?}").to_lowercase()),
                    label(names::LABEL_SCHEMA, &self.identity.name),
                    label(names::LABEL_OPERATION, self.identity.operation.label()),
                    label(
                        names::LABEL_OPERATION_ID,
                        &names::short_hash(&[&self.identity.operation_id]),
                    ),
                ])),
                owner_references: Some(vec![OwnerReference {
                    api_version: "batch/v1".to_owned(),
                    kind: "Job".to_owned(),
                    name: self.identity.job_name.clone(),
                    uid: self.pod.job_uid.clone(),
                    controller: Some(true),
                    block_owner_deletion: None,
                }]),
                ..ObjectMeta::default()
            },
            spec: PtahResultRecordSpec {
                kind,
                data: ByteString(data),
            },
        }
    }
}

/// The committed result of an attempt; `None` while there is none, or none that is committed.
///
/// # Errors
/// [`Error::Corrupt`] when records are there and are not the whole, unchanged result of exactly this attempt.
pub async fn load(
    client: &Client,
    namespace: &str,
    name: &str,
    expected: &OperationIdentity,
) -> Result<Option<Vec<u8>>, Error> {
    let api = Api::<PtahResultRecord>::namespaced(client.clone(), namespace);
    let Some(record) = api.get_opt(name).await? else {
        return Ok(None);
    };
    let manifest = data(&record, name, ResultRecordType::Intent)?;
    let Ok(intent) = serde_json::from_slice::<Intent>(manifest) else {
        return corrupt(name, "is not an intent of this version");
    };
    if intent.version != VERSION {
        return corrupt(name, "is not an intent of this version");
    }
    if intent.identity != *expected {
        return corrupt(name, "is the result of another attempt");
    }
    let job = &intent.pod.job_uid;
    if !owned_by(&record, job) {
        return corrupt(name, "does not belong to the operation's Job");
    }
    let payload = match &intent.inline {
        Some(_) if !intent.chunks.is_empty() => return corrupt(name, "holds its result twice"),
        Some(text) => STANDARD.decode(text).ok(),
        None => {
            let Some(commit) = api.get_opt(&complete_name(name)).await? else {
                return Ok(None);
            };
            let uid = record.uid().unwrap_or_default();
            Some(assemble(&api, name, &intent, job, &uid, manifest, &commit).await?)
        }
    };
    match payload {
        Some(payload) if payload.len() as u64 == intent.size && Digest::of(&payload) == intent.digest => {
            Ok(Some(payload))
        }
        _ => corrupt(name, "does not give its digest"),
    }
}

async fn assemble(
    api: &Api<PtahResultRecord>,
    name: &str,
    intent: &Intent,
    job: &str,
    uid: &str,
    manifest: &[u8],
    commit: &PtahResultRecord,
) -> Result<Vec<u8>, Error> {
    let commit_name = complete_name(name);
    let bytes = data(commit, &commit_name, ResultRecordType::Complete)?;
    let Ok(complete) = serde_json::from_slice::<Complete>(bytes) else {
        return corrupt(&commit_name, "is not a completion");
    };
    if complete.manifest_uid != uid || complete.manifest_digest != Digest::of(manifest) {
        return corrupt(&commit_name, "completes another intent");
    }
    if complete.chunk_uids.len() != intent.chunks.len() || intent.size > MAX_OUTCOME_BYTES as u64 {
        return corrupt(&commit_name, "does not name every chunk");
    }
    if !owned_by(commit, job) {
        return corrupt(&commit_name, "does not belong to the operation's Job");
    }
    let mut payload = Vec::new();
    for (index, (part, uid)) in intent.chunks.iter().zip(&complete.chunk_uids).enumerate() {
        let name = chunk_name(name, index);
        let Some(chunk) = api.get_opt(&name).await? else {
            return corrupt(&name, "is missing");
        };
        let bytes = data(&chunk, &name, ResultRecordType::Chunk)?;
        if chunk.uid().as_ref() != Some(uid) || !owned_by(&chunk, job) {
            return corrupt(&name, "is not the chunk that was committed");
        }
        if bytes.len() as u64 != part.size || Digest::of(bytes) != part.digest {
            return corrupt(&name, "does not give its digest");
        }
        payload.extend_from_slice(bytes);
    }
    Ok(payload)
}

fn data<'r>(record: &'r PtahResultRecord, name: &str, kind: ResultRecordType) -> Result<&'r [u8], Error> {
    if record.spec.kind == kind {
        Ok(&record.spec.data.0)
    } else {
        corrupt(name, "is of another type")
    }
}

fn owned_by(record: &PtahResultRecord, job_uid: &str) -> bool {
    record.owner_references().iter().any(|owner| {
        owner.kind == "Job" && owner.uid == job_uid && owner.controller == Some(true) && !job_uid.is_empty()
    })
}

fn corrupt<T>(name: &str, what: &'static str) -> Result<T, Error> {
    Err(Error::Corrupt {
        name: name.to_owned(),
        what,
    })
}

fn chunk_name(name: &str, index: usize) -> String {
    format!("{name}-{index:03}")
}

fn complete_name(name: &str) -> String {
    format!("{name}-complete")
}

#[cfg(test)]
#[path = "receiver/records_tests.rs"]
mod tests;
