//! Debian packages that the machine must have: asked for by name, installed when missing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::lock_file;
use crate::{progress, run};

/// What the node needs of the machine.
pub const NODE: &[&str] = &[
    "containernetworking-plugins",
    "nftables",
    "iptables",
    "conntrack",
    "iproute2",
    "util-linux",
    "mount",
];

/// What building images needs of the machine.
pub const IMAGES: &[&str] = &["buildah", "mmdebstrap", "ca-certificates"];

/// What a Git server over SSH needs of the machine.
pub const GIT: &[&str] = &["git", "openssh-server", "openssh-client"];

/// What the tests of Git sources need of the machine: git's own programs, OpenSSH's, and what runs JGit.
pub const GIT_TESTS: &[&str] = &[
    "git",
    "openssh-server",
    "openssh-client",
    "openssl",
    "maven",
    "default-jdk-headless",
];

/// Installs those of `packages` that are missing.
pub fn ensure(packages: &[&str]) -> Result<()> {
    if missing(packages).is_empty() {
        return Ok(());
    }
    // apt's own lock refuses a second caller; ours makes it wait.
    let _held = lock_file(Path::new("/var/lock/ptah-dev-apt.lock"))?;
    let missing = missing(packages);
    if missing.is_empty() {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        bail!("as root, install these Debian packages: {}", missing.join(" "));
    }
    progress::step(format!("install {}", missing.join(" ")), || {
        run::quiet(apt().arg("update")).context("cannot read the lists of packages")?;
        run::quiet(
            apt()
                .args(["install", "-y", "--no-install-recommends"])
                .args(&missing),
        )
    })
}

fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive")
        .args(["-q", "-o", "DPkg::Lock::Timeout=300"]);
    apt
}

fn missing<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    packages
        .iter()
        .copied()
        .filter(|package| !installed(package))
        .collect()
}

fn installed(package: &str) -> bool {
    run::output(Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", package]))
        .is_ok_and(|status| status == "installed")
}
