//! The desired state: files of SQL, read, admitted by kind, and loaded into a scratch database.
//!
//! Promises: files need no order; an error names file, line and statement; nothing but declarations runs.
//! Never executes a statement whose kind the parser did not recognise.

mod admission;
mod load;
mod rename;
mod room;

use std::path::{Path, PathBuf};

pub use admission::Statement;
pub(crate) use admission::{Extension, extension_of, single_statement_kind};
pub(crate) use load::load;
pub use rename::Renamed;
pub(crate) use rename::{Kind, Part};

use crate::error::{Code, Error, Result};

/// The files of a desired state, split into admitted statements.
pub struct Desired {
    /// In byte order of paths, each file's in its own order.
    pub(crate) statements: Vec<Statement>,
    /// Extensions that the files ask for.
    pub(crate) extensions: Vec<Extension>,
}

impl Desired {
    /// Reads one `.sql` file, or every one below a folder.
    ///
    /// # Errors
    /// `desired_unreadable`, `desired_syntax`, `statement_not_admitted`, `empty_desired_state`.
    pub fn read(path: &Path) -> Result<Self> {
        let mut desired = Self {
            statements: Vec::new(),
            extensions: Vec::new(),
        };
        for (name, file) in files(path)? {
            let bytes = std::fs::read(&file).map_err(|e| unreadable(&name, &e.kind().to_string()))?;
            let text = String::from_utf8(bytes).map_err(|_| unreadable(&name, "it is not UTF-8"))?;
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            admission::admit(&name, text, &mut desired)?;
        }
        if desired.statements.is_empty() && desired.extensions.is_empty() {
            return Err(Error::new(
                Code::EmptyDesiredState,
                "the desired state declares nothing",
            ));
        }
        Ok(desired)
    }
}

/// Names relative to `path` and the files themselves, in byte order of names.
fn files(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let shown = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let kind = std::fs::metadata(path).map_err(|e| unreadable(&shown, &e.kind().to_string()))?;
    if kind.is_file() {
        return Ok(vec![(shown, path.to_owned())]);
    }
    let mut found = Vec::new();
    walk(path, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<(String, PathBuf)>) -> Result<()> {
    let broken = |e: std::io::Error| unreadable(prefix, &e.kind().to_string());
    for entry in std::fs::read_dir(folder).map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let relative = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}/{name}")
        };
        let path = entry.path();
        if path.is_dir() {
            walk(&path, &relative, found)?;
            continue;
        }
        match path.extension().and_then(|e| e.to_str()) {
            Some("sql") => found.push((relative, path)),
            Some("md" | "txt") => {}
            _ => {
                return Err(unreadable(
                    &relative,
                    "only .sql files declare a state in this build",
                ));
            }
        }
    }
    Ok(())
}

fn unreadable(file: &str, why: &str) -> Error {
    Error::new(Code::DesiredUnreadable, format!("{file} cannot be read: {why}")).about(file)
}
