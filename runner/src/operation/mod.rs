//! `ptah-runner operation`: what the containers of an operation Pod run.
//!
//! Promises: no statement of a plan is sent before the receiver confirmed the live claim; whatever happened is
//! delivered, also after SIGTERM, until the deadline; the termination message is a short diagnosis that decides
//! nothing. Assumes the mounts of `ptah_contract::protocol::paths`. Never writes a secret anywhere.

mod apply;
mod deliver;
mod grant;
mod outcome;
mod plan;
mod read;
mod snapshot;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{ApplyReport, Operation, Outcome, Request, paths};
use ptah_engine::{Deadline, Target};
use tokio_util::sync::CancellationToken;

use self::deliver::Delivery;

/// Which container this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The init container that checks the snapshot.
    Snapshot,
    /// The init container that reaches the source.
    Source,
    /// The container that reaches the database.
    Main,
}

#[derive(Args)]
#[command(
    after_help = "Example (in an operation Pod):\n  ptah-runner operation --request /ptah/request/request.json"
)]
pub(crate) struct Arguments {
    /// The request document.
    #[arg(long, value_name = "FILE")]
    request: PathBuf,
    /// Which container of the Pod this is.
    #[arg(long, value_enum, default_value = "main")]
    step: Part,
}

/// Runs one container of an operation Pod.
pub(crate) async fn run(arguments: Arguments, stop: CancellationToken) -> ExitCode {
    let ended = async {
        let bytes = std::fs::read(&arguments.request).map_err(|error| {
            Failure::new(
                "invalid_request",
                FailureClass::Internal,
                format!("the request cannot be read: {error}"),
            )
        })?;
        let request = Request::from_bytes(&bytes).map_err(|error| {
            Failure::new(
                "runner_protocol_mismatch",
                FailureClass::Internal,
                error.to_string(),
            )
        })?;
        match arguments.step {
            Part::Snapshot => snapshot::run(&request),
            Part::Source => source::run(&request, stop).await,
            Part::Main => main(request, stop).await,
        }
    };
    match ended.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("error: {}: {}", failed.code, failed.message);
            leave_message(&failed);
            ExitCode::from(failed.class.exit_status())
        }
    }
}

async fn main(request: Request, stop: CancellationToken) -> Result<(), Failure> {
    let limit = Duration::from_secs(request.deadline_seconds);
    let deadline = Deadline::after(limit).or(stop);
    let delivery = Delivery::new(&request, limit)?;
    // Before anything else: nothing is read for a claim that is not live.
    delivery.begin().await?;
    let outcome = perform(&request, &delivery, &deadline).await;
    delivery.upload(&outcome).await?;
    // The exit status and the message say how it went to whoever looks at the Pod; they decide nothing.
    let failed = outcome
        .failure
        .map(|failed| failed.failure)
        .or(match outcome.apply {
            Some(ApplyReport::NothingCommitted { failure } | ApplyReport::Uncertain { failure, .. }) => {
                Some(failure)
            }
            Some(ApplyReport::Applied { .. }) | None => None,
        });
    failed.map_or(Ok(()), Err)
}

async fn perform(request: &Request, delivery: &Delivery, deadline: &Deadline) -> Outcome {
    let reached = grant::check(Path::new(paths::DATABASE_DIR), &request.identity.name).and_then(|()| {
        Target::from_directory(Path::new(paths::DATABASE_DIR)).map_err(|error| error.to_failure())
    });
    let target = match reached {
        Ok(target) => target,
        Err(failed) => return outcome::failed(request, failed),
    };
    let found = match source::report() {
        Ok(found) => found,
        Err(failed) => return outcome::failed(request, failed),
    };
    match request.identity.operation {
        Operation::Observe => Outcome {
            source: found.clone(),
            ..read::run(request, found.as_ref(), &target, deadline).await
        },
        Operation::Plan => plan::run(request, &target, deadline).await,
        Operation::Apply => apply::run(request, &target, delivery, deadline).await,
    }
}

/// A short diagnosis for whoever looks at the Pod.
fn leave_message(failed: &Failure) {
    let text: String = format!("{}: {}", failed.code, failed.message)
        .chars()
        .take(1024)
        .collect();
    // Outside a Pod there is no such file, and nothing depends on it inside.
    let _ = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/termination-log")
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
}
