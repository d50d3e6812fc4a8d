//! The programs of the test node, each built from the Go module proxy at the version that its `go.mod` pins.
//!
//! The modules stand in `tests/cluster/tools`, one a group, so that one group's version moves alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Cache, Key, debian};
use crate::{run, workspace};

/// A change to this text builds every program anew.
const RECIPE: &str = "go-programs 1";

const GOFLAGS: &str = "-mod=readonly -trimpath -buildvcs=false";

/// Programs that one Go module builds together.
struct Group {
    name: &'static str,
    /// What is compiled, and what the program is called.
    programs: &'static [(&'static str, &'static str)],
    tags: &'static str,
    ldflags: &'static str,
    /// Links C code, which has to be installed first.
    cgo: bool,
}

const PLAIN: Group = Group {
    name: "",
    programs: &[],
    tags: "",
    ldflags: "-s -w",
    cgo: false,
};

/// Longest first: what is missing after an interrupted build is then the least.
const GROUPS: &[Group] = &[
    Group {
        name: "kubernetes",
        programs: &[
            ("k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver"),
            (
                "k8s.io/kubernetes/cmd/kube-controller-manager",
                "kube-controller-manager",
            ),
            ("k8s.io/kubernetes/cmd/kube-scheduler", "kube-scheduler"),
            ("k8s.io/kubernetes/cmd/kubelet", "kubelet"),
            ("k8s.io/kubernetes/cmd/kube-proxy", "kube-proxy"),
            ("k8s.io/kubernetes/cmd/kubectl", "kubectl"),
        ],
        // Without these every program calls itself v0.0.0, and clients refuse features by version.
        ldflags: "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2 \
                  -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37",
        ..PLAIN
    },
    Group {
        name: "coredns",
        programs: &[(".", "coredns")],
        ..PLAIN
    },
    Group {
        name: "helm",
        programs: &[("helm.sh/helm/v4/cmd/helm", "helm")],
        ..PLAIN
    },
    Group {
        name: "registry",
        programs: &[("github.com/distribution/distribution/v3/cmd/registry", "registry")],
        ..PLAIN
    },
    Group {
        name: "containerd",
        programs: &[
            ("github.com/containerd/containerd/v2/cmd/containerd", "containerd"),
            (
                "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
                "containerd-shim-runc-v2",
            ),
            ("github.com/containerd/containerd/v2/cmd/ctr", "ctr"),
        ],
        tags: "no_btrfs,no_devmapper,no_zfs",
        ..PLAIN
    },
    Group {
        name: "runc",
        programs: &[("github.com/opencontainers/runc", "runc")],
        tags: "seccomp,netgo,osusergo",
        ldflags: "-s -w -extldflags -static",
        cgo: true,
    },
    Group {
        name: "crane",
        programs: &[("github.com/google/go-containerregistry/cmd/crane", "crane")],
        ..PLAIN
    },
    Group {
        name: "etcd",
        programs: &[("go.etcd.io/etcd/server/v3", "etcd")],
        ..PLAIN
    },
    Group {
        name: "pause",
        programs: &[(".", "pause")],
        ..PLAIN
    },
];

/// What reads a status as kstatus and Argo CD do. No part of the node: only one test wants it.
const STATUS_READER: Group = Group {
    name: "status-reader",
    programs: &[(".", "status-reader")],
    ..PLAIN
};

/// The program that signs for the demo, and that the fixtures of verification are made with. No part of the node: it
/// takes minutes to build.
const COSIGN: Group = Group {
    name: "cosign",
    programs: &[("github.com/sigstore/cosign/v3/cmd/cosign", "cosign")],
    ..PLAIN
};

/// What the tests of sources push and list with, beside the node's registry and crane.
const SOURCES: &[Group] = &[
    Group {
        name: "oras",
        programs: &[("oras.land/oras/cmd/oras", "oras")],
        ..PLAIN
    },
    Group {
        name: "referrers",
        programs: &[(".", "referrers")],
        ..PLAIN
    },
];

