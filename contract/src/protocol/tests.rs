//! Documents read back as themselves, and impossible ones are refused.

use super::*;
use crate::digest::Digest;

fn no_change_plan() -> serde_json::Value {
    let digest = Digest::of(b"").to_string();
    serde_json::json!({
        "version": 1, "operation": "Plan", "operationId": "op",
        "target": {"identityDigest": digest, "dialect": "postgres", "serverVersion": "17.10"},
        "plan": {"result": "NoChanges", "actualStateFingerprint": digest, "desiredStateFingerprint": digest,
                 "scope": ["public"]},
    })
}

fn read(value: &serde_json::Value) -> Result<Outcome, OutcomeError> {
    Outcome::from_bytes(value.to_string().as_bytes())
}

#[test]
fn an_outcome_reads_back_as_itself() {
    let outcome = read(&no_change_plan()).unwrap();
    assert_eq!(serde_json::to_value(&outcome).unwrap(), no_change_plan());
}

#[test]
fn an_impossible_outcome_is_refused_whole() {
    for (pointer, value) in [
        ("/version", serde_json::json!(2)),
        ("/operation", serde_json::json!("Observe")),
        ("/operation", serde_json::json!("Apply")),
        ("/target", serde_json::Value::Null),
        ("/plan/result", serde_json::json!("Changes")),
        ("/plan", serde_json::Value::Null),
    ] {
        let mut changed = no_change_plan();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(read(&changed).is_err(), "{pointer}");
    }
    let mut changed = no_change_plan();
    changed["surprise"] = true.into();
    assert!(read(&changed).is_err());
}

#[test]
fn plan_bytes_must_give_their_digest() {
    let mut changes = no_change_plan();
    changes["plan"]["result"] = "Changes".into();
    changes["plan"]["document"] = "{}".into();
    changes["plan"]["planDigest"] = Digest::of(b"{}").to_string().into();
    assert!(read(&changes).is_ok());
    changes["plan"]["document"] = "{} ".into();
    assert!(read(&changes).is_err());
}

#[test]
fn a_result_has_one_name_per_attempt() {
    let name = result_name("ns", "uid", "op", "job");
    assert_eq!(name.len(), "ptah-result-".len() + 64);
    assert_ne!(name, result_name("ns", "uid", "op", "job2"));
    assert_ne!(
        result_name("a", "b,c", "d", "e"),
        result_name("a,b", "c", "d", "e")
    );
}
