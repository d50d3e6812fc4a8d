//! The init container that reaches a Git repository or a registry: resolves, verifies, and writes the checked files.
//!
//! Promises: it holds no database URL; a file is written only after its content gave its digest; why the source was
//! refused is delivered as the operation's result, since the container that would deliver another one never starts.

use std::path::Path;
use std::time::Duration;

use ptah_contract::artifact::Verification;
use ptah_contract::commit::CommitVerification;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{
    Outcome, Request, SourceReport, SourceRequest, Step, StepFailure, TrustedRootRequest, paths,
};
use ptah_resolver::content;
use ptah_resolver::net::{self, Network};
use ptah_resolver::oci::EvidenceLimits;
use ptah_resolver::source::{self, Access, HeldTo};
use ptah_verifier::{CommitPolicy, Policy, PolicyDocument, Root, RootReference};
use tokio_util::sync::CancellationToken;

use super::deliver::Delivery;
use super::outcome;

/// Attempts after the first, while what went wrong may pass by itself.
const MORE_ATTEMPTS: usize = 2;

/// Runs it. The report stands in a file that the main container reads and cannot change.
pub(super) async fn run(request: &Request, stop: CancellationToken) -> Result<(), Failure> {
    let limit = Duration::from_secs(request.deadline_seconds);
    let delivery = Delivery::new(request, limit)?;
    // Nothing is fetched for a claim that is not live.
    delivery.begin().await?;
    let found = match reach(request, limit, stop).await {
        Ok(report) => write(&report).map_err(|failure| StepFailure {
            step: Step::Resolve,
            failure,
        }),
        Err(failed) => Err(failed),
    };
    let Err(failed) = found else {
        return Ok(());
    };
    let why = failed.failure.clone();
    delivery
        .upload(&Outcome {
            failure: Some(failed),
            ..outcome::empty(request)
        })
        .await?;
    Err(why)
}

async fn reach(
    request: &Request,
    limit: Duration,
    stop: CancellationToken,
) -> Result<SourceReport, StepFailure> {
    let at = |step| move |failure| StepFailure { step, failure };
    let wanted = request.source.as_ref().ok_or_else(|| {
        at(Step::Resolve)(Failure::new(
            "invalid_request",
            FailureClass::Internal,
            "the request names no source",
        ))
    })?;
    let mut attempt = net::Limits::default();
    attempt.total = attempt.total.min(limit);
    let access = Access {
        ca: authorities().map_err(at(Step::Resolve))?,
        secret: secret().map(Path::to_owned),
        // The tenant's own.
        network: Network::any(),
        scratch: Some(paths::WORK_DIR.into()),
        out: Some(paths::CONTENT_DIR.into()),
        attempt,
        content: content::Limits::default(),
        evidence: EvidenceLimits::default(),
        // The container's own limit holds.
        unpacked_bytes: None,
        more_attempts: MORE_ATTEMPTS,
        stop,
    };
    // The policy is read before anything is fetched: one that cannot be read refuses without a request.
    let policy = policy(wanted).map_err(at(Step::Verify))?;
    let commits = commits(wanted).map_err(at(Step::Resolve))?;
    let held_to = HeldTo {
        artifact: policy.as_ref().map(|policy| policy as &dyn Verification),
        commit: commits.as_ref().map(|commits| commits as &dyn CommitVerification),
    };
    source::reach(wanted, &access, held_to).await
}

/// Whose signatures a commit is held to.
fn commits(wanted: &SourceRequest) -> Result<Option<CommitPolicy>, Failure> {
    let Some(terms) = &wanted.commit_verification else {
        return Ok(None);
    };
    let path = Path::new(paths::COMMIT_KEYS_FILE);
    let keys = optional(path, "git.verification.keysFrom", "commit_keys_missing")?.unwrap_or_default();
    let policy = CommitPolicy::new(
        terms.mode,
        terms.committers.clone(),
        &keys,
        terms.keys_uid.clone(),
    )
    .map_err(|error| Failure::new(error.code(), error.class(), error.to_string()))?;
    if policy.terms() != terms {
        return Err(Failure::new(
            "policy_changed",
            FailureClass::Transient,
            "the keys of git.verification are not those that this operation was claimed for",
        ));
    }
    Ok(Some(policy))
}