/// The built programs, all in one folder.
#[derive(Debug, Clone)]
pub struct Programs {
    bin: PathBuf,
}

impl Programs {
    /// The folder that holds them, for a `PATH`.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// The path of one program.
    pub fn path(&self, program: &str) -> PathBuf {
        self.bin.join(program)
    }

    /// The current `PATH` with these programs in front.
    pub fn search_path(&self) -> String {
        let rest = std::env::var("PATH").unwrap_or_else(|_| "/usr/sbin:/usr/bin:/sbin:/bin".to_owned());
        format!("{}:{rest}", self.bin.display())
    }
}

/// Builds what is missing, one group after the other.
pub fn prepare(cache: &Cache) -> Result<Programs> {
    linked(cache, "bin", GROUPS.iter())
}

/// Builds what the tests of sources run: registries, and the programs that fill them.
pub fn sources(cache: &Cache) -> Result<Programs> {
    let shared = GROUPS
        .iter()
        .filter(|group| matches!(group.name, "registry" | "crane"));
    linked(cache, "bin-sources", shared.chain(SOURCES))
}

fn linked<'a>(cache: &Cache, name: &str, groups: impl Iterator<Item = &'a Group>) -> Result<Programs> {
    let mut all = Key::new(RECIPE);
    let mut built = Vec::new();
    for group in groups {
        let key = key(group)?;
        all = all.text(&key.short());
        let folder = cache.entry(group.name, &key, |into| {
            build(group, into, &cache.log(group.name))
        })?;
        built.push((group, folder));
    }
    // One folder of links, so that a PATH needs one more word and not nine.
    let bin = cache.entry(name, &all, |into| {
        for (group, folder) in &built {
            for (_, program) in group.programs {
                symlink(folder.join(program), into.join(program)).context("cannot link a program")?;
            }
        }
        Ok(())
    })?;
    Ok(Programs { bin })
}

/// The program that reads a status as others do, built when it is missing.
pub fn status_reader(cache: &Cache) -> Result<PathBuf> {
    single(cache, &STATUS_READER)
}

/// The real cosign, built when it is missing.
pub fn cosign(cache: &Cache) -> Result<PathBuf> {
    single(cache, &COSIGN)
}

fn single(cache: &Cache, group: &Group) -> Result<PathBuf> {
    let folder = cache.entry(group.name, &key(group)?, |into| {
        build(group, into, &cache.log(group.name))
    })?;
    Ok(folder.join(group.name))
}

fn key(group: &Group) -> Result<Key> {
    let module = workspace::tool_module(group.name);
    let mut key = Key::new(RECIPE)
        .text(GOFLAGS)
        .text(group.tags)
        .text(group.ldflags);
    for (package, program) in group.programs {
        key = key.text(package).text(program);
    }
    let mut files: Vec<PathBuf> = fs::read_dir(&module)
        .with_context(|| format!("cannot read {}", module.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    for file in files {
        key = key
            .text(&file.file_name().unwrap_or_default().to_string_lossy())
            .file(&file)?;
    }
    Ok(key)
}

fn build(group: &Group, into: &Path, log: &Path) -> Result<()> {
    if group.cgo {
        debian::ensure(&["gcc", "libc6-dev", "libseccomp-dev", "pkg-config"])?;
    }
    let mut go = Command::new("nice");
    // Cargo often builds at the same time, and somebody waits for that.
    go.args([
        "-n",
        "5",
        "go",
        "build",
        "-tags",
        group.tags,
        "-ldflags",
        group.ldflags,
        "-o",
    ]);
    match group.programs {
        [(_, program)] => go.arg(into.join(program)),
        _ => go.arg(into),
    };
    go.args(group.programs.iter().map(|(package, _)| package))
        .current_dir(workspace::tool_module(group.name))
        .env("GOFLAGS", GOFLAGS)
        .env("GOTOOLCHAIN", "auto")
        .env("CGO_ENABLED", if group.cgo { "1" } else { "0" });
    run::logged(&mut go, log)
}
