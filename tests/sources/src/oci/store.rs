//! Artifacts in memory, made by hand: what no pushing program would make can be made as well.

use std::collections::BTreeMap;

use ptah_contract::digest::Digest;
use serde_json::{Value, json};

/// Media type of an OCI manifest.
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of an OCI index.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Media type of a configuration that says nothing.
pub const EMPTY: &str = "application/vnd.oci.empty.v1+json";

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

impl Store {
    /// Writes an OCI image layout of what stands under a tag, for programs that copy such layouts.
    ///
    /// # Panics
    /// When nothing stands there, or writing fails.
    pub fn layout(&self, tag: &str, folder: &std::path::Path) {
        let blobs = folder.join("blobs/sha256");
        std::fs::create_dir_all(&blobs).expect("a folder for blobs");
        let write = |digest: &str, bytes: &[u8]| {
            let hex = digest.trim_start_matches("sha256:");
            std::fs::write(blobs.join(hex), bytes).expect("a blob is written");
        };
        for (digest, bytes) in &self.blobs {
            write(digest, bytes);
        }
        for (name, (bytes, _)) in self
            .manifests
            .iter()
            .filter(|(name, _)| name.starts_with("sha256:"))
        {
            write(name, bytes);
        }
        let (bytes, media_type) = self.manifests.get(tag).expect("the tag is there");
        let entry = json!({
            "mediaType": media_type, "digest": Digest::of(bytes).to_string(), "size": bytes.len(),
            "annotations": {"org.opencontainers.image.ref.name": tag},
        });
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]});
        std::fs::write(folder.join("index.json"), index.to_string()).expect("the index is written");
        let version = r#"{"imageLayoutVersion":"1.0.0"}"#;
        std::fs::write(folder.join("oci-layout"), version).expect("the layout's version is written");
    }
}
