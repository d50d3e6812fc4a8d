//! A source on a network, as an operation's request names it: in the tenant's Pod and in the manager, one code path.
//!
//! Promises: files are written only where a folder for them is given, and only after their content gave its digest; an
//! artifact that is held to a policy is reported only when the policy is satisfied; what stands where it stood is not
//! fetched again.

mod git;
mod oci;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use ptah_contract::artifact::Verification;
use ptah_contract::commit::CommitVerification;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{SourceLocator, SourceReport, SourceRequest, Step, StepFailure};
use tokio_util::sync::CancellationToken;

use crate::content::Limits;
use crate::net::{self, Attempt, Network};
use crate::oci::EvidenceLimits;

/// What stands around a request: who asks, from where, and for how long.
#[derive(Clone, Debug)]
pub struct Access {
    /// Certificate authorities that are believed beside the system's: a PEM bundle, byte for byte as it was granted.
    pub ca: Option<Vec<u8>>,
    /// The folder of the Secret's keys; nobody in particular asks where there is none.
    pub secret: Option<PathBuf>,
    /// Where connections may go.
    pub network: Network,
    /// Where private folders are made; the system's folder for temporary files when none is given.
    pub scratch: Option<PathBuf>,
    /// Where the checked files go, when somebody wants them.
    pub out: Option<PathBuf>,
    /// What one attempt may take.
    pub attempt: net::Limits,
    /// How much content there may be, before a source policy's bounds.
    pub content: Limits,
    /// How much is read of what is attached to an artifact.
    pub evidence: EvidenceLimits,
    /// How much a pack may unpack to, which bounds what is held in memory of it.
    pub unpacked_bytes: Option<u64>,
    /// Attempts after the first, while what went wrong may pass by itself.
    pub more_attempts: usize,
    /// Ends it from outside.
    pub stop: CancellationToken,
}

/// What a source is held to before anything of it is handed on.
#[derive(Clone, Copy, Default)]
pub struct HeldTo<'a> {
    /// The policy of an artifact.
    pub artifact: Option<&'a dyn Verification>,
    /// Whose signatures a commit must carry.
    pub commit: Option<&'a dyn CommitVerification>,
}

/// Resolves what is asked for, or fetches what was resolved before.
///
/// # Errors
/// The step that failed, and why: resolving, or verifying, where a policy refused or could not be asked.
pub async fn reach(
    request: &SourceRequest,
    access: &Access,
    held_to: HeldTo<'_>,
) -> Result<SourceReport, StepFailure> {
    match &request.locator {
        SourceLocator::Git {
            repository,
            reference,
            path,
        } => git::reach(request, access, repository, reference, path, held_to.commit)
            .await
            .map_err(resolving),
        SourceLocator::Oci {
            reference,
            plain_http,
        } => oci::reach(request, access, held_to.artifact, reference, *plain_http).await,
    }
}

impl Access {
    /// Tries until it works, or cannot be expected to.
    async fn attempts<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        once: impl Fn(Attempt) -> F,
        class: impl Fn(&E) -> FailureClass,
    ) -> Result<T, E> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_secs(1))
            .with_jitter()
            .with_max_times(self.more_attempts);
        (|| once(Attempt::new(self.attempt, self.stop.clone())))
            .retry(pauses)
            .when(|error| class(error) == FailureClass::Transient && !self.stop.is_cancelled())
            .await
    }

    fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    fn limits(&self, request: &SourceRequest) -> Limits {
        let bounds = self.content.clone();
        bounds
            .max_bytes(request.max_bytes, "content.maxBytes of the source policy")
            .max_files(request.max_files, "content.maxFiles of the source policy")
    }
}

fn resolving(failure: Failure) -> StepFailure {
    StepFailure {
        step: Step::Resolve,
        failure,
    }
}
