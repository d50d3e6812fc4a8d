//! The step Observe.

use std::path::Path;

use ptah_contract::protocol::{ObserveReport, Outcome, Request, paths};
use ptah_engine::{Deadline, Observation, Scope, Scratch, Target, desired_scope, drift, observe};

use super::outcome;

/// Reads the database. A refresh that finds what the last no-change plan was made from ends here, without a scratch
/// server.
pub(super) async fn run(request: &Request, target: &Target, deadline: &Deadline) -> Outcome {
    match reading(request, target, deadline).await {
        Ok((observation, report)) => Outcome {
            target: Some(outcome::reading(target, &observation)),
            observe: Some(report),
            ..outcome::empty(request)
        },
        Err(error) => outcome::failed(request, error.to_failure()),
    }
}

async fn reading(
    request: &Request,
    target: &Target,
    deadline: &Deadline,
) -> ptah_engine::Result<(Observation, ObserveReport)> {
    let policy = &request.policy;
    if let Some(last) = request
        .last
        .as_ref()
        .filter(|last| Some(last.content_digest) == request.content_digest)
    {
        let observation = observe(target, &Scope::exactly(last.scope.clone()), policy, deadline).await?;
        if observation.fingerprint == last.observed_fingerprint {
            let report = ObserveReport {
                fingerprint: observation.fingerprint,
                scope: observation.scope.clone(),
                steady: true,
                drift: None,
            };
            return Ok((observation, report));
        }
    }
    let desired = Path::new(paths::CONTENT_DIR);
    let scratch = scratch(request, target, deadline).await?;
    let scope = desired_scope(target, desired, &scratch, deadline).await?;
    let observation = observe(target, &scope, policy, deadline).await?;
    let drift = drift(&observation, target, desired, &scratch, policy, deadline).await?;
    let report = ObserveReport {
        fingerprint: observation.fingerprint,
        scope: observation.scope.clone(),
        steady: false,
        drift: Some(drift),
    };
    Ok((observation, report))
}

/// The scratch server of the target's major version, from the sidecar.
pub(super) async fn scratch(
    request: &Request,
    target: &Target,
    deadline: &Deadline,
) -> ptah_engine::Result<Scratch> {
    let nothing = Scope::exactly(Vec::new());
    let major = observe(target, &nothing, &request.policy, deadline)
        .await?
        .server
        .major;
    Scratch::sidecar(Path::new(paths::SCRATCH_DIR), major, deadline).await
}
