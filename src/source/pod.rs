//! Git and OCI sources, which a Pod resolves: what it is held to, read by the manager before the Pod is made. No
//! Secret is read here, and no host is spoken to.

use kube::{Client, ResourceExt as _};
use ptah_api::conditions::reasons;
use ptah_api::{GitSource, PtahSchema, SourceTerms};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::source_policy::SourcePolicy;
use ptah_resolver::git::Repository;
use ptah_resolver::oci::Reference;

use super::{Resolution, policy};
use crate::lifecycle::evidence::SourceEvidence;

/// Reads what the source is held to.
pub(super) async fn resolve(client: &Client, schema: &PtahSchema) -> Result<Resolution, kube::Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let desired = &schema.spec.desired;
    let mut terms = SourceTerms::default();
    let refused = |reason, failure| Ok(Resolution::refused(reason, failure));
    if let Some(git) = &desired.git {
        let held = match &desired.source_policy_from {
            None => None,
            Some(selector) => match policy::source(client, &namespace, selector).await? {
                Ok(held) => Some(held),
                Err(failure) => return refused(reasons::RESOLVE_FAILED, failure),
            },
        };
        if let Err(failure) = admitted(git, held.as_ref().map(|held| &held.policy)) {
            let reason = match failure.class {
                FailureClass::Refused => reasons::SOURCE_POLICY_REFUSED,
                _ => reasons::RESOLVE_FAILED,
            };
            return refused(reason, failure);
        }
        if let Some(held) = held {
            let bound = |limit: Option<u64>| limit.and_then(|limit| i64::try_from(limit).ok());
            terms.max_bytes = bound(held.policy.max_bytes());
            terms.max_files = bound(held.policy.max_files());
            terms.source_policy = Some(held.binding);
        }
    }
    if let Some(reference) = &desired.oci_ref {
        if let Err(error) = reference.parse::<Reference>() {
            let message = format!("spec.desired.ociRef {reference:?}: {error}");
            return refused(
                reasons::RESOLVE_FAILED,
                Failure::new(error.code(), error.class(), message),
            );
        }
        // CEL asks for one; a resource from before that rule has none.
        let Some(selector) = &desired.verification_policy_from else {
            let message = "spec.desired.verificationPolicyFrom: an OCI source needs it".to_owned();
            let failure = Failure::new("policy_missing", FailureClass::Input, message);
            return refused(reasons::RESOLVE_FAILED, failure);
        };
        match policy::verification(client, &namespace, selector).await? {
            Ok(binding) => terms.verification_policy = Some(binding),
            Err(failure) => return refused(reasons::RESOLVE_FAILED, failure),
        }
    }
    Ok(Resolution {
        evidence: SourceEvidence::InPod(terms),
        content: None,
    })
}

/// Whether a Pod may be made for this repository at all.
fn admitted(git: &GitSource, policy: Option<&SourcePolicy>) -> Result<(), Failure> {
    if git.verification.is_some() {
        return Err(Failure::new(
            "verification_not_supported",
            FailureClass::Input,
            "spec.desired.git.verification is not checked by this version; a source that asks for it is refused"
                .to_owned(),
        ));
    }
    let repository: Repository = git
        .repository
        .parse()
        .map_err(|error: ptah_resolver::git::Error| {
            let message = format!("spec.desired.git.repository: {error}");
            Failure::new(error.code(), error.class(), message)
        })?;
    let Some(policy) = policy else {
        return Ok(());
    };
    repository
        .admitted_by(policy, git.verification.is_some())
        .map_err(|refusal| {
            let message = format!("spec.desired.sourcePolicyFrom: {refusal}");
            Failure::new(refusal.code(), refusal.class(), message)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promise_p080_a_policy_s_hosts_are_those_of_the_repository_however_they_are_written() {
        let policy =
            SourcePolicy::parse(b"version: 1\ngit: {hosts: [\"[fd00::1]\", \"git.example:2222\"]}\n")
                .unwrap();
        for (repository, admits) in [
            ("https://[fd00::1]/app.git", true),
            ("https://[fd00::2]/app.git", false),
            ("ssh://git@git.example:2222/app.git", true),
            ("git@git.example:app.git", false),
            ("https://git.example/app.git", false),
        ] {
            let git = GitSource {
                repository: repository.to_owned(),
                ..GitSource::default()
            };
            let answer = admitted(&git, Some(&policy));
            assert_eq!(answer.is_ok(), admits, "{repository}: {answer:?}");
        }
    }
}
