//! What is asked of a source on a network, in the words of the runner protocol.

use ptah_api::{CommitTermsStatus, DesiredSource, SourceStatus, SourceTerms};
use ptah_contract::protocol::{
    SourceLocator, SourceRequest, SourceRevision, TrustedRootRequest, VerificationRequest,
};

/// Something that the request is made of is not there.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not there")]
pub struct Incomplete(pub &'static str);

/// Asks what stands at a source now. Where it is what is `known`, nothing is fetched.
///
/// # Errors
/// When the source is on no network.
pub fn at(
    desired: &DesiredSource,
    terms: &SourceTerms,
    known: Option<SourceRevision>,
) -> Result<SourceRequest, Incomplete> {
    let limit = |bound: Option<i64>| bound.and_then(|bound| u64::try_from(bound).ok());
    Ok(SourceRequest {
        locator: locator(desired)?,
        pinned: None,
        known,
        max_bytes: limit(terms.max_bytes),
        max_files: limit(terms.max_files),
        verification: terms
            .verification_policy
            .as_ref()
            .map(|policy| VerificationRequest {
                policy_digest: policy.digest,
                roots: terms
                    .trusted_roots
                    .iter()
                    .map(|root| TrustedRootRequest {
                        name: root.name.clone(),
                        key: root.key.clone(),
                        uid: root.uid.clone(),
                    })
                    .collect(),
            }),
        commit_verification: terms
            .commit_verification
            .as_ref()
            .map(CommitTermsStatus::to_contract),
    })
}

/// Asks for exactly what was resolved before; `None` where its files are in a snapshot.
///
/// # Errors
/// When the source is on no network, or its revision was not recorded.
pub fn pinned_to(desired: &DesiredSource, known: &SourceStatus) -> Result<Option<SourceRequest>, Incomplete> {
    if known.config_map.is_some() {
        return Ok(None);
    }
    Ok(Some(SourceRequest {
        locator: locator(desired)?,
        pinned: Some(known.revision().ok_or(Incomplete("the source's revision"))?),
        known: None,
        max_bytes: None,
        max_files: None,
        verification: None,
        commit_verification: None,
    }))
}

fn locator(desired: &DesiredSource) -> Result<SourceLocator, Incomplete> {
    if let Some(git) = &desired.git {
        return Ok(SourceLocator::Git {
            repository: git.repository.clone(),
            reference: git.reference.clone(),
            path: git.path.clone(),
        });
    }
    let reference = desired.oci_ref.clone().ok_or(Incomplete("the source"))?;
    let transport = desired.transport.clone().unwrap_or_default();
    Ok(SourceLocator::Oci {
        reference,
        plain_http: transport.plain_http.unwrap_or(false),
    })
}
