//! Unpacking tar archives, plain or compressed, straight into checked content.
//!
//! Promises: an archive is read once, as a stream; no entry is taken whose meaning two programs could see
//! differently (a size said twice, a sparse file, a path said twice); what is no plain file or folder is refused by
//! name; an archive that unpacks to more than its limits allow stops at the limit, whatever it claims; bytes behind
//! the end are refused. Creates no link and sets no owner, time or mode.
//!
//! Formats: POSIX.1-1988 and .1-2001 (`pax`, pax(1)), and the GNU long names.

mod bounded;
mod header;
mod pax;

use std::io::{BufReader, Read};

use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;

use crate::content::Content;
use bounded::Bounded;
use header::{Entry, Kind};

/// How an archive is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstd,
}

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes are no archive of the expected form, or end too early.
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    /// An entry is neither a file nor a folder.
    #[error("the archive holds {path:?}, which is a {kind}")]
    NotAFile {
        /// Its path, as the archive says it.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A path that is not UTF-8.
    #[error("the archive holds {0:?}, which is not a UTF-8 path")]
    NotUtf8(String),
    /// An entry that could be read in more than one way.
    #[error("the archive's entry {path:?} {problem}")]
    Ambiguous {
        /// Its path.
        path: String,
        /// What is said twice.
        problem: &'static str,
    },
    /// It stands outside of the folder that it should unpack to.
    #[error("the archive holds {path:?}, which is not below its folder {folder:?}")]
    Outside {
        /// The entry's path.
        path: String,
        /// Where it should be.
        folder: String,
    },
    /// It unpacks to more than it may.
    #[error("the archive unpacks to more than {limit} {what}")]
    Bomb {
        /// What was counted.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// Something follows the end.
    #[error("the archive has data behind its end")]
    Trailing,
    /// A path, a collision, a limit, or a folder that cannot be written.
    #[error(transparent)]
    Content(#[from] crate::Error),
    /// The archive, unpacked, is not the one that was promised.
    #[error("the archive gives digest {found} when it is not compressed, {wanted} was promised")]
    OtherDigest {
        /// What it gives.
        found: Digest,
        /// What it should give.
        wanted: Digest,
    },
    /// The archive could not be read to its end.
    #[error("reading the archive failed")]
    Read(#[source] std::io::Error),
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Damaged(_) => "archive_damaged",
            Self::NotAFile { .. } => "archive_not_a_file",
            Self::NotUtf8(_) => "archive_invalid_name",
            Self::Ambiguous { .. } => "archive_ambiguous",
            Self::Outside { .. } => "archive_outside",
            Self::Bomb { .. } => "archive_too_large",
            Self::Trailing => "archive_trailing_data",
            Self::OtherDigest { .. } => "digest_mismatch",
            Self::Content(error) => error.code(),
            Self::Read(_) => "archive_not_read",
        }
    }

    /// Who can end it.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Content(error) => error.class(),
            Self::Read(_) => FailureClass::Transient,
            Self::OtherDigest { .. } => FailureClass::Attention,
            _ => FailureClass::Refused,
        }
    }
}

/// Folder and extension records beside the files; generous, since each needs 512 bytes of the archive.
const ENTRIES_A_FILE: u64 = 4;
/// The largest window that a Zstandard frame may ask for is 32 MiB; `zstd --ultra` asks for 128.
const ZSTD_WINDOW_LOG: u32 = 25;

/// Unpacks an archive into content. With `folder`, every entry has to stand below it; with `digest`, the archive has
/// to give that digest when it is not compressed.
///
/// # Errors
/// What the archive or one of its entries breaks; nothing of the content may be used then.
pub fn unpack(
    input: impl Read,
    compression: Compression,
    folder: Option<&str>,
    digest: Option<Digest>,
    content: &Content,
) -> Result<(), Error> {
    let input = BufReader::with_capacity(64 << 10, Below(input));
    match compression {
        Compression::None => tar(input, folder, digest, content),
        Compression::Gzip => tar(
            flate2::bufread::MultiGzDecoder::new(input),
            folder,
            digest,
            content,
        ),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(input).map_err(Error::Read)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(Error::Read)?;
            tar(decoder, folder, digest, content)
        }
    }
}

/// Marks the errors of whoever delivers the archive, so that they are not taken for damage of the archive.
struct Below<R>(R);

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct NotDelivered(std::io::Error);

impl<R: Read> Read for Below<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => error,
            _ => std::io::Error::other(NotDelivered(error)),
        })
    }
}

fn tar(
    input: impl Read,
    folder: Option<&str>,
    digest: Option<Digest>,
    content: &Content,
) -> Result<(), Error> {
    let limits = content.limits();
    let most = limits.file_count().saturating_mul(ENTRIES_A_FILE).max(1024);
    // Every entry costs a header and padding beside its bytes; long names fit as well.
    let budget = limits.content_bytes().saturating_add(most * 4096);
    let mut input = Bounded::new(input, budget, digest.is_some());
    let mut entries = 0;
    while let Some(entry) = header::next(&mut input)? {
        entries += 1;
        if entries > most {
            return Err(Error::Bomb {
                what: "entries",
                limit: most,
            });
        }
        take(&mut input, entry, folder, content)?;
    }
    input.nothing_but_zeros()?;
    match (digest, input.digest()) {
        (Some(wanted), Some(found)) if wanted != found => Err(Error::OtherDigest { found, wanted }),
        _ => Ok(()),
    }
}

fn take<R: Read>(
    input: &mut Bounded<R>,
    entry: Entry,
    folder: Option<&str>,
    content: &Content,
) -> Result<(), Error> {
    let path = entry.path.strip_prefix("./").unwrap_or(&entry.path);
    let path = match entry.kind {
        Kind::Folder => path.strip_suffix('/').unwrap_or(path),
        Kind::File => path,
    };
    // The folder that was packed: `tar -C folder .` writes it as "./".
    if entry.kind == Kind::Folder && matches!(path, "" | ".") {
        return Ok(());
    }
    if let Some(folder) = folder {
        let below = path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/') || (rest.is_empty() && entry.kind == Kind::Folder));
        if !below {
            return Err(Error::Outside {
                path: path.to_owned(),
                folder: folder.to_owned(),
            });
        }
    }
    match entry.kind {
        Kind::Folder => content.folder(path)?,
        Kind::File => {
            content.fits(path, entry.size)?;
            let mut writer = content.file(path)?;
            input.data(entry.size, |bytes| Ok(writer.write(bytes)?))?;
            writer.finish()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
