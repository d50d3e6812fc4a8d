//! Artifacts in registries that Pods reach: the node's own, which is anonymous and speaks plain HTTP, and one with TLS
//! and a password.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::SIMPLE_SIGNING;
use rcgen::{CertifiedKey, KeyPair, SigningKey as _, generate_simple_self_signed};
use serde_json::{Value, json};
use tempfile::TempDir;
pub use xtask::artifact::ARTIFACT_TYPE;
use xtask::artifact::{self, Layer};
use xtask::node::paths::{ADDRESS, REGISTRY};
use xtask::run;

use crate::{PATIENCE, shared};

/// Who may use the private registry.
pub const USER: &str = "robot";
/// The user's password.
pub const PASSWORD: &str = "open-sesame-registry";
/// The line of an htpasswd file for both.
const LINE: &str = "robot:$2b$05$z7r27VuLiJG.P7LqeXKi3eKg9mRT94ciOEpdBn5vz8BYRPsRqzTQ.\n";

/// Pushes files as a plain artifact with one layer each, by the real `crane`; the digest of its manifest.
pub fn push(repository: &str, tag: &str, files: &[(&str, &str)], annotations: &Value) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let files: Vec<(String, String)> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    let digest = artifact::layout(folder.path(), &files, annotations)?;
    upload(folder.path(), &format!("{repository}:{tag}"))?;
    Ok(digest)
}

/// Signs the artifact with this digest as cosign does under its own tag (cosign, SIGNATURE_SPEC.md).
pub fn sign(repository: &str, digest: &str, key: &KeyPair) -> Result<()> {
    let payload = json!({"critical": {"identity": {"docker-reference": repository},
        "image": {"docker-manifest-digest": digest}, "type": "cosign container image signature"}, "optional": null});
    let payload = payload.to_string().into_bytes();
    let signature = STANDARD.encode(key.sign(&payload)?);
    let layer = Layer {
        media_type: SIMPLE_SIGNING,
        bytes: payload,
        annotations: json!({"dev.cosignproject.cosign/signature": signature}),
    };
    let folder = tempfile::tempdir()?;
    artifact::layout_of(folder.path(), "", &[layer], &json!({}))?;
    upload(
        folder.path(),
        &format!("{repository}:{}.sig", digest.replace(':', "-")),
    )
}

fn upload(layout: &Path, reference: &str) -> Result<()> {
    let mut crane = shared().node.command("crane")?;
    crane.arg("push").arg(layout).arg(reference);
    if reference.starts_with(REGISTRY) {
        crane.arg("--insecure");
    }
    run::quiet(&mut crane)
}

/// distribution with TLS and a password, in the node's network.
pub struct Private {
    /// `host:port`.
    pub authority: String,
    /// The authority that its certificate chains to, PEM.
    pub ca: String,
    folder: TempDir,
    child: Child,
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Private {
    /// Starts one.
    pub fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let at = folder.path().display().to_string();
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec![ADDRESS.to_owned()])?;
        std::fs::write(folder.path().join("cert.pem"), cert.pem())?;
        std::fs::write(folder.path().join("key.pem"), signing_key.serialize_pem())?;
        std::fs::write(folder.path().join("htpasswd"), LINE)?;
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage:\n  filesystem: {{rootdirectory: {at}/data}}\n\
             http:\n  addr: {ADDRESS}:0\n  secret: test\n  tls: {{certificate: {at}/cert.pem, key: {at}/key.pem}}\n\
             auth:\n  htpasswd: {{realm: test, path: {at}/htpasswd}}\n"
        );
        std::fs::write(folder.path().join("config.yml"), config)?;
        let mut child = shared()
            .node
            .command("registry")?
            .args(["serve", &format!("{at}/config.yml")])
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("the registry cannot be started")?;
        let log = child.stderr.take().context("the registry has no log")?;
        let authority = listening(BufReader::new(log))?;
        Ok(Self {
            authority,
            ca: cert.pem(),
            folder,
            child,
        })
    }

    /// Pushes an artifact into it.
    pub fn push(
        &self,
        repository: &str,
        tag: &str,
        files: &[(&str, &str)],
        annotations: &Value,
    ) -> Result<String> {
        let config = self.folder.path().join("docker");
        std::fs::create_dir_all(&config)?;
        let login = json!({"auths": {&self.authority: {"username": USER, "password": PASSWORD}}});
        std::fs::write(config.join("config.json"), login.to_string())?;
        // crane reads both from its environment, which a test must not change for the tests beside it: it goes through
        // the anonymous registry, and is copied.
        let staged = format!("{REGISTRY}/staged/{repository}");
        let digest = push(&staged, tag, files, annotations)?;
        let mut crane = shared().node.command("crane")?;
        crane
            .args([
                "copy",
                "--insecure",
                &format!("{staged}:{tag}"),
                &format!("{}/{repository}:{tag}", self.authority),
            ])
            .env("DOCKER_CONFIG", &config)
            .env("SSL_CERT_FILE", self.folder.path().join("cert.pem"));
        run::quiet(&mut crane)?;
        Ok(digest)
    }
}

/// Where it listens, from its log; the rest of the log is read so that it never stands still.
fn listening(mut log: BufReader<impl std::io::Read + Send + 'static>) -> Result<String> {
    let began = Instant::now();
    let mut line = String::new();
    while began.elapsed() < PATIENCE {
        line.clear();
        if log.read_line(&mut line)? == 0 {
            bail!("the registry ended before it listened");
        }
        if let Some((_, rest)) = line.split_once("listening on ") {
            let end = rest
                .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ':')))
                .unwrap_or(rest.len());
            let authority = rest[..end].to_owned();
            std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
            return Ok(authority);
        }
    }
    bail!("the registry did not say where it listens")
}
