//! What is checked without running anything: form, warnings, licences, the chart, generated files, file lengths.
//!
//! Every check runs, whatever the others find; the error names those that failed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::cache::{Cache, programs, rust_tools};
use crate::{generated, progress, promises, run, workspace};

const LONGEST_FILE: usize = 800;
/// A file may be longer when its header says why, with this word.
const REASON: &str = "length:";

/// Runs the checks. The quick ones compile nothing.
pub fn run(cache: &Cache, quick: bool) -> Result<()> {
    let mut failed = Vec::new();
    let mut check = |name: &'static str, work: &dyn Fn() -> Result<()>| {
        if let Err(error) = progress::step(format!("lint: {name}"), work) {
            progress::note(format!("{error:#}"));
            failed.push(name);
        }
    };
    check("rustfmt", &|| cargo(&["fmt", "--all", "--", "--check", "-l"]));
    check("file lengths", &file_lengths);
    check("promises", &promises::check);
    if !quick {
        // A test of `api` holds the generated files too; here the command that makes them is tried.
        check("generated files", &generated::check);
        check("clippy", &|| {
            cargo(&[
                "clippy",
                "--quiet",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ])
        });
        check("who links what", &links);
        // The fuzz targets are outside of the workspace, and their lock file does not follow by itself.
        check("fuzz/Cargo.lock", &|| {
            let fuzz = ["metadata", "--locked", "--format-version", "1"];
            run::quiet(
                run::cargo()
                    .args(fuzz)
                    .current_dir(workspace::root().join("fuzz")),
            )
        });
        check("cargo deny", &|| {
            let mut deny = Command::new(rust_tools::cargo_deny(cache)?);
            deny.args(["--log-level", "error", "check", "bans", "licenses", "sources"]);
            run::shown(deny.current_dir(workspace::root()))
        });
        if workspace::chart().join("Chart.yaml").is_file() {
            check("helm lint", &|| {
                let helm = programs::prepare(cache)?.path("helm");
                run::shown(
                    Command::new(helm)
                        .args(["lint", "--strict"])
                        .arg(workspace::chart()),
                )
            });
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// What a part must not be able to do, by what it does not link: the verifier speaks to nobody, the manager to no
/// database.
const UNLINKED: [(&str, &[&str]); 2] = [
    (
        "ptah-verifier",
        &["curl", "hyper", "mio", "reqwest", "socket2", "tokio", "ureq"],
    ),
    ("ptah-operator", &["ptah-engine", "tokio-postgres"]),
];

fn links() -> Result<()> {
    for (package, unlinked) in UNLINKED {
        let tree = [
            "tree",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{lib}",
            "--package",
            package,
        ];
        let tree = run::output(run::cargo().args(tree))?;
        let linked: BTreeSet<&str> = tree.lines().collect();
        for name in unlinked {
            // A library's name, as the compiler has it.
            if linked.contains(name.replace('-', "_").as_str()) {
                bail!("{package} links {name}");
            }
        }
    }
    Ok(())
}

fn cargo(words: &[&str]) -> Result<()> {
    run::shown(run::cargo().args(words))
}

fn file_lengths() -> Result<()> {
    let mut long = Vec::new();
    for file in rust_files()? {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let lines = text.lines().count();
        if lines > LONGEST_FILE && !says_why(&text) {
            long.push(format!("{} has {lines} lines", file.display()));
        }
    }
    if !long.is_empty() {
        bail!(
            "split these, or give a reason after \"{REASON}\" in the header: {}",
            long.join(", ")
        );
    }
    Ok(())
}

fn says_why(text: &str) -> bool {
    text.lines()
        .take_while(|line| line.starts_with("//!"))
        .any(|line| line.contains(REASON))
}

// Those that git knows, so that what a build leaves in the tree is not looked at.
fn rust_files() -> Result<Vec<PathBuf>> {
    let list = run::output(
        Command::new("git")
            .args(["ls-files", "*.rs"])
            .current_dir(workspace::root()),
    )?;
    Ok(list
        .lines()
        .map(|line| workspace::root().join(Path::new(line)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_for_a_long_file_stands_in_its_header() {
        assert!(says_why(
            "//! A table.\n//! length: generated from the grammar\nfn main() {}\n"
        ));
        assert!(!says_why("//! A table.\n// length: too late\n"));
    }
}
