//! One entry's header, with the extension records before it.

use std::io::Read;

use tar::{EntryType, Header};

use super::bounded::{BLOCK, Bounded};
use super::{Error, pax};

/// Longest extension record that is read: a path may have 1024 bytes, and other attributes stand beside it.
const MAX_EXTENSION: u64 = 64 << 10;

/// What a path may have, with a dot in front and the mark of a folder behind, in bytes.
const MAX_PATH: usize = 1024 + 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) size: u64,
}

/// What stood before an entry and is about it.
#[derive(Default)]
struct Before {
    long_name: Option<Vec<u8>>,
    extended: Option<pax::Extended>,
}

/// The next file or folder; `None` at the end of the archive, which two blocks of zeros mark.
pub(super) fn next<R: Read>(input: &mut Bounded<R>) -> Result<Option<Entry>, Error> {
    let mut before = Before::default();
    loop {
        let Some(header) = read(input)? else {
            if before.long_name.is_some() || before.extended.is_some() {
                return Err(Error::Damaged("its last extension is about no entry".to_owned()));
            }
            return Ok(None);
        };
        let size = size(&header)?;
        let kind = header.entry_type();
        if is_extension(kind) && header.as_ustar().is_none() && header.as_gnu().is_none() {
            // Some programs follow it, and some take it for a file.
            return Err(Error::Damaged(
                "an extension has a header of a format without any".to_owned(),
            ));
        }
        match kind {
            EntryType::XHeader => {
                let extended = pax::read(&extension(input, size)?)?;
                if before.extended.replace(extended).is_some() {
                    return Err(Error::Damaged("an entry has two extended headers".to_owned()));
                }
            }
            EntryType::GNULongName => {
                let mut name = extension(input, size)?;
                if name.pop() != Some(0) || before.long_name.replace(name).is_some() {
                    return Err(Error::Damaged(
                        "a long name is not as GNU tar writes it".to_owned(),
                    ));
                }
            }
            // The target of the link that follows, and that is refused by its own name.
            EntryType::GNULongLink => drop(extension(input, size)?),
            EntryType::XGlobalHeader => {
                let global = pax::read(&extension(input, size)?)?;
                // `git archive` leaves a comment in one; anything that changes entries is refused.
                if global != pax::Extended::default() {
                    return Err(Error::Damaged("a global header changes entries".to_owned()));
                }
            }
            kind => return entry(&header, kind, size, before).map(Some),
        }
    }
}

fn is_extension(kind: EntryType) -> bool {
    use EntryType::{GNULongLink, GNULongName, XGlobalHeader, XHeader};
    matches!(kind, XHeader | XGlobalHeader | GNULongName | GNULongLink)
}

fn read<R: Read>(input: &mut Bounded<R>) -> Result<Option<Header>, Error> {
    let unmarked = || Error::Damaged("it ends without the mark of its end".to_owned());
    let block = input.block()?.ok_or_else(unmarked)?;
    if block == [0; BLOCK] {
        let second = input.block()?.ok_or_else(unmarked)?;
        if second != [0; BLOCK] {
            return Err(Error::Trailing);
        }
        return Ok(None);
    }
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(&block);
    let sum = header.cksum().map_err(|_| damaged_header())?;
    if sum != checksum(&block) {
        return Err(damaged_header());
    }
    Ok(Some(header))
}

/// The sum of all bytes, with blanks where the sum itself stands.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let plain = |range: std::ops::Range<usize>| block[range].iter().map(|byte| u32::from(*byte)).sum::<u32>();
    plain(0..148) + 8 * u32::from(b' ') + plain(156..BLOCK)
}

fn damaged_header() -> Error {
    Error::Damaged("a header does not give its checksum".to_owned())
}

fn size(header: &Header) -> Result<u64, Error> {
    header
        .entry_size()
        .map_err(|_| Error::Damaged("a header's size is no number".to_owned()))
}

fn extension<R: Read>(input: &mut Bounded<R>, size: u64) -> Result<Vec<u8>, Error> {
    if size > MAX_EXTENSION {
        return Err(Error::Bomb {
            what: "bytes of one extension record",
            limit: MAX_EXTENSION,
        });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    input.data(size, |more| {
        bytes.extend_from_slice(more);
        Ok(())
    })?;
    Ok(bytes)
}

fn entry(header: &Header, kind: EntryType, size: u64, before: Before) -> Result<Entry, Error> {
    let extended = before.extended.unwrap_or_default();
    let plain = header.path_bytes().into_owned();
    let path = match (&extended.path, &before.long_name) {
        (Some(_), Some(_)) => {
            return Err(Error::Ambiguous {
                path: lossy(&plain),
                problem: "has its path in two extensions",
            });
        }
        (Some(path), None) | (None, Some(path)) => path.clone(),
        (None, None) => plain,
    };
    if path.len() > MAX_PATH {
        return Err(Error::Damaged(format!(
            "{:?}… is longer than any path may be",
            lossy(&path)
        )));
    }
    let path = String::from_utf8(path).map_err(|error| Error::NotUtf8(lossy(error.as_bytes())))?;
    let not_a_file = |kind| {
        Err(Error::NotAFile {
            path: path.clone(),
            kind,
        })
    };
    let kind = match kind {
        // Writers of 1979 mark a folder by the end of its name.
        EntryType::Regular if path.ends_with('/') => Kind::Folder,
        EntryType::Regular | EntryType::Continuous => Kind::File,
        EntryType::Directory => Kind::Folder,
        EntryType::Symlink => return not_a_file("symbolic link"),
        EntryType::Link => return not_a_file("hard link"),
        EntryType::Char | EntryType::Block => return not_a_file("device"),
        EntryType::Fifo => return not_a_file("named pipe"),
        EntryType::GNUSparse => return not_a_file("sparse file"),
        _ => return not_a_file("record of an unknown kind"),
    };
    if extended.sparse {
        return not_a_file("sparse file");
    }
    // Programs differ in which of two sizes they follow, and then in what they take for the next header.
    if extended.size.is_some_and(|other| other != size) {
        return Err(Error::Ambiguous {
            path,
            problem: "has two sizes",
        });
    }
    if kind == Kind::Folder && size != 0 {
        return Err(Error::Ambiguous {
            path,
            problem: "is a folder with data",
        });
    }
    Ok(Entry { path, kind, size })
}

fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).chars().take(256).collect()
}
