//! The selected part of a commit's tree.
//!
//! Promises: every name is judged before it is used, since a tree may hold any bytes as a name; what is not a file of
//! this repository (a submodule, a symbolic link, a pointer) is refused by its path; the walk is bounded even in trees
//! that hold each other many times.

use std::collections::HashSet;
use std::path::Path;

use gix_hash::ObjectId;
use gix_object::TreeRefIter;
use gix_object::tree::EntryKind;
use ptah_contract::manifest::{ContentPath, MAX_FILES, Manifest};

use super::Error;
use super::requested::TreePath;
use super::store::Store;
use crate::content::{Content, Limits};
use crate::net::Attempt;

/// Entries that are looked at, folders included: honest trees have few folders without files.
const MAX_ENTRIES: usize = 8 * MAX_FILES;

/// A selected file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: ContentPath,
    pub(super) id: ObjectId,
    /// The path selects this file, not a folder that it is in.
    is_selected_itself: bool,
}

impl Entry {
    /// As it is named to people: from the root of the repository.
    fn whole(&self, selected: &TreePath) -> String {
        let path = self.path.as_str();
        if selected.is_root() {
            path.to_owned()
        } else if self.is_selected_itself {
            selected.to_string()
        } else {
            join(selected.as_str(), path)
        }
    }
}

/// One entry of one tree.
struct Named {
    name: String,
    kind: EntryKind,
    id: ObjectId,
}

/// The files that a path selects below a tree.
pub(super) fn select(
    store: &mut Store,
    tree: ObjectId,
    path: &TreePath,
    attempt: &Attempt,
) -> Result<Vec<Entry>, Error> {
    let missing = || Error::PathNotFound(path.to_string());
    let mut parts = path.parts().peekable();
    let (mut at, mut seen) = (tree, String::new());
    while let Some(part) = parts.next() {
        let entry = read(store, at, &seen)?
            .into_iter()
            .find(|entry| entry.name == part);
        let entry = entry.ok_or_else(missing)?;
        seen = join(&seen, part);
        match entry.kind {
            EntryKind::Tree => at = entry.id,
            EntryKind::Blob | EntryKind::BlobExecutable if parts.peek().is_none() => {
                return Ok(vec![Entry {
                    path: part.parse().map_err(crate::Error::from)?,
                    id: entry.id,
                    is_selected_itself: true,
                }]);
            }
            EntryKind::Blob | EntryKind::BlobExecutable => return Err(missing()),
            EntryKind::Commit => return Err(Error::Submodule(seen)),
            EntryKind::Link => return Err(Error::Symlink(seen)),
        }
    }
    walk(store, at, path, attempt)
}

fn walk(
    store: &mut Store,
    root: ObjectId,
    selected: &TreePath,
    attempt: &Attempt,
) -> Result<Vec<Entry>, Error> {
    // As it is named to people: from the root of the repository.
    let whole = |path: &str| match (selected.is_root(), path) {
        (true, path) => path.to_owned(),
        (false, "") => selected.to_string(),
        (false, path) => join(selected.as_str(), path),
    };
    let (mut files, mut entries) = (Vec::new(), 0);
    let mut folders = vec![(root, String::new())];
    while let Some((id, folder)) = folders.pop() {
        attempt.check()?;
        for entry in read(store, id, &whole(&folder))? {
            entries += 1;
            if entries > MAX_ENTRIES || files.len() > MAX_FILES {
                return Err(Error::TooManyEntries(MAX_FILES));
            }
            let path: ContentPath = join(&folder, &entry.name).parse().map_err(crate::Error::from)?;
            match entry.kind {
                EntryKind::Tree => folders.push((entry.id, path.to_string())),
                EntryKind::Blob | EntryKind::BlobExecutable => files.push(Entry {
                    path,
                    id: entry.id,
                    is_selected_itself: false,
                }),
                EntryKind::Commit => return Err(Error::Submodule(whole(path.as_str()))),
                EntryKind::Link => return Err(Error::Symlink(whole(path.as_str()))),
            }
        }
    }
    // In the manifest's order, so that a refusal names the same files on every run.
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The entries of one tree, each name a name and none there twice.
fn read(store: &mut Store, id: ObjectId, folder: &str) -> Result<Vec<Named>, Error> {
    let malformed = |problem| Error::Tree {
        path: if folder.is_empty() { "." } else { folder }.to_owned(),
        problem,
    };
    let mut bytes = Vec::new();
    store.read_as(&id, gix_object::Kind::Tree, &mut bytes)?;
    let mut names = HashSet::new();
    let mut entries = Vec::new();
    for entry in TreeRefIter::from_bytes(&bytes, id.kind()) {
        let entry = entry.map_err(|_| malformed("it does not parse"))?;
        let name = std::str::from_utf8(entry.filename)
            .map_err(|_| crate::Error::NotUtf8(join(folder, &entry.filename.to_string())))?;
        if name.is_empty() || name.contains('/') {
            return Err(malformed("a name in it is empty or holds a slash"));
        }
        if !names.insert(name.to_owned()) {
            return Err(malformed("a name is in it twice"));
        }
        entries.push(Named {
            name: name.to_owned(),
            kind: entry.mode.kind(),
            id: entry.oid.to_owned(),
        });
    }
    Ok(entries)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// The manifest of these files. One file at a time is in memory.
pub(super) fn manifest(
    store: &mut Store,
    entries: &[Entry],
    path: &TreePath,
    limits: &Limits,
    attempt: &Attempt,
) -> Result<Manifest, Error> {
    let content = Content::new(limits.clone(), None)?;
    content.fit_together(entries.len() as u64, 0)?;
    let mut bytes = Vec::new();
    for entry in entries {
        attempt.check()?;
        store.read_as(&entry.id, gix_object::Kind::Blob, &mut bytes)?;
        if is_lfs_pointer(&bytes) {
            return Err(Error::LfsPointer(entry.whole(path)));
        }
        content.read(entry.path.as_str(), bytes.as_slice())?;
    }
    Ok(content.finish(None)?)
}

/// As git-lfs(1) recognises one: short, and beginning with the version of its specification.
fn is_lfs_pointer(bytes: &[u8]) -> bool {
    const VERSIONS: [&[u8]; 2] = [
        b"version https://git-lfs.github.com/spec/v1",
        b"version https://hawser.github.com/spec/v1",
    ];
    bytes.len() < 1024 && VERSIONS.iter().any(|version| bytes.starts_with(version))
}

/// Writes the files below a folder that is empty before, and empty again after a failure; what was written is read
/// back and must give the manifest.
pub(super) fn write(
    store: &mut Store,
    entries: &[Entry],
    manifest: &Manifest,
    limits: &Limits,
    to: &Path,
    attempt: &Attempt,
) -> Result<(), Error> {
    let content = Content::new(limits.clone(), Some(to))?;
    let mut bytes = Vec::new();
    for entry in entries {
        attempt.check()?;
        store.read_as(&entry.id, gix_object::Kind::Blob, &mut bytes)?;
        content.read(entry.path.as_str(), bytes.as_slice())?;
    }
    content.finish(Some(manifest.content_digest()))?;
    Ok(())
}
