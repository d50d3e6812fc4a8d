//! A folder of a Git repository as a source.
//!
//! Promises: what is handed on is the content of one commit, named by its id; nothing of the environment, the home
//! folder or git's own configuration has a part in it, and no other program is run; every attempt has one deadline and
//! a budget of bytes and objects, ends soon after it is cancelled, and leaves no file behind but those that were asked
//! for.
//!
//! How it reads: a [`Request`] is resolved to [`Resolved`] by [`resolve`]; [`resolve_if_changed`] stops after the listing
//! of refs when nothing moved; [`fetch_recorded`] fetches exactly the commit that a plan was made from. The protocol
//! library blocks, so each runs on a thread of its own, with the network behind it asynchronous (`wire`).
//!
//! Version 2 of the protocol is spoken where the server has it. A server of version 0 (often one behind SSH, which
//! does not hand the variable on) is asked for depth 1 as well, and sends all file contents.

mod app;
mod credential;
mod error;
mod fetch;
mod http;
mod identity;
mod listing;
mod repository;
mod requested;
mod session;
mod ssh;
mod store;
mod tree;
mod unpacked;
mod wire;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ptah_contract::commit::SignedTip;
use ptah_contract::digest::Digest;
use ptah_contract::resolution::{self, Resolution};
use tokio_util::sync::CancellationToken;

use self::credential::Kind;
pub use self::credential::{Credential, SECRET_KEYS, SecretKeys};
pub use self::error::Error;
use self::fetch::Found;
use self::listing::Tip;
pub use self::repository::Repository;
pub use self::requested::{Requested, TreePath};
use self::wire::Wire;
use self::worker::Worker;
use crate::content::Limits;
use crate::net::{self, Attempt, Client, Network, Trust};

/// What to resolve, and with what.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where.
    pub repository: Repository,
    /// Which commit.
    pub requested: Requested,
    /// Which part of its tree.
    pub path: TreePath,
    /// Sent where it was granted for.
    pub credential: Option<Credential>,
    /// Which certificates are believed.
    pub trust: Trust,
    /// Where connections may go.
    pub network: Network,
    /// What a fetch may take beside the attempt's own limits.
    pub budget: Budget,
    /// How much content there may be: the specification's limits, or a policy's smaller ones.
    pub limits: Limits,
    /// Where private folders are made; the system's folder for temporary files when none is given.
    pub scratch: Option<PathBuf>,
}

impl Request {
    /// Without a credential, with the system's roots, anywhere, within the default limits.
    #[must_use]
    pub fn new(repository: Repository, requested: Requested, path: TreePath) -> Self {
        Self {
            repository,
            requested,
            path,
            credential: None,
            trust: Trust::system(),
            network: Network::any(),
            budget: Budget::default(),
            limits: Limits::default(),
            scratch: None,
        }
    }
}

/// What a fetch may take; the bytes are the attempt's ([`net::Limits`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Objects in one pack.
    pub objects: u64,
    /// Bytes of one object: so much is held in memory. It counts for every object that a server sends, also for files
    /// that are not selected, where the server cannot leave them out.
    pub object_bytes: u64,
    /// Bytes of all objects of a pack together, unpacked: while deltas are resolved, many of them are held in memory at
    /// once, and a small pack may unpack to anything.
    pub unpacked_bytes: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            objects: 1_000_000,
            object_bytes: ptah_contract::manifest::MAX_FILE_BYTES + 1024,
            unpacked_bytes: None,
        }
    }
}

/// What an earlier resolution of the same request found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The commit.
    pub commit: String,
    /// The ref that answered.
    pub reference: Option<String>,
    /// The annotated tag that led to it.
    pub tag_object: Option<String>,
}

impl Known {
    fn is(&self, tip: &Tip) -> bool {
        let commit = tip.commit().to_string();
        let tag = tip.peeled.map(|_| tip.object.to_string());
        self.commit == commit && self.reference == tip.reference && self.tag_object == tag
    }
}

/// What a later fetch must give again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The commit.
    pub commit: String,
    /// The full ref that led to it, where it is recorded; what the request names is asked otherwise.
    pub reference: Option<String>,
    /// What its files must give.
    pub content_digest: Digest,
}

