//! Attempts at a source on a network: one, and more when they are asked for and the failure passes by itself.

use std::future::Future;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use clap::Args;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::resolution::Resolution;
use ptah_resolver::net::{Attempt, Limits};
use tokio_util::sync::CancellationToken;

/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How often, and for how long.
#[derive(Args)]
pub(super) struct Patience {
    /// Tries so many times more when a failure passes by itself, such as a time-out.
    #[arg(long, value_name = "N", default_value = "0")]
    retries: u32,
    /// Seconds that one attempt may take.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = clap::value_parser!(u64).range(1..=86400))]
    deadline: u64,
}

impl Patience {
    /// Attempts until one ends well or with a failure that does not pass; the counts are those of all attempts.
    pub(super) async fn attempt<F: Future<Output = Result<Resolution, Failure>>>(
        &self,
        token: &CancellationToken,
        mut once: impl FnMut(Attempt) -> F,
    ) -> Result<Resolution, Failure> {
        let began = Instant::now();
        let limits = Limits {
            total: Duration::from_secs(self.deadline),
            ..Limits::default()
        };
        let (mut received, mut pause) = (0, Duration::from_secs(1));
        for number in 1.. {
            let attempt = Attempt::new(limits, token.clone());
            let outcome = watched(number, once(attempt.clone())).await;
            received += attempt.received();
            match outcome {
                Ok(mut resolution) => {
                    resolution.attempts = number;
                    resolution.received = received;
                    resolution.elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    return Ok(resolution);
                }
                Err(failure) if failure.class != FailureClass::Transient || number > self.retries => {
                    return Err(failure);
                }
                Err(failure) => {
                    eprintln!("attempt {number}: {}: {}", failure.code, failure.message);
                    tokio::select! {
                        () = token.cancelled() => return Err(failure),
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
        unreachable!("the numbers do not end before the attempts")
    }
}

/// Shows a person that something is going on, after a second.
async fn watched<T>(number: u32, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    if std::io::stderr().is_terminal() {
        eprintln!("attempt {number}: still fetching");
    }
    work.await
}
