//! Commits and tags as Git stores them, read strictly.
//!
//! Git takes what it looks for and skips the rest; here an object is understood whole or refused, since what one reader
//! skips may be what another one reads: a second `committer`, a NUL, a line that continues nothing.

use gix_hash::{Kind, ObjectId};

/// Why an object is not read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Problem {
    #[error("it is {0}, by its bytes, and not what was asked for")]
    Identity(String),
    #[error("its bytes cannot be hashed, or were made to collide")]
    Hash,
    #[error("it holds a NUL, at which some readers stop")]
    Nul,
    #[error("its header line {0} is malformed")]
    Line(usize),
    #[error("its headers are not {0}")]
    Order(&'static str),
    #[error("its {0} is malformed")]
    Value(&'static str),
    #[error("its header {0:?} is there twice")]
    Twice(String),
    #[error("its message begins a signature twice, so that it is in doubt where the signature begins")]
    TwoSignatures,
    #[error("it has a header {0:?}, which Git leaves out of what is signed and this version does not know")]
    OtherSignature(String),
}

/// The object's own name, from its bytes.
pub(super) fn name_of(kind: &str, bytes: &[u8], hash: Kind) -> Result<ObjectId, Problem> {
    let mut hasher = gix_hash::hasher(hash);
    hasher.update(format!("{kind} {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    // SHA-1 is computed with an eye on the marks of a collision.
    hasher.try_finalize().map_err(|_| Problem::Hash)
}

/// Whether the object is what was asked for.
pub(super) fn identify(kind: &str, bytes: &[u8], expected: &ObjectId) -> Result<(), Problem> {
    match name_of(kind, bytes, expected.kind())? {
        id if id == *expected => Ok(()),
        id => Err(Problem::Identity(id.to_string())),
    }
}

/// One header with the lines that continue it.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    /// As it stands in the object, the last line feed included.
    pub(super) raw: &'a [u8],
}

impl<'a> Field<'a> {
    /// The value of a header of one line; `None` when it has more, or a control character.
    pub(super) fn line(&self) -> Option<&'a [u8]> {
        let value = self.raw.get(self.name.len() + 1..self.raw.len() - 1)?;
        let control = |byte: &u8| *byte < b' ' || *byte == 0x7f;
        (!value.iter().any(control)).then_some(value)
    }

    /// The value with its continuation lines, without the blanks that mark them (gitformat-signature(5)).
    pub(super) fn lines(&self) -> Vec<u8> {
        let mut value = Vec::new();
        let after_name = self.raw.get(self.name.len()..).unwrap_or_default();
        for line in after_name.split_inclusive(|byte| *byte == b'\n') {
            value.extend_from_slice(&line[1..]);
        }
        value
    }
}

/// Headers and what follows the blank line behind them.
#[derive(Debug)]
pub(super) struct Object<'a> {
    pub(super) fields: Vec<Field<'a>>,
    pub(super) body: Option<&'a [u8]>,
}

impl<'a> Object<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        if bytes.contains(&0) {
            return Err(Problem::Nul);
        }
        let (mut fields, mut at, mut number) = (Vec::<Field<'a>>::new(), 0, 0);
        while at < bytes.len() {
            if bytes[at] == b'\n' {
                let body = Some(&bytes[at + 1..]);
                return Ok(Self { fields, body });
            }
            number += 1;
            let line = bytes[at..]
                .split_inclusive(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            if line.last() != Some(&b'\n') {
                return Err(Problem::Line(number));
            }
            if line[0] == b' ' {
                let field = fields.last_mut().ok_or(Problem::Line(number))?;
                field.raw = &bytes[at - field.raw.len()..at + line.len()];
            } else {
                fields.push(Field {
                    name: name(line).ok_or(Problem::Line(number))?,
                    raw: line,
                });
            }
            at += line.len();
        }
        Ok(Self { fields, body: None })
    }

    /// The object without its signature headers: what is signed, up to the body's own signature.
    pub(super) fn unsigned(&self, body: Option<&[u8]>) -> Vec<u8> {
        let kept = self.fields.iter().filter(|field| !is_signature(field.name));
        let mut payload: Vec<u8> = kept.flat_map(|field| field.raw).copied().collect();
        if let Some(body) = body {
            payload.push(b'\n');
            payload.extend_from_slice(body);
        }
        payload
    }

    /// The signature header of one hash, which is there once at most.
    pub(super) fn signature(&self, header: &str) -> Result<Option<Vec<u8>>, Problem> {
        let signatures = self
            .fields
            .iter()
            .filter(|field| field.name.starts_with("gpgsig"));
        let mut found = None;
        let mut seen = Vec::new();
        for field in signatures {
            if !is_signature(field.name) {
                return Err(Problem::OtherSignature(field.name.to_owned()));
            }
            if seen.contains(&field.name) {
                return Err(Problem::Twice(field.name.to_owned()));
            }
            seen.push(field.name);
            if field.name == header {
                found = Some(field.lines());
            }
        }
        Ok(found)
    }
}

fn is_signature(name: &str) -> bool {
    matches!(name, "gpgsig" | "gpgsig-sha256")
}

/// The header that holds a commit's signature in a repository of that hash; in a tag, that of the other hash.
pub(super) fn signature_header(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Sha1 => Some("gpgsig"),
        Kind::Sha256 => Some("gpgsig-sha256"),
        _ => None,
    }
}

/// A name as Git and its relatives write them; none begins like an armor.
fn name(line: &[u8]) -> Option<&str> {
    let name = &line[..line.iter().position(|byte| *byte == b' ')?];
    let fine = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
    let name = std::str::from_utf8(name).ok()?;
    (name.bytes().next()?.is_ascii_alphabetic() && name.as_bytes().iter().all(fine)).then_some(name)
}
