//! Whose signatures a commit must carry: bound into plans, told, and believed no longer than they are there.

use ptah_api::conditions::types;
use ptah_api::{CommitTermsStatus, GitVerificationMode, Phase, SourceTerms};
use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::Step as OperationStep;
use serde_json::{Value, json};

use super::super::evidence::SourceEvidence;
use super::runner::failure;
use super::sources::{git_world, pair};
use super::world::World;

fn terms(keys: &str, mode: GitVerificationMode, committers: &[&str]) -> CommitTermsStatus {
    CommitTermsStatus {
        mode,
        committers: committers.iter().map(|one| (*one).to_owned()).collect(),
        keys_uid: format!("uid-{keys}"),
        keys_digest: Digest::of(keys.as_bytes()),
    }
}

fn hold(world: &mut World, terms: CommitTermsStatus) {
    world.source = SourceEvidence::InPod(SourceTerms {
        commit_verification: Some(terms),
        ..SourceTerms::default()
    });
}

/// A world whose commits are held to signatures.
pub(super) fn signed_world(spec: Value) -> World {
    let mut world = git_world(spec);
    hold(&mut world, terms("keys", GitVerificationMode::Head, &[]));
    world
}

#[test]
fn a_verified_commit_is_told_with_who_signed_it_and_bound_into_the_plan() {
    for looks in [false, true] {
        let mut world = signed_world(json!({}));
        if looks {
            world = world.manager_looks();
        }
        world.settle();
        assert_eq!(world.phase(), Phase::AwaitingApproval, "{looks}");
        assert_eq!(
            world.condition(types::ARTIFACT_VERIFIED),
            pair("True", "CommitSignatureVerified")
        );
        let asked = terms("keys", GitVerificationMode::Head, &[])
            .to_contract()
            .digest();
        let source = world.status().source.unwrap();
        let verification = source.git.as_ref().unwrap().verification.clone().unwrap();
        assert_eq!(verification.digest, asked);
        assert_eq!(verification.satisfied, ["commit_signature: by somebody"]);
        let mut unsigned = git_world(json!({}));
        unsigned.settle();
        let fingerprint = |world: &World| world.status().plan.unwrap().fingerprint;
        assert_ne!(fingerprint(&world), fingerprint(&unsigned));
    }
}

#[test]
fn a_source_without_signatures_binds_as_it_did_before_there_were_any() {
    let mut world = git_world(json!({}));
    world.settle();
    let source = world.status().source.unwrap();
    let before = json!({
        "source": source.binding(), "sourcePolicy": null, "verificationPolicy": null,
    });
    let before = ptah_contract::canonical::digest(&before).unwrap();
    assert_eq!(source.binding_digest(), Some(before));
    assert_eq!(world.condition(types::ARTIFACT_VERIFIED), pair("", ""));
}

#[test]
fn whatever_is_asked_otherwise_is_read_at_once_and_retires_the_plan() {
    for (name, asked) in [
        ("keys", terms("others", GitVerificationMode::Head, &[])),
        ("mode", terms("keys", GitVerificationMode::TagAndHead, &[])),
        (
            "committers",
            terms("keys", GitVerificationMode::Head, &["me@example.com"]),
        ),
    ] {
        let mut world = signed_world(json!({}));
        world.settle();
        let (plan, jobs) = (world.status().plan.unwrap(), world.created.len());
        hold(&mut world, asked);
        world.settle();
        assert!(world.created.len() > jobs, "{name}");
        assert_ne!(
            world.status().plan.unwrap().fingerprint,
            plan.fingerprint,
            "{name}"
        );
    }
}

#[test]
fn a_tip_that_no_longer_verifies_takes_its_plan_with_it_and_one_that_does_again_is_planned() {
    for looks in [false, true] {
        let mut world = signed_world(json!({}));
        if looks {
            world = world.manager_looks();
        }
        world.settle();
        world.push("unsigned");
        world.refuse_next = Some((
            OperationStep::Resolve,
            failure("commit_signature_refused", FailureClass::Refused),
        ));
        world.advance(601);
        world.settle();
        assert_eq!(world.phase(), Phase::Failed, "{looks}");
        for kind in [types::ARTIFACT_RESOLVED, types::ARTIFACT_VERIFIED] {
            assert_eq!(world.condition(kind), pair("False", "CommitSignatureRefused"));
        }
        assert_eq!(
            world.condition(types::RECONCILIATION_FAILED),
            pair("True", "CommitSignatureRefused")
        );
        assert_eq!(
            world.status().plan,
            None,
            "an approval of it finds nothing to run"
        );
        world.advance(31);
        world.settle();
        assert_eq!(world.phase(), Phase::AwaitingApproval, "{looks}");
        assert_eq!(
            world.condition(types::ARTIFACT_VERIFIED),
            pair("True", "CommitSignatureVerified")
        );
    }
}
