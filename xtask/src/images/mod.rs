//! The product's images, built from the release's own `Dockerfile` and brought to where a cluster finds them.
//!
//! For the test node nothing is built or pushed again unless what goes into it has changed. Everybody who deploys uses
//! digests (for the test node those of the record, `images.json` in its folder), never a tag.

mod binaries;
mod builder;
mod destination;
mod previous;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Key, base, lock_file, postgres};
use crate::node::Node;
use crate::{progress, run, workspace};
use binaries::Binary;
pub use binaries::Profile;
use builder::{Build, Builder};
pub use destination::{Destination, Loader};

/// References by digest of what was pushed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Images {
    /// The manager.
    pub manager: String,
    /// The runner with the PostgreSQL servers.
    pub runner_postgresql: String,
    /// A PostgreSQL server with TLS, to be the target database of a test. It is no part of the product.
    pub test_postgresql: String,
    /// A manager that tests can make die after any action, where it was asked for. It is no part of the product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_failpoints: Option<String>,
    /// The release before this one, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
}

/// The release of the previous commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Previous {
    /// Its manager.
    pub manager: String,
    /// Its runner.
    pub runner_postgresql: String,
    /// Its chart.
    pub chart: PathBuf,
}

impl Images {
    /// Images that somebody else pushed: `manager=…`, `runner-postgresql=…`, `test-postgresql=…`, each by digest.
    pub fn named(pairs: &[String]) -> Result<Self> {
        let find = |name: &str| {
            let found = pairs
                .iter()
                .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            let reference =
                found.with_context(|| format!("--image {name}=<reference>@<digest> is missing"))?;
            anyhow::ensure!(
                reference.contains("@sha256:"),
                "--image {name}: name it by digest"
            );
            Ok(reference.to_owned())
        };
        Ok(Self {
            manager: find("manager")?,
            runner_postgresql: find("runner-postgresql")?,
            test_postgresql: find("test-postgresql")?,
            manager_failpoints: None,
            previous: None,
        })
    }
}

/// How the images are made.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cargo's profile for the binaries.
    pub profile: Profile,
    /// The PostgreSQL servers that go into the runner's image.
    pub majors: Vec<u32>,
    /// Whether to build the manager that tests can make die.
    pub failpoints: bool,
    /// Whether to build the release of the previous commit.
    pub previous: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profile: Profile::Image,
            majors: vec![postgres::NODE_MAJOR],
            failpoints: false,
            previous: false,
        }
    }
}

/// What was pushed, and the key of what went into it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pushed {
    images: BTreeMap<String, PushedImage>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PushedImage {
    key: String,
    reference: String,
}

/// The images that were pushed last to the node.
pub fn read(node: &Node) -> Result<Images> {
    let path = node.paths().images();
    let bytes = fs::read(&path).with_context(|| {
        format!(
            "no images at {}; push them with: cargo xtask images",
            path.display()
        )
    })?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is not a record of images", path.display()))
}

/// Builds what has changed, pushes it to the node, which must be up, and records the digests.
pub fn build_and_push(cache: &Cache, node: &Node, options: &Options) -> Result<Images> {
    // Two at once would each write a record without the other's images.
    let _held = lock_file(&node.paths().join("images.lock"))?;
    let images = build(cache, &Destination::Node(node.clone()), options)?;
    write(&node.paths().images(), &images)?;
    Ok(images)
}

/// Builds the images and brings them to `to`.
pub fn build(cache: &Cache, to: &Destination, options: &Options) -> Result<Images> {
    let node = match to {
        Destination::Node(node) => Some(node),
        Destination::Registry { .. } | Destination::Loaded { .. } => None,
    };
    let mut work = Work {
        cache,
        node,
        to,
        options,
        builder: None,
        pushed: node.map(read_pushed).unwrap_or_default(),
    };
    // It needs no binaries, so that it is there when the product does not compile.
    let test_postgresql = work.test_postgresql()?;
    let binaries = progress::step("build the static binaries", || binaries::build(options.profile))?;
    let mut images = Images {
        manager: work.manager("manager", &binaries.manager)?,
        runner_postgresql: work.runner_postgresql("runner-postgresql", &binaries.runner)?,
        test_postgresql,
        manager_failpoints: None,
        previous: None,
    };
    if options.failpoints {
        let binary = progress::step("build the manager with failpoints", || {
            binaries::build_failpoints(options.profile)
        })?;
        images.manager_failpoints = Some(work.manager("manager-failpoints", &binary)?);
    }
    if options.previous {
        images.previous = Some(work.previous()?);
    }
    Ok(images)
}

struct Work<'a> {
    cache: &'a Cache,
    /// Where images go, when that is the test node: what it has already is known.
    node: Option<&'a Node>,
    to: &'a Destination,
    options: &'a Options,
    builder: Option<Builder>,
    pushed: Pushed,
}

