//! An OCI artifact, and the policy that it is held to.

use std::path::Path;

use ptah_contract::artifact::{ArtifactDescription, Attachments, Verification};
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{
    ArtifactReport, FetchedReport, SourceReport, SourceRequest, SourceRevision, Step, StepFailure,
    VerifiedReport,
};
use ptah_contract::resolution::Resolution;

use super::{Access, resolving};
use crate::net::Attempt;
use crate::oci::{self, Credentials, Family, Reference, Request};

pub(super) async fn reach(
    wanted: &SourceRequest,
    access: &Access,
    verification: Option<&dyn Verification>,
    reference: &str,
    plain_http: bool,
) -> Result<SourceReport, StepFailure> {
    let request = request(wanted, access, reference, plain_http).map_err(resolving)?;
    let found = access
        .attempts(
            |attempt| once(wanted, &request, attempt, access.out()),
            oci::Error::class,
        )
        .await
        .map_err(|error| resolving(error.to_failure()))?;
    let resolution = match (found, &wanted.known) {
        (Some(resolution), _) => resolution,
        // Only a refresh knows something. What the artifact says of itself cannot have changed, and the verdict of then
        // stands; what others have attached to it can, and a signature that was taken away is believed no longer.
        (None, Some(known)) => {
            let mut verified = None;
            if let Some(policy) = verification.filter(|policy| policy.attachments() != Attachments::LeftOut) {
                let digest = digest(known).map_err(resolving)?;
                verified = Some(verify(access, &request, digest, policy).await?.1);
            }
            return Ok(SourceReport {
                found: known.clone(),
                fetched: None,
                verified,
            });
        }
        (None, None) => {
            let nothing = Failure::new(
                "internal",
                FailureClass::Internal,
                "nothing was found, and nothing was known",
            );
            return Err(resolving(nothing));
        }
    };
    let digest = resolution.artifact_digest.ok_or_else(|| {
        resolving(Failure::new(
            "internal",
            FailureClass::Internal,
            "an artifact without a digest",
        ))
    })?;
    let described = match verification {
        None => None,
        Some(policy) => Some(verify(access, &request, digest, policy).await?),
    };
    Ok(report(&resolution, digest, described))
}

async fn once(
    wanted: &SourceRequest,
    request: &Request,
    attempt: Attempt,
    out: Option<&Path>,
) -> Result<Option<Resolution>, oci::Error> {
    match &wanted.known {
        Some(known) if wanted.pinned.is_none() => {
            let stood: Digest = match known.index_digest {
                Some(index) => index,
                None => match known.revision.parse() {
                    Ok(digest) => digest,
                    Err(_) => return oci::resolve(request, &attempt, out).await.map(Some),
                },
            };
            oci::resolve_if_changed(request, stood, &attempt, out).await
        }
        _ => oci::resolve(request, &attempt, out).await.map(Some),
    }
}

/// Holds the artifact to the policy. Its files may be on disk by now; after a refusal nothing reads them.
async fn verify(
    access: &Access,
    request: &Request,
    digest: Digest,
    policy: &dyn Verification,
) -> Result<(ArtifactDescription, VerifiedReport), StepFailure> {
    let attachments = policy.attachments();
    let described = access
        .attempts(
            |attempt| async move { oci::describe(request, digest, attachments, &attempt).await },
            oci::Error::class,
        )
        .await
        .map_err(|error| verifying(error.to_failure()))?;
    match policy.judge(&described) {
        Ok(satisfied) => Ok((described, VerifiedReport::new(policy.digest(), satisfied))),
        Err(why) => Err(verifying(Failure::new(
            "policy_refused",
            FailureClass::Refused,
            why,
        ))),
    }
}

fn request(
    wanted: &SourceRequest,
    access: &Access,
    reference: &str,
    plain_http: bool,
) -> Result<Request, Failure> {
    let failed = |error: oci::Error| error.to_failure();
    let mut parsed: Reference = reference
        .parse()
        .map_err(|error| failed(oci::Error::Reference(error)))?;
    if let Some(pinned) = &wanted.pinned {
        parsed = parsed.pinned(digest(pinned)?);
    }
    let mut request = Request::new(parsed);
    request.requested = reference.to_owned();
    request.plain_http = plain_http;
    request.ca.clone_from(&access.ca);
    if let Some(folder) = &access.secret {
        request.credentials = Some(Credentials::from_dir(folder).map_err(|error| failed(error.into()))?);
    }
    request.network = access.network.clone();
    request.limits = access.limits(wanted);
    request.evidence = access.evidence;
    request.family = Some(Family::Schema);
    request.content_digest = wanted.pinned.as_ref().map(|pinned| pinned.content_digest);
    Ok(request)
}

/// An artifact's revision is the digest of its manifest.
fn digest(recorded: &SourceRevision) -> Result<Digest, Failure> {
    recorded.revision.parse().map_err(|_| {
        Failure::new(
            "invalid_request",
            FailureClass::Internal,
            "the recorded revision is no digest",
        )
    })
}

fn report(
    resolution: &Resolution,
    digest: Digest,
    verified: Option<(ArtifactDescription, VerifiedReport)>,
) -> SourceReport {
    let (described, verified) = verified.unzip();
    SourceReport {
        found: SourceRevision {
            revision: digest.to_string(),
            reference: None,
            index_digest: resolution.index_digest,
            tag_object: None,
            content_digest: resolution.content_digest,
        },
        fetched: Some(FetchedReport {
            bytes: resolution.bytes,
            files: resolution.files,
            artifact: Some(ArtifactReport {
                resolved_reference: resolved(&resolution.requested, digest),
                artifact_type: described
                    .map_or_else(String::new, |described| described.artifact_type.clone()),
            }),
        }),
        verified,
    }
}

/// The reference with its digest, without a tag that may have moved since.
fn resolved(requested: &str, digest: Digest) -> String {
    let name = requested.split('@').next().unwrap_or(requested);
    let tag = name.rfind(':').filter(|at| !name[*at..].contains('/'));
    format!("{}@{digest}", tag.map_or(name, |at| &name[..at]))
}

fn verifying(failure: Failure) -> StepFailure {
    StepFailure {
        step: Step::Verify,
        failure,
    }
}
