//! A PtahSchema's status as others read it: kstatus, Argo CD's health script, the API server's columns.
//!
//! The resources are `fixtures/*.json`, which a test of the lifecycle keeps as it writes them; what is expected of each
//! stands in `expected.txt`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use xtask::cache::{Cache, programs};

/// What Argo CD shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Health {
    /// `Healthy`, `Progressing`, `Degraded` or `Suspended`.
    pub status: String,
    /// For people.
    pub message: String,
}

/// One resource, read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Verdict {
    /// kstatus' word.
    pub kstatus: String,
    /// By the health script.
    pub health: Health,
    /// By name.
    pub columns: BTreeMap<String, String>,
}

/// This folder.
#[must_use]
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the health script.
#[must_use]
pub fn argo() -> PathBuf {
    folder().join("../../integrations/argocd/operator.ptah.run/PtahSchema")
}

/// The fixtures by name.
///
/// # Errors
/// When one cannot be read.
pub fn fixtures() -> Result<BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder().join("fixtures"))? {
        let path = entry?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        found.insert(name, serde_json::from_slice(&std::fs::read(&path)?)?);
    }
    Ok(found)
}

/// Reads objects with the real libraries.
///
/// # Errors
/// When the reader cannot be built, or refuses the script, a column or an object.
pub fn read(
    script: &str,
    columns: &Value,
    objects: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Verdict>> {
    let reader = programs::status_reader(&Cache::open()?)?;
    let mut child = Command::new(reader)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the reader")?;
    let input = json!({"script": script, "columns": columns, "objects": objects}).to_string();
    child
        .stdin
        .take()
        .context("no way to the reader")?
        .write_all(input.as_bytes())?;
    let ended = child.wait_with_output()?;
    if !ended.status.success() {
        bail!("{}", String::from_utf8_lossy(&ended.stderr).trim());
    }
    serde_json::from_slice(&ended.stdout).context("the reader's answer is not JSON")
}
