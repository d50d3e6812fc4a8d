//! The binaries that go into images: static, so that they run on any base and on none.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::previous;
use crate::{run, workspace};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Cargo's profile for the binaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Built fast, for the test node.
    Image,
    /// What users get.
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Release => "release",
        }
    }
}

/// A binary in a folder of its own: a build context.
#[derive(Debug)]
pub(super) struct Binary {
    pub folder: PathBuf,
    name: &'static str,
}

impl Binary {
    /// The file itself.
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    fn copy(from: &Path, name: &'static str, folder: &str) -> Result<Self> {
        let folder = workspace::target_dir().join("images").join(folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::copy(from.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
        Ok(Self { folder, name })
    }
}

/// The manager.
const MANAGER: &str = "ptah-operator";

/// The binaries that go into the product's images.
#[derive(Debug)]
pub(super) struct Binaries {
    pub manager: Binary,
    pub runner: Binary,
}

/// Has cargo build what the product's images hold.
pub(super) fn build(profile: Profile) -> Result<Binaries> {
    build_of(workspace::root(), &workspace::target_dir(), profile, "")
}

/// The same of another tree.
pub(super) fn build_previous(tree: &Path, profile: Profile) -> Result<Binaries> {
    let target = previous::target(profile.name(), TARGET)?;
    build_of(tree, &target, profile, "-previous")
}

fn build_of(tree: &Path, target: &Path, profile: Profile, suffix: &str) -> Result<Binaries> {
    let of = ["-p", MANAGER, "-p", "ptah-runner", "--bins"];
    let folder = cargo(tree, target, profile, &of)?;
    Ok(Binaries {
        manager: Binary::copy(&folder, MANAGER, &format!("{MANAGER}{suffix}"))?,
        runner: Binary::copy(&folder, "ptah-runner", &format!("ptah-runner{suffix}"))?,
    })
}

/// Has cargo build the manager that tests can make die after any action.
pub(super) fn build_failpoints(profile: Profile) -> Result<Binary> {
    let of = ["-p", MANAGER, "--bins", "--features", "failpoints"];
    let folder = cargo(workspace::root(), &workspace::target_dir(), profile, &of)?;
    Binary::copy(&folder, MANAGER, "failpoints")
}

fn cargo(tree: &Path, target: &Path, profile: Profile, of: &[&str]) -> Result<PathBuf> {
    let mut cargo = run::cargo();
    cargo
        .args([
            "build",
            "--quiet",
            "--target",
            TARGET,
            "--profile",
            profile.name(),
        ])
        .args(of)
        // With a target given, build scripts and macros stay dynamic, as they must.
        .env(
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
            "-C target-feature=+crt-static",
        )
        // It would replace the line above.
        .env_remove("RUSTFLAGS")
        .env("CARGO_TARGET_DIR", target)
        .current_dir(tree);
    run::shown(&mut cargo)?;
    Ok(target.join(TARGET).join(profile.name()))
}
