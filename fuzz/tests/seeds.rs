//! Every seed through its target, without libFuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ptah_fuzz::TARGETS;

fn names(folder: &str) -> BTreeSet<String> {
    entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
        .iter()
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    entries
}

#[test]
fn every_target_has_a_file_and_seeds() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("targets"), targets);
    assert_eq!(names("seeds"), targets);
}

#[test]
fn no_seed_is_a_fault() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut count = 0;
    for (name, target) in TARGETS {
        for seed in entries(&seeds.join(name)) {
            // A fault names the seed by the last line before it.
            println!("{}", seed.display());
            target(&fs::read(&seed).unwrap());
            count += 1;
        }
    }
    assert!(count >= TARGETS.len(), "{count}");
}
