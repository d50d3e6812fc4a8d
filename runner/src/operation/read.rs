//! The step Observe.

use std::path::Path;

use ptah_contract::protocol::{ObserveReport, Outcome, Request, SourceReport, paths};
use ptah_engine::{Deadline, Observation, Scope, Scratch, Target, desired_scope, drift, observe};

use super::outcome;

/// Reads the database. A refresh that finds what the last no-change plan was made from ends here, without a scratch
/// server.
pub(super) async fn run(
    request: &Request,
    found: Option<&SourceReport>,
    target: &Target,
    deadline: &Deadline,
) -> Outcome {
    match reading(request, found, target, deadline).await {
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
    found: Option<&SourceReport>,
    target: &Target,
    deadline: &Deadline,
) -> ptah_engine::Result<(Observation, ObserveReport)> {
    let policy = &request.policy;
    let content = found
        .map(|found| found.found.content_digest)
        .or(request.content_digest);
    let fetched = !request.without_files && found.is_none_or(|found| found.fetched.is_some());
    if let Some(last) = request
        .last
        .as_ref()
        .filter(|last| Some(last.content_digest) == content)
    {
        let observation = observe(target, &Scope::exactly(last.scope.clone()), policy, deadline).await?;
        let steady = observation.fingerprint == last.observed_fingerprint;
        if steady || !fetched {
            let report = ObserveReport {
                fingerprint: observation.fingerprint,
                scope: observation.scope.clone(),
                steady,
                files_missing: !steady,
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
        files_missing: false,
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
