//! An approval is admitted for the plan that waits and for nothing else, in the requester's own name.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request as HttpRequest, StatusCode, Uri};
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::Client;
use ptah_api::{PtahSchema, PtahSchemaPlan};
use serde_json::{Value, json};

use super::approval::{Refusal, Request, Stamp, Written, decide};
use super::*;

const DIGEST: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const EPOCH: &str = "v1-00000000000000000000000000000001";

/// A schema that waits for an approval, and its plan.
fn world() -> (Value, Value) {
    let binding = json!({
        "contractVersion": 2, "resourceUID": "schema-uid", "source": {"kind": "configMap", "uid": "source-uid"},
        "contentDigest": DIGEST, "planDigest": DIGEST, "coordinationDigest": DIGEST,
        "targetIdentityDigest": DIGEST, "actualStateFingerprint": DIGEST, "desiredStateFingerprint": DIGEST,
        "policyFingerprint": DIGEST, "verificationPolicy": null, "sourcePolicy": null, "commitVerification": null,
        "executionBinding": {"epoch": EPOCH, "controllerStateVersion": 1, "engineVersion": "1",
            "runnerImage": "r@sha256:1", "protocolVersion": 1},
        "destructive": false, "privilegeChanges": [], "statementCount": 1,
    });
    let mut plan = json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaPlan",
        "metadata": {"name": "ptah-plan-1", "namespace": "application", "uid": "plan-uid"},
        "spec": {"schemaRef": {"name": "application", "uid": "schema-uid"}, "fingerprint": "", "binding": binding,
            "size": 1, "dialect": "postgres", "chunks": [],
            "recorded": {"controllerImage": "m", "controllerRevision": "1", "source": "s"}},
        "status": {"conditions": [condition("Ready")]},
    });
    sign(&mut plan);
    let schema = json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
        "metadata": {"name": "application", "namespace": "application", "uid": "schema-uid", "generation": 3},
        "spec": {"target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "d", "key": "url"}},
            "desired": {"configMap": {"name": "sql"}}},
        "status": {
            "observedGeneration": 3, "phase": "AwaitingApproval", "conditions": [condition("ApprovalRequired")],
            "executionBinding": {"epoch": EPOCH, "controllerStateVersion": 1, "ptahVersion": "1",
                "executorImage": "r@sha256:1", "runnerProtocolVersion": 1},
            "plan": {"name": "ptah-plan-1", "uid": "plan-uid", "fingerprint": plan["spec"]["fingerprint"],
                "planDigest": DIGEST, "contentDigest": DIGEST, "coordinationDigest": DIGEST,
                "targetIdentityDigest": DIGEST, "policyFingerprint": DIGEST, "executionBindingID": EPOCH,
                "destructive": false, "statementCount": 1, "size": 1, "chunks": 1,
                "createdAt": "2026-01-01T00:00:00Z"},
        },
    });
    (schema, plan)
}

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"})
}

/// Gives a plan the fingerprint of its binding.
fn sign(plan: &mut Value) {
    let parsed: ptah_contract::plan_contract::SchemaPlanBinding =
        serde_json::from_value(plan["spec"]["binding"].clone()).unwrap();
    plan["spec"]["fingerprint"] = parsed.fingerprint().unwrap().to_string().into();
}

fn written(schema: &Value) -> Value {
    json!({"schemaRef": {"name": "application", "uid": "schema-uid"},
        "planRef": {"name": "ptah-plan-1", "uid": "plan-uid"},
        "planFingerprint": schema["status"]["plan"]["fingerprint"]})
}

fn user() -> UserInfo {
    UserInfo {
        username: Some("ada".into()),
        uid: Some("17".into()),
        groups: Some((0..100).map(|n| format!("g{n}")).collect()),
        extra: None,
    }
}

fn ask(schema: &Value, plan: Option<&Value>, written: &Value, user: &UserInfo) -> Result<Stamp, Refusal> {
    let written: Written = serde_json::from_value(written.clone()).unwrap();
    let schema: Option<PtahSchema> = serde_json::from_value(schema.clone()).unwrap();
    let plan: Option<PtahSchemaPlan> = plan.map(|plan| serde_json::from_value(plan.clone()).unwrap());
    let request = Request {
        uid: "request-1",
        namespace: "application",
        user,
        written: &written,
    };
    decide(
        &request,
        schema.as_ref(),
        plan.as_ref(),
        "2026-02-03T04:05:06.789Z".parse::<Timestamp>().unwrap(),
    )
}

