//! Developer tools that come from crates.io.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Cache, Key};
use crate::run;

const CARGO_DENY: &str = "0.20.2";

/// The program `cargo-deny`.
pub fn cargo_deny(cache: &Cache) -> Result<PathBuf> {
    let entry = cache.entry(
        "cargo-deny",
        &Key::new("cargo-install 1").text(CARGO_DENY),
        |into| {
            let mut cargo = Command::new("cargo");
            cargo
                .args([
                    "install",
                    "cargo-deny",
                    "--locked",
                    "--version",
                    CARGO_DENY,
                    "--root",
                ])
                .arg(into);
            // Its build is its own; the workspace's target folder is not for it.
            cargo.env_remove("CARGO_TARGET_DIR").current_dir(into);
            run::logged(&mut cargo, &cache.log("cargo-deny"))
        },
    )?;
    Ok(entry.join("bin/cargo-deny"))
}
