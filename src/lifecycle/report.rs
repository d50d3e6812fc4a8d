//! How verdicts read: conditions and messages that say what to do next.

use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{DatabaseTarget, Phase, SourceStatus};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{Step as OperationStep, StepFailure};

use super::evidence::ResolvedSource;
use super::pass::Pass;
use super::source;
use super::step::Step;

/// A failure as one line: what, where, and who can end it.
pub(super) fn sentence(failure: &Failure) -> String {
    let mut text = format!("{}: {}", failure.code, failure.message);
    if let Some(object) = failure
        .object
        .as_ref()
        .filter(|object| !failure.message.contains(object.as_str()))
    {
        text.push_str(&format!(" ({object})"));
    }
    if let Some(statement) = failure.statement {
        text.push_str(&format!(", at statement {statement}"));
    }
    if let Some(sqlstate) = &failure.sqlstate {
        text.push_str(&format!(", SQLSTATE {sqlstate}"));
    }
    text.push_str(match failure.class {
        FailureClass::Transient => "; it may pass by itself and is tried again",
        FailureClass::Input => "; it needs an edit",
        FailureClass::Refused => "; a rule refuses it",
        FailureClass::Attention => "; a person must look",
        FailureClass::Internal => "; this is a defect of the operator, please report it",
    });
    text
}

/// The Secret that a target names, and where it names it.
pub(super) fn secret(target: &DatabaseTarget) -> String {
    match (&target.url_from, &target.connection_from) {
        (Some(url), _) => format!(
            "Secret {:?} with key {:?} (spec.target.urlFrom)",
            url.name, url.key
        ),
        (None, Some(keys)) => format!("Secret {:?} (spec.target.connectionFrom)", keys.name),
        (None, None) => "the Secret of spec.target".to_owned(),
    }
}

/// The source was read.
pub(super) fn snapshot_taken(pass: &mut Pass<'_>, source: &ResolvedSource) {
    pass.set(
        types::ARTIFACT_RESOLVED,
        "True",
        reasons::SNAPSHOT_TAKEN,
        &format!(
            "ConfigMap {}: {} files, {} bytes, content {}",
            source.config_map.name, source.files, source.bytes, source.content_digest
        ),
    );
    pass.clear(types::ARTIFACT_VERIFIED);
}

/// The content of a source on a network was found.
pub(super) fn resolved(pass: &mut Pass<'_>, source: &SourceStatus) {
    let what = format!(
        "{} files, {} bytes, content {}",
        source.files, source.bytes, source.content_digest
    );
    if let Some(git) = &source.git {
        let by = git.resolved_ref.as_deref().unwrap_or("its id");
        let message = format!("commit {} of {}, by {by}: {what}", git.commit, git.repository);
        pass.set(
            types::ARTIFACT_RESOLVED,
            "True",
            reasons::COMMIT_RESOLVED,
            &message,
        );
        match &git.verification {
            None => pass.clear(types::ARTIFACT_VERIFIED),
            Some(verification) => pass.set(
                types::ARTIFACT_VERIFIED,
                "True",
                reasons::COMMIT_SIGNATURE_VERIFIED,
                &verification.satisfied.join("; "),
            ),
        }
    }
    if let Some(artifact) = &source.artifact {
        let message = format!("{}: {what}", artifact.resolved_reference);
        pass.set(types::ARTIFACT_RESOLVED, "True", reasons::DIGEST_PINNED, &message);
        let mut message = format!("policy {} is satisfied", artifact.verification_policy_digest);
        if !artifact.satisfied.is_empty() {
            message = format!("{message}: {}", artifact.satisfied.join("; "));
        }
        pass.set(
            types::ARTIFACT_VERIFIED,
            "True",
            reasons::POLICY_SATISFIED,
            &message,
        );
    }
}

