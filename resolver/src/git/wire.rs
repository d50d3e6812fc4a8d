//! Between the protocol library, which blocks, and the network, which does not.
//!
//! Promises: a blocking read ends when the attempt ends, however slowly the other side sends; the first failure is kept
//! as what it was, whatever the library makes of it.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;

use super::Error;
use crate::net::Attempt;

/// The way to the network from a thread that may block.
#[derive(Clone)]
pub(super) struct Wire {
    handle: Handle,
    pub(super) attempt: Attempt,
    /// Who is talked to, for messages.
    pub(super) host: String,
    failure: Arc<Mutex<Option<Error>>>,
    /// The first bytes of the conversation.
    heard: Arc<Mutex<Vec<u8>>>,
}

/// How much of a conversation's beginning is kept.
const HEARD: usize = 1024;

impl Wire {
    /// Must be made on the runtime that drives the network.
    pub(super) fn new(attempt: Attempt, host: String) -> Self {
        Self {
            handle: Handle::current(),
            attempt,
            host,
            failure: Arc::default(),
            heard: Arc::default(),
        }
    }

    /// The same way for a new conversation.
    pub(super) fn anew(&self) -> Self {
        Self {
            failure: Arc::default(),
            heard: Arc::default(),
            ..self.clone()
        }
    }

    /// Keeps what came first: the library forgets an error that the other side begins with.
    pub(super) fn hear(&self, bytes: &[u8]) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let room = HEARD.saturating_sub(heard.len());
        heard.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The error that the other side began with, if it did.
    pub(super) fn first_words(&self) -> Option<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let words = heard.get(4..)?;
        words
            .starts_with(b"ERR ")
            .then(|| String::from_utf8_lossy(words).into_owned())
    }

    /// Waits for a future; its failure is kept.
    pub(super) fn block<T>(&self, future: impl Future<Output = Result<T, Error>>) -> io::Result<T> {
        self.handle.block_on(future).map_err(|error| self.fail(error))
    }

    /// Keeps a failure and gives the library something to carry.
    pub(super) fn fail(&self, error: Error) -> io::Error {
        let mut kept = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
        io::Error::other("the attempt ended")
    }

    /// What really happened, after the library failed.
    pub(super) fn failure(&self, otherwise: impl FnOnce() -> Error) -> Error {
        let kept = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.unwrap_or_else(|| self.attempt.check().map_or_else(Error::Net, |()| otherwise()))
    }
}