/// What was resolved, with the objects that a verifier of signatures reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The result, as it is printed and stored.
    pub resolution: Resolution,
    /// The commit object, byte for byte, without its header.
    pub commit_object: Vec<u8>,
    /// The tag objects that led to it, the outermost first.
    pub tag_objects: Vec<Vec<u8>>,
}

impl Resolved {
    /// The objects, as whoever verifies signatures reads them.
    #[must_use]
    pub fn tip(&self) -> SignedTip<'_> {
        SignedTip {
            reference: self.resolution.reference.as_deref(),
            commit: &self.resolution.revision,
            commit_object: &self.commit_object,
            tag: self.resolution.tag_object.as_deref(),
            tag_objects: &self.tag_objects,
        }
    }
}

/// Content that was fetched and checked, before a byte of it is handed on: whoever verifies signatures does it now.
pub struct Fetched {
    found: Found,
    resolved: Resolved,
}

impl Fetched {
    /// What was found.
    #[must_use]
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// What was found, once its files are written below `out`, where that is given.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn finish(self, attempt: &Attempt, out: Option<&Path>) -> Result<Resolved, Error> {
        let mut resolved = match out {
            Some(out) => self.write(out, attempt).await?,
            None => self.resolved,
        };
        resolved.resolution.elapsed_ms = u64::try_from(attempt.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(resolved)
    }

    /// Writes the files below a folder that is empty, and empty again after a failure. What was written is read back
    /// and gave the same digest.
    ///
    /// # Errors
    /// When it cannot be written, or the attempt ends first.
    pub async fn write(self, to: &Path, attempt: &Attempt) -> Result<Resolved, Error> {
        let ended = attempt.cancellation().child_token();
        let _guard = ended.clone().drop_guard();
        let (attempt, to) = (attempt.with_cancellation(ended), to.to_owned());
        let Self { mut found, resolved } = self;
        blocking(move || {
            tree::write(
                &mut found.store,
                &found.entries,
                &found.manifest,
                &found.limits,
                &to,
                &attempt,
            )?;
            // Removed here and not by whoever asked, who must not wait for a disk.
            drop(found);
            Ok(resolved)
        })
        .await
    }
}

/// Resolves a request, and writes the files below `out` when it is given.
///
/// # Errors
/// Every refusal of `spec/sources.md`, with its own code and class. After an error `out` is as empty as before.
pub async fn resolve(request: &Request, attempt: &Attempt, out: Option<&Path>) -> Result<Resolved, Error> {
    fetch(request, attempt).await?.finish(attempt, out).await
}

/// Resolves a request unless it still leads to what is known: then one listing of refs is read, and nothing is fetched.
///
/// # Errors
/// As [`resolve`].
pub async fn resolve_if_changed(
    request: &Request,
    known: &Known,
    attempt: &Attempt,
    out: Option<&Path>,
) -> Result<Option<Resolved>, Error> {
    match fetch_if_changed(request, known, attempt).await? {
        Some(fetched) => fetched.finish(attempt, out).await.map(Some),
        None => Ok(None),
    }
}

/// As [`fetch`], unless the request still leads to what is known.
///
/// # Errors
/// As [`resolve`].
pub async fn fetch_if_changed(
    request: &Request,
    known: &Known,
    attempt: &Attempt,
) -> Result<Option<Fetched>, Error> {
    let known = known.clone();
    let found = run(request, attempt, move |worker| worker.resolve(Some(&known))).await?;
    Ok(found.map(|found| describe(found, request, attempt)))
}

/// The commit that a request names, and the tags on the way; the request's path has no part in it.
///
/// # Errors
/// As [`resolve`].
pub async fn fetch_tip(request: &Request, attempt: &Attempt) -> Result<NamedTip, Error> {
    let (tip, peeled) = run(request, attempt, Worker::tip).await?;
    Ok(NamedTip {
        commit: peeled.commit.to_string(),
        commit_object: peeled.commit_object,
        tag: (!peeled.tag_objects.is_empty()).then(|| tip.object.to_string()),
        tag_objects: peeled.tag_objects,
        reference: tip.reference,
    })
}

/// A commit without its content, with what a verifier of signatures reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTip {
    /// The full ref that answered; `None` for a commit by its id.
    pub reference: Option<String>,
    /// Id of the commit.
    pub commit: String,
    commit_object: Vec<u8>,
    tag: Option<String>,
    tag_objects: Vec<Vec<u8>>,
}

