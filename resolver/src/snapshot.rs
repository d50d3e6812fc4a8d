//! Checking a mounted snapshot, and copying its files to where an operation reads them.
//!
//! Promises: nothing is copied before the manifest gave the digest that was asked for; each file's bytes are hashed
//! on their way; after a failure the output holds nothing. The snapshot may have been altered by anybody who can
//! write ConfigMaps: it is trusted for its bytes alone.

use std::fs;
use std::path::Path;

use ptah_contract::digest::Digest;
use ptah_contract::manifest::Manifest;
use ptah_contract::protocol::paths;

use crate::Error;
use crate::content::{Content, Limits};

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
    let content = Content::new(Limits::default(), Some(to))?;
    for (index, file) in manifest.files().iter().enumerate() {
        let problem = |problem| Error::SnapshotFile {
            file: file.path.to_string(),
            problem,
        };
        let at = from.join(paths::snapshot_key(index));
        let input = fs::File::open(&at).map_err(|_| problem("is missing"))?;
        if content.read(file.path.as_str(), input)? != (file.sha256, file.size) {
            return Err(problem("does not give its digest"));
        }
    }
    content.finish(Some(wanted))
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
