//! The init container that reaches a Git repository or a registry: resolves, verifies, and writes the checked files.
//!
//! Promises: it holds no database URL; a file is written only after its content gave its digest; why the source was
//! refused is delivered as the operation's result, since the container that would deliver another one never starts.

mod git;
mod oci;

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{
    Outcome, Request, SourceLocator, SourceReport, SourceRequest, Step, StepFailure, paths,
};
use ptah_resolver::net::{Attempt, Limits};
use tokio_util::sync::CancellationToken;

use super::deliver::Delivery;
use super::outcome;

/// Attempts after the first, while what went wrong may pass by itself.
const MORE_ATTEMPTS: usize = 2;

/// Runs it. The report stands in a file that the main container reads and cannot change.
pub(super) async fn run(request: &Request, stop: CancellationToken) -> Result<(), Failure> {
    let limit = Duration::from_secs(request.deadline_seconds);
    let delivery = Delivery::new(request, limit)?;
    // Nothing is fetched for a claim that is not live.
    delivery.begin().await?;
    let found = match reach(request, limit, stop).await {
        Ok(report) => write(&report).map_err(|failure| StepFailure {
            step: Step::Resolve,
            failure,
        }),
        Err(failed) => Err(failed),
    };
    let Err(failed) = found else {
        return Ok(());
    };
    let why = failed.failure.clone();
    delivery
        .upload(&Outcome {
            failure: Some(failed),
            ..outcome::empty(request)
        })
        .await?;
    Err(why)
}

async fn reach(
    request: &Request,
    limit: Duration,
    stop: CancellationToken,
) -> Result<SourceReport, StepFailure> {
    let resolving = |failure| StepFailure {
        step: Step::Resolve,
        failure,
    };
    let source = request.source.as_ref().ok_or_else(|| {
        resolving(Failure::new(
            "invalid_request",
            FailureClass::Internal,
            "the request names no source",
        ))
    })?;
    let context = Context { source, limit, stop };
    match &source.locator {
        SourceLocator::Git {
            repository,
            reference,
            path,
        } => git::reach(&context, repository, reference, path)
            .await
            .map_err(resolving),
        SourceLocator::Oci {
            reference,
            plain_http,
        } => oci::reach(&context, reference, *plain_http).await,
    }
}

/// What both kinds of source are reached with.
struct Context<'a> {
    source: &'a SourceRequest,
    limit: Duration,
    stop: CancellationToken,
}

impl Context<'_> {
    /// Tries until it works, or cannot be expected to.
    async fn attempts<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        once: impl Fn(Attempt) -> F,
        class: impl Fn(&E) -> FailureClass,
    ) -> Result<T, E> {
        let mut limits = Limits::default();
        limits.total = limits.total.min(self.limit);
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_secs(1))
            .with_jitter()
            .with_max_times(MORE_ATTEMPTS);
        (|| once(Attempt::new(limits, self.stop.clone())))
            .retry(pauses)
            .when(|error| class(error) == FailureClass::Transient && !self.stop.is_cancelled())
            .await
    }
}

/// The bytes of the certificate authorities that the spec names; the volume is there only when it names them.
fn authorities() -> Result<Option<Vec<u8>>, Failure> {
    optional(Path::new(paths::SOURCE_CA_FILE), "caFrom", "source_ca_missing")
}

/// The folder of the Secret's keys, when the spec names a Secret.
fn secret() -> Option<&'static Path> {
    let folder = Path::new(paths::SOURCE_AUTH_DIR);
    folder.is_dir().then_some(folder)
}

/// A file of a volume that is there only when the spec asks for it: no volume is none, an empty one is a mistake.
fn optional(path: &Path, field: &str, code: &str) -> Result<Option<Vec<u8>>, Failure> {
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::new(
            code,
            FailureClass::Input,
            format!(
                "spec.desired: the ConfigMap of {field} is not there, or does not hold the key that is named"
            ),
        )),
        Err(error) => Err(Failure::new(
            "io_failed",
            FailureClass::Transient,
            format!("{field} cannot be read: {}", error.kind()),
        )),
    }
}

fn write(report: &SourceReport) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(report)
        .map_err(|error| Failure::new("internal", FailureClass::Internal, error.to_string()))?;
    std::fs::write(paths::SOURCE_REPORT_FILE, bytes).map_err(|error| {
        Failure::new(
            "io_failed",
            FailureClass::Transient,
            format!("the report cannot be written: {}", error.kind()),
        )
    })
}

/// What the init container found, for the main container; `None` where there was none.
pub(super) fn report() -> Result<Option<SourceReport>, Failure> {
    let path = Path::new(paths::SOURCE_REPORT_FILE);
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    let broken = |what: String| {
        Failure::new(
            "source_report_unreadable",
            FailureClass::Internal,
            format!("what the init container found cannot be read: {what}"),
        )
    };
    let bytes = std::fs::read(path).map_err(|error| broken(error.kind().to_string()))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| broken(error.to_string()))
}
