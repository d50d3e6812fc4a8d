//! The two ends of `git-upload-pack` on the other side, as blocking reads and writes.

use std::io::{self, Read, Write};

use russh::client::{Handle, Msg};
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use tokio_util::bytes::{Buf as _, Bytes};
use tokio_util::sync::DropGuard;

use super::Judge;
use crate::git::Error;
use crate::git::wire::Wire;
use crate::net;

/// How much of what the program says of its failure is looked at.
const MAX_WORDS: usize = 4096;

/// What the program writes. Holds the connection.
pub(in crate::git) struct Reader {
    half: ChannelReadHalf,
    wire: Wire,
    chunk: Bytes,
    ending: Ending,
    _handle: Handle<Judge>,
    _guard: DropGuard,
}

/// What the program reads.
pub(in crate::git) struct Writer {
    half: ChannelWriteHalf<Msg>,
    wire: Wire,
    /// Until it is flushed: the protocol library writes in very small pieces.
    waiting: Vec<u8>,
}

#[derive(Default)]
struct Ending {
    over: bool,
    words: Vec<u8>,
    status: Option<u32>,
    said_anything: bool,
}

pub(super) fn split(
    channel: Channel<Msg>,
    handle: Handle<Judge>,
    guard: DropGuard,
    wire: Wire,
) -> (Reader, Writer) {
    let (read, write) = channel.split();
    let reader = Reader {
        half: read,
        wire: wire.clone(),
        chunk: Bytes::new(),
        ending: Ending::default(),
        _handle: handle,
        _guard: guard,
    };
    let writer = Writer {
        half: write,
        wire,
        waiting: Vec::new(),
    };
    (reader, writer)
}

impl Reader {
    /// The next bytes; none after the program ended well.
    async fn next(&mut self) -> Result<Bytes, Error> {
        loop {
            let message = async { Ok(self.half.wait().await) };
            let ended = match self.wire.attempt.reading(message).await? {
                Some(ChannelMsg::Data { data }) => {
                    self.wire.attempt.count(data.len())?;
                    self.wire.hear(&data);
                    self.ending.said_anything = true;
                    return Ok(data);
                }
                Some(ChannelMsg::ExtendedData { data, .. }) => {
                    self.wire.attempt.count(data.len())?;
                    let room = MAX_WORDS.saturating_sub(self.ending.words.len());
                    self.ending.words.extend_from_slice(&data[..data.len().min(room)]);
                    false
                }
                Some(ChannelMsg::ExitStatus { exit_status }) => {
                    self.ending.status = Some(exit_status);
                    false
                }
                Some(ChannelMsg::ExitSignal { .. } | ChannelMsg::Failure) => {
                    self.ending.status = Some(128);
                    false
                }
                Some(ChannelMsg::Close) | None => true,
                Some(_) => false,
            };
            if ended {
                self.ending.over = true;
                return match self.ending.status {
                    Some(0) => Ok(Bytes::new()),
                    Some(_) => Err(self.ending.explain(&self.wire.host)),
                    None => Err(net::Error::CutShort {
                        host: self.wire.host.clone(),
                    }
                    .into()),
                };
            }
        }
    }
}

impl Ending {
    /// Programs have no code for what is wrong, only words; they are compared and not shown.
    fn explain(&self, host: &str) -> Error {
        let words = String::from_utf8_lossy(&self.words).to_lowercase();
        let says = |any: &[&str]| any.iter().any(|part| words.contains(part));
        let host = host.to_owned();
        if self.said_anything {
            Error::Remote { host }
        } else if says(&[
            "not found",
            "not appear to be a git repo",
            "does not exist",
            "no such",
            "not be found",
        ]) {
            Error::RepositoryNotFound { host }
        } else if says(&["denied", "permission", "not allowed", "unauthorized", "forbidden"]) {
            Error::AccessDenied { host }
        } else {
            Error::Remote { host }
        }
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            if self.ending.over {
                return Ok(0);
            }
            let wire = self.wire.clone();
            self.chunk = wire.block(self.next())?;
        }
        let length = self.chunk.len().min(buffer.len());
        self.chunk.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.waiting);
        if bytes.is_empty() {
            return Ok(());
        }
        self.wire.block(async {
            let host = self.wire.host.clone();
            let sent = async {
                let sent = self.half.data_bytes(bytes).await;
                sent.map_err(|_| net::Error::Connection { host })
            };
            Ok(self.wire.attempt.reading(sent).await?)
        })
    }
}
