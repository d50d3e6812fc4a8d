//! Registries for tests: real ones, and one that lies.

pub mod cosign;
pub mod lying;
pub mod process;
pub mod push;
pub mod registry;
pub mod store;
pub mod tls;
pub mod token;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use xtask::cache::{Cache, programs};

/// The folder of the programs that tests run: the one that the caller prepared, else one that is prepared now.
///
/// # Panics
/// When they cannot be built; the message says why.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    let bin = BIN.get_or_init(|| match std::env::var_os("PTAH_SOURCE_PROGRAMS") {
        Some(folder) => folder.into(),
        None => {
            let cache = Cache::open().expect("the cache of programs cannot be opened");
            let programs = programs::sources(&cache).expect("registries cannot be built; this needs Go");
            programs.bin().to_owned()
        }
    });
    let path = bin.join(name);
    assert!(
        path.exists(),
        "{} is missing; `cargo xtask cache` builds it",
        path.display()
    );
    path
}

/// Runs a program to its end, in an environment of its own, and gives its output.
///
/// # Panics
/// When it fails; the message holds what it said.
pub fn run(name: &str, arguments: &[&str], home: &Path) -> String {
    let output = Command::new(program(name))
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("DOCKER_CONFIG", home)
        .output()
        .unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
    assert!(
        output.status.success(),
        "{name} {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("a program's output is text")
}
