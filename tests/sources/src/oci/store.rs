//! Artifacts in memory, made by hand: what no pushing program would make can be made as well.

use std::collections::BTreeMap;

use ptah_contract::digest::Digest;
use serde_json::{Value, json};

/// Media type of an OCI manifest.
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of an OCI index.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// What a registry holds in one repository.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// By digest.
    pub blobs: BTreeMap<String, Vec<u8>>,
    /// Bytes and media type, by tag and by digest.
    pub manifests: BTreeMap<String, (Vec<u8>, String)>,
    /// The answer of the referrers API; none where the registry does not have it.
    pub referrers: Option<Vec<Value>>,
}

impl Store {
    /// Puts a blob in, and describes it.
    pub fn blob(&mut self, media_type: &str, bytes: &[u8]) -> Value {
        let digest = Digest::of(bytes).to_string();
        self.blobs.insert(digest.clone(), bytes.to_vec());
        json!({"mediaType": media_type, "digest": digest, "size": bytes.len()})
    }

    /// Puts a manifest in under a tag, and describes it.
    pub fn manifest(&mut self, tag: &str, media_type: &str, bytes: &[u8]) -> Value {
        let digest = Digest::of(bytes).to_string();
        for name in [tag, &digest] {
            self.manifests
                .insert(name.to_owned(), (bytes.to_vec(), media_type.to_owned()));
        }
        json!({"mediaType": media_type, "digest": digest, "size": bytes.len()})
    }

    /// A plain artifact of titled files.
    pub fn files<'a>(&mut self, tag: &str, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Value {
        let config = self.blob(EMPTY, b"{}");
        let layers: Vec<Value> = files
            .into_iter()
            .map(|(title, bytes)| {
                let mut layer = self.blob("application/vnd.oci.image.layer.v1.tar", bytes);
                layer["annotations"] = json!({"org.opencontainers.image.title": title});
                layer
            })
            .collect();
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.example.sql",
            "config": config, "layers": layers,
        });
        self.manifest(tag, MANIFEST, manifest.to_string().as_bytes())
    }
}
