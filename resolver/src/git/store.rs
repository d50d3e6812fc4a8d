//! The packs of one attempt, read as one store.
//!
//! Promises: an object's id was computed here from its bytes when its pack was indexed, so an object that is found has
//! the hash that it is asked for by; an object larger than the budget is refused before it is unpacked.

use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix_hash::{Kind, ObjectId, oid};
use gix_pack::Bundle;
use gix_pack::bundle::write::Options;
use gix_utils::progress::Discard;
use tempfile::TempDir;

use super::wire::Wire;
use super::{Budget, Error};

/// A pack and its index.
pub(super) struct Pack(Bundle);

impl Pack {
    /// Writes what comes into the folder and indexes it; nothing when the pack has no object.
    pub(super) fn receive(
        reader: &mut dyn BufRead,
        folder: &Path,
        hash: Kind,
        budget: &Budget,
        stop: &AtomicBool,
        wire: &Wire,
    ) -> Result<Option<Self>, Error> {
        let options = Options {
            // Packs are small, and a manager resolves many sources at once.
            thread_limit: Some(1),
            alloc_limit_bytes: usize::try_from(budget.object_bytes).ok(),
            ..Options::default()
        };
        let damaged = || Error::PackDamaged {
            host: wire.host.clone(),
        };
        let none: Option<gix_object::find::Never> = None;
        let outcome =
            Bundle::write_to_directory(reader, Some(folder), &mut Discard, stop, none, hash, options)
                .map_err(|error| {
                    wire.failure(|| {
                        if error.is_resource_exhausted() {
                            Error::ObjectTooLarge {
                                limit: budget.object_bytes,
                            }
                        } else {
                            damaged()
                        }
                    })
                })?;
        match outcome.to_bundle() {
            None => Ok(None),
            Some(bundle) => Ok(Some(Self(bundle.map_err(|_| damaged())?))),
        }
    }
}

/// What was received so far, in a private folder that goes when this does.
pub(super) struct Store {
    packs: Vec<Pack>,
    folder: TempDir,
    host: String,
    inflate: gix_zlib::Inflate,
}

impl Store {
    pub(super) fn new(host: String, folder: TempDir) -> Self {
        Self {
            packs: Vec::new(),
            folder,
            host,
            inflate: gix_zlib::Inflate::default(),
        }
    }

    pub(super) fn add(&mut self, pack: Option<Pack>) {
        self.packs.extend(pack);
    }

    /// Where packs are received into.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Who is to blame for what is missing.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn has(&self, id: &oid) -> bool {
        self.packs
            .iter()
            .any(|Pack(bundle)| bundle.index.lookup(id).is_some())
    }

    /// Unpacks an object into the buffer, which then holds its bytes alone.
    pub(super) fn read(&mut self, id: &ObjectId, buffer: &mut Vec<u8>) -> Result<gix_object::Kind, Error> {
        for Pack(bundle) in &self.packs {
            let mut cache = gix_pack::cache::Never;
            let found = bundle.find(id, buffer, &mut self.inflate, &mut cache);
            match found {
                Ok(Some((object, _))) => return Ok(object.kind),
                Ok(None) => {}
                Err(_) => {
                    return Err(Error::PackDamaged {
                        host: self.host.clone(),
                    });
                }
            }
        }
        Err(Error::ObjectMissing {
            host: self.host.clone(),
            id: id.to_string(),
        })
    }

    /// The same, and it must be of this kind.
    pub(super) fn read_as(
        &mut self,
        id: &ObjectId,
        expected: gix_object::Kind,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.read(id, buffer)? == expected {
            return Ok(());
        }
        Err(Error::ObjectKind {
            id: id.to_string(),
            expected: match expected {
                gix_object::Kind::Commit => "commit",
                gix_object::Kind::Tree => "tree",
                gix_object::Kind::Blob => "blob",
                gix_object::Kind::Tag => "tag",
            },
        })
    }
}
