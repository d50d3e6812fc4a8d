//! Reading blocks, and never more than a budget, whatever the archive claims.

use std::io::{self, Read};

use ptah_contract::digest::Digest;
use sha2::{Digest as _, Sha256};

use super::Error;

pub(super) const BLOCK: usize = 512;

/// A reader that counts. An archive that is too large fails here, before anything is done with the bytes.
pub(super) struct Bounded<R> {
    input: R,
    limit: u64,
    left: u64,
    hasher: Option<Sha256>,
}

impl<R: Read> Bounded<R> {
    /// With `hash`, what passes is hashed.
    pub(super) fn new(input: R, limit: u64, hash: bool) -> Self {
        Self {
            input,
            limit,
            left: limit,
            hasher: hash.then(Sha256::new),
        }
    }

    /// As much as there is, up to the buffer's length; 0 at the end alone.
    fn some(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.input.read(buffer) {
                Ok(read) => {
                    self.left = self.left.checked_sub(read as u64).ok_or(Error::Bomb {
                        what: "bytes",
                        limit: self.limit,
                    })?;
                    if let Some(hasher) = &mut self.hasher {
                        hasher.update(&buffer[..read]);
                    }
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(damage(error)),
            }
        }
    }

    /// Of everything that passed.
    pub(super) fn digest(self) -> Option<Digest> {
        let digest: [u8; 32] = self.hasher?.finalize().into();
        Some(Digest::from(digest))
    }

    /// The next block, or `None` at the end.
    pub(super) fn block(&mut self) -> Result<Option<[u8; BLOCK]>, Error> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.some(&mut block[filled..])? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(cut()),
                read => filled += read,
            }
        }
        Ok(Some(block))
    }

    /// Hands on the data of an entry, and passes over what fills its last block.
    pub(super) fn data(
        &mut self,
        size: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffer = [0; 32 << 10];
        let mut left = size;
        while left > 0 {
            let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            match self.some(&mut buffer[..most])? {
                0 => return Err(cut()),
                read => {
                    take(&buffer[..read])?;
                    left -= read as u64;
                }
            }
        }
        let mut padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
        while padding > 0 {
            // Less than a block.
            match self.some(&mut buffer[..padding as usize])? {
                0 => return Err(cut()),
                read => padding -= read as u64,
            }
        }
        Ok(())
    }

    /// Reads to the end, which writers fill up to a whole record with zeros.
    pub(super) fn nothing_but_zeros(&mut self) -> Result<(), Error> {
        let mut buffer = [0; 8 << 10];
        loop {
            match self.some(&mut buffer)? {
                0 => return Ok(()),
                read if buffer[..read].iter().any(|byte| *byte != 0) => return Err(Error::Trailing),
                _ => {}
            }
        }
    }
}

fn cut() -> Error {
    Error::Damaged("it ends in the middle of an entry".to_owned())
}

/// What the decompressors report about the bytes is damage; what comes from below them is not.
fn damage(error: io::Error) -> Error {
    if error
        .get_ref()
        .is_some_and(|inner| inner.is::<super::NotDelivered>())
    {
        return Error::Read(error);
    }
    Error::Damaged(error.to_string())
}
