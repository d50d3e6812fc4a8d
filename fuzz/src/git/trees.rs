//! The walk over trees, with a store in memory that hands out what a server could have sent.

#[allow(dead_code)]
#[path = "../../../resolver/src/git/tree.rs"]
mod tree;

// Where the module above looks for them.
use super::{Error, requested};

use gix_hash::ObjectId;
use ptah_contract::digest::Digest;
use ptah_contract::manifest::MAX_FILES;
use tokio_util::sync::CancellationToken;

use super::requested::TreePath;
use crate::content::Limits;
use crate::net::Attempt;
use crate::paths::stays_below;
use crate::{bounded, first_line, text};

/// In the place of the packs.
mod store {
    use gix_hash::ObjectId;
    use gix_object::Kind;

    use super::Error;

    /// Objects, of which an id's first byte chooses one: so trees can hold each other in any way.
    pub(super) struct Store(pub(super) Vec<(Kind, Vec<u8>)>);

    impl Store {
        pub(super) fn read_as(
            &mut self,
            id: &ObjectId,
            expected: Kind,
            buffer: &mut Vec<u8>,
        ) -> Result<(), Error> {
            match self.0.get(usize::from(id.as_slice()[0])) {
                Some((kind, bytes)) if *kind == expected => {
                    buffer.clone_from(bytes);
                    Ok(())
                }
                _ => Err(Error::ObjectMissing {
                    host: "git.example".to_owned(),
                    id: id.to_string(),
                }),
            }
        }
    }
}

use store::Store;

/// A path in the first line, then objects with a line `===` between two; one that begins with `t` is a tree. Whatever
/// trees hold, the files that are selected stay below their folder, are in the manifest's order, and are what the
/// manifest says.
pub fn git_tree(data: &[u8]) {
    let (path, objects) = first_line(data);
    let Some(Ok(path)) = text(path).map(str::parse::<TreePath>) else {
        return;
    };
    let mut store = Store(split(objects));
    let attempt = Attempt::new(crate::net::Limits::default(), CancellationToken::new());
    let root = ObjectId::null(gix_hash::Kind::Sha1);
    let entries = match tree::select(&mut store, root, &path, &attempt) {
        Ok(entries) => entries,
        Err(error) => return bounded(&error),
    };
    assert!(entries.len() <= MAX_FILES + 1);
    assert!(entries.is_sorted_by(|a, b| a.path < b.path));
    entries.iter().for_each(|entry| stays_below(&entry.path));
    let limits = Limits::default().max_bytes(Some(1 << 20), "the target");
    match tree::manifest(&mut store, &entries, &path, &limits, &attempt) {
        Ok(manifest) => {
            assert_eq!(manifest.files().len(), entries.len());
            assert!(manifest.total_bytes() <= 1 << 20);
            for (file, entry) in manifest.files().iter().zip(&entries) {
                let (_, bytes) = &store.0[usize::from(entry.id.as_slice()[0])];
                assert_eq!((&file.path, file.sha256), (&entry.path, Digest::of(bytes)));
            }
        }
        Err(error) => bounded(&error),
    }
}

fn split(mut objects: &[u8]) -> Vec<(gix_object::Kind, Vec<u8>)> {
    const BETWEEN: &[u8] = b"\n===\n";
    let mut found = Vec::new();
    loop {
        let end = objects
            .windows(BETWEEN.len())
            .position(|window| window == BETWEEN);
        let (object, rest) = objects.split_at(end.unwrap_or(objects.len()));
        found.push(match object.split_first() {
            Some((b't', tree)) => (gix_object::Kind::Tree, tree.to_vec()),
            Some((_, blob)) => (gix_object::Kind::Blob, blob.to_vec()),
            None => (gix_object::Kind::Blob, Vec::new()),
        });
        match rest.get(BETWEEN.len()..) {
            Some(rest) => objects = rest,
            None => return found,
        }
    }
}
