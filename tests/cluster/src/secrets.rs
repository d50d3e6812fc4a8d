//! What tests plant in Secrets stands in Secrets and nowhere else.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use xtask::stage::{Database, NAMESPACE};

use crate::{World, shared};

/// Parts of what is secret beside the databases' passwords: those of Git servers and registries, and keys.
const SECRET: [&str; 3] = ["open-sesame", "r0tated-Eizo9eex", "PRIVATE KEY-----"];
/// Every kind of object but Secrets that an operation could leave something in.
const KINDS: &str =
    "configmaps,pods,jobs,events,ptahschemas,ptahschemaplans,ptahschemaapprovals,ptahresultrecords";

/// Looks for secrets in the objects of a world's namespace (their arguments, environment, status and messages), in the
/// logs of its Pods that are still there, and in the manager's.
pub(crate) fn are_kept(world: &World) -> Result<()> {
    let namespace = world.namespace();
    let objects = shared()
        .cluster
        .ask(&["get", KINDS, "-n", &namespace, "-o", "json"])?;
    holds_none(&objects, "the objects of the namespace")?;
    let logs = shared().node.paths().logs().join("pods");
    for of in [namespace.as_str(), NAMESPACE] {
        let prefix = format!("{of}_");
        for pod in folder(&logs)? {
            if pod
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
            {
                below(&pod)?;
            }
        }
    }
    Ok(())
}

fn below(path: &Path) -> Result<()> {
    if path.is_dir() {
        return folder(path)?.iter().try_for_each(|path| below(path));
    }
    // A log goes with its Pod, perhaps now.
    match std::fs::read(path) {
        Ok(bytes) => holds_none(&String::from_utf8_lossy(&bytes), &path.display().to_string()),
        Err(_) => Ok(()),
    }
}

fn folder(path: &Path) -> Result<Vec<std::path::PathBuf>> {
    match std::fs::read_dir(path) {
        Ok(entries) => Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn holds_none(text: &str, place: &str) -> Result<()> {
    for secret in SECRET.into_iter().chain([Database::secret()]) {
        ensure!(
            !text.contains(secret),
            "{place} shows a secret ({secret:?}): {}",
            text.lines()
                .find(|line| line.contains(secret))
                .unwrap_or_default()
        );
    }
    Ok(())
}
