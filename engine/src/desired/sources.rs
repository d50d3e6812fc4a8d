//! The files of a desired state: which ones there are, of which format, and what they say together.

use std::path::{Path, PathBuf};

use super::formats::{self, DataBlock, Document};
use super::{Desired, admission, made, room, rows};
use crate::error::{Code, Error, Result};

/// The rows of an artifact.
const ROWS: &str = "managed-data.json";
/// The largest document. The largest schema that was seen is some hundred thousand bytes of it.
const LARGEST: u64 = 64 << 20;

/// Files by format, names relative to the folder, in byte order of names.
#[derive(Default)]
struct Files {
    sql: Vec<(String, PathBuf)>,
    hcl: Vec<(String, PathBuf)>,
    yaml: Vec<(String, PathBuf)>,
    rows: Vec<(String, PathBuf)>,
}

/// Reads everything that a path declares.
pub(super) fn read(path: &Path) -> Result<Desired> {
    let files = files(path)?;
    if let ([(sql, _), ..], [(other, _), ..]) = (&files.sql[..], &files.hcl[..]) {
        return Err(ambiguous(sql, other));
    }
    if let ([(first, _), ..], [(yaml, _), ..]) = (&files.sql[..], &files.yaml[..]) {
        return Err(ambiguous(first, yaml));
    }
    if files.hcl.is_empty()
        && let [(rows, _), ..] = &files.rows[..]
    {
        return Err(unreadable(rows, "there is no .hcl beside it"));
    }
    let mut desired = Desired::default();
    if !files.sql.is_empty() {
        for (name, file) in &files.sql {
            let text = text_of(name, file)?;
            desired.coverage.read(name, &text, &["--"])?;
            admission::admit(name, &text, &mut desired)?;
        }
    } else if !files.hcl.is_empty() {
        read_hcl(&files, path, &mut desired)?;
    } else if let [(name, file), rest @ ..] = &files.yaml[..] {
        if let [(second, _), ..] = rest {
            let why = format!("{name} stands there too, and a state in YAML is one file");
            return Err(unreadable(second, &why));
        }
        let text = text_of(name, file)?;
        desired = documents(|| Document::yaml(name, &text), name, &text, &["#"])?;
    }
    Ok(desired)
}

fn read_hcl(files: &Files, path: &Path, desired: &mut Desired) -> Result<()> {
    let mut texts = Vec::new();
    for (name, file) in &files.hcl {
        let text = text_of(name, file)?;
        desired.coverage.read(name, &text, &["//", "#"])?;
        texts.push((name, text));
    }
    let blocks = with_room(|| {
        let documents = texts
            .iter()
            .map(|(name, text)| Document::hcl(name, text))
            .collect::<Result<Vec<_>>>()?;
        admit(&documents, desired)?;
        formats::data_blocks(&documents)
    })?;
    if let [(name, file)] = &files.rows[..] {
        if let [(yaml, _), ..] = &files.yaml[..] {
            return Err(ambiguous(name, yaml));
        }
        desired.rows = rows::read_json(name, &text_of(name, file)?, &blocks)?;
        return Ok(());
    }
    if let [_, (second, _), ..] = &files.rows[..] {
        return Err(unreadable(second, "there is more than one file of that name"));
    }
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    let mut named = Vec::new();
    for block in &blocks {
        let (name, file) = rows_file(block, folder)?;
        desired
            .rows
            .push(rows::read_yaml(&name, &text_of(&name, &file)?, block)?);
        named.push(name);
    }
    match files.yaml.iter().find(|(yaml, _)| !named.contains(yaml)) {
        None => Ok(()),
        Some((yaml, _)) => Err(ambiguous(&files.hcl[0].0, yaml)),
    }
}

/// The file that a block names, beside or below its document.
fn rows_file(block: &DataBlock, folder: &Path) -> Result<(String, PathBuf)> {
    let parts: Vec<&str> = block.file.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) || block.file.contains('\\') {
        return Err(block
            .at
            .malformed("file is not a path below the folder of the document"));
    }
    let name = match block.at.file().rsplit_once('/') {
        Some((parent, _)) => format!("{parent}/{}", block.file),
        None => block.file.clone(),
    };
    let file = folder.join(&name);
    if file.is_file() {
        Ok((name, file))
    } else {
        Err(block.at.malformed(format!("there is no file {name}")))
    }
}

/// One document that nothing stands beside.
pub(super) fn documents(
    document: impl FnOnce() -> Result<Document> + Send,
    name: &str,
    text: &str,
    comments: &[&str],
) -> Result<Desired> {
    let mut desired = Desired::default();
    desired.coverage.read(name, text, comments)?;
    with_room(|| admit(&[document()?], &mut desired))?;
    Ok(desired)
}

/// Renders documents and admits what comes out.
fn admit(documents: &[Document], desired: &mut Desired) -> Result<()> {
    let rendered = formats::render(documents)?;
    for document in documents {
        desired.extensions.extend(document.extensions());
    }
    made::admit(rendered, desired)
}

fn with_room<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    room::with_room(work)
        .unwrap_or_else(|| Err(Error::internal("the reader of a document did not come to an end")))
}

fn text_of(name: &str, file: &Path) -> Result<String> {
    let broken = |e: std::io::Error| unreadable(name, &e.kind().to_string());
    if std::fs::metadata(file).map_err(broken)?.len() > LARGEST {
        return Err(unreadable(
            name,
            &format!("it is larger than {} MiB", LARGEST >> 20),
        ));
    }
    let bytes = std::fs::read(file).map_err(broken)?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(name, "it is not UTF-8"))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

fn files(path: &Path) -> Result<Files> {
    let shown = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut files = Files::default();
    let kind = std::fs::metadata(path).map_err(|e| unreadable(&shown, &e.kind().to_string()))?;
    if kind.is_file() {
        files.put(shown, path.to_owned(), true)?;
        if !files.hcl.is_empty() {
            let beside = path.with_file_name(ROWS);
            if beside.is_file() {
                files.rows.push((ROWS.to_owned(), beside));
            }
        }
        return Ok(files);
    }
    walk(path, "", &mut files)?;
    for list in [&mut files.sql, &mut files.hcl, &mut files.yaml, &mut files.rows] {
        list.sort();
    }
    Ok(files)
}

impl Files {
    /// `alone` is a file that was named itself; what its name does not tell is SQL.
    fn put(&mut self, name: String, path: PathBuf, alone: bool) -> Result<()> {
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .map(str::to_lowercase);
        let list = match extension.as_deref() {
            Some("sql") => &mut self.sql,
            Some("hcl") => &mut self.hcl,
            Some("yaml" | "yml") => &mut self.yaml,
            Some("json") if name.rsplit('/').next() == Some(ROWS) => &mut self.rows,
            _ if alone => &mut self.sql,
            Some("md" | "txt") => return Ok(()),
            _ => {
                return Err(unreadable(
                    &name,
                    "only .sql, .hcl, .yaml and .yml files declare a state",
                ));
            }
        };
        list.push((name, path));
        Ok(())
    }
}

fn walk(folder: &Path, prefix: &str, found: &mut Files) -> Result<()> {
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
        } else {
            found.put(relative, path, false)?;
        }
    }
    Ok(())
}

fn ambiguous(one: &str, other: &str) -> Error {
    let message =
        format!("{one} and {other} are of different formats: which of them declares the state is ambiguous");
    Error::new(Code::DesiredUnreadable, message).about(other)
}

fn unreadable(file: &str, why: &str) -> Error {
    Error::new(Code::DesiredUnreadable, format!("{file} cannot be read: {why}")).about(file)
}
