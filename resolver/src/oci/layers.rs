//! Layers into content: several at a time, each as a stream, each held to its descriptor.
//!
//! Promises: what does not fit is refused before the first layer is fetched; a layer never delivers a byte more than
//! its descriptor says; an archive counts as read only after its compressed bytes gave the layer's digest, and when
//! they do not, that is what is reported, whatever the archive looked like.

use std::collections::BTreeMap;
use std::io::{self, Read};

use futures::{StreamExt as _, TryStreamExt as _};
use ptah_contract::digest::Digest;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio_util::bytes::{Buf as _, Bytes};
use tokio_util::task::TaskTracker;

use super::Error;
use super::blob::Blob;
use super::manifest::Descriptor;
use super::session::Session;
use super::shape::{Form, Part};
use crate::archive;
use crate::content::{Content, Writer};

/// Layers fetched side by side: what hides the distance to a registry, and does not press it.
const SIDE_BY_SIDE: usize = 4;
/// Pieces of a layer that wait to be unpacked.
const WAITING: usize = 8;

/// Layers with the same bytes are fetched once.
enum Task<'a> {
    Files {
        layer: &'a Descriptor,
        paths: Vec<&'a str>,
    },
    Archive(&'a Part),
}

pub(super) async fn fetch(session: &Session<'_>, parts: &[Part], content: &Content) -> Result<(), Error> {
    let mut tasks = Vec::new();
    let mut same: BTreeMap<(Digest, u64), usize> = BTreeMap::new();
    let (mut files, mut bytes) = (0, 0u64);
    for part in parts {
        let Form::File(path) = &part.form else {
            tasks.push(Task::Archive(part));
            continue;
        };
        content.fits(path.as_str(), part.layer.size)?;
        files += 1;
        bytes = bytes.saturating_add(part.layer.size);
        let next = tasks.len();
        let at = *same.entry((part.layer.digest, part.layer.size)).or_insert(next);
        match tasks.get_mut(at) {
            Some(Task::Files { paths, .. }) => paths.push(path.as_str()),
            _ => tasks.push(Task::Files {
                layer: &part.layer,
                paths: vec![path.as_str()],
            }),
        }
    }
    content.fit_together(files, bytes)?;
    let unpacking = TaskTracker::new();
    // Made at once and not by the stream: a stream that holds a closure over borrows cannot be moved between threads.
    let running: Vec<_> = tasks
        .into_iter()
        .map(|task| {
            let unpacking = &unpacking;
            async move {
                match task {
                    Task::Files { layer, paths } => raw(session, layer, &paths, content).await,
                    Task::Archive(part) => unpacked(session, part, content, unpacking).await,
                }
            }
        })
        .collect();
    let running = futures::stream::iter(running).buffer_unordered(SIDE_BY_SIDE);
    let fetched = running.try_collect().await;
    // After a failure the other layers' futures are gone, and with them what their threads wait for. The threads end,
    // and until they have ended they still hold the content's folder.
    unpacking.close();
    unpacking.wait().await;
    fetched
}

async fn raw(
    session: &Session<'_>,
    layer: &Descriptor,
    paths: &[&str],
    content: &Content,
) -> Result<(), Error> {
    let writers: Result<Vec<Writer>, _> = paths.iter().map(|path| content.file(path)).collect();
    let mut writers = writers?;
    let mut blob = Blob::open(session, layer).await?;
    while let Some(bytes) = blob.next().await? {
        for writer in &mut writers {
            writer.write(&bytes)?;
        }
    }
    // The file hashes what it takes, and that is the blob byte for byte.
    writers.into_iter().try_for_each(|writer| {
        let (digest, _) = writer.finish()?;
        blob.gave(digest)
    })
}

async fn unpacked(
    session: &Session<'_>,
    part: &Part,
    content: &Content,
    threads: &TaskTracker,
) -> Result<(), Error> {
    let Form::Archive {
        compression,
        folder,
        unpacked,
    } = part.form.clone()
    else {
        return Ok(());
    };
    let mut blob = Blob::open(session, &part.layer).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let content = content.clone();
    let unpacking = threads.spawn_blocking(move || {
        let folder = folder.as_ref().map(|path| path.as_str());
        archive::unpack(Pieces::of(receiver), compression, folder, unpacked, &content)
    });
    let (mut wanted, mut hasher) = (true, Sha256::new());
    while let Some(bytes) = blob.next().await? {
        hasher.update(&bytes);
        // Whoever unpacks has seen enough. What is left still has to give the digest.
        wanted = wanted && sender.send(Some(bytes)).await.is_ok();
    }
    let digest: [u8; 32] = hasher.finalize().into();
    blob.gave(Digest::from(digest))?;
    // The end is told only now that the digest is right: without it the archive is not read to its end.
    let _ = sender.send(None).await;
    drop(sender);
    let unpacked = unpacking.await?;
    unpacked.map_err(|source| match source {
        archive::Error::Content(error) => Error::Content(error),
        source => Error::Archive {
            layer: part.layer.digest,
            source,
        },
    })
}

/// The pieces of a layer as a reader, for code that waits where it stands. `None` is the end; a sender that goes away
/// without it is a failure, so that half an archive is never taken for a whole one.
struct Pieces {
    receiver: mpsc::Receiver<Option<Bytes>>,
    current: Bytes,
    ended: bool,
}

impl Pieces {
    fn of(receiver: mpsc::Receiver<Option<Bytes>>) -> Self {
        Self {
            receiver,
            current: Bytes::new(),
            ended: false,
        }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() && !self.ended {
            match self.receiver.blocking_recv() {
                Some(Some(bytes)) => self.current = bytes,
                Some(None) => self.ended = true,
                None => return Err(io::ErrorKind::ConnectionAborted.into()),
            }
        }
        let length = self.current.len().min(buffer.len());
        self.current.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}
