//! Checking a mounted snapshot, and copying its files to where an operation reads them.
//!
//! Promises: nothing is copied before the manifest gave the digest that was asked for; each file's bytes are hashed
//! on their way; after a failure the output holds nothing. The snapshot may have been altered by anybody who can
//! write ConfigMaps: it is trusted for its bytes alone.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use ptah_contract::digest::Digest;
use ptah_contract::manifest::Manifest;
use ptah_contract::protocol::paths;

use crate::Error;
use crate::folder;

/// Checks the snapshot mounted at `from` against `wanted` and copies its files below `to`, which must be empty.
///
/// # Errors
/// When the manifest or any file gives another digest; the error names the file.
pub fn copy_checked(from: &Path, wanted: Digest, to: &Path) -> Result<Manifest, Error> {
    let at = from.join(paths::MANIFEST_KEY);
    let bytes = fs::read(&at).map_err(|_| Error::SnapshotFile {
        file: paths::MANIFEST_KEY.to_owned(),
        problem: "is missing",
    })?;
    let found = Digest::of(&bytes);
    if found != wanted {
        return Err(Error::OtherContent { found, wanted });
    }
    let manifest = Manifest::from_bytes(&bytes)?;
    folder::fill(to, || {
        for (index, file) in manifest.files().iter().enumerate() {
            copy_file(&from.join(paths::snapshot_key(index)), file, to)?;
        }
        Ok::<(), Error>(())
    })?;
    Ok(manifest)
}

fn copy_file(from: &Path, file: &ptah_contract::manifest::File, to: &Path) -> Result<(), Error> {
    let problem = |problem| Error::SnapshotFile {
        file: file.path.to_string(),
        problem,
    };
    let target = to.join(file.path.as_str());
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(Error::io("creating", parent))?;
    }
    let mut input = fs::File::open(from).map_err(|_| problem("is missing"))?;
    let mut output = fs::File::create_new(&target).map_err(Error::io("creating", &target))?;
    let mut hashed = Tee {
        input: &mut input,
        output: &mut output,
    };
    let (digest, size) = Digest::of_reader(&mut hashed).map_err(Error::io("copying", &target))?;
    if size != file.size || digest != file.sha256 {
        return Err(problem("does not give its digest"));
    }
    output.flush().map_err(Error::io("writing", &target))
}

/// Hands on what it reads after writing it, so that the bytes that were hashed are the bytes that were written.
struct Tee<'a> {
    input: &'a mut fs::File,
    output: &'a mut fs::File,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.output.write_all(&buffer[..length])?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_map;
    use std::collections::BTreeMap;

    fn snapshot(at: &Path) -> Manifest {
        let data = BTreeMap::from([
            ("a.sql".to_owned(), b"A".to_vec()),
            ("b.sql".to_owned(), b"B".to_vec()),
        ]);
        let items = [
            ("a.sql".to_owned(), "d/a.sql".to_owned()),
            ("b.sql".to_owned(), "b.sql".to_owned()),
        ];
        let content = config_map::resolve(&data, Some(&items)).unwrap();
        fs::write(at.join(paths::MANIFEST_KEY), content.manifest.to_bytes()).unwrap();
        for (index, bytes) in content.bytes.iter().enumerate() {
            fs::write(at.join(paths::snapshot_key(index)), bytes).unwrap();
        }
        content.manifest
    }

    #[test]
    fn promise_p045_files_are_copied_only_when_manifest_and_every_file_give_the_bound_digest() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let manifest = snapshot(from.path());
        copy_checked(from.path(), manifest.content_digest(), to.path()).unwrap();
        assert_eq!(fs::read(to.path().join("d/a.sql")).unwrap(), b"A");
        assert_eq!(fs::read(to.path().join("b.sql")).unwrap(), b"B");
        let again = copy_checked(from.path(), manifest.content_digest(), to.path()).unwrap_err();
        assert_eq!(again.code(), "output_not_empty");
    }

    #[test]
    fn promise_p045_an_altered_snapshot_is_refused_and_leaves_nothing_behind() {
        type Alter = fn(&Path);
        let alterations: [(Alter, &str); 4] = [
            (|at| fs::write(at.join("file-00001"), "X").unwrap(), "d/a.sql"),
            (|at| fs::remove_file(at.join("file-00001")).unwrap(), "d/a.sql"),
            (
                |at| fs::remove_file(at.join("manifest.json")).unwrap(),
                "manifest.json",
            ),
            (|at| fs::write(at.join("manifest.json"), "{}").unwrap(), "digest"),
        ];
        for (alter, names) in alterations {
            let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let manifest = snapshot(from.path());
            alter(from.path());
            let error = copy_checked(from.path(), manifest.content_digest(), to.path()).unwrap_err();
            assert!(error.to_string().contains(names), "{error}");
            assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0, "{error}");
        }
    }
}
