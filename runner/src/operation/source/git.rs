//! A Git repository.

use std::path::{Path, PathBuf};

use ptah_contract::failure::Failure;
use ptah_contract::protocol::{FetchedReport, SourceReport, SourceRevision, paths};
use ptah_contract::resolution::Resolution;
use ptah_resolver::content::Limits;
use ptah_resolver::git::{self, Credential, Known, Recorded, Repository, Request, SecretKeys};
use ptah_resolver::net::{Network, Trust};

use super::Context;

pub(super) async fn reach(
    context: &Context<'_>,
    repository: &str,
    reference: &str,
    path: &str,
) -> Result<SourceReport, Failure> {
    let request = request(context, repository, reference, path)?;
    let out = Path::new(paths::CONTENT_DIR);
    let ended = context
        .attempts(|attempt| once(context, &request, attempt, out), git::Error::class)
        .await;
    ended.map_err(|error| error.to_failure())
}

async fn once(
    context: &Context<'_>,
    request: &Request,
    attempt: ptah_resolver::net::Attempt,
    out: &Path,
) -> Result<SourceReport, git::Error> {
    if let Some(pinned) = &context.source.pinned {
        let recorded = Recorded {
            commit: pinned.revision.clone(),
            reference: pinned.reference.clone(),
            content_digest: pinned.content_digest,
        };
        let resolved = git::fetch_recorded(request, &recorded, &attempt, Some(out)).await?;
        return Ok(report(&resolved.resolution));
    }
    if let Some(known) = &context.source.known {
        let earlier = Known {
            commit: known.revision.clone(),
            reference: known.reference.clone(),
            tag_object: known.tag_object.clone(),
        };
        return Ok(
            match git::resolve_if_changed(request, &earlier, &attempt, Some(out)).await? {
                Some(resolved) => report(&resolved.resolution),
                None => SourceReport {
                    found: known.clone(),
                    fetched: None,
                },
            },
        );
    }
    let resolved = git::resolve(request, &attempt, Some(out)).await?;
    Ok(report(&resolved.resolution))
}

fn request(context: &Context<'_>, repository: &str, reference: &str, path: &str) -> Result<Request, Failure> {
    let failed = |error: git::Error| error.to_failure();
    let repository: Repository = repository.parse().map_err(failed)?;
    let requested = reference.parse().map_err(failed)?;
    let tree_path = path.parse().map_err(failed)?;
    let ca = super::authorities()?;
    let mut request = Request::new(repository, requested, tree_path);
    if let Some(ca) = &ca {
        request.trust = Trust::system()
            .with_pem(ca)
            .map_err(|error| failed(error.into()))?;
    }
    if let Some(folder) = super::secret() {
        let keys = SecretKeys::read(folder).map_err(failed)?;
        request.credential =
            Some(Credential::new(&keys, &request.repository, ca.as_deref()).map_err(failed)?);
    }
    request.network = Network::any();
    request.limits = Limits::default()
        .max_bytes(context.source.max_bytes, "content.maxBytes of the source policy")
        .max_files(context.source.max_files, "content.maxFiles of the source policy");
    request.scratch = Some(PathBuf::from(paths::WORK_DIR));
    Ok(request)
}

fn report(resolution: &Resolution) -> SourceReport {
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
            satisfies: None,
        }),
    }
}