#[test]
fn promise_p015_the_stamp_is_the_requester_the_clock_and_the_request() {
    let (schema, plan) = world();
    let stamp = ask(&schema, Some(&plan), &written(&schema), &user()).unwrap();
    let patch: Value = stamp.patch().unwrap();
    let groups: Vec<String> = (0..64).map(|n| format!("g{n}")).collect();
    assert_eq!(
        patch,
        json!([
            {"op": "add", "path": "/spec/approver", "value": {"username": "ada", "uid": "17", "groups": groups}},
            {"op": "add", "path": "/spec/approvedAt", "value": "2026-02-03T04:05:06Z"},
            {"op": "add", "path": "/spec/mutationRequestUID", "value": "request-1"},
        ])
    );
}

/// Each row breaks one thing, at one place, and names the refusal's own words.
#[test]
fn promise_p015_anything_but_the_plan_that_waits_is_refused_and_says_what_to_do() {
    let table = [
        ("schema", "/metadata/uid", json!("other"), "was made again"),
        (
            "schema",
            "/metadata/deletionTimestamp",
            json!("2026-01-01T00:00:00Z"),
            "is being deleted",
        ),
        (
            "schema",
            "/metadata/generation",
            json!(4),
            "has not answered the edit yet",
        ),
        (
            "schema",
            "/status/phase",
            json!("Blocked"),
            "does not wait for an approval (phase Blocked)",
        ),
        (
            "schema",
            "/status/conditions/0/status",
            json!("False"),
            "does not wait for an approval",
        ),
        (
            "schema",
            "/status/plan",
            json!(null),
            "does not wait for an approval",
        ),
        (
            "schema",
            "/status",
            json!(null),
            "does not wait for an approval (phase Pending)",
        ),
        ("schema", "/status/activeOperation", operation(), "is under way"),
        (
            "schema",
            "/status/plan/approval",
            approved(),
            "approved already, by first",
        ),
        (
            "schema",
            "/status/plan/name",
            json!("ptah-plan-2"),
            "spec.planRef.name is not that of the plan that waits",
        ),
        (
            "schema",
            "/status/plan/uid",
            json!("other"),
            "spec.planRef.uid is not that of the plan that waits",
        ),
        (
            "schema",
            "/status/plan/fingerprint",
            json!(DIGEST),
            "spec.planFingerprint is not that of the plan that waits",
        ),
        (
            "schema",
            "/status/executionBinding/epoch",
            json!("v1-2"),
            "another version of the operator",
        ),
        ("plan", "/metadata/uid", json!("other"), "its UID is another"),
        (
            "plan",
            "/spec/fingerprint",
            json!(DIGEST),
            "its fingerprint is another",
        ),
        (
            "plan",
            "/spec/binding/statementCount",
            json!(2),
            "its binding does not give its fingerprint",
        ),
        (
            "plan",
            "/spec/schemaRef/uid",
            json!("other"),
            "it is for another schema",
        ),
        (
            "plan",
            "/status/conditions/0/status",
            json!("False"),
            "is not Ready",
        ),
        ("plan", "/status", json!(null), "is not Ready"),
    ];
    for (whose, pointer, value, words) in table {
        let (mut schema, mut plan) = world();
        let request = written(&schema);
        set(
            if whose == "schema" { &mut schema } else { &mut plan },
            pointer,
            value,
        );
        let refusal = ask(&schema, Some(&plan), &request, &user()).expect_err(pointer);
        assert!(refusal.to_string().contains(words), "{whose}{pointer}: {refusal}");
    }
    let (schema, plan) = world();
    let none = ask(&Value::Null, Some(&plan), &written(&schema), &user());
    assert_eq!(none, Err(Refusal::NoSchema("application/application".into())));
    assert_eq!(
        ask(&schema, None, &written(&schema), &user()),
        Err(Refusal::NoPlan("ptah-plan-1".into()))
    );
    let nobody = UserInfo::default();
    assert_eq!(
        ask(&schema, Some(&plan), &written(&schema), &nobody),
        Err(Refusal::Anonymous)
    );
}

#[test]
fn promise_p031_a_destructive_plan_needs_the_policy_and_the_approval() {
    let (mut schema, mut plan) = world();
    set(&mut plan, "/spec/binding/destructive", json!(true));
    sign(&mut plan);
    set(
        &mut schema,
        "/status/plan/fingerprint",
        plan["spec"]["fingerprint"].clone(),
    );
    let refused = ask(&schema, Some(&plan), &written(&schema), &user());
    assert_eq!(refused, Err(Refusal::Destructive("ptah-plan-1".into())));
    set(&mut schema, "/spec/policy", json!({"allowDestructive": true}));
    assert!(ask(&schema, Some(&plan), &written(&schema), &user()).is_ok());
}

