//! A Git repository.

use std::path::Path;

use ptah_contract::commit::CommitVerification;
use ptah_contract::failure::Failure;
use ptah_contract::protocol::{FetchedReport, SourceReport, SourceRequest, SourceRevision, VerifiedReport};
use ptah_contract::resolution::Resolution;

use super::Access;
use crate::git::{self, Credential, Fetched, Known, Recorded, Repository, Request, SecretKeys};
use crate::net::{Attempt, Trust};

pub(super) async fn reach(
    wanted: &SourceRequest,
    access: &Access,
    repository: &str,
    reference: &str,
    path: &str,
    verification: Option<&dyn CommitVerification>,
) -> Result<SourceReport, Failure> {
    let request = request(wanted, access, repository, reference, path)?;
    let ended = access
        .attempts(
            |attempt| once(wanted, &request, attempt, access.out(), verification),
            git::Error::class,
        )
        .await;
    ended.map_err(|error| error.to_failure())
}

async fn once(
    wanted: &SourceRequest,
    request: &Request,
    attempt: Attempt,
    out: Option<&Path>,
    verification: Option<&dyn CommitVerification>,
) -> Result<SourceReport, git::Error> {
    if let Some(pinned) = &wanted.pinned {
        let recorded = Recorded {
            commit: pinned.revision.clone(),
            reference: pinned.reference.clone(),
            content_digest: pinned.content_digest,
        };
        let resolved = git::fetch_recorded(request, &recorded, &attempt, out).await?;
        // It was verified before it was recorded, and its id says that it is the same.
        return Ok(report(&resolved.resolution, None));
    }
    if let Some(known) = &wanted.known {
        let earlier = Known {
            commit: known.revision.clone(),
            reference: known.reference.clone(),
            tag_object: known.tag_object.clone(),
        };
        return match git::fetch_if_changed(request, &earlier, &attempt).await? {
            Some(fetched) => finish(fetched, &attempt, out, verification).await,
            None => Ok(SourceReport {
                found: known.clone(),
                fetched: None,
                verified: None,
            }),
        };
    }
    let fetched = git::fetch(request, &attempt).await?;
    finish(fetched, &attempt, out, verification).await
}

/// Hands on what was fetched, once its signatures are those that are asked for.
async fn finish(
    fetched: Fetched,
    attempt: &Attempt,
    out: Option<&Path>,
    verification: Option<&dyn CommitVerification>,
) -> Result<SourceReport, git::Error> {
    let verified = match verification {
        None => None,
        Some(verification) => {
            let satisfied = verification
                .judge(&fetched.resolved().tip())
                .map_err(git::Error::Unverified)?;
            Some(VerifiedReport::new(verification.digest(), satisfied))
        }
    };
    let resolved = fetched.finish(attempt, out).await?;
    Ok(report(&resolved.resolution, verified))
}

fn request(
    wanted: &SourceRequest,
    access: &Access,
    repository: &str,
    reference: &str,
    path: &str,
) -> Result<Request, Failure> {
    let failed = |error: git::Error| error.to_failure();
    let repository: Repository = repository.parse().map_err(failed)?;
    let requested = reference.parse().map_err(failed)?;
    let tree_path = path.parse().map_err(failed)?;
    let mut request = Request::new(repository, requested, tree_path);
    if let Some(ca) = &access.ca {
        request.trust = Trust::system()
            .with_pem(ca)
            .map_err(|error| failed(error.into()))?;
    }
    if let Some(folder) = &access.secret {
        let keys = SecretKeys::read(folder).map_err(failed)?;
        request.credential =
            Some(Credential::new(&keys, &request.repository, access.ca.as_deref()).map_err(failed)?);
    }
    request.network = access.network.clone();
    request.limits = access.limits(wanted);
    // A commit or a tree is no larger than the content may be, and each object is held in memory whole.
    let room = access.content.content_bytes().saturating_add(1024);
    request.budget.object_bytes = request.budget.object_bytes.min(room);
    request.budget.unpacked_bytes = access.unpacked_bytes;
    request.scratch.clone_from(&access.scratch);
    Ok(request)
}

fn report(resolution: &Resolution, verified: Option<VerifiedReport>) -> SourceReport {
    SourceReport {
        found: SourceRevision {
            revision: resolution.revision.clone(),
            reference: resolution.reference.clone(),
            index_digest: None,
            tag_object: resolution.tag_object.clone(),
            content_digest: resolution.content_digest,
        },
        fetched: Some(FetchedReport {
            bytes: resolution.bytes,
            files: resolution.files,
            artifact: None,
        }),
        verified,
    }
}
