//! The one place that turns entries (a path and its bytes, whatever held them) into checked content.
//!
//! Promises: paths, collisions and limits are checked before the bytes of an entry are taken, so that no more is
//! read or written than may be; nothing selected is a refusal; a folder that content is written to is empty again
//! unless [`Content::finish`] succeeded, also when the work is dropped half-way; what was written is read back and
//! gives the digest. Holds no file in memory.
//!
//! Links and devices never come this far: whoever reads a tree or an archive refuses them by name.

mod limits;
mod output;

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ptah_contract::digest::Digest;
use ptah_contract::manifest::{ContentPath, File, Manifest, Places};
use sha2::{Digest as _, Sha256};

pub use limits::Limits;

use crate::Error;
use output::Output;

/// Content in the making. Clones are handles to the same content, for entries that arrive side by side.
#[derive(Clone)]
pub struct Content {
    shared: Arc<Shared>,
}

struct Shared {
    limits: Limits,
    state: Mutex<State>,
    /// Dropped with the last handle: then the folder is emptied, unless the content was finished.
    output: Option<Output>,
}

#[derive(Default)]
struct State {
    places: Places,
    files: Vec<File>,
    /// Files begun, finished or not.
    begun: u64,
    bytes: u64,
}

impl Content {
    /// Begins with nothing. With `out`, files are written below that folder, which must be empty.
    ///
    /// # Errors
    /// When the folder cannot be made, or is not empty.
    pub fn new(limits: Limits, out: Option<&Path>) -> Result<Self, Error> {
        Ok(Self {
            shared: Arc::new(Shared {
                limits,
                state: Mutex::default(),
                output: out.map(Output::claim).transpose()?,
            }),
        })
    }

    /// The bounds that it keeps.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Begins a file.
    ///
    /// # Errors
    /// When its path is unusable or taken, or there are too many files.
    pub fn file(&self, path: &str) -> Result<Writer, Error> {
        let path: ContentPath = path.parse()?;
        self.with(|state| {
            self.shared.limits.files(state.begun + 1)?;
            state.places.file(&path)?;
            state.begun += 1;
            Ok(())
        })?;
        let file = match &self.shared.output {
            Some(output) => Some(output.create(&path)?),
            None => None,
        };
        Ok(Writer {
            content: self.clone(),
            path,
            hasher: Sha256::new(),
            size: 0,
            file,
        })
    }

    /// Takes a whole file from a reader, and tells what it was.
    ///
    /// # Errors
    /// As [`Self::file`] and [`Writer::write`], and whatever the reader returns.
    pub fn read(&self, path: &str, mut reader: impl Read) -> Result<(Digest, u64), Error> {
        let mut writer = self.file(path)?;
        let mut buffer = [0; 16 << 10];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return writer.finish(),
                Ok(read) => writer.write(&buffer[..read])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("reading", Path::new(path))(error)),
            }
        }
    }

    /// Notes a folder: it is no content, but nothing else may stand in its place.
    ///
    /// # Errors
    /// When its path is unusable or taken by another spelling.
    pub fn folder(&self, path: &str) -> Result<(), Error> {
        let path: ContentPath = path.parse()?;
        self.with(|state| Ok(state.places.folder(&path)?))
    }

    /// Asks whether a file of this size fits, before anything of it is read.
    ///
    /// # Errors
    /// The limit that it exceeds.
    pub fn fits(&self, path: &str, size: u64) -> Result<(), Error> {
        let before = self.with(|state| Ok(state.bytes))?;
        self.shared.limits.bytes(path, size, before.saturating_add(size))
    }

    /// Asks whether so many files of so many bytes fit, before the first is read.
    ///
    /// # Errors
    /// The limit that they exceed.
    pub fn fit_together(&self, files: u64, bytes: u64) -> Result<(), Error> {
        self.shared.limits.files(files)?;
        self.shared.limits.bytes("", 0, bytes)
    }

    /// The content is whole. With `wanted`, it must be that content.
    ///
    /// # Errors
    /// When nothing was selected, the digest is another, or what was written does not give it.
    pub fn finish(self, wanted: Option<Digest>) -> Result<Manifest, Error> {
        let files = self.with(|state| Ok(std::mem::take(&mut state.files)))?;
        let manifest = Manifest::new(files)?;
        let found = manifest.content_digest();
        if let Some(wanted) = wanted
            && wanted != found
        {
            return Err(Error::OtherContent { found, wanted });
        }
        if let Some(output) = &self.shared.output {
            output.check(&manifest)?;
            output.keep();
        }
        Ok(manifest)
    }

    /// A thread that panicked while it held the lock had not changed anything half-way.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> Result<T, Error>) -> Result<T, Error> {
        act(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A file in the making. Dropped without [`Writer::finish`], it is no part of the content.
pub struct Writer {
    content: Content,
    path: ContentPath,
    hasher: Sha256,
    size: u64,
    file: Option<std::fs::File>,
}

impl Writer {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// When the file or the content grows too large, or writing fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.size += bytes.len() as u64;
        let total = self.content.with(|state| {
            state.bytes += bytes.len() as u64;
            Ok(state.bytes)
        })?;
        let limits = &self.content.shared.limits;
        limits.bytes(self.path.as_str(), self.size, total)?;
        self.hasher.update(bytes);
        match &mut self.file {
            Some(file) => file
                .write_all(bytes)
                .map_err(Error::io("writing", Path::new(self.path.as_str()))),
            None => Ok(()),
        }
    }

    /// The file is whole; this is what it turned out to be.
    ///
    /// # Errors
    /// When what was written cannot be put down.
    pub fn finish(self) -> Result<(Digest, u64), Error> {
        let digest: [u8; 32] = self.hasher.finalize().into();
        let (sha256, size) = (Digest::from(digest), self.size);
        let file = File {
            path: self.path,
            sha256,
            size,
        };
        self.content.with(|state| {
            state.files.push(file);
            Ok((sha256, size))
        })
    }
}

#[cfg(test)]
mod tests;
