//! Sources: whether what is declared is still what was read, and what a resolution makes of the status.
//!
//! A ConfigMap is resolved by the manager, and its content is evidence. A Git repository and an OCI artifact are
//! resolved by the Pod that reads the database; before it has, all that is known is what it is held to. Where the
//! installation lets the manager look itself, it does so beside its passes, and its answer is evidence too.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ptah_api::conditions::{reasons, types};
use ptah_api::effective::Effective;
use ptah_api::{
    ArtifactStatus, CommitVerificationStatus, DesiredSource, GitRevisionStatus, Phase, PolicyBindingStatus,
    ProvenStatus, SourceStatus, SourceTerms,
};
use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::protocol::{FetchedReport, SourceReport, SourceRevision, VerifiedReport};
use serde_json::{Value, json};

use super::evidence::{Evidence, ResolvedSource, SourceAnswer, SourceEvidence};
use super::pass::Pass;
use super::step::{Effect, Requeue, Step};
use super::{cycle, report};

/// How long to wait for the manager's own look, when its end wakes nobody.
const ANSWER_POLL: Duration = Duration::from_secs(30);

/// Whether the source holds other files than the ones last resolved, is another object or place, or is held to
/// another policy. A source that cannot be read moves nothing: it is noticed at the next interval, and no plan runs
/// meanwhile.
pub(super) fn moved(pass: &Pass<'_>) -> bool {
    let was = pass.status.source.as_ref();
    match &pass.evidence.source {
        SourceEvidence::Resolved(now) => was.is_none_or(|was| {
            was.config_map.as_ref() != Some(&now.config_map)
                || was.content_digest != now.content_digest
                || was.source_policy != now.source_policy
        }),
        SourceEvidence::InPod(now) | SourceEvidence::InManager { terms: now, .. } => {
            was.is_none_or(|was| !answers(was, &pass.schema.spec.desired) || !held_to(was, now))
        }
        SourceEvidence::NotRead | SourceEvidence::Refused { .. } => false,
    }
}

/// Whether there is a reason to read the source now, before the interval or the pause after a failure is over. Another
/// place is another generation, and needs no telling here; of what would be found there nothing is known.
pub(super) fn edited(pass: &Pass<'_>) -> bool {
    match pass.evidence.source.terms() {
        Some(terms) => pass.status.source_terms.as_ref() != Some(terms),
        None => moved(pass),
    }
}

/// Whether the phase is the one in which the manager's own look is waited for.
pub(super) fn is_awaited(pass: &Pass<'_>) -> bool {
    pass.status.phase == Some(Phase::Resolving)
        && matches!(pass.evidence.source, SourceEvidence::InManager { .. })
}

/// Asks the manager for the content, and waits for it; `None` where it is not for the manager to find, or here. A cycle
/// that relies on nothing of before takes no answer that does. A resource at rest stays there meanwhile: nothing is
/// known yet that would speak against it.
pub(super) fn awaited(pass: &mut Pass<'_>, effective: &Effective) -> Option<Step> {
    let SourceEvidence::InManager { terms, answer } = &pass.evidence.source else {
        return None;
    };
    let rests = pass.status.observed_generation == Some(pass.schema.generation());
    let refresh = rests && pass.status.phase == Some(Phase::InSync) && !edited(pass);
    let anew = !(refresh && cycle::steady(pass, effective));
    match answer {
        SourceAnswer::Here { anew: is, .. } if *is || !anew => return None,
        SourceAnswer::Here { .. } | SourceAnswer::NotAsked => pass.after.push(Effect::AskSource { anew }),
        SourceAnswer::UnderWay => {}
    }
    let working = [Phase::Verifying, Phase::Observing, Phase::Planning];
    let phase = pass.status.phase.unwrap_or_default();
    if !rests || phase == Phase::Pending || working.contains(&phase) {
        if working.contains(&phase) {
            pass.phase(Phase::Pending);
        }
        pass.phase(Phase::Resolving);
        pass.status.source_terms = Some(terms.clone());
        pass.working("the source is being resolved");
    }
    Some(pass.take().finish(Requeue::After(ANSWER_POLL)))
}

