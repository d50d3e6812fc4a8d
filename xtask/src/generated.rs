//! Files in the tree that are made from code, and the check that nobody edited them by hand.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{run, workspace};

/// Where the chart keeps its CRD templates.
fn crds() -> PathBuf {
    workspace::chart().join("templates/crds")
}

/// Makes every generated file anew.
pub fn write() -> Result<()> {
    generate(&crds())
}

/// An error that names the first generated file that differs from what the code makes of it.
pub fn check() -> Result<()> {
    let fresh = tempfile::tempdir()?;
    generate(fresh.path())?;
    let (wanted, found) = (contents(fresh.path())?, contents(&crds())?);
    for (name, text) in &wanted {
        if found.get(name) != Some(text) {
            bail!(
                "{} is not what the API's types make; run: cargo xtask crds",
                crds().join(name).display()
            );
        }
    }
    match found.keys().find(|name| !wanted.contains_key(*name)) {
        Some(name) => bail!("{} is made by nothing; remove it", crds().join(name).display()),
        None => Ok(()),
    }
}

fn generate(folder: &Path) -> Result<()> {
    run::quiet(
        run::cargo()
            .args([
                "run",
                "--quiet",
                "--package",
                "ptah-api",
                "--example",
                "crds",
                "--",
            ])
            .arg(folder),
    )
}

fn contents(folder: &Path) -> Result<BTreeMap<OsString, Vec<u8>>> {
    fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.file_name(), fs::read(entry.path())?))
        })
        .collect()
}
