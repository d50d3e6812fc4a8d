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

fn reading() -> serde_json::Value {
    let digest = Digest::of(b"").to_string();
    serde_json::json!({
        "version": 1, "operation": "Observe", "operationId": "op",
        "source": {"found": {"revision": "c0ffee", "ref": "refs/heads/main", "contentDigest": digest}},
        "target": {"identityDigest": digest, "dialect": "postgres", "serverVersion": "17.10"},
        "observe": {"fingerprint": digest, "scope": ["public"], "steady": true},
    })
}

#[test]
fn a_reading_of_a_source_reads_back_as_itself_and_an_impossible_one_is_refused() {
    assert_eq!(
        serde_json::to_value(read(&reading()).unwrap()).unwrap(),
        reading()
    );
    let mut lacking = reading();
    lacking["observe"]["steady"] = false.into();
    lacking["observe"]["filesMissing"] = true.into();
    assert!(read(&lacking).is_ok());
    lacking["source"]["fetched"] = serde_json::json!({"bytes": 1, "files": 1});
    assert!(read(&lacking).is_err(), "files that were fetched are not missing");
    let mut both = reading();
    both["observe"]["filesMissing"] = true.into();
    assert!(read(&both).is_err());
    let mut failed = reading();
    failed["failure"] = serde_json::json!({"step": "Resolve", "failure":
        {"code": "ref_missing", "class": "input", "message": "there is no ref"}});
    assert!(read(&failed).is_err(), "nothing is reached without the source");
    for key in ["source", "target", "observe"] {
        failed.as_object_mut().unwrap().remove(key);
    }
    assert!(read(&failed).is_ok());
}

fn request(
    steps: &[&str],
    content: Option<Digest>,
    source: serde_json::Value,
) -> Result<Request, RequestError> {
    let digest = Digest::of(b"");
    let operation = steps.last().unwrap();
    let mut value = serde_json::json!({
        "version": 1, "steps": steps, "engine": "postgresql", "coordinationDigest": digest, "deadlineSeconds": 60,
        "identity": {"namespace": "ns", "kind": "PtahSchema", "name": "app", "uid": "u", "generation": 1,
            "executionBinding": "v1-0", "inputFingerprint": digest, "operation": operation, "operationId": "op",
            "jobName": "job"},
        "policy": serde_json::to_value(crate::policy::SchemaPolicy::default()).unwrap(),
        "delivery": {"endpoint": "https://results", "trust": "PEM"},
    });
    if let Some(content) = content {
        value["contentDigest"] = content.to_string().into();
    }
    if !source.is_null() {
        value["source"] = source;
    }
    Request::from_bytes(value.to_string().as_bytes())
}

#[test]
fn a_request_knows_its_content_but_where_it_resolves_it() {
    let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
    let locator = serde_json::json!({"kind": "git", "repository": "https://git.example/a", "ref": "main", "path": "db"});
    let open = serde_json::json!({"locator": locator});
    let pinned =
        serde_json::json!({"locator": locator, "pinned": {"revision": "c0ffee", "contentDigest": one}});
    let none = serde_json::Value::Null;
    for (steps, content, source, may) in [
        (&["Observe"][..], Some(one), &none, true),
        (&["Observe"], None, &none, false),
        (&["Resolve", "Observe"], None, &open, true),
        (&["Resolve", "Observe"], Some(one), &open, false),
        (&["Observe"], None, &open, false),
        (&["Plan"], Some(one), &pinned, true),
        (&["Plan"], Some(two), &pinned, false),
        (&["Plan"], None, &pinned, false),
        (&["Resolve", "Observe"], Some(one), &pinned, false),
        (&["Plan"], Some(one), &open, false),
    ] {
        let read = request(steps, content, source.clone());
        assert_eq!(read.is_ok(), may, "{steps:?} {content:?} {source}: {read:?}");
    }
}
