//! Git and OCI sources: what whoever resolves them is held to, read before anything is asked. No Secret is read here,
//! and no host is spoken to.

use kube::{Client, ResourceExt as _};
use ptah_api::ConfigMapKeySelector;
use ptah_api::conditions::reasons;
use ptah_api::{DesiredSource, GitSource, PtahSchema, SourceTerms};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::source_policy::SourcePolicy;
use ptah_resolver::git::Repository;
use ptah_resolver::oci::Reference;

use super::in_process::{InProcess, Wanted};
use super::{Resolution, policy};
use crate::lifecycle::evidence::SourceEvidence;

/// Reads what the source is held to, and what the manager knows of it, where it looks itself.
pub(super) async fn resolve(
    client: &Client,
    schema: &PtahSchema,
    in_process: &InProcess,
) -> Result<Resolution, kube::Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let desired = &schema.spec.desired;
    let mut terms = SourceTerms::default();
    let mut verification = None;
    let mut commits = None;
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
        if let Some(declared) = &git.verification {
            let Some(declared) = declared.known() else {
                let message = "spec.desired.git.verification: it is not understood; it has mode (Head, Tag or TagAndHead), \
                               keysFrom and committers";
                let failure = Failure::new("verification_malformed", FailureClass::Input, message);
                return refused(reasons::RESOLVE_FAILED, failure);
            };
            match policy::commits(client, &namespace, declared).await? {
                Ok((policy, held)) => {
                    terms.commit_verification = Some(held);
                    commits = Some(policy);
                }
                Err(failure) => return refused(reasons::RESOLVE_FAILED, failure),
            }
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
            Ok(held) => {
                terms.verification_policy = Some(held.binding);
                terms.trusted_roots = held.roots;
                verification = Some(held.policy);
            }
            Err(failure) => return refused(reasons::RESOLVE_FAILED, failure),
        }
    }
    if !in_process.takes(desired) {
        return Ok(Resolution::in_pod(terms));
    }
    let ca = match authorities(desired) {
        None => None,
        Some((selector, field)) => {
            match policy::value(client, &namespace, selector, field, "source_ca_missing").await? {
                Ok(found) => Some(found.bytes),
                Err(failure) => return refused(reasons::RESOLVE_FAILED, failure),
            }
        }
    };
    let Some(wanted) = Wanted::new(desired, &terms, ca, verification, commits) else {
        return Ok(Resolution::in_pod(terms));
    };
    let Some(answer) = in_process.answer(schema, &wanted) else {
        return Ok(Resolution::in_pod(terms));
    };
    Ok(Resolution {
        evidence: SourceEvidence::InManager { terms, answer },
        content: None,
        wanted: Some(wanted),
    })
}

/// Where the certificate authorities of the source stand, and under which field.
fn authorities(desired: &DesiredSource) -> Option<(&ConfigMapKeySelector, &'static str)> {
    let git = desired.git.as_ref().and_then(|git| git.ca_from.as_ref());
    let transport = desired.transport.as_ref();
    let registry = transport.and_then(|transport| transport.ca_from.as_ref());
    git.map(|ca| (ca, "spec.desired.git.caFrom"))
        .or(registry.map(|ca| (ca, "spec.desired.transport.caFrom")))
}

/// Whether a Pod may be made for this repository at all.
fn admitted(git: &GitSource, policy: Option<&SourcePolicy>) -> Result<(), Failure> {
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
