//! A folder as a source, and a folder as a place for content.

use std::fs;
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
    let metadata = fs::symlink_metadata(root).map_err(Error::io("reading", root))?;
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
        assert_eq!(resolve(folder.path()).unwrap_err().code(), "not_a_file");
    }
}