/// The source could not be resolved, or not be verified.
pub(super) fn source_failed(mut pass: Pass<'_>, effective: &Effective, failed: &StepFailure) -> Step {
    let message = sentence(&failed.failure);
    if failed.step == OperationStep::Resolve {
        let reason = match failed.failure.code.as_str() {
            "source_policy_refused" => reasons::SOURCE_POLICY_REFUSED,
            "commit_signature_refused" => reasons::COMMIT_SIGNATURE_REFUSED,
            _ => reasons::RESOLVE_FAILED,
        };
        if reason == reasons::COMMIT_SIGNATURE_REFUSED {
            // What an approval was given for is no longer what the ref leads to.
            pass.set(types::ARTIFACT_VERIFIED, "False", reason, &message);
            pass.retire_plan();
        }
        return resolve_failed(pass, effective, reason, &message);
    }
    if failed.failure.code != "policy_refused" {
        return step_failed(pass, effective, failed.step, reasons::OPERATION_FAILED, &message);
    }
    pass.drop_claim();
    pass.phase(Phase::Resolving);
    pass.phase(Phase::Verifying);
    source::refused(&mut pass, &message);
    pass.phase(Phase::Blocked);
    pass.blocked(reasons::POLICY_REFUSED, &message);
    pass.emit(true, reasons::POLICY_REFUSED, message);
    pass.finish_at(effective.interval.duration())
}

/// The source could not be read.
pub(super) fn resolve_failed(
    mut pass: Pass<'_>,
    effective: &Effective,
    reason: &'static str,
    message: &str,
) -> Step {
    let known: Option<&SourceStatus> = pass.status.source.as_ref();
    if known.is_some() && reason == reasons::RESOLVE_FAILED {
        pass.set(
            types::ARTIFACT_RESOLVED,
            "Unknown",
            reasons::REFRESH_FAILED,
            message,
        );
        pass.set(
            types::IN_SYNC,
            "Unknown",
            reasons::SOURCE_FRESHNESS_UNKNOWN,
            message,
        );
    } else {
        pass.set(types::ARTIFACT_RESOLVED, "False", reason, message);
        pass.set(types::PLAN_READY, "False", reasons::SOURCE_UNRESOLVED, message);
        pass.set(types::IN_SYNC, "Unknown", reasons::SOURCE_UNRESOLVED, message);
    }
    step_failed(pass, effective, OperationStep::Resolve, reason, message)
}

/// An attempt failed. The resource rests in `Failed` and starts over after the retry interval.
pub(super) fn step_failed(
    mut pass: Pass<'_>,
    effective: &Effective,
    step: OperationStep,
    reason: &'static str,
    message: &str,
) -> Step {
    let text = format!("{}: {message}", step.name());
    pass.drop_claim();
    let repeated = ptah_api::conditions::find(
        &pass.schema.status.clone().unwrap_or_default().conditions,
        types::RECONCILIATION_FAILED,
    )
    .is_some_and(|before| before.status == "True" && before.message == text);
    pass.phase(Phase::Failed);
    pass.failed(reason, &text);
    if !repeated {
        pass.emit(true, reasons::OPERATION_FAILED, text);
    }
    pass.finish_at(effective.failure_retry_interval.duration())
}

/// The database was reached, or not.
pub(super) fn database_unreached(pass: &mut Pass<'_>, failure: &Failure) {
    // The engine's codes for what happens before it has a session (`engine/src/error.rs`).
    const CONNECTING: [&str; 12] = [
        "malformed_target",
        "authentication_failed",
        "database_not_found",
        "connection_refused",
        "host_unreachable",
        "name_not_resolved",
        "connect_timeout",
        "connection_lost",
        "server_unavailable",
        "tls_failed",
        "certificate_not_trusted",
        "transaction_pooler",
    ];
    if CONNECTING.contains(&failure.code.as_str()) {
        pass.set(
            types::DATABASE_REACHABLE,
            "False",
            reasons::OPERATION_FAILED,
            &sentence(failure),
        );
    }
}
