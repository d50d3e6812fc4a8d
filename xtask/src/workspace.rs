//! Where things of the work tree are. Nothing outside the tree is named here.

use std::path::{Path, PathBuf};

/// The root of the work tree.
pub fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The Go tool module of a group of programs.
pub fn tool_module(group: &str) -> PathBuf {
    let folder = match group {
        "status-reader" => "tests/status/tools",
        _ => "tests/cluster/tools",
    };
    root().join(folder).join(group)
}

/// The Helm chart.
pub fn chart() -> PathBuf {
    root().join("charts/ptah-operator")
}

/// The folder of the package with the cluster group's tests.
pub fn cluster_tests() -> PathBuf {
    root().join("tests/cluster")
}

/// Cargo's target folder, as cargo itself would choose it.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
