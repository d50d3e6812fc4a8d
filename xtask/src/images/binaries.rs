//! The binaries that go into images: static, so that they run on any base and on none.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

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

/// The binaries, where cargo put them.
#[derive(Debug)]
pub(super) struct Binaries {
    pub manager: PathBuf,
    pub runner: PathBuf,
}

impl Binaries {
    /// A folder that holds nothing but the binary called `name`: a build context.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let built = if name == "ptah-operator" {
            &self.manager
        } else {
            &self.runner
        };
        let folder = workspace::target_dir().join("images").join(name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::copy(built, folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
        Ok(folder)
    }
}

/// Has cargo build them.
pub(super) fn build(profile: Profile) -> Result<Binaries> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "build",
            "--quiet",
            "--target",
            TARGET,
            "--profile",
            profile.name(),
        ])
        .args(["-p", "ptah-operator", "-p", "ptah-runner", "--bins"])
        // With a target given, build scripts and macros stay dynamic, as they must.
        .env(
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
            "-C target-feature=+crt-static",
        )
        // It would replace the line above.
        .env_remove("RUSTFLAGS")
        .current_dir(workspace::root());
    run::shown(&mut cargo)?;
    let folder = workspace::target_dir().join(TARGET).join(profile.name());
    Ok(Binaries {
        manager: folder.join("ptah-operator"),
        runner: folder.join("ptah-runner"),
    })
}