impl NamedTip {
    /// The objects, as whoever verifies signatures reads them.
    #[must_use]
    pub fn tip(&self) -> SignedTip<'_> {
        SignedTip {
            reference: self.reference.as_deref(),
            commit: &self.commit,
            commit_object: &self.commit_object,
            tag: self.tag.as_deref(),
            tag_objects: &self.tag_objects,
        }
    }
}

/// Fetches what a request names, and hands nothing on yet.
///
/// # Errors
/// As [`resolve`].
pub async fn fetch(request: &Request, attempt: &Attempt) -> Result<Fetched, Error> {
    let found = run(request, attempt, |worker| worker.resolve(None)).await?;
    // Without something known there is always something found.
    let found = found.ok_or(Error::Panicked)?;
    Ok(describe(found, request, attempt))
}

/// Fetches a recorded commit and refuses any other content.
///
/// # Errors
/// As [`resolve`]; [`Error::CommitGone`] when the commit is no longer reachable.
pub async fn fetch_recorded(
    request: &Request,
    recorded: &Recorded,
    attempt: &Attempt,
    out: Option<&Path>,
) -> Result<Resolved, Error> {
    let recorded = recorded.clone();
    let found = run(request, attempt, move |worker| worker.recorded(&recorded)).await?;
    describe(found, request, attempt).finish(attempt, out).await
}

/// Runs the work on its thread. Dropping the future, cancelling the attempt and its deadline end it: the caller is
/// answered at once, and the thread, which owns its private folder, ends at its next step.
async fn run<T: Send + 'static>(
    request: &Request,
    attempt: &Attempt,
    work: impl FnOnce(&Worker) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    if request.repository.is_ssh() && request.credential.is_none() {
        return Err(Error::IdentityMissing);
    }
    let ended = attempt.cancellation().child_token();
    let guard = ended.clone().drop_guard();
    let attempt = attempt.with_cancellation(ended.clone());
    let client = Client::new(&request.trust, request.network.clone(), attempt.limits())?;
    let header = match request.credential.as_ref().map(|Credential(kind)| kind) {
        Some(Kind::Header(header)) => Some(header.clone()),
        Some(Kind::App(app)) => Some(app.token(&client, &attempt).await?),
        Some(Kind::Ssh { .. }) | None => None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let worker = Worker {
        request: request.clone(),
        wire: Wire::new(attempt.clone(), request.repository.authority().to_string()),
        client,
        header,
        stop: Arc::clone(&stop),
    };
    tokio::spawn(stop_when(attempt.clone(), ended, stop));
    let found = attempt.whole(blocking(move || work(&worker))).await;
    drop(guard);
    found
}

/// Tells a computation that does not wait for the network.
async fn stop_when(attempt: Attempt, ended: CancellationToken, stop: Arc<AtomicBool>) {
    let finished = async {
        ended.cancelled().await;
        Ok::<(), net::Error>(())
    };
    // However it ends, the computation ends.
    let _ = attempt.whole(finished).await;
    stop.store(true, Ordering::Relaxed);
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    // A panic is one failed attempt and no more.
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(Error::Panicked))
}

fn describe(found: Found, request: &Request, attempt: &Attempt) -> Fetched {
    let commit = found.peeled.commit.to_string();
    let mut resolution = Resolution::new(
        resolution::Kind::Git,
        commit.clone(),
        request.requested.to_string(),
        found.manifest.clone(),
    );
    resolution.commit = Some(commit);
    resolution.reference = found.tip.reference.clone();
    resolution.tag_object = (!found.peeled.tag_objects.is_empty()).then(|| found.tip.object.to_string());
    resolution.received = attempt.received();
    let resolved = Resolved {
        resolution,
        commit_object: found.peeled.commit_object.clone(),
        tag_objects: found.peeled.tag_objects.clone(),
    };
    Fetched { found, resolved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_in_a_library_is_one_failed_attempt() {
        let error = blocking::<()>(|| panic!("an assertion of a library"))
            .await
            .unwrap_err();
        assert_eq!(
            (error.class_word(), error.code(), error.to_string().as_str()),
            (
                "internal",
                "library_panicked",
                "a library failed while reading the repository; this attempt is over"
            )
        );
    }
}