/// Whether a status answers what is declared: the same place, asked for in the same words.
fn answers(was: &SourceStatus, desired: &DesiredSource) -> bool {
    match (&desired.git, &desired.oci_ref) {
        (Some(git), _) => was.git.as_ref().is_some_and(|was| {
            was.repository == git.repository && was.reference == git.reference && was.path == git.path
        }),
        (None, Some(reference)) => was
            .artifact
            .as_ref()
            .is_some_and(|was| was.requested_reference == *reference),
        (None, None) => false,
    }
}

fn held_to(was: &SourceStatus, now: &SourceTerms) -> bool {
    let verified_by = now
        .verification_policy
        .as_ref()
        .map(PolicyBindingStatus::to_contract);
    let signed_by = now
        .commit_verification
        .as_ref()
        .map(|terms| terms.to_contract().digest());
    was.source_policy == now.source_policy
        && was.verification_policy() == verified_by
        && was.commit_verification() == signed_by
}

/// What a claim that resolves the source itself is made from.
pub(super) fn claimed_from(desired: &DesiredSource, evidence: &Evidence) -> Value {
    json!({"desired": desired, "terms": evidence.source.terms()})
}

/// Whether a source is the one that the last no-change plan was made from, files and all.
pub(super) fn is_what_was_proven(source: &SourceStatus, proven: &ProvenStatus) -> bool {
    proven.content_digest == source.content_digest
        && proven.source_binding.is_some()
        && proven.source_binding == source.binding_digest()
}

/// Writes the snapshot again where somebody took it away, before an operation is claimed that reads it: the source
/// still gives the same bytes. Under a claim nothing is put back; its Pod refuses to start without them.
pub(super) fn keep_snapshot(pass: &mut Pass<'_>, content: Digest) {
    if let SourceEvidence::Resolved(source) = &pass.evidence.source
        && source.content_digest == content
        && !source.snapshot_present
    {
        pass.before.push(Effect::EnsureSnapshot);
    }
}

/// Records the content of a ConfigMap.
pub(super) fn take_config_map(pass: &mut Pass<'_>, source: &ResolvedSource) {
    let fresh = SourceStatus {
        config_map: Some(source.config_map.clone()),
        git: None,
        artifact: None,
        source_policy: source.source_policy.clone(),
        content_digest: source.content_digest,
        snapshot: Some(source.snapshot.clone()),
        files: source.files,
        bytes: source.bytes,
        resolved_at: pass.time(),
    };
    take(pass, fresh);
    report::snapshot_taken(pass, source);
}

/// Whether a Pod that fetched nothing found exactly what stands in status.
pub(super) fn is_known(pass: &Pass<'_>, found: &SourceRevision) -> bool {
    let was = pass.status.source.as_ref().and_then(SourceStatus::revision);
    !moved(pass)
        && was.is_some_and(|was| was.revision == found.revision && was.content_digest == found.content_digest)
}

/// The source is what it was: a refresh that failed in between is over. Who vouches for it may be others than before.
pub(super) fn reaffirm(pass: &mut Pass<'_>, verified: Option<&VerifiedReport>) {
    let Some(mut source) = pass.status.source.clone() else {
        return;
    };
    if let Some(verified) = verified {
        let satisfied = verified.bounded();
        if let Some(artifact) = &mut source.artifact {
            artifact.satisfied = satisfied;
        } else if let Some(commit) = source.git.as_mut().and_then(|git| git.verification.as_mut()) {
            commit.satisfied = satisfied;
        }
        pass.status.source = Some(source.clone());
    }
    report::resolved(pass, &source);
}

