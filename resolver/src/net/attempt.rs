//! One attempt: its deadline, its cancellation, and the bytes that it may receive.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Error;

/// What an attempt may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To connect, and for TLS or SSH to be set up.
    pub connect: Duration,
    /// Without a byte.
    pub idle: Duration,
    /// In all.
    pub total: Duration,
    /// Bytes received in all.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(120),
            bytes: 1 << 30,
        }
    }
}

/// A running attempt. Clones share the deadline, the cancellation and the count.
#[derive(Clone, Debug)]
pub struct Attempt {
    limits: Limits,
    began: Instant,
    cancel: CancellationToken,
    received: Arc<AtomicU64>,
}

impl Attempt {
    /// Begins now. `cancel` ends it from outside; the attempt never cancels it.
    #[must_use]
    pub fn new(limits: Limits, cancel: CancellationToken) -> Self {
        Self {
            limits,
            began: Instant::now(),
            cancel,
            received: Arc::default(),
        }
    }

    /// What it may take.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes received so far.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Time since it began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The same attempt, ended by `cancel` as well: for work that must end with the future that waits for it.
    #[must_use]
    pub fn with_cancellation(&self, cancel: CancellationToken) -> Self {
        Self {
            cancel,
            ..self.clone()
        }
    }

    /// The token that ends it.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Counts what arrived.
    ///
    /// # Errors
    /// [`Error::Budget`] when it is more than the attempt may receive.
    pub fn count(&self, bytes: usize) -> Result<(), Error> {
        let bytes = bytes as u64;
        let total = self
            .received
            .fetch_add(bytes, Ordering::Relaxed)
            .saturating_add(bytes);
        if total > self.limits.bytes {
            Err(Error::Budget {
                limit: self.limits.bytes,
            })
        } else {
            Ok(())
        }
    }

    /// Whether it may go on: for work that does not wait.
    ///
    /// # Errors
    /// [`Error::Cancelled`] or [`Error::Deadline`].
    pub fn check(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            Err(Error::Cancelled)
        } else if self.began.elapsed() >= self.limits.total {
            Err(self.late())
        } else {
            Ok(())
        }
    }

    /// Waits for the other side to be reached.
    ///
    /// # Errors
    /// What the future returns, or that the attempt ended first.
    pub async fn connecting<T>(
        &self,
        host: &str,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let late = || Error::ConnectTimeout {
            host: host.to_owned(),
            seconds: self.limits.connect.as_secs(),
        };
        self.within(self.limits.connect, late, future).await
    }

    /// Waits for the next bytes.
    ///
    /// # Errors
    /// What the future returns, or that the attempt ended first.
    pub async fn reading<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let late = || Error::Stalled {
            seconds: self.limits.idle.as_secs(),
        };
        self.within(self.limits.idle, late, future).await
    }

    /// Waits for a whole computation: the attempt's own end is its only limit.
    ///
    /// # Errors
    /// What the future returns, or that the attempt ended first.
    pub async fn whole<T, E: From<Error>>(&self, future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Error::Cancelled.into()),
            done = tokio::time::timeout_at(self.began + self.limits.total, future) => match done {
                Ok(done) => done,
                Err(_) => Err(self.late().into()),
            },
        }
    }

    async fn within<T>(
        &self,
        limit: Duration,
        late: impl FnOnce() -> Error,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let end = self.began + self.limits.total;
        let limit = Instant::now() + limit;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Error::Cancelled),
            done = tokio::time::timeout_at(end.min(limit), future) => match done {
                Ok(done) => done,
                Err(_) if end <= limit => Err(self.late()),
                Err(_) => Err(late()),
            },
        }
    }

    fn late(&self) -> Error {
        Error::Deadline {
            seconds: self.limits.total.as_secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    fn attempt(cancel: &CancellationToken) -> Attempt {
        Attempt::new(Limits::default(), cancel.clone())
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_a_wait_after_its_own_limit_and_the_attempt_after_the_total() {
        let attempt = attempt(&CancellationToken::new());
        let began = Instant::now();
        let connect = attempt.connecting::<()>("git.example", pending()).await;
        assert_eq!(connect.unwrap_err().code(), "connect_timeout");
        assert_eq!(began.elapsed(), Duration::from_secs(10));
        for seconds in [40, 70, 100] {
            let read = attempt.reading::<()>(pending()).await;
            assert_eq!(read.unwrap_err().code(), "stalled");
            assert_eq!(began.elapsed(), Duration::from_secs(seconds));
        }
        let read = attempt.reading::<()>(pending()).await;
        assert_eq!(read.unwrap_err().code(), "deadline_exceeded");
        assert_eq!(began.elapsed(), Duration::from_secs(120));
        assert_eq!(attempt.check().unwrap_err().code(), "deadline_exceeded");
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_attempt_ends_at_its_wait() {
        let cancel = CancellationToken::new();
        let attempt = attempt(&cancel);
        assert!(attempt.check().is_ok());
        let (read, ()) = tokio::join!(attempt.reading::<()>(pending()), async { cancel.cancel() });
        assert_eq!(read.unwrap_err().code(), "cancelled");
        assert_eq!(attempt.check().unwrap_err().code(), "cancelled");
    }

    #[tokio::test]
    async fn received_bytes_are_counted_over_all_clones_against_one_budget() {
        let limits = Limits {
            bytes: 10,
            ..Limits::default()
        };
        let attempt = Attempt::new(limits, CancellationToken::new());
        let other = attempt.clone();
        attempt.count(6).unwrap();
        other.count(4).unwrap();
        assert_eq!(attempt.received(), 10);
        assert_eq!(other.count(1).unwrap_err().code(), "receive_budget");
    }
}
