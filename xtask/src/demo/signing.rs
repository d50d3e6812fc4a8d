//! Signatures by the real cosign, with a key in a file: no log and no other service is asked.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::story::show;
use crate::cache::{Cache, programs};
use crate::node::Node;
use crate::run;

/// cosign, and the key pair that it signs with.
pub(super) struct Cosign {
    program: PathBuf,
    folder: TempDir,
}

impl Cosign {
    /// Builds it when it is missing, and makes a key pair.
    pub(super) fn prepare(cache: &Cache) -> Result<Self> {
        let cosign = Self {
            program: programs::cosign(cache)?,
            folder: tempfile::tempdir()?,
        };
        cosign.generate()?;
        Ok(cosign)
    }

    /// Signs with another key from now on.
    pub(super) fn replace_key(&self) -> Result<()> {
        show("cosign generate-key-pair   # somebody else's");
        for name in ["cosign.key", "cosign.pub"] {
            std::fs::remove_file(self.folder.path().join(name)).context("cannot remove the key")?;
        }
        self.generate()
    }

    fn generate(&self) -> Result<()> {
        let mut cosign = Command::new(&self.program);
        cosign.arg("generate-key-pair");
        run::quiet(self.with_key(&mut cosign))
    }

    /// The public key, PEM.
    pub(super) fn public(&self) -> Result<String> {
        std::fs::read_to_string(self.folder.path().join("cosign.pub")).context("cannot read the public key")
    }

    /// Signs an artifact of the node's registry, named by its digest.
    pub(super) fn sign(&self, node: &Node, reference: &str) -> Result<()> {
        // Without a transparency log: what is signed here is nobody else's business.
        let arguments = [
            "sign",
            "--key",
            "cosign.key",
            "--use-signing-config=false",
            "--tlog-upload=false",
        ];
        show(&format!("cosign {} {reference}", arguments.join(" ")));
        let mut cosign = node.command(&self.program)?;
        cosign
            .args(arguments)
            .args(["--allow-http-registry", "--yes", reference]);
        run::quiet(self.with_key(&mut cosign))
    }

    fn with_key<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.current_dir(self.folder.path()).env("COSIGN_PASSWORD", "")
    }
}
