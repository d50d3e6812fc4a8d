//! What images are built upon, made from Debian's packages where no registry can be asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Cache, Key, debian};
use crate::run;

/// The suite of the base image.
pub const SUITE: &str = "bookworm";

const RECIPE: &str = "base 1";

/// A root file system like that of `debian:bookworm-slim`, as one tar file.
pub fn root_file_system(cache: &Cache) -> Result<PathBuf> {
    let name = format!("debian-{SUITE}");
    let entry = cache.entry(&name, &Key::new(RECIPE).text(SUITE), |into| {
        debian::ensure(debian::IMAGES)?;
        let mut make = Command::new("mmdebstrap");
        make.args(["--variant=minbase", "--aptopt=APT::Install-Recommends \"false\""]);
        // The slim image leaves these out as well.
        for folder in ["doc", "man", "info", "locale", "groff", "lintian"] {
            make.arg(format!("--dpkgopt=path-exclude=/usr/share/{folder}/*"));
        }
        make.arg("--dpkgopt=path-include=/usr/share/doc/*/copyright");
        make.arg(SUITE).arg(into.join("base.tar"));
        run::logged(&mut make, &cache.log(&name))
    })?;
    Ok(entry.join("base.tar"))
}

/// A folder with `ca-certificates.crt`: the roots that Debian ships, not those that this machine has been given.
pub fn certificates(cache: &Cache) -> Result<PathBuf> {
    cache.entry("ca-certificates", &Key::new(RECIPE).text(SUITE), |into| {
        let work = tempfile::tempdir()?;
        // _apt may not write into a folder of root's, and says so on every download.
        let mut apt = Command::new("apt-get");
        apt.args([
            "-q",
            "-o",
            "APT::Sandbox::User=root",
            "download",
            "ca-certificates",
        ])
        .current_dir(&work);
        if run::quiet(&mut apt).is_err() {
            run::quiet(Command::new("apt-get").args(["-q", "update"]))?;
            run::quiet(&mut apt)?;
        }
        let package = files(work.path())?
            .pop()
            .context("apt-get downloaded no package")?;
        let unpacked = work.path().join("root");
        run::quiet(Command::new("dpkg").arg("-x").arg(package).arg(&unpacked))?;
        let mut bundle = Vec::new();
        for file in files(&unpacked.join("usr/share/ca-certificates/mozilla"))? {
            bundle.extend(fs::read(&file)?);
        }
        if bundle.is_empty() {
            bail!("the package ca-certificates holds no certificate");
        }
        fs::write(into.join("ca-certificates.crt"), bundle).context("cannot write the certificates")
    })
}

/// The folder's entries, sorted.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}
