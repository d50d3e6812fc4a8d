//! Runs the tests, group by group, and counts.
//!
//! A group that fails lets the others run. A group that has no tests yet says so and counts for nothing. The last
//! line of the output is `N passed, N failed, N skipped`.

mod groups;
mod libtest;

use anyhow::Result;
use clap::ValueEnum;

use crate::cache::{Cache, programs};
use crate::progress;

pub use libtest::Count;

/// The groups, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Group {
    /// Pure code, against nothing.
    Unit,
    /// The engine and the runner, against real database servers.
    Engine,
    /// Resolver and verifier, against real Git servers and registries.
    Sources,
    /// The product, on the test node.
    Cluster,
}

impl Group {
    fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Engine => "engine",
            Self::Sources => "sources",
            Self::Cluster => "cluster",
        }
    }
}

/// Runs one group, or all; only the tests whose names contain `filter`, when there is one.
pub fn run(cache: &Cache, only: Option<Group>, filter: Option<&str>) -> Result<Count> {
    let chosen: Vec<Group> = Group::value_variants()
        .iter()
        .copied()
        .filter(|group| only.is_none_or(|one| one == *group))
        .collect();
    let packages = groups::Packages::read()?;
    // The node's programs take a quarter of an hour the first time; the compiler leaves a core idle now and then.
    let early = (chosen.contains(&Group::Cluster) && packages.has_tests(groups::CLUSTER_TESTS)).then(|| {
        let cache = cache.clone();
        std::thread::spawn(move || programs::prepare(&cache).map(drop))
    });
    let mut total = Count::default();
    let mut early = early;
    for group in chosen {
        progress::heading(format!("tests: {}", group.name()));
        if group == Group::Cluster
            && let Some(Ok(Err(error))) = early.take().map(std::thread::JoinHandle::join)
        {
            progress::note(format!("cannot prepare the node's programs: {error:#}"));
        }
        let count = groups::run(cache, &packages, group, filter).unwrap_or_else(|error| {
            progress::note(format!("the group {} could not run: {error:#}", group.name()));
            Count {
                failed: 1,
                ..Count::default()
            }
        });
        progress::note(format!("{}: {count}", group.name()));
        total += count;
    }
    Ok(total)
}