/// The webhook over HTTP, with an API server that holds these two objects.
async fn review(schema: Value, plan: Value, object: Value, operation: &str) -> Value {
    let objects = Arc::new((schema, plan));
    let api = axum::Router::new().fallback(move |uri: Uri| {
        let objects = objects.clone();
        async move {
            let base = "/apis/operator.ptah.run/v1alpha1/namespaces/application";
            match uri.path().strip_prefix(base) {
                Some("/ptahschemas/application") => axum::Json(objects.0.clone()).into_response(),
                Some("/ptahschemaplans/ptah-plan-1") => axum::Json(objects.1.clone()).into_response(),
                Some("/ptahschemas/broken") => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                _ => {
                    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                        "reason": "NotFound", "message": "no", "code": 404});
                    (StatusCode::NOT_FOUND, axum::Json(status)).into_response()
                }
            }
        }
    });
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "request-1", "namespace": "application", "operation": operation, "name": "first",
        "kind": {"group": "operator.ptah.run", "version": "v1alpha1", "kind": "PtahSchemaApproval"},
        "resource": {"group": "operator.ptah.run", "version": "v1alpha1", "resource": "ptahschemaapprovals"},
        "userInfo": {"username": "ada", "groups": ["dbas"]}, "object": object, "dryRun": false}});
    let request = HttpRequest::post(APPROVALS_PATH)
        .header("content-type", "application/json")
        .body(kube::client::Body::from(review.to_string().into_bytes()))
        .unwrap();
    // A kube client is also a plain HTTP client over whatever service it is given.
    let response = Client::new(router(Client::new(api, "default")), "default")
        .send(request)
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let body = to_bytes(Body::new(response.into_body()), usize::MAX)
        .await
        .unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn object(spec: Value) -> Value {
    json!({"apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval",
        "metadata": {"name": "first", "namespace": "application"}, "spec": spec})
}

#[tokio::test]
async fn promise_p015_the_webhook_patches_what_the_person_left_out_and_replaces_what_they_forged() {
    let (schema, plan) = world();
    let mut spec = written(&schema);
    spec["approver"] = json!({"username": "somebody else"});
    let answer = review(schema, plan, object(spec), "CREATE").await;
    assert_eq!(answer["response"]["uid"], "request-1");
    assert_eq!(answer["response"]["allowed"], true);
    let patch: Vec<u8> = serde_json::from_value(answer["response"]["patch"].clone()).unwrap();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(patch[0]["value"], json!({"username": "ada", "groups": ["dbas"]}));
    assert_eq!(patch[2]["value"], "request-1");
}

#[tokio::test]
async fn a_refusal_reaches_the_requester_in_words() {
    let (schema, plan) = world();
    let ask =
        |spec: Value, operation: &'static str| review(schema.clone(), plan.clone(), object(spec), operation);
    let malformed = ask(json!({"schemaRef": {"name": "application"}}), "CREATE").await;
    assert_eq!(malformed["response"]["allowed"], false);
    assert_eq!(malformed["response"]["status"]["code"], 403);
    let message = malformed["response"]["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("spec must name schemaRef (name, uid)"),
        "{message}"
    );

    let mut absent = written(&schema);
    absent["schemaRef"]["name"] = "absent".into();
    let message = ask(absent, "CREATE").await["response"]["status"]["message"].clone();
    assert!(
        message
            .as_str()
            .unwrap()
            .contains("there is no ptahschema application/absent"),
        "{message}"
    );

    let mut broken = written(&schema);
    broken["schemaRef"]["name"] = "broken".into();
    assert_eq!(ask(broken, "CREATE").await["response"]["status"]["code"], 503);
    assert_eq!(
        ask(written(&schema), "UPDATE").await["response"]["allowed"],
        false
    );
}

fn operation() -> Value {
    json!({"type": "Observe", "steps": ["Observe"], "id": "1", "inputFingerprint": DIGEST, "jobName": "j",
        "generation": 3, "startedAt": "2026-01-01T00:00:00Z", "attempt": 1, "executionBindingID": EPOCH,
        "coordinationDigest": DIGEST})
}

fn approved() -> Value {
    json!({"name": "first", "uid": "1", "approver": {"username": "bob"}, "approvedAt": "2026-01-01T00:00:00Z"})
}

/// Sets one value by JSON pointer; `null` takes it away.
fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap();
    match parent {
        Value::Object(map) if value.is_null() => drop(map.remove(key)),
        Value::Object(map) => drop(map.insert(key.to_owned(), value)),
        _ => panic!("{pointer}"),
    }
}