/// Records what was found.
pub(super) fn take_report(
    pass: &mut Pass<'_>,
    held: &SourceTerms,
    report: &SourceReport,
    fetched: &FetchedReport,
) {
    let (found, verified) = (&report.found, report.verified.as_ref());
    let desired = pass.schema.spec.desired.clone();
    let git = desired.git.map(|git| GitRevisionStatus {
        repository: git.repository,
        reference: git.reference,
        path: git.path,
        commit: found.revision.clone(),
        resolved_ref: found.reference.clone(),
        tag_object: found.tag_object.clone(),
        verification: held.commit_verification.as_ref().and(verified).map(|verified| {
            CommitVerificationStatus {
                digest: verified.policy_digest,
                satisfied: verified.bounded(),
            }
        }),
    });
    let requested = desired.oci_ref.unwrap_or_default();
    let fresh = SourceStatus {
        config_map: None,
        git,
        artifact: artifact_status(pass, &requested, held, report, fetched),
        source_policy: held.source_policy.clone(),
        content_digest: found.content_digest,
        snapshot: None,
        files: i32::try_from(fetched.files).unwrap_or(i32::MAX),
        bytes: i64::try_from(fetched.bytes).unwrap_or(i64::MAX),
        resolved_at: pass.time(),
    };
    report::resolved(pass, &fresh);
    take(pass, fresh);
}

fn artifact_status(
    pass: &Pass<'_>,
    requested: &str,
    held: &SourceTerms,
    report: &SourceReport,
    fetched: &FetchedReport,
) -> Option<ArtifactStatus> {
    let found = &report.found;
    let artifact = fetched.artifact.as_ref()?;
    let policy = held.verification_policy.as_ref()?;
    let before = pass
        .status
        .source
        .as_ref()
        .and_then(|was| was.artifact.as_ref())
        .filter(|was| was.verification_policy_digest == policy.digest && was.verified);
    let digest = found.revision.parse().ok()?;
    let verified_at = before
        .filter(|was| was.digest == digest)
        .map_or_else(|| pass.time(), |was| was.verified_at.clone());
    Some(ArtifactStatus {
        requested_reference: requested.to_owned(),
        resolved_reference: artifact.resolved_reference.clone(),
        digest,
        index_digest: found.index_digest,
        artifact_type: artifact.artifact_type.clone(),
        verified: true,
        verification_policy_uid: policy.uid.clone(),
        verification_policy_digest: policy.digest,
        satisfied: report
            .verified
            .as_ref()
            .map(VerifiedReport::bounded)
            .unwrap_or_default(),
        verified_at,
    })
}

/// A plan made from the old content retires, its snapshot goes, and a failing run's pauses end. The same content keeps
/// the instant at which it was first seen, whatever commit holds it now.
fn take(pass: &mut Pass<'_>, mut fresh: SourceStatus) {
    let was = pass.status.source.take();
    if let Some(was) = was
        .as_ref()
        .filter(|was| was.content_digest == fresh.content_digest)
    {
        fresh.resolved_at = Time(was.resolved_at.0);
    }
    if was.as_ref().is_none_or(|was| !was.binds_as(&fresh)) {
        pass.retire_plan();
        pass.after.push(Effect::CollectSnapshots);
    }
    if pass
        .status
        .failed_applies
        .as_ref()
        .is_some_and(|failed| failed.content_digest != fresh.content_digest)
    {
        pass.status.failed_applies = None;
    }
    pass.status.source = Some(fresh);
}

/// Whether what was resolved once can never be fetched again, as the resolver's codes say it.
pub(super) fn is_gone(failure: &Failure) -> bool {
    const GONE: [&str; 3] = ["commit_gone", "commit_not_found", "not_found"];
    GONE.contains(&failure.code.as_str())
}

/// A claim's Pod refused the artifact: nothing is planned from it.
pub(super) fn refused(pass: &mut Pass<'_>, message: &str) {
    pass.set(
        types::ARTIFACT_VERIFIED,
        "False",
        reasons::POLICY_REFUSED,
        message,
    );
    pass.set(types::PLAN_READY, "False", reasons::ARTIFACT_UNVERIFIED, message);
    pass.set(types::IN_SYNC, "Unknown", reasons::ARTIFACT_UNVERIFIED, message);
    if let Some(artifact) = pass
        .status
        .source
        .as_mut()
        .and_then(|source| source.artifact.as_mut())
    {
        artifact.verified = false;
    }
    pass.retire_plan();
}
