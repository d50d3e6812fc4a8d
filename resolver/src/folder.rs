//! A folder as a source, and a folder as a place for content.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ptah_contract::manifest::Manifest;

use crate::Error;
use crate::content::{Content, Limits};

/// Every regular file below `root`, or the one file that `root` is. Files are hashed as they are read, never held.
///
/// # Errors
/// When something in it is neither a file nor a folder (a symbolic link is neither), or the files cannot make a
/// manifest.
pub fn resolve(root: &Path) -> Result<Manifest, Error> {
    let content = Content::new(Limits::default(), None)?;
    take(root, &content)?;
    content.finish(None)
}

/// Copies the content of `root`, a folder or one file, below `to`, which must be empty and is empty again after a
/// failure; what was written gives `manifest`.
///
/// # Errors
/// When a file changed meanwhile, or writing fails.
pub fn copy(root: &Path, manifest: &Manifest, to: &Path) -> Result<(), Error> {
    let content = Content::new(Limits::default(), Some(to))?;
    take(root, &content)?;
    content.finish(Some(manifest.content_digest())).map(drop)
}

fn take(root: &Path, content: &Content) -> Result<(), Error> {
    let metadata = fs::symlink_metadata(root).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::Missing(root.display().to_string()),
        _ => Error::io("reading", root)(error),
    })?;
    if metadata.is_dir() {
        return walk(root, "", content);
    }
    let name = root.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Error::NotUtf8(root.display().to_string()))?;
    if metadata.is_file() {
        read(root, name, content)
    } else {
        Err(Error::NotAFile(name.to_owned()))
    }
}

fn walk(folder: &Path, prefix: &str, content: &Content) -> Result<(), Error> {
    let entries = fs::read_dir(folder).map_err(Error::io("reading", folder))?;
    for entry in entries {
        let entry = entry.map_err(Error::io("reading", folder))?;
        let at: PathBuf = entry.path();
        let name = entry.file_name();
        let name = name
            .to_str()
            .ok_or_else(|| Error::NotUtf8(at.display().to_string()))?;
        let path = if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}/{name}")
        };
        let kind = entry.file_type().map_err(Error::io("reading", &at))?;
        if kind.is_dir() {
            content.folder(&path)?;
            walk(&at, &path, content)?;
        } else if kind.is_file() {
            read(&at, &path, content)?;
        } else {
            return Err(Error::NotAFile(path));
        }
    }
    Ok(())
}

fn read(at: &Path, path: &str, content: &Content) -> Result<(), Error> {
    let file = fs::File::open(at).map_err(Error::io("reading", at))?;
    content.read(path, file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptah_contract::failure::FailureClass;

    fn told(error: &Error) -> (&'static str, FailureClass, String) {
        (error.code(), error.class(), error.to_string())
    }

    #[test]
    fn promise_p042_a_folder_gives_the_digest_that_a_config_map_of_the_same_files_gives() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("d/a.sql"), "A").unwrap();
        fs::write(folder.path().join("b.sql"), "B").unwrap();
        let data = [
            ("d".to_owned(), b"A".to_vec()),
            ("b.sql".to_owned(), b"B".to_vec()),
        ]
        .into();
        let items = [
            ("d".to_owned(), "d/a.sql".to_owned()),
            ("b.sql".to_owned(), "b.sql".to_owned()),
        ];
        let content = crate::config_map::resolve(&data, Some(&items)).unwrap();
        assert_eq!(resolve(folder.path()).unwrap(), content.manifest);
        let out = tempfile::tempdir().unwrap();
        copy(folder.path(), &content.manifest, out.path()).unwrap();
        assert_eq!(resolve(out.path()).unwrap(), content.manifest);
    }

    #[test]
    fn a_symbolic_link_and_an_empty_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(resolve(folder.path()).unwrap_err().code(), "nothing_selected");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("x.sql")).unwrap();
        let sentence = "\"x.sql\" is neither a regular file nor a folder".to_owned();
        assert_eq!(
            told(&resolve(folder.path()).unwrap_err()),
            ("not_a_file", FailureClass::Input, sentence)
        );
    }

    #[test]
    fn a_path_that_does_not_exist_needs_an_edit_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.sql"), "A").unwrap();
        for name in ["b.sql", "a.sql/c.sql"] {
            let at = folder.path().join(name);
            let sentence = format!("path {at:?} does not exist");
            assert_eq!(
                told(&resolve(&at).unwrap_err()),
                ("path_not_found", FailureClass::Input, sentence)
            );
        }
    }

    #[test]
    fn what_the_file_system_refuses_is_told_with_its_place_and_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.sql");
        fs::write(&file, "A").unwrap();
        let out = file.join("out");
        let error = copy(&file, &resolve(&file).unwrap(), &out).unwrap_err();
        let sentence = format!("creating {out:?} failed: Not a directory (os error 20)");
        assert_eq!(told(&error), ("io_failed", FailureClass::Transient, sentence));
    }
}
