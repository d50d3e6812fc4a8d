//! Where images go, and how a cluster finds them there: always by digest.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::builder::{Build, Builder};
use crate::node::Node;
use crate::node::paths::REGISTRY;
use crate::run;

/// A program that loads images into the nodes of a cluster on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Loader {
    /// `kind load image-archive`.
    Kind,
    /// `k3d image import`.
    K3d,
}

/// Where images go.
#[derive(Debug, Clone)]
pub enum Destination {
    /// The test node's registry.
    Node(Node),
    /// A registry that the user may push to and the user's cluster pulls from.
    Registry {
        /// Registry and repository prefix, such as `registry.example/team`.
        prefix: String,
        /// Speak plain HTTP to it.
        plain_http: bool,
    },
    /// The nodes of a cluster on this machine, which then pull nothing.
    Loaded {
        /// What loads them.
        by: Loader,
        /// The cluster's name for that program.
        cluster: String,
    },
}

impl Destination {
    /// The nodes behind a context of `by`, which names its contexts after its clusters.
    pub fn loaded(by: Loader, context: &str) -> Result<Self> {
        let (program, prefix) = match by {
            Loader::Kind => ("kind", "kind-"),
            Loader::K3d => ("k3d", "k3d-"),
        };
        let cluster = context
            .strip_prefix(prefix)
            .with_context(|| {
                format!("--load {program}: the context {context:?} does not begin with {prefix:?}")
            })?
            .to_owned();
        Ok(Self::Loaded { by, cluster })
    }

    /// A registry and repository prefix, without a scheme and a tag.
    pub fn registry(prefix: &str, plain_http: bool) -> Result<Self> {
        let prefix = prefix.trim_end_matches('/');
        ensure!(
            !prefix.is_empty() && !prefix.contains("://") && !prefix.contains('@'),
            "--registry {prefix:?}: give registry and repository prefix, such as registry.example/team"
        );
        Ok(Self::Registry {
            prefix: prefix.to_owned(),
            plain_http,
        })
    }

    /// Builds an image and brings it there; the reference by digest by which the cluster finds it.
    pub(super) fn deliver(&self, builder: &Builder, build: &Build<'_>) -> Result<String> {
        let name = build.name;
        builder.build(build)?;
        match self {
            Self::Node(_) => builder.push(name, &format!("{REGISTRY}/ptah/{name}"), false),
            Self::Registry { prefix, plain_http } => {
                builder.push(name, &format!("{prefix}/{name}"), !plain_http)
            }
            Self::Loaded { by, cluster } => {
                let work = tempfile::tempdir()?;
                let layout = work.path().join("layout");
                builder.write_layout(name, &layout)?;
                let reference = name_by_digest(&layout, &format!("localhost/ptah/{name}"))?;
                let archive = work.path().join(format!("{name}.tar"));
                pack(&layout, &archive)?;
                load(*by, cluster, &archive)?;
                Ok(reference)
            }
        }
    }
}

/// Gives the layout's one image the names `repository@digest` and `repository:dev`. containerd takes the annotation as
/// the image's name, so that the kubelet finds it under the digest and asks no registry. The tag is for containerd
/// itself: of an image's names it goes by the first with a tag, and without one by a name that the import made up.
fn name_by_digest(layout: &Path, repository: &str) -> Result<String> {
    let path = layout.join("index.json");
    let mut index: Value = serde_json::from_slice(&fs::read(&path).context("the layout has no index")?)?;
    let Some([manifest]) = index["manifests"].as_array().map(Vec::as_slice) else {
        bail!("the layout does not hold exactly one image");
    };
    let digest = manifest["digest"].as_str().context("an image without a digest")?;
    let reference = format!("{repository}@{digest}");
    let named = |name: &str| {
        let mut manifest = manifest.clone();
        manifest["annotations"] = json!({ "io.containerd.image.name": name });
        manifest
    };
    index["manifests"] = json!([named(&reference), named(&format!("{repository}:dev"))]);
    fs::write(&path, serde_json::to_vec(&index)?)?;
    Ok(reference)
}

fn pack(layout: &Path, archive: &Path) -> Result<()> {
    let to = File::create(archive).with_context(|| format!("cannot make {}", archive.display()))?;
    let mut tar = Command::new("tar");
    tar.arg("-c").arg("-C").arg(layout).arg(".").stdout(to);
    ensure!(
        tar.status().context("cannot start tar")?.success(),
        "tar cannot pack {}",
        layout.display()
    );
    Ok(())
}

fn load(by: Loader, cluster: &str, archive: &Path) -> Result<()> {
    let mut command = match by {
        Loader::Kind => {
            let mut kind = Command::new("kind");
            kind.args(["load", "image-archive", "--name", cluster]);
            kind
        }
        Loader::K3d => {
            let mut k3d = Command::new("k3d");
            k3d.args(["image", "import", "--cluster", cluster]);
            k3d
        }
    };
    run::quiet(command.arg(archive))
}
