//! Runs the fuzz targets of `fuzz/` on the stable compiler.
//!
//! The coverage that libFuzzer needs is a pass of LLVM that the stable compiler has as well; only the sanitizers are
//! for the nightly one, and they look for what code without `unsafe` does not do. A fault is an input of
//! `fuzz/artifacts/`; what an earlier run found worth keeping, in `fuzz/corpus/`, is where the next begins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{progress, run, workspace};

/// What `-Zsanitizer` would turn on for libFuzzer, without a sanitizer.
const INSTRUMENTATION: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Longest input, in bytes: what the parsers read in one piece is shorter, and long inputs are slow.
const MAX_LENGTH: u32 = 16 << 10;
/// Megabytes of memory, and seconds for one input, that count as a fault.
const MEMORY: u32 = 512;
const TIMEOUT: u32 = 5;

/// What to run.
pub struct Options {
    /// One target; all of them when there is none.
    pub target: Option<String>,
    /// For how long, each.
    pub seconds: u64,
    /// Run the seeds through the targets as a test, without libFuzzer.
    pub seeds_only: bool,
    /// Run this one file through the target, such as a fault that was found.
    pub input: Option<PathBuf>,
}

/// Builds the targets and runs them one after the other. All of them run, whatever the others find.
pub fn run(options: &Options) -> Result<()> {
    let targets = chosen(options.target.as_deref())?;
    if options.seeds_only {
        return progress::step("fuzz: seeds", seeds);
    }
    let programs = progress::step("fuzz: build", build)?;
    if let Some(input) = &options.input {
        let [target] = targets.as_slice() else {
            bail!("name the target that {} is for", input.display());
        };
        return run::shown(Command::new(programs.join(target)).args(limits()).arg(input));
    }
    let mut failed = Vec::new();
    for target in targets {
        if let Err(error) = progress::step(format!("fuzz: {target}"), || {
            fuzz(&programs, &target, options.seconds)
        }) {
            progress::note(format!("{error:#}"));
            failed.push(target);
        }
    }
    if !failed.is_empty() {
        bail!(
            "faults in {}; again: cargo xtask fuzz {} --input fuzz/artifacts/{0}/<file>",
            failed.join(", "),
            failed[0]
        );
    }
    Ok(())
}

fn home() -> PathBuf {
    workspace::root().join("fuzz")
}

/// Every target is a file of its name.
fn all() -> Result<Vec<String>> {
    let folder = home().join("targets");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if let (Some("rs"), Some(stem)) = (extension(&path), path.file_stem()) {
            targets.push(stem.to_string_lossy().into_owned());
        }
    }
    targets.sort();
    Ok(targets)
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

fn chosen(name: Option<&str>) -> Result<Vec<String>> {
    let all = all()?;
    match name {
        None => Ok(all),
        Some(name) if all.iter().any(|target| target == name) => Ok(vec![name.to_owned()]),
        Some(name) => bail!("there is no fuzz target {name:?}; there are {}", all.join(", ")),
    }
}

fn cargo(words: &[&str]) -> Command {
    let mut command = run::cargo();
    command.args(words).arg("--quiet").arg("--locked");
    command.arg("--manifest-path").arg(home().join("Cargo.toml"));
    command
}

/// In the workspace's target folder, where most of the dependencies are built already.
fn seeds() -> Result<()> {
    run::shown(cargo(&["test"]).arg("--target-dir").arg(workspace::target_dir()))
}

/// The folder of the built targets.
fn build() -> Result<PathBuf> {
    let host = host()?;
    let to = workspace::target_dir().join("fuzz");
    let mut command = cargo(&["build", "--release", "--features", "libfuzzer"]);
    // With a target named, even the host's own, what runs while building is left as it is.
    command.args(["--target", &host]).arg("--target-dir").arg(&to);
    command
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", INSTRUMENTATION);
    run::shown(&mut command)
        .context("the targets cannot be built; they need a C++ compiler, such as the Debian package g++")?;
    Ok(to.join(host).join("release"))
}

fn host() -> Result<String> {
    let about = run::output(Command::new("rustc").arg("-vV"))?;
    about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc does not say which host it is for")
}

fn limits() -> [String; 3] {
    [
        format!("-rss_limit_mb={MEMORY}"),
        format!("-timeout={TIMEOUT}"),
        format!("-max_len={MAX_LENGTH}"),
    ]
}

fn fuzz(programs: &Path, target: &str, seconds: u64) -> Result<()> {
    let folder = |name: &str| -> Result<PathBuf> {
        let folder = home().join(name).join(target);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    };
    let (corpus, artifacts) = (folder("corpus")?, folder("artifacts")?);
    let log = programs.join(format!("{target}.log"));
    let mut command = Command::new(programs.join(target));
    command
        .args(limits())
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1");
    // New inputs go into the first folder, and the others are only read.
    run::logged(command.arg(corpus).arg(home().join("seeds").join(target)), &log)?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    progress::note(format!(
        "{} inputs, {} a second",
        statistic(&said, "number_of_executed_units"),
        statistic(&said, "average_exec_per_sec")
    ));
    Ok(())
}

fn statistic<'a>(said: &'a str, name: &str) -> &'a str {
    said.lines()
        .filter_map(|line| line.strip_prefix("stat::")?.split_once(':'))
        .find_map(|(key, value)| (key == name).then_some(value.trim()))
        .unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_target_is_refused_with_the_names_of_those_that_there_are() {
        let all = all().unwrap();
        assert!(all.len() > 10, "{all:?}");
        assert_eq!(chosen(Some("known_hosts")).unwrap(), ["known_hosts"]);
        let error = chosen(Some("known-hosts")).unwrap_err().to_string();
        assert!(
            error.starts_with("there is no fuzz target \"known-hosts\"; there are archive_"),
            "{error}"
        );
    }

    #[test]
    fn the_statistics_are_those_that_libfuzzer_prints_last() {
        let said = "#2 INITED\nstat::number_of_executed_units: 1234\nstat::average_exec_per_sec:     56\n";
        assert_eq!(statistic(said, "number_of_executed_units"), "1234");
        assert_eq!(statistic(said, "average_exec_per_sec"), "56");
        assert_eq!(statistic(said, "peak_rss_mb"), "?");
    }
}
