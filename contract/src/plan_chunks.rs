//! A plan document in pieces: how its bytes are cut for storage and how they are put together again.
//!
//! Promises: one document is cut in one way, and [`join`] returns bytes only when every piece and the whole have the
//! recorded size and digest. Nothing is trusted for the name of the object that held it. Where the pieces come from
//! is the caller's business.

use crate::digest::Digest;
use crate::protocol::MAX_PLAN_BYTES;

/// Length of every piece but the last, in bytes.
pub const CHUNK_BYTES: usize = 512 * 1024;
/// The most pieces a document has.
pub const MAX_CHUNKS: usize = MAX_PLAN_BYTES / CHUNK_BYTES;
/// Key of the ConfigMap that holds a piece. A cut may fall inside a character, so it is a key of `binaryData`.
pub const CHUNK_KEY: &str = "chunk";

/// One piece as it is recorded in a plan object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// Position, from 0.
    pub index: i64,
    /// Name of the object that holds it.
    pub name: &'a str,
    /// Length in bytes.
    pub size: i64,
    /// `sha256:<hex>` of the bytes.
    pub digest: &'a str,
}

/// The whole as it is recorded in a plan object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Length in bytes.
    pub size: i64,
    /// SHA-256 of the bytes: the plan digest.
    pub digest: Digest,
}

/// Bytes that are not the recorded plan.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Nothing to store.
    #[error("a plan document cannot be empty")]
    Empty,
    /// Too long to store.
    #[error("a plan document of {0} bytes is larger than 8 MiB")]
    TooLarge(usize),
    /// The record itself is impossible.
    #[error("the plan records {0}")]
    Record(&'static str),
    /// A piece is not there.
    #[error("the part {0} of the plan is missing")]
    Missing(String),
    /// A piece holds something else.
    #[error("the part {name} of the plan does not have the recorded {what}")]
    Different {
        /// Name of the object.
        name: String,
        /// `size` or `digest`.
        what: &'static str,
    },
    /// Every piece is as recorded, and the whole is not.
    #[error("the parts of the plan do not give its recorded {0}")]
    Whole(&'static str),
}

/// Cuts a document, in order.
///
/// # Errors
/// [`Error::Empty`] and [`Error::TooLarge`].
pub fn split(document: &[u8]) -> Result<Vec<&[u8]>, Error> {
    match document.len() {
        0 => Err(Error::Empty),
        length if length > MAX_PLAN_BYTES => Err(Error::TooLarge(length)),
        _ => Ok(document.chunks(CHUNK_BYTES).collect()),
    }
}

/// Checks a record and names the objects to read, in order.
///
/// # Errors
/// [`Error::Record`].
pub fn check(recorded: &[Recorded<'_>], whole: Whole) -> Result<(), Error> {
    if recorded.is_empty() || recorded.len() > MAX_CHUNKS {
        return Err(Error::Record("no part, or more than sixteen"));
    }
    let last = recorded.len() - 1;
    let mut total = 0_i64;
    for (position, part) in recorded.iter().enumerate() {
        if usize::try_from(part.index) != Ok(position) {
            return Err(Error::Record("its parts out of order"));
        }
        let full = CHUNK_BYTES as i64;
        if part.size < 1 || part.size > full || (position < last && part.size != full) {
            return Err(Error::Record("a part of an impossible size"));
        }
        total += part.size;
    }
    if total != whole.size {
        return Err(Error::Record("a size that its parts do not add up to"));
    }
    Ok(())
}

/// Puts the pieces together. `read` returns a piece's bytes by the name of its object.
///
/// # Errors
/// When the record is impossible, or anything is missing or not as recorded.
pub fn join<'a>(
    recorded: &[Recorded<'_>],
    whole: Whole,
    mut read: impl FnMut(&str) -> Option<&'a [u8]>,
) -> Result<Vec<u8>, Error> {
    check(recorded, whole)?;
    let mut document = Vec::with_capacity(usize::try_from(whole.size).unwrap_or(0));
    for part in recorded {
        let bytes = read(part.name).ok_or_else(|| Error::Missing(part.name.to_owned()))?;
        let different = |what| {
            Err(Error::Different {
                name: part.name.to_owned(),
                what,
            })
        };
        if i64::try_from(bytes.len()) != Ok(part.size) {
            return different("size");
        }
        if part.digest.parse() != Ok(Digest::of(bytes)) {
            return different("digest");
        }
        document.extend_from_slice(bytes);
    }
    if Digest::of(&document) != whole.digest {
        return Err(Error::Whole("digest"));
    }
    Ok(document)
}

#[cfg(test)]
#[path = "plan_chunks_tests.rs"]
mod tests;
