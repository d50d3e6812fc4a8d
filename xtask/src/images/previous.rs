//! The release before this one: the tree of the previous commit, for tests that upgrade from it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{cache, progress, run, workspace};

/// A target folder for that tree, with this tree's compiled dependencies in it. Cargo tells the packages of two trees
/// apart by nothing but time, so that they cannot share one.
pub(super) fn target(profile: &str, triple: &str) -> Result<PathBuf> {
    let (ours, theirs) = (
        workspace::target_dir(),
        workspace::target_dir().join("previous-target"),
    );
    for part in [PathBuf::from(profile), PathBuf::from(triple).join(profile)] {
        let (from, to) = (ours.join(&part), theirs.join(&part));
        if to.exists() || !from.exists() {
            continue;
        }
        let parent = to.parent().context("a folder without a parent")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        run::quiet(Command::new("cp").arg("-a").arg(&from).arg(&to))?;
    }
    Ok(theirs)
}

/// The previous commit's tree, unpacked. Without history it is this commit's own: an upgrade then changes digests only.
pub(super) fn tree() -> Result<PathBuf> {
    let commit = match run::output(git().args(["rev-parse", "--verify", "--quiet", "HEAD~1^{commit}"])) {
        Ok(commit) => commit,
        Err(_) => {
            progress::note("no earlier commit is here: the upgrade is from this commit to itself");
            run::output(git().args(["rev-parse", "HEAD"]))?
        }
    };
    let folder = workspace::target_dir().join("previous");
    let mark = folder.join(".commit");
    if fs::read_to_string(&mark).is_ok_and(|had| had == commit) {
        return Ok(folder);
    }
    cache::remove(&folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut archive = git()
        .args(["archive", "--format=tar", &commit])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start git")?;
    let tar = archive.stdout.take().context("no word from git")?;
    let unpacked = Command::new("tar")
        // With the time of now: it is newer than whatever was compiled of this tree.
        .arg("-xm")
        .arg("-C")
        .arg(&folder)
        .stdin(tar)
        .status()
        .context("cannot start tar")?;
    ensure!(
        archive.wait()?.success() && unpacked.success(),
        "the tree of {commit} cannot be unpacked"
    );
    fs::write(&mark, &commit).with_context(|| format!("cannot write {}", mark.display()))?;
    Ok(folder)
}

fn git() -> Command {
    let mut git = Command::new("git");
    // The tree may belong to another user than the one who builds.
    git.args(["-c", "safe.directory=*"])
        .current_dir(workspace::root());
    git
}
