//! Builds images with buildah, which needs no daemon, and pushes or writes them.
//!
//! Its store is in the cache and not the machine's own. Layers are kept between builds: a changed binary costs one
//! layer. The store is thrown away when it has grown large.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::cache::{self, Cache, base, debian};
use crate::{progress, run};

const STORE_LIMIT_MIB: u64 = 8 * 1024;

/// The name by which the Dockerfile knows the base image, so that it builds with a registry at hand as well.
fn base_image() -> String {
    format!("docker.io/library/debian:{}-slim", base::SUITE)
}

/// The store's own name of an image.
fn local(name: &str) -> String {
    format!("localhost/ptah/{name}:dev")
}

/// What is built.
pub(super) struct Build<'a> {
    pub name: &'a str,
    pub file: &'a Path,
    pub target: Option<&'a str>,
    pub contexts: &'a [(&'a str, PathBuf)],
}

/// A store of images, held until this is dropped.
pub(super) struct Builder {
    store: PathBuf,
    log: PathBuf,
    _held: File,
}

impl Builder {
    /// Opens the store with the base image in it.
    pub fn open(cache: &Cache, base: &Path) -> Result<Self> {
        debian::ensure(debian::IMAGES)?;
        let held = cache.lock("buildah")?;
        let builder = Self {
            store: cache.root().join("buildah"),
            log: cache.log("buildah"),
            _held: held,
        };
        builder.forget_a_large_store()?;
        builder.import_base(base)?;
        Ok(builder)
    }

    /// Builds the image into the store, under the name that [`Self::push`] and [`Self::write_layout`] know it by.
    pub fn build(&self, build: &Build<'_>) -> Result<()> {
        // The default context is empty: what goes in is named.
        let context = tempfile::tempdir()?;
        let mut bud = self.buildah("bud");
        bud.args([
            "--isolation",
            "chroot",
            "--layers",
            "--pull-never",
            "--timestamp",
            "0",
        ]);
        bud.arg("-f").arg(build.file).args(["-t", &local(build.name)]);
        if let Some(target) = build.target {
            bud.args(["--target", target]);
        }
        for (name, path) in build.contexts {
            bud.arg("--build-context")
                .arg(format!("{name}={}", path.display()));
        }
        run::logged(bud.arg(context.path()), &self.log)
    }

    /// Pushes a built image to `repository`; its reference by digest.
    pub fn push(&self, name: &str, repository: &str, tls: bool) -> Result<String> {
        let work = tempfile::tempdir()?;
        let digest = work.path().join("digest");
        let mut push = self.buildah("push");
        push.arg("--quiet")
            .arg(format!("--tls-verify={tls}"))
            .arg("--digestfile")
            .arg(&digest);
        push.arg(local(name)).arg(format!("docker://{repository}:dev"));
        run::logged(&mut push, &self.log)?;
        let digest = fs::read_to_string(&digest).context("the push left no digest")?;
        Ok(format!("{repository}@{}", digest.trim()))
    }

    /// Writes a built image into `folder` as an OCI image layout.
    pub fn write_layout(&self, name: &str, folder: &Path) -> Result<()> {
        let mut push = self.buildah("push");
        push.args(["--quiet", &local(name)])
            .arg(format!("oci:{}", folder.display()));
        run::logged(&mut push, &self.log)
    }

    fn import_base(&self, tar: &Path) -> Result<()> {
        // The tag is named after the cache's entry, so that another base is another image.
        let entry = tar
            .parent()
            .and_then(Path::file_name)
            .context("a base without a folder")?;
        let known = format!("localhost/base:{}", entry.to_string_lossy());
        if run::succeeds(self.buildah("inspect").args(["--type", "image", &known])) {
            return Ok(());
        }
        progress::step("import the base image", || {
            let work = tempfile::tempdir()?;
            let file = work.path().join("Dockerfile");
            fs::write(&file, "FROM scratch\nADD base.tar /\nCMD [\"bash\"]\n")?;
            let mut bud = self.buildah("bud");
            bud.args([
                "--isolation",
                "chroot",
                "--timestamp",
                "0",
                "-t",
                &base_image(),
                "-t",
                &known,
            ]);
            let folder = tar.parent().context("a base without a folder")?;
            run::logged(bud.arg("-f").arg(&file).arg(folder), &self.log)
        })
    }

    fn forget_a_large_store(&self) -> Result<()> {
        if !self.store.exists() {
            return Ok(());
        }
        let size = run::output(Command::new("du").args(["-sm"]).arg(&self.store))?;
        let mib: u64 = size
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0);
        if mib < STORE_LIMIT_MIB {
            return Ok(());
        }
        progress::note(format!("the store of images has {mib} MiB and is made anew"));
        let _ = run::quiet(self.buildah("rm").arg("--all"));
        let _ = run::quiet(self.buildah("rmi").args(["--all", "--force"]));
        cache::remove(&self.store)
    }

    fn buildah(&self, command: &str) -> Command {
        let mut buildah = Command::new("buildah");
        buildah
            .arg("--storage-driver")
            .arg("overlay")
            .arg("--root")
            .arg(self.store.join("root"));
        // What it mounts is mounted for one call; a reboot forgets it.
        buildah.arg("--runroot").arg("/run/ptah-dev-buildah").arg(command);
        buildah
    }
}
