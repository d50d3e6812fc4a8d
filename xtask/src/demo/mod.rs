//! The main job, as a user sees it: install, declare, read the plan, approve, converge; then edit, then drift.

mod signing;
mod source;
mod story;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::cache::Cache;
use crate::images::{self, Destination, Images};
use crate::node::Node;
use crate::stage::{self, Cluster, Database};
use crate::{progress, run, workspace};

use signing::Cosign;
pub use source::Kind;

/// What the demo may do.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Approve without asking.
    pub yes: bool,
    /// Leave everything running.
    pub keep: bool,
    /// Where the files are.
    pub source: Kind,
    /// Sign what is published; of `Kind::Oci` alone.
    pub signed: bool,
    /// Use a cluster of the user in place of the test node.
    pub theirs: Option<Theirs>,
}

/// A cluster of the user.
#[derive(Debug, Clone)]
pub struct Theirs {
    /// Its context in the user's kubeconfig.
    pub context: String,
    /// How the images come to it.
    pub images: ImagesFrom,
}

/// How images come to a cluster of the user.
#[derive(Debug, Clone)]
pub enum ImagesFrom {
    /// They are there.
    Named(Images),
    /// They are built, and brought there.
    Built(Destination),
}

/// Runs the demo.
pub fn run(cache: &Cache, options: &Options) -> Result<()> {
    let began = Instant::now();
    if options.signed && options.source != Kind::Oci {
        bail!("--signed belongs to --source oci");
    }
    let (cluster, images) = place(cache, options)?;
    let cosign = match options.signed {
        true => Some(progress::step("prepare cosign", || Cosign::prepare(cache))?),
        false => None,
    };
    progress::step("install the chart", || stage::install(&cluster, &images, &[]))?;
    let plugin = progress::step("build the kubectl plugin", build_plugin)?;
    let database = progress::step("start a PostgreSQL 17 with TLS", || {
        Database::start(&cluster, "database", &images.test_postgresql)
    })?;
    let ended = story::tell(&cluster, &database, &plugin, options, cosign);
    drop(database);
    if options.keep {
        println!("\nEverything goes on running. To look around:");
        if let Cluster::Node(node) = &cluster {
            println!("  export KUBECONFIG={}", node.kubeconfig()?.display());
        }
        println!("  kubectl -n application get ptahschema,ptahschemaplan,ptahschemaapproval");
        println!("  kubectl -n application edit configmap application-schema");
        println!("and to end it: cargo xtask cluster down");
    } else {
        progress::step("clean up", || clean_up(&cluster))?;
    }
    let report = ended?;
    println!("\n{report}");
    println!("converged three times; {} s in all", began.elapsed().as_secs());
    Ok(())
}

/// The cluster, and images that it can pull.
fn place(cache: &Cache, options: &Options) -> Result<(Cluster, Images)> {
    if let Some(theirs) = &options.theirs {
        let images = match &theirs.images {
            ImagesFrom::Named(images) => images.clone(),
            ImagesFrom::Built(to) => images::build(cache, to, &images::Options::default())?,
        };
        return Ok((Cluster::Context(theirs.context.clone()), images));
    }
    let node = Node::of_environment(cache)?;
    node.up()?;
    let images = images::build_and_push(cache, &node, &images::Options::default())?;
    Ok((Cluster::Node(node), images))
}

/// `kubectl-ptah`, in a folder that goes in front of `PATH`.
pub fn build_plugin() -> Result<std::path::PathBuf> {
    run::quiet(run::cargo().args(["build", "--quiet", "--package", "kubectl-ptah"]))?;
    Ok(workspace::target_dir().join("debug"))
}

fn clean_up(cluster: &Cluster) -> Result<()> {
    cluster.ask(&[
        "delete",
        "ptahschema",
        "--all",
        "-n",
        "application",
        "--wait",
        "--timeout=120s",
        "--ignore-not-found",
    ])?;
    cluster.ask(&[
        "delete",
        "namespace",
        "application",
        "database",
        "--wait=false",
        "--ignore-not-found",
    ])?;
    stage::uninstall(cluster)?;
    if let Cluster::Node(node) = cluster {
        node.down()?;
    }
    Ok(())
}
