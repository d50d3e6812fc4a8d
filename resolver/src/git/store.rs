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
use gix_utils::progress::{Discard, DynNestedProgress};
use tempfile::TempDir;

use super::wire::Wire;
use super::{Budget, Error, unpacked};

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
        let written = |progress: &mut dyn DynNestedProgress| {
            Bundle::write_to_directory(reader, Some(folder), progress, stop, none, hash, options)
        };
        let outcome = match budget.unpacked_bytes {
            None => written(&mut Discard),
            Some(limit) => {
                let (outcome, exceeded) = unpacked::within(limit, stop, |progress| written(progress));
                if exceeded {
                    return Err(wire.failure(|| Error::UnpackedBudget { limit }));
                }
                outcome
            }
        };
        let outcome = outcome.map_err(|error| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Attempt, Limits};
    use proptest::prelude::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::{Command, Stdio};
    use std::sync::LazyLock;
    use tokio_util::sync::CancellationToken;

    /// A pack that git made, with deltas in it.
    static PACK: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str], input: &str| {
            use std::io::Write as _;
            let mut child = Command::new("git")
                .args(arguments)
                .current_dir(folder.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("git: install the Debian package git");
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            child.wait_with_output().unwrap().stdout
        };
        git(&["init", "-q", "--bare"], "");
        let ids: String = (0..6)
            .map(|number| {
                let text = "CREATE TABLE a ();\n".repeat(40) + &number.to_string();
                String::from_utf8(git(&["hash-object", "-w", "--stdin"], &text)).unwrap()
            })
            .collect();
        git(&["pack-objects", "--stdout", "-q"], &ids)
    });

    fn receive(bytes: &[u8]) -> Result<(Option<Pack>, TempDir), Error> {
        receive_within(bytes, Some(1 << 20))
    }

    fn receive_within(bytes: &[u8], unpacked_bytes: Option<u64>) -> Result<(Option<Pack>, TempDir), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _in_it = runtime.enter();
        let wire = Wire::new(
            Attempt::new(Limits::default(), CancellationToken::new()),
            "git.test".to_owned(),
        );
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget {
            objects: 100,
            object_bytes: 1 << 20,
            unpacked_bytes,
        };
        let stop = AtomicBool::new(false);
        let pack = Pack::receive(&mut &*bytes, folder.path(), Kind::Sha1, &budget, &stop, &wire)?;
        Ok((pack, folder))
    }

    #[test]
    fn a_pack_that_unpacks_to_more_than_it_may_is_refused() {
        // Six texts of 761 bytes, which deltas make a pack of some hundred.
        assert!(PACK.len() < 761);
        let error = receive_within(&PACK, Some(761)).err().unwrap();
        assert_eq!(error.to_string(), "the pack unpacks to more than 761 bytes");
        assert_eq!(error.code(), "unpacked_budget");
        assert!(receive_within(&PACK, Some(100 * 761)).is_ok());
    }

    #[test]
    fn what_git_packed_is_read() {
        let (pack, _folder) = receive(&PACK).unwrap();
        assert_eq!(pack.unwrap().0.index.num_objects(), 6);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

        /// Whatever comes, an object that is handed on has the hash that it is asked for by.
        #[test]
        fn no_change_of_a_pack_changes_an_object_under_its_id(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in proptest::option::of(any::<prop::sample::Index>()),
            right_checksum in any::<bool>(),
        ) {
            let mut bytes = PACK.clone();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if right_checksum && bytes.len() > 20 {
                // Somebody who changes a pack on purpose mends its checksum.
                let end = bytes.len() - 20;
                let mut hasher = gix_hash::hasher(Kind::Sha1);
                hasher.update(&bytes[..end]);
                let sum = hasher.try_finalize().unwrap();
                bytes.truncate(end);
                bytes.extend_from_slice(sum.as_slice());
            }
            // A panic of the library is one failed attempt; here it is one that hands nothing on.
            let Ok(Ok((Some(pack), folder))) = catch_unwind(AssertUnwindSafe(|| receive(&bytes))) else {
                return Ok(());
            };
            let ids: Vec<ObjectId> = pack.0.index.iter().map(|entry| entry.oid).collect();
            let mut store = Store::new("git.test".to_owned(), folder);
            store.add(Some(pack));
            for id in ids {
                let mut object = Vec::new();
                if let Ok(kind) = store.read(&id, &mut object) {
                    let found = gix_object::compute_hash(Kind::Sha1, kind, &object).unwrap();
                    prop_assert_eq!(found, id);
                }
            }
        }
    }
}
