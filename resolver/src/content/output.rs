//! The folder that content is written to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ptah_contract::manifest::{ContentPath, Manifest};

use crate::{Error, folder};

/// A folder that was empty when it was claimed, and is empty again when it is dropped without [`Output::keep`].
pub(super) struct Output {
    folder: PathBuf,
    kept: AtomicBool,
}

impl Output {
    pub(super) fn claim(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(Error::io("creating", folder))?;
        let mut entries = fs::read_dir(folder).map_err(Error::io("reading", folder))?;
        if entries.next().is_some() {
            return Err(Error::NotEmpty(folder.display().to_string()));
        }
        Ok(Self {
            folder: folder.to_owned(),
            kept: AtomicBool::new(false),
        })
    }

    /// Makes the file, which is not there. The path is clean and no link is ever made here, so it stays below.
    pub(super) fn create(&self, path: &ContentPath) -> Result<fs::File, Error> {
        let at = self.folder.join(path.as_str());
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent).map_err(Error::io("creating", parent))?;
        }
        fs::File::create_new(&at).map_err(Error::io("creating", &at))
    }

    /// Reads back what was written.
    pub(super) fn check(&self, manifest: &Manifest) -> Result<(), Error> {
        let found = folder::resolve(&self.folder)?;
        if found == *manifest {
            return Ok(());
        }
        Err(Error::OtherContent {
            found: found.content_digest(),
            wanted: manifest.content_digest(),
        })
    }

    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Output {
    /// Best effort: the failure that led here is the one to report.
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) {
            return;
        }
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
        }
    }
}
