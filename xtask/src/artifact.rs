//! A plain OCI artifact as an image layout in a folder, for `crane push`: one layer a file, titled by its path, as `oras
//! push` makes it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Type of the artifact.
pub const ARTIFACT_TYPE: &str = "application/vnd.example.sql.v1";

/// A layer of an artifact.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its annotations.
    pub annotations: Value,
}

/// Writes the layout of files; the digest of the artifact's manifest.
pub fn layout(folder: &Path, files: &[(String, String)], annotations: &Value) -> Result<String> {
    let layers: Vec<Layer> = files
        .iter()
        .map(|(title, text)| Layer {
            media_type: "application/sql",
            bytes: text.clone().into_bytes(),
            annotations: json!({"org.opencontainers.image.title": title}),
        })
        .collect();
    layout_of(folder, ARTIFACT_TYPE, &layers, annotations)
}

/// Writes the layout of layers; the digest of the artifact's manifest.
pub fn layout_of(
    folder: &Path,
    artifact_type: &str,
    layers: &[Layer],
    annotations: &Value,
) -> Result<String> {
    let blobs = folder.join("blobs/sha256");
    fs::create_dir_all(&blobs).with_context(|| format!("cannot make {}", blobs.display()))?;
    let put = |media_type: &str, bytes: &[u8]| -> Result<Value> {
        let hex = hex::encode(Sha256::digest(bytes));
        fs::write(blobs.join(&hex), bytes).context("cannot write a blob")?;
        Ok(json!({"mediaType": media_type, "digest": format!("sha256:{hex}"), "size": bytes.len()}))
    };
    let config = put("application/vnd.oci.empty.v1+json", b"{}")?;
    let mut described_layers = Vec::new();
    for layer in layers {
        let mut described = put(layer.media_type, &layer.bytes)?;
        described["annotations"] = layer.annotations.clone();
        described_layers.push(described);
    }
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": artifact_type,
        "config": config, "layers": described_layers, "annotations": annotations});
    let described = put(MANIFEST, manifest.to_string().as_bytes())?;
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]});
    fs::write(folder.join("index.json"), index.to_string()).context("cannot write the index")?;
    fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)
        .context("cannot write the layout")?;
    Ok(described["digest"].as_str().unwrap_or_default().to_owned())
}
