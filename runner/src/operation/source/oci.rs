//! An OCI artifact, and the policy that it is held to.

use std::path::Path;

use ptah_contract::artifact::ArtifactDescription;
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{
    ArtifactReport, FetchedReport, SourceReport, SourceRevision, Step, StepFailure, paths,
};
use ptah_contract::resolution::Resolution;
use ptah_resolver::content::Limits;
use ptah_resolver::net::Attempt;
use ptah_resolver::oci::{self, Attachments, Credentials, Family, Reference, Request};
use ptah_verifier::Policy;

use super::{Context, optional};

pub(super) async fn reach(
    context: &Context<'_>,
    reference: &str,
    plain_http: bool,
) -> Result<SourceReport, StepFailure> {
    let request = request(context, reference, plain_http).map_err(resolving)?;
    // The policy is read before anything is fetched: one that cannot be read refuses without a request.
    let policy = policy(context).map_err(verifying)?;
    let out = Path::new(paths::CONTENT_DIR);
    let found = context
        .attempts(|attempt| once(context, &request, attempt, out), oci::Error::class)
        .await
        .map_err(|error| resolving(error.to_failure()))?;
    let resolution = match (found, &context.source.known) {
        (Some(resolution), _) => resolution,
        // Only a refresh knows something, and it stands on the verdict of then: same artifact, same policy.
        (None, Some(known)) => {
            return Ok(SourceReport {
                found: known.clone(),
                fetched: None,
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
    let described = match &policy {
        None => None,
        Some(policy) => Some(verify(context, &request, digest, policy).await?),
    };
    Ok(report(
        &resolution,
        digest,
        described.as_ref(),
        policy.map(|policy| policy.digest()),
    ))
}

async fn once(
    context: &Context<'_>,
    request: &Request,
    attempt: Attempt,
    out: &Path,
) -> Result<Option<Resolution>, oci::Error> {
    match &context.source.known {
        Some(known) if context.source.pinned.is_none() => {
            let stood: Digest = match known.index_digest {
                Some(index) => index,
                None => match known.revision.parse() {
                    Ok(digest) => digest,
                    Err(_) => return oci::resolve(request, &attempt, Some(out)).await.map(Some),
                },
            };
            oci::resolve_if_changed(request, stood, &attempt, Some(out)).await
        }
        _ => oci::resolve(request, &attempt, Some(out)).await.map(Some),
    }
}

/// Holds the artifact to the policy. Its files are on disk by now; a refusal ends the Pod before anything reads them.
async fn verify(
    context: &Context<'_>,
    request: &Request,
    digest: Digest,
    policy: &Policy,
) -> Result<ArtifactDescription, StepFailure> {
    let attachments = Attachments::wanted(policy.looks_at_attachments());
    let described = context
        .attempts(
            |attempt| async move { oci::describe(request, digest, attachments, &attempt).await },
            oci::Error::class,
        )
        .await
        .map_err(|error| verifying(error.to_failure()))?;
    match policy.check(&described).refusal() {
        None => Ok(described),
        Some(why) => Err(verifying(Failure::new(
            "policy_refused",
            FailureClass::Refused,
            why,
        ))),
    }
}

fn policy(context: &Context<'_>) -> Result<Option<Policy>, Failure> {
    let Some(wanted) = &context.source.verification else {
        return Ok(None);
    };
    let path = Path::new(paths::VERIFICATION_POLICY_FILE);
    let bytes = optional(path, "verificationPolicyFrom", "policy_missing")?.unwrap_or_default();
    if Digest::of(&bytes) != wanted.policy_digest {
        return Err(Failure::new(
            "policy_changed",
            FailureClass::Transient,
            "the verification policy is not the one that this operation was claimed for",
        ));
    }
    Policy::parse(&bytes)
        .map(Some)
        .map_err(|error| Failure::new(error.code(), error.class(), error.to_string()))
}

fn request(context: &Context<'_>, reference: &str, plain_http: bool) -> Result<Request, Failure> {
    let failed = |error: oci::Error| error.to_failure();
    let mut parsed: Reference = reference
        .parse()
        .map_err(|error| failed(oci::Error::Reference(error)))?;
    if let Some(pinned) = &context.source.pinned {
        let digest = pinned.revision.parse().map_err(|_| {
            Failure::new(
                "invalid_request",
                FailureClass::Internal,
                "the pinned revision is no digest",
            )
        })?;
        parsed = parsed.pinned(digest);
    }
    let mut request = Request::new(parsed);
    request.requested = reference.to_owned();
    request.plain_http = plain_http;
    request.ca = super::authorities()?;
    if let Some(folder) = super::secret() {
        request.credentials = Some(Credentials::from_dir(folder).map_err(|error| failed(error.into()))?);
    }
    request.limits = Limits::default()
        .max_bytes(context.source.max_bytes, "content.maxBytes of the source policy")
        .max_files(context.source.max_files, "content.maxFiles of the source policy");
    request.family = Some(Family::Schema);
    request.content_digest = context.source.pinned.as_ref().map(|pinned| pinned.content_digest);
    Ok(request)
}

fn report(
    resolution: &Resolution,
    digest: Digest,
    described: Option<&ArtifactDescription>,
    satisfies: Option<Digest>,
) -> SourceReport {
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
            satisfies,
        }),
    }
}

/// The reference with its digest, without a tag that may have moved since.
fn resolved(requested: &str, digest: Digest) -> String {
    let name = requested.split('@').next().unwrap_or(requested);
    let tag = name.rfind(':').filter(|at| !name[*at..].contains('/'));
    format!("{}@{digest}", tag.map_or(name, |at| &name[..at]))
}

fn resolving(failure: Failure) -> StepFailure {
    StepFailure {
        step: Step::Resolve,
        failure,
    }
}

fn verifying(failure: Failure) -> StepFailure {
    StepFailure {
        step: Step::Verify,
        failure,
    }
}