fn policy(wanted: &SourceRequest) -> Result<Option<Policy>, Failure> {
    let Some(wanted) = &wanted.verification else {
        return Ok(None);
    };
    let path = Path::new(paths::VERIFICATION_POLICY_FILE);
    let bytes = optional(path, "verificationPolicyFrom", "policy_missing")?.unwrap_or_default();
    let read = |error: ptah_verifier::Error| Failure::new(error.code(), error.class(), error.to_string());
    let document = PolicyDocument::parse(&bytes).map_err(read)?;
    let roots = roots(&wanted.roots)?;
    // Covers the bytes of the policy and of its roots, and the UIDs that the manager saw; first, since another root may
    // be none at all.
    if document.digest(&roots).map_err(read)? != wanted.policy_digest {
        return Err(Failure::new(
            "policy_changed",
            FailureClass::Transient,
            "the verification policy, or a trusted root that it names, is not the one that this operation was claimed for",
        ));
    }
    document.bind(&roots).map(Some).map_err(read)
}

/// The trusted roots of the request, each from its own file.
fn roots(wanted: &[TrustedRootRequest]) -> Result<Vec<Root>, Failure> {
    let wanted = wanted.iter().enumerate();
    wanted
        .map(|(at, root)| {
            let path = Path::new(&paths::trusted_root_dir(at)).join(paths::TRUSTED_ROOT_FILE);
            let bytes = optional(&path, "trusted_root_from", "trusted_root_missing")?;
            Ok(Root {
                reference: RootReference {
                    name: root.name.clone(),
                    key: root.key.clone(),
                },
                uid: root.uid.clone(),
                bytes: bytes.unwrap_or_default(),
            })
        })
        .collect()
}

/// The bytes of the certificate authorities that the spec names; the volume is there only when it names them.
fn authorities() -> Result<Option<Vec<u8>>, Failure> {
    optional(Path::new(paths::SOURCE_CA_FILE), "caFrom", "source_ca_missing")
}

/// The folder of the Secret's keys, when the spec names a Secret.
fn secret() -> Option<&'static Path> {
    let folder = Path::new(paths::SOURCE_AUTH_DIR);
    folder.is_dir().then_some(folder)
}

/// A file of a volume that is there only when the spec asks for it: no volume is none, an empty one is a mistake.
fn optional(path: &Path, field: &str, code: &str) -> Result<Option<Vec<u8>>, Failure> {
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::new(
            code,
            FailureClass::Input,
            format!(
                "spec.desired: the ConfigMap of {field} is not there, or does not hold the key that is named"
            ),
        )),
        Err(error) => Err(Failure::new(
            "io_failed",
            FailureClass::Transient,
            format!("{field} cannot be read: {}", error.kind()),
        )),
    }
}

fn write(report: &SourceReport) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(report)
        .map_err(|error| Failure::new("internal", FailureClass::Internal, error.to_string()))?;
    std::fs::write(paths::SOURCE_REPORT_FILE, bytes).map_err(|error| {
        Failure::new(
            "io_failed",
            FailureClass::Transient,
            format!("the report cannot be written: {}", error.kind()),
        )
    })
}

/// What the init container found, for the main container; `None` where there was none.
pub(super) fn report() -> Result<Option<SourceReport>, Failure> {
    let path = Path::new(paths::SOURCE_REPORT_FILE);
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    let broken = |what: String| {
        Failure::new(
            "source_report_unreadable",
            FailureClass::Internal,
            format!("what the init container found cannot be read: {what}"),
        )
    };
    let bytes = std::fs::read(path).map_err(|error| broken(error.kind().to_string()))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| broken(error.to_string()))
}
