//! What takes long to make and changes seldom: built once, kept outside the work tree.
//!
//! Every entry is a folder named after what it is and the hash of what it was made from. It is made in a folder
//! beside it, under a lock, and renamed into place when it is whole: a build that dies leaves nothing that looks
//! like an entry, and two builds at once make it once. Entries are never changed after that.

pub mod base;
pub mod debian;
mod key;
pub mod pg_dump;
pub mod postgres;
pub mod programs;
pub mod rust_tools;

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub use key::Key;

use crate::progress;

/// The folder of prepared things.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache at `$PTAH_DEV_CACHE`, else at `~/.cache/ptah-dev`; made when it is not there.
    pub fn open() -> Result<Self> {
        let root = match (std::env::var_os("PTAH_DEV_CACHE"), std::env::var_os("HOME")) {
            (Some(path), _) => PathBuf::from(path),
            (None, Some(home)) => Path::new(&home).join(".cache/ptah-dev"),
            (None, None) => bail!("neither PTAH_DEV_CACHE nor HOME says where the cache is"),
        };
        if !root.is_absolute() {
            bail!("the cache's path must be absolute: {}", root.display());
        }
        Self::at(root)
    }

    fn at(root: PathBuf) -> Result<Self> {
        for folder in ["entries", "locks", "logs"] {
            let path = root.join(folder);
            fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        }
        Ok(Self { root })
    }

    /// The cache's own folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A cache that every user of the machine may read: this one where its path allows it.
    ///
    /// Database servers refuse to run as root, and root's home is closed to everyone else.
    pub fn readable_by_all(&self) -> Result<Self> {
        let is_root = rustix::process::geteuid().is_root();
        if !is_root || open_to_all(&self.root) {
            return Ok(self.clone());
        }
        Self::at(PathBuf::from("/var/cache/ptah-dev"))
    }

    /// The entry called `name` made from `key`: as it stands, or made now by `make` in the folder it is given.
    pub fn entry(&self, name: &str, key: &Key, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let full = format!("{name}-{}", key.short());
        let path = self.root.join("entries").join(&full);
        if path.is_dir() {
            return Ok(path);
        }
        let _held = self.lock(&full)?;
        if path.is_dir() {
            return Ok(path);
        }
        let unfinished = self.root.join("entries").join(format!("{full}.unfinished"));
        remove(&unfinished)?;
        fs::create_dir(&unfinished).with_context(|| format!("cannot make {}", unfinished.display()))?;
        progress::step(format!("prepare {name}"), || make(&unfinished))?;
        fs::rename(&unfinished, &path).with_context(|| format!("cannot put {} in place", path.display()))?;
        Ok(path)
    }

    /// Holds the lock called `name` until the returned file is dropped, also against other processes.
    pub fn lock(&self, name: &str) -> Result<File> {
        lock_file(&self.root.join("locks").join(format!("{name}.lock")))
    }

    /// Where the log of making `name` goes.
    pub fn log(&self, name: &str) -> PathBuf {
        self.root.join("logs").join(format!("{name}.log"))
    }

    /// Removes everything in the cache.
    pub fn clean(&self) -> Result<()> {
        let open = self.readable_by_all()?;
        for root in [&open.root, &self.root] {
            remove(root)?;
        }
        Ok(())
    }
}

/// Takes the lock on the file at `path`, made when it is not there; waits for whoever holds it.
pub fn lock_file(path: &Path) -> Result<File> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    if file.try_lock().is_err() {
        progress::note(format!("waiting for {}", path.display()));
        file.lock()
            .with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

/// Removes the folder at `path` if it is there.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn open_to_all(path: &Path) -> bool {
    path.ancestors()
        .all(|folder| fs::metadata(folder).is_ok_and(|about| about.permissions().mode() & 0o005 == 0o005))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_made_once_and_a_failed_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned()).unwrap();
        let key = Key::new("v1");
        assert!(cache.entry("thing", &key, |_| bail!("no")).is_err());
        let path = cache
            .entry("thing", &key, |at| Ok(fs::write(at.join("a"), "1")?))
            .unwrap();
        assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "1");
        assert_eq!(cache.entry("thing", &key, |_| bail!("made twice")).unwrap(), path);
        assert_ne!(cache.entry("thing", &Key::new("v2"), |_| Ok(())).unwrap(), path);
    }
}
