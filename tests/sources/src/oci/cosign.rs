//! An artifact with what lies attached to it: signatures that the real cosign made (`verifier/testdata/cosign`), each put
//! where its layout has it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::digest::Digest;
use serde_json::{Value, json};

use super::store::{EMPTY, INDEX, MANIFEST, Store};

const CASES: &str = include_str!("../../../../verifier/testdata/cosign/cases.json");
/// The media type of the bundles of these cases.
pub const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The tag of the artifact.
pub const TAG: &str = "v1";

/// How a registry lists what is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// By the referrers API.
    Api,
    /// By an index under the tag `sha256-<hex>`, which whoever attaches keeps.
    Tag,
}

/// An artifact and its attachments.
#[derive(Clone)]
pub struct Signed {
    artifact: Store,
    /// The artifact's.
    pub digest: Digest,
    /// What a listing says of each attachment, in their order.
    pub listed: Vec<Value>,
}

/// What lies attached in a case of P-256 keys, and the PEM of the key that it is held to.
pub fn case(layout: &str, fault: &str) -> (Vec<Value>, String) {
    let mut whole: Value = serde_json::from_str(CASES).unwrap();
    let found = whole["cases"].as_array_mut().unwrap().iter_mut().find(|case| {
        case["algorithm"] == "ECDSA P-256, SHA-256" && case["layout"] == layout && case["fault"] == fault
    });
    let case = found.unwrap_or_else(|| panic!("no case {layout}, {fault}"));
    let key = case["key"].as_str().unwrap().to_owned();
    match case["attached"].take() {
        Value::Array(things) => (things, key),
        other => panic!("{other}"),
    }
}

/// A policy that asks for this key's signature.
pub fn policy(key: &str) -> String {
    json!({"version": 1, "signatures": [{"name": "release-key", "key": key}]}).to_string()
}

impl Default for Signed {
    /// The artifact that the cases are about, byte for byte as `make.py` pushed it, with nothing attached.
    fn default() -> Self {
        let mut store = Store::default();
        let sql = b"CREATE TABLE a (id int);";
        let (config, layer) = (store.blob(EMPTY, b"{}"), store.blob("application/sql", sql));
        let manifest = format!(
            "{{\"schemaVersion\": 2, \"mediaType\": \"{MANIFEST}\", \
             \"artifactType\": \"application/vnd.stokaro.ptah.schema.v1\", \
             \"config\": {{\"mediaType\": \"{EMPTY}\", \"digest\": {}, \"size\": 2}}, \
             \"layers\": [{{\"mediaType\": \"application/sql\", \"digest\": {}, \"size\": {}, \
             \"annotations\": {{\"org.opencontainers.image.title\": \"schema.sql\"}}}}]}}",
            config["digest"],
            layer["digest"],
            sql.len()
        );
        store.manifest(TAG, MANIFEST, manifest.as_bytes());
        Self::of(store)
    }
}

impl Signed {
    /// What stands under the tag, with nothing attached.
    pub fn of(artifact: Store) -> Self {
        Self {
            digest: Digest::of(&artifact.manifests[TAG].0),
            artifact,
            listed: Vec::new(),
        }
    }

    /// A case, and the key that it is held to.
    pub fn case(layout: &str, fault: &str) -> (Self, String) {
        let (things, key) = case(layout, fault);
        let mut signed = Self::default();
        for thing in &things {
            signed.attach(thing);
        }
        (signed, key)
    }

    /// Puts an attachment in, and gives the digest of its manifest.
    pub fn attach(&mut self, thing: &Value) -> String {
        let layers = thing["layers"].as_array().unwrap().iter();
        let layers: Vec<Value> = layers
            .map(|layer| {
                let body = STANDARD.decode(layer["body"].as_str().unwrap()).unwrap();
                let mut descriptor = self.artifact.blob(layer["mediaType"].as_str().unwrap(), &body);
                descriptor["annotations"] = layer["annotations"].clone();
                descriptor
            })
            .collect();
        let mut manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": self.artifact.blob(EMPTY, b"{}"),
            "layers": layers, "annotations": thing["annotations"],
        });
        if thing["found"] == "signatureTag" {
            let tag = format!("sha256-{}.sig", self.digest.hex());
            let descriptor = self
                .artifact
                .manifest(&tag, MANIFEST, manifest.to_string().as_bytes());
            return descriptor["digest"].as_str().unwrap().to_owned();
        }
        let size = self.artifact.manifests[TAG].0.len();
        manifest["subject"] = json!({"mediaType": MANIFEST, "digest": self.digest, "size": size});
        // Absent where it is empty: an empty one is no media type.
        let kind = thing["artifactType"].as_str().filter(|kind| !kind.is_empty());
        if let Some(kind) = kind {
            manifest["artifactType"] = json!(kind);
        }
        self.attach_manifest(&manifest.to_string(), kind, &thing["annotations"])
    }

    /// Lists this as attached, whatever it is.
    pub fn attach_manifest(&mut self, manifest: &str, kind: Option<&str>, annotations: &Value) -> String {
        let digest = Digest::of(manifest.as_bytes()).to_string();
        let mut descriptor = self.artifact.manifest(&digest, MANIFEST, manifest.as_bytes());
        descriptor["annotations"] = annotations.clone();
        if let Some(kind) = kind {
            descriptor["artifactType"] = json!(kind);
        }
        self.listed.push(descriptor);
        digest
    }

    /// What a registry holds that lists attachments so.
    pub fn store(&self, listing: Listing) -> Store {
        let mut store = self.artifact.clone();
        match listing {
            Listing::Api => store.referrers = Some(self.listed.clone()),
            Listing::Tag if self.listed.is_empty() => {}
            Listing::Tag => {
                let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": self.listed});
                let tag = format!("sha256-{}", self.digest.hex());
                store.manifest(&tag, INDEX, index.to_string().as_bytes());
            }
        }
        store
    }
}
