//! Holds `docs/promises.toml` against the tests: a promise is kept when a test carries its number in its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::workspace;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    #[serde(rename = "for")]
    _family: Family,
    #[serde(rename = "text")]
    _text: String,
    state: State,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Family {
    Schema,
    Migration,
    Both,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Kept,
}

/// An error that names the promises that are `kept` and have no test, and the tests that name no promise.
pub fn check() -> Result<()> {
    let path = workspace::root().join("docs/promises.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let promises: BTreeMap<String, Promise> = toml::from_str(&text).context("docs/promises.toml")?;
    let mut shown = BTreeSet::new();
    for folder in [
        "api",
        "contract",
        "engine",
        "kubectl-ptah",
        "resolver",
        "runner",
        "src",
        "tests",
        "xtask",
    ] {
        numbers_below(&workspace::root().join(folder), &mut shown)?;
    }
    let kept = promises
        .iter()
        .filter(|(_, promise)| promise.state == State::Kept)
        .map(|(number, _)| number);
    let unshown: Vec<&String> = kept.filter(|number| !shown.contains(*number)).collect();
    if !unshown.is_empty() {
        bail!("promises that are kept and that no test carries in its name: {unshown:?}");
    }
    let unknown: Vec<&String> = shown
        .iter()
        .filter(|number| !promises.contains_key(*number))
        .collect();
    if !unknown.is_empty() {
        bail!("tests carry numbers that docs/promises.toml does not have: {unknown:?}");
    }
    Ok(())
}

fn numbers_below(folder: &Path, found: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            numbers_below(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(fs::read_to_string(&path)?.lines().flat_map(numbers));
        }
    }
    Ok(())
}

/// The numbers in the name of a test: `fn promise_p010_p011_…`.
fn numbers(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let name = line
        .strip_prefix("async ")
        .unwrap_or(line)
        .strip_prefix("fn promise_");
    name.into_iter()
        .flat_map(|name| name.split(['(', '_']))
        .take_while(|part| {
            part.len() == 4 && part.starts_with('p') && part[1..].bytes().all(|b| b.is_ascii_digit())
        })
        .map(str::to_uppercase)
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_numbers_of_a_test_stand_at_the_front_of_its_name() {
        assert_eq!(
            super::numbers("    fn promise_p010_p011_it_waits_p099() {"),
            ["P010", "P011"]
        );
        assert_eq!(super::numbers("async fn promise_p024_reads() {"), ["P024"]);
        assert!(super::numbers("fn reads() {").is_empty());
    }
}