impl Work<'_> {
    fn manager(&mut self, name: &str, binary: &Binary) -> Result<String> {
        let contexts = vec![
            ("binaries", binary.folder.clone()),
            ("certs", base::certificates(self.cache)?),
        ];
        let key = Key::new("manager").file(&binary.path())?;
        self.image(
            name,
            &workspace::root().join("Dockerfile"),
            Some("manager"),
            contexts,
            key,
        )
    }

    /// Its images are never those of this release, whatever the commit changed: a digest is what is upgraded.
    fn previous(&mut self) -> Result<Previous> {
        let tree = previous::tree()?;
        let binaries = progress::step("build the binaries of the previous commit", || {
            binaries::build_previous(&tree, self.options.profile)
        })?;
        let manager = self.manager("manager-previous", &binaries.manager)?;
        let runner = self.runner_postgresql("runner-postgresql-previous", &binaries.runner)?;
        Ok(Previous {
            manager: self.another_digest(&manager)?,
            runner_postgresql: self.another_digest(&runner)?,
            chart: tree.join("charts/ptah-operator"),
        })
    }

    fn another_digest(&self, reference: &str) -> Result<String> {
        let node = self
            .node
            .context("the release before is built for the test node only")?;
        let crane = node.programs()?.path("crane");
        run::output(Command::new(crane).args([
            "mutate",
            "--insecure",
            reference,
            "--label",
            "release=previous",
        ]))
    }

    fn runner_postgresql(&mut self, name: &str, binary: &Binary) -> Result<String> {
        let mut contexts = vec![
            ("binaries", binary.folder.clone()),
            ("certs", base::certificates(self.cache)?),
        ];
        let empty = self.cache.entry("empty", &Key::new("empty"), |_| Ok(()))?;
        const NAMES: [(u32, &str); 5] = [
            (14, "pg14"),
            (15, "pg15"),
            (16, "pg16"),
            (17, "pg17"),
            (18, "pg18"),
        ];
        for (major, name) in NAMES {
            let is_in = self.options.majors.contains(&major);
            contexts.push((
                name,
                if is_in {
                    postgres::server(self.cache, major)?
                } else {
                    empty.clone()
                },
            ));
        }
        let key = Key::new("runner-postgresql").file(&binary.path())?;
        let file = workspace::root().join("Dockerfile");
        self.image(name, &file, Some("runner-postgresql"), contexts, key)
    }

    fn test_postgresql(&mut self) -> Result<String> {
        let folder = workspace::cluster_tests().join("postgresql");
        let server = postgres::server(self.cache, postgres::NODE_MAJOR)?;
        let key = Key::new("test-postgresql").file(&folder.join("entrypoint.sh"))?;
        let contexts = vec![("postgresql", server), ("scripts", folder.clone())];
        self.image("test-postgresql", &folder.join("Dockerfile"), None, contexts, key)
    }

    fn image(
        &mut self,
        name: &str,
        file: &Path,
        target: Option<&str>,
        contexts: Vec<(&str, PathBuf)>,
        key: Key,
    ) -> Result<String> {
        let base = base::root_file_system(self.cache)?;
        let cached = [
            self.cache.root().to_owned(),
            self.cache.readable_by_all()?.root().to_owned(),
        ];
        let mut key = key.file(file)?.text(&base.to_string_lossy());
        // Entries of the cache are named after what they are made from; what lies elsewhere went in by content.
        for (context, path) in contexts
            .iter()
            .filter(|(_, path)| cached.iter().any(|root| path.starts_with(root)))
        {
            key = key.text(context).text(&path.to_string_lossy());
        }
        let key = key.short();
        if let Some(known) = self.pushed.images.get(name).filter(|known| known.key == key)
            && self.is_there(&known.reference)?
        {
            progress::note(format!("{name}: unchanged"));
            return Ok(known.reference.clone());
        }
        if self.builder.is_none() {
            self.builder = Some(Builder::open(self.cache, &base)?);
        }
        let builder = self.builder.as_ref().context("no builder")?;
        let build = Build {
            name,
            file,
            target,
            contexts: &contexts,
        };
        let reference = progress::step(format!("build and deliver the image {name}"), || {
            self.to.deliver(builder, &build)
        })?;
        let known = PushedImage {
            key,
            reference: reference.clone(),
        };
        self.pushed.images.insert(name.to_owned(), known);
        if let Some(node) = self.node {
            write(&node.paths().join("pushed.json"), &self.pushed)?;
        }
        Ok(reference)
    }

    fn is_there(&self, reference: &str) -> Result<bool> {
        let Some(node) = self.node else {
            return Ok(false);
        };
        let crane = node.programs()?.path("crane");
        Ok(run::succeeds(Command::new(crane).args([
            "manifest",
            "--insecure",
            reference,
        ])))
    }
}

fn read_pushed(node: &Node) -> Pushed {
    let bytes = fs::read(node.paths().join("pushed.json")).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn write(path: &Path, document: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(document)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
