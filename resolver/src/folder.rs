//! A folder as a source, and a folder as a place for content.

use std::fs;
use std::path::{Path, PathBuf};

use ptah_contract::digest::Digest;
use ptah_contract::manifest::{File, Manifest};

use crate::Error;

/// Every regular file below `root`, or the one file that `root` is. Files are hashed as they are read, never held.
///
/// # Errors
/// When something in it is neither a file nor a folder (a symbolic link is neither), or the files cannot make a
/// manifest.
pub fn resolve(root: &Path) -> Result<Manifest, Error> {
    let metadata = fs::symlink_metadata(root).map_err(Error::io("reading", root))?;
    let mut files = Vec::new();
    if metadata.is_file() {
        let name = root.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Error::NotUtf8(root.display().to_string()))?;
        files.push(read(root, name)?);
    } else {
        walk(root, "", &mut files)?;
    }
    Ok(Manifest::new(files)?)
}

/// Copies the content of `root`, a folder or one file, below `to`, which must be empty and is empty again after a
/// failure; what was written gives `manifest`.
///
/// # Errors
/// When a file changed meanwhile, or writing fails.
pub fn copy(root: &Path, manifest: &Manifest, to: &Path) -> Result<(), Error> {
    let single = fs::symlink_metadata(root)
        .map_err(Error::io("reading", root))?
        .is_file();
    fill(to, || {
        for file in manifest.files() {
            let from = if single {
                root.to_path_buf()
            } else {
                root.join(file.path.as_str())
            };
            let target = to.join(file.path.as_str());
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).map_err(Error::io("creating", parent))?;
            }
            fs::copy(&from, &target).map_err(Error::io("copying", &from))?;
        }
        let found = resolve(to)?;
        if found == *manifest {
            Ok(())
        } else {
            Err(Error::OtherContent {
                found: found.content_digest(),
                wanted: manifest.content_digest(),
            })
        }
    })
}

/// Runs `write` on a folder that is empty before, and empty again when it fails.
pub(crate) fn fill<E: From<Error>>(to: &Path, write: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    fs::create_dir_all(to).map_err(Error::io("creating", to))?;
    if fs::read_dir(to)
        .map_err(Error::io("reading", to))?
        .next()
        .is_some()
    {
        return Err(Error::NotEmpty(to.display().to_string()).into());
    }
    let done = write();
    if done.is_err() {
        empty(to);
    }
    done
}

/// Best effort: the failure that led here is the one to report.
fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<(), Error> {
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
            walk(&at, &path, files)?;
        } else if kind.is_file() {
            files.push(read(&at, &path)?);
        } else {
            return Err(Error::NotAFile(path));
        }
    }
    Ok(())
}

fn read(at: &Path, path: &str) -> Result<File, Error> {
    let file = fs::File::open(at).map_err(Error::io("reading", at))?;
    let (sha256, size) = Digest::of_reader(file).map_err(Error::io("reading", at))?;
    Ok(File {
        path: path.parse()?,
        sha256,
        size,
    })
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
