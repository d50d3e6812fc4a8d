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
    use ptah_contract::failure::{Failure, FailureClass};
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
        let altered = |file, problem| {
            let message = format!(
                "file {file:?} of the snapshot {problem}; delete the snapshot's ConfigMap, and it is written anew"
            );
            Failure {
                object: Some(String::from(file)),
                ..Failure::new("snapshot_altered", FailureClass::Attention, message)
            }
        };
        let (from, other) = (tempfile::tempdir().unwrap(), Digest::of(b"{}"));
        let wanted = snapshot(from.path()).content_digest();
        let alterations: [(Alter, Failure); 4] = [
            (
                |at| fs::write(at.join("file-00001"), "X").unwrap(),
                altered("d/a.sql", "does not give its digest"),
            ),
            (
                |at| fs::remove_file(at.join("file-00001")).unwrap(),
                altered("d/a.sql", "is missing"),
            ),
            (
                |at| fs::remove_file(at.join("manifest.json")).unwrap(),
                altered("manifest.json", "is missing"),
            ),
            (
                |at| fs::write(at.join("manifest.json"), "{}").unwrap(),
                Failure::new(
                    "content_digest_mismatch",
                    FailureClass::Refused,
                    format!("the content has digest {other}, {wanted} was asked for"),
                ),
            ),
        ];
        for (alter, expected) in alterations {
            let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            snapshot(from.path());
            alter(from.path());
            let error = copy_checked(from.path(), wanted, to.path()).unwrap_err();
            assert_eq!(error.to_failure(), expected);
            assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0, "{error}");
        }
    }

    #[test]
    fn a_manifest_of_another_form_is_refused_though_it_gives_the_bound_digest() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let manifest = snapshot(from.path());
        let mut bytes = manifest.to_bytes();
        bytes.push(b'\n');
        fs::write(from.path().join("manifest.json"), &bytes).unwrap();
        let error = copy_checked(from.path(), Digest::of(&bytes), to.path()).unwrap_err();
        let sentence = "the content manifest is not the canonical one of version 1 (another release may have written it): \
                        keys, order or white space differ";
        assert_eq!(
            error.to_failure(),
            Failure::new("invalid_manifest", FailureClass::Refused, sentence)
        );
    }
}
