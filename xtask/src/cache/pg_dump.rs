//! `pg_dump`, the judge of the engine's corpus: newer than this machine's release has it, so from Debian's unstable suite.
//!
//! Nothing is installed: apt gets folders of its own, and the program runs with the loader and the libraries of its own
//! suite, whose C library is newer than the machine's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::base::files;
use super::{Cache, Key};
use crate::run;

const RECIPE: &str = "pg_dump 1";

const SUITE: &str = "sid";

/// Dumps every server from 9.2 to its own version.
const PACKAGE: &str = "postgresql-client-18";

const PROGRAM: &str = "usr/lib/postgresql/18/bin/pg_dump";

const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// Where Debian's own mirrors' keys are.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

// The folder may be moved, so the paths are taken from the script's own.
const WRAPPER: &str = r#"#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/lib/pg_dump" "$@"
"#;

/// The program; it and what it loads stand in one folder.
pub fn program(cache: &Cache) -> Result<PathBuf> {
    let open = cache.readable_by_all()?;
    let key = Key::new(RECIPE).text(SUITE).text(PACKAGE).text(WRAPPER);
    Ok(open.entry("pg_dump", &key, make)?.join("pg_dump"))
}

fn make(into: &Path) -> Result<()> {
    let work = tempfile::tempdir()?;
    let root = work.path().join("root");
    for package in download(work.path())? {
        run::quiet(Command::new("dpkg").arg("-x").arg(package).arg(&root))?;
    }
    let lib = into.join("lib");
    fs::create_dir(&lib).context("cannot make the folder of libraries")?;
    for library in files(&root.join(LIBRARIES))? {
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        if library.is_file() && name.contains(".so") {
            copy(&library, &lib)?;
        }
    }
    copy(&root.join(PROGRAM), &lib)?;
    let wrapper = into.join("pg_dump");
    fs::write(&wrapper, WRAPPER).context("cannot write the wrapper")?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    run::quiet(Command::new("chmod").args(["-R", "a+rX"]).arg(into))?;
    run::quiet(Command::new(wrapper).arg("--version"))
}

/// The package and all that it depends on, as apt tells it for a machine on which nothing is installed.
fn download(work: &Path) -> Result<Vec<PathBuf>> {
    for folder in ["lists/partial", "cache/archives/partial", "parts"] {
        fs::create_dir_all(work.join(folder)).context("cannot make apt's folders")?;
    }
    fs::write(work.join("status"), "")?;
    fs::write(
        work.join("sources.list"),
        format!("deb [signed-by={KEYS}] {} {SUITE} main\n", mirror()?),
    )?;
    let at = |name: &str| work.join(name).display().to_string();
    let configuration = [
        ("Dir::State::lists", at("lists")),
        ("Dir::State::status", at("status")),
        ("Dir::Cache", at("cache")),
        ("Dir::Etc::sourcelist", at("sources.list")),
        ("Dir::Etc::sourceparts", at("parts")),
        ("Dir::Etc::preferences", at("none")),
        ("Dir::Etc::preferencesparts", at("parts")),
        ("APT::Architecture", "amd64".to_owned()),
        // _apt may not write into a folder of root's.
        ("APT::Sandbox::User", "root".to_owned()),
        // A run that is not root's takes no lock of the machine's and installs nothing, so it needs no right.
        ("Debug::NoLocking", "true".to_owned()),
    ];
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.arg("-q");
        for (name, value) in &configuration {
            apt.args(["-o", &format!("{name}={value}")]);
        }
        apt
    };
    run::quiet(apt().arg("update"))
        .with_context(|| format!("cannot read the list of packages of {SUITE}"))?;
    run::quiet(apt().args([
        "install",
        "-y",
        "--no-install-recommends",
        "--download-only",
        PACKAGE,
    ]))?;
    let mut packages = files(&work.join("cache/archives"))?;
    packages.retain(|file| file.extension().is_some_and(|end| end == "deb"));
    Ok(packages)
}

/// The mirror that this machine takes Debian from: another may be out of its reach.
fn mirror() -> Result<String> {
    let known = || {
        run::output(Command::new("apt-get").args([
            "indextargets",
            "--format",
            "$(REPO_URI)",
            "Created-By: Packages",
            "Origin: Debian",
            "Component: main",
        ]))
    };
    let mut lines = known()?;
    if lines.is_empty() {
        run::quiet(Command::new("apt-get").args(["-q", "update"]))?;
        lines = known()?;
    }
    lines
        .lines()
        // The mirror of security updates has no suite but its own.
        .find(|line| !line.contains("security"))
        .map(str::to_owned)
        .context("apt knows no mirror of Debian")
}

fn copy(file: &Path, folder: &Path) -> Result<()> {
    let to = folder.join(file.file_name().unwrap_or_default());
    fs::copy(file, to).with_context(|| format!("cannot copy {}", file.display()))?;
    Ok(())
}
