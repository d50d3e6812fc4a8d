//! Only the Pod of the live claim is let through, each refusal has its code, and nothing is stored by a refused one.

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kube::Client;
use ptah_contract::protocol::{OUTCOME_MEDIA_TYPE, RESULT_AUDIENCE, result_name};
use serde_json::{Value, json};

use super::fake::{Api, call};
use super::*;

const NOW: &str = "2026-02-03T04:05:06Z";
const TOKEN: &str = "header.secret-payload.signature";
const SCHEMA: &str = "/apis/operator.ptah.run/v1alpha1/namespaces/application/ptahschemas/shop";
const JOB: &str = "/apis/batch/v1/namespaces/application/jobs/job-1";
const POD: &str = "/api/v1/namespaces/application/pods/job-1-x";

fn fingerprint() -> String {
    Digest::of(b"inputs").to_string()
}

fn identity(operation: &str) -> Value {
    json!({
        "identity": {"namespace": "application", "kind": "PtahSchema", "name": "shop", "uid": "schema-uid",
            "generation": 3, "executionBinding": "v1-1", "inputFingerprint": fingerprint(), "operation": operation,
            "operationId": "operation-1", "jobName": "job-1"},
        "pod": {"podName": "job-1-x", "podUid": "pod-uid", "jobUid": "job-uid"},
    })
}

fn name() -> String {
    result_name("application", "schema-uid", "operation-1", "job-1")
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, "controller": true}])
}

/// A world in which the Pod of an operation may do what it asks for.
fn world(operation: &str) -> Api {
    let api = Api::default();
    api.put(
        SCHEMA,
        json!({"apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
            "metadata": {"name": "shop", "namespace": "application", "uid": "schema-uid", "generation": 3},
            "spec": {"target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "d", "key": "u"}},
                "desired": {"configMap": {"name": "sql"}}},
            "status": {"activeOperation": {"type": operation, "steps": [operation], "id": "operation-1",
                "inputFingerprint": fingerprint(), "jobName": "job-1", "generation": 3, "startedAt": NOW, "attempt": 1,
                "executionBindingID": "v1-1", "dispatchStarted": true, "leaseEpoch": "v1-e",
                "executionNotAfter": NOW, "coordinationDigest": fingerprint()}}}),
    );
    api.put(
        JOB,
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job-1", "namespace": "application",
            "uid": "job-uid", "ownerReferences": owner("PtahSchema", "shop", "schema-uid")},
            "spec": {"template": {}}}),
    );
    api.put(
        POD,
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job-1-x", "namespace": "application",
            "uid": "pod-uid", "ownerReferences": owner("Job", "job-1", "job-uid")},
            "spec": {"serviceAccountName": "default", "containers": []}}),
    );
    api.world().review = json!({"authenticated": true, "audiences": [RESULT_AUDIENCE], "user": {
        "username": "system:serviceaccount:application:default", "extra": {
            "authentication.kubernetes.io/pod-name": ["job-1-x"],
            "authentication.kubernetes.io/pod-uid": ["pod-uid"]}}});
    api
}

fn receiver(client: Client) -> Receiver {
    Receiver {
        now: || NOW.parse().unwrap(),
        ..Receiver::new(client)
    }
}

fn outcome() -> Vec<u8> {
    json!({"version": 1, "operation": "Plan", "operationId": "operation-1",
        "failure": {"step": "Plan", "failure": {"code": "x", "class": "transient", "message": "m"}}})
    .to_string()
    .into_bytes()
}

fn request(method: Method, speaker: &Value, body: Vec<u8>) -> Request<Vec<u8>> {
    Request::builder()
        .method(method)
        .uri(format!("/v1/results/{}", name()))
        .header("authorization", format!("Bearer {TOKEN}"))
        .header(
            "x-ptah-result-identity",
            URL_SAFE_NO_PAD.encode(speaker.to_string()),
        )
        .header("x-ptah-result-digest", Digest::of(&body).to_string())
        .header("content-type", OUTCOME_MEDIA_TYPE)
        .header("content-length", body.len())
        .body(body)
        .unwrap()
}

async fn preflight_of(api: &Api, operation: &str) -> u16 {
    let request = request(Method::HEAD, &identity(operation), Vec::new());
    call(receiver(api.client()).router(), request).await.0.as_u16()
}

async fn upload_of(api: &Api, request: Request<Vec<u8>>) -> u16 {
    call(receiver(api.client()).router(), request).await.0.as_u16()
}

fn put() -> Request<Vec<u8>> {
    request(Method::PUT, &identity("Plan"), outcome())
}

fn stored(api: &Api) -> usize {
    api.world()
        .objects
        .keys()
        .filter(|path| path.contains("ptahresultrecords"))
        .count()
}

#[tokio::test]
async fn the_pod_of_the_live_claim_may_begin_and_deliver() {
    for operation in ["Observe", "Plan", "Apply"] {
        assert_eq!(
            preflight_of(&world(operation), operation).await,
            204,
            "{operation}"
        );
    }
    let api = world("Plan");
    let (status, headers, body) = call(receiver(api.client()).router(), put()).await;
    assert_eq!(
        (status, &headers["content-type"]),
        (StatusCode::OK, &"application/json".parse().unwrap())
    );
    let receipt: Receipt = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (receipt.name.as_str(), receipt.size),
        (name().as_str(), outcome().len() as u64)
    );
    assert_eq!(
        call(receiver(api.client()).router(), put()).await.2,
        body,
        "the same receipt again"
    );
    assert_eq!(stored(&api), 1);
    let review = api.world().reviews[0]["spec"].clone();
    assert_eq!(review, json!({"token": TOKEN, "audiences": [RESULT_AUDIENCE]}));
}

/// Each row changes one thing about the token's review.
#[tokio::test]
async fn a_token_that_is_not_this_pods_is_refused() {
    let table = [
        ("/authenticated", json!(false), 401),
        ("/audiences", json!([]), 401),
        (
            "/audiences",
            json!([RESULT_AUDIENCE, "https://kubernetes.default.svc"]),
            401,
        ),
        ("/audiences", json!(null), 401),
        (
            "/user/username",
            json!("system:serviceaccount:other:default"),
            403,
        ),
        ("/user/username", json!("system:serviceaccount:application:"), 403),
        ("/user/username", json!("ada"), 403),
        (
            "/user/username",
            json!("system:serviceaccount:application:builder"),
            403,
        ),
        (
            "/user/extra/authentication.kubernetes.io~1pod-name",
            json!(["job-2-x"]),
            403,
        ),
        (
            "/user/extra/authentication.kubernetes.io~1pod-uid",
            json!(["other"]),
            403,
        ),
        (
            "/user/extra/authentication.kubernetes.io~1pod-uid",
            json!(["pod-uid", "other"]),
            403,
        ),
        ("/user/extra", json!({}), 403),
    ];
    for (pointer, value, code) in table {
        let api = world("Plan");
        *api.world().review.pointer_mut(pointer).unwrap() = value.clone();
        assert_eq!(preflight_of(&api, "Plan").await, code, "{pointer} {value}");
        assert_eq!(upload_of(&api, put()).await, code, "{pointer} {value}");
        assert_eq!(stored(&api), 0, "{pointer}");
    }
}

/// Each row changes one thing about a live object.
#[tokio::test]
async fn a_pod_whose_claim_is_not_the_live_one_is_refused() {
    let claim = "/status/activeOperation";
    let at = |field: &str| format!("{claim}/{field}");
    let table = [
        (POD, "/metadata/uid".to_owned(), json!("other"), 403),
        (POD, "/spec/serviceAccountName".to_owned(), json!("builder"), 403),
        (
            POD,
            "/metadata/ownerReferences/0/uid".to_owned(),
            json!("other"),
            403,
        ),
        (
            POD,
            "/metadata/ownerReferences/0/controller".to_owned(),
            json!(false),
            403,
        ),
        (JOB, "/metadata/uid".to_owned(), json!("other"), 403),
        (
            JOB,
            "/metadata/ownerReferences/0/uid".to_owned(),
            json!("other"),
            403,
        ),
        (
            JOB,
            "/spec".to_owned(),
            json!({"template": {}, "ttlSecondsAfterFinished": 300}),
            403,
        ),
        (SCHEMA, "/metadata/uid".to_owned(), json!("other"), 403),
        (SCHEMA, "/status".to_owned(), json!({}), 403),
        (SCHEMA, "/metadata/generation".to_owned(), json!(4), 204),
        (SCHEMA, at("id"), json!("operation-2"), 403),
        (SCHEMA, at("type"), json!("Apply"), 403),
        (SCHEMA, at("jobName"), json!("job-2"), 403),
        (
            SCHEMA,
            at("inputFingerprint"),
            json!(Digest::of(b"other").to_string()),
            403,
        ),
        (SCHEMA, at("generation"), json!(4), 403),
        (SCHEMA, at("executionBindingID"), json!("v1-2"), 403),
        (SCHEMA, at("leaseEpoch"), json!(null), 403),
        (SCHEMA, at("dispatchStarted"), json!(false), 503),
    ];
    for (path, pointer, value, code) in table {
        let api = world("Plan");
        *api.world()
            .objects
            .get_mut(path)
            .unwrap()
            .pointer_mut(&pointer)
            .unwrap() = value.clone();
        assert_eq!(preflight_of(&api, "Plan").await, code, "{path}{pointer} {value}");
        let uploaded = upload_of(&api, put()).await;
        assert_eq!(
            uploaded,
            if code == 204 { 200 } else { code },
            "{path}{pointer} {value}"
        );
        assert_eq!(stored(&api), usize::from(code == 204), "{path}{pointer}");
    }
    for path in [POD, JOB, SCHEMA] {
        let api = world("Plan");
        api.world().objects.remove(path);
        assert_eq!(preflight_of(&api, "Plan").await, 403, "{path}");
    }
}

#[tokio::test]
async fn promise_p037_a_claim_that_lost_its_lease_neither_begins_nor_delivers() {
    let api = world("Plan");
    api.world().objects.get_mut(SCHEMA).unwrap()["status"]["activeOperation"]["leaseContinuityLost"] =
        true.into();
    assert_eq!(preflight_of(&api, "Plan").await, 403);
    assert_eq!(upload_of(&api, put()).await, 403);
    assert_eq!(stored(&api), 0);
}

#[tokio::test]
async fn a_reading_needs_no_lease_unless_it_is_a_proof() {
    let api = world("Observe");
    for (field, value) in [("dispatchStarted", json!(false)), ("leaseEpoch", json!(null))] {
        api.world().objects.get_mut(SCHEMA).unwrap()["status"]["activeOperation"][field] = value;
    }
    assert_eq!(preflight_of(&api, "Observe").await, 204);
    api.world().objects.get_mut(SCHEMA).unwrap()["status"]["activeOperation"]["proof"] = true.into();
    assert_eq!(preflight_of(&api, "Observe").await, 403);
}

#[tokio::test]
async fn a_run_begins_only_in_its_time_and_may_end_after_it() {
    for (until, code) in [("2026-02-03T04:04:06Z", 204), ("2026-02-03T04:04:05Z", 403)] {
        let api = world("Apply");
        api.world().objects.get_mut(SCHEMA).unwrap()["status"]["activeOperation"]["executionNotAfter"] =
            until.into();
        assert_eq!(preflight_of(&api, "Apply").await, code, "{until}");
    }
    let api = world("Apply");
    let mut late = api.world().objects[SCHEMA].clone();
    late["status"]["activeOperation"]["executionNotAfter"] = json!(null);
    api.put(SCHEMA, late);
    assert_eq!(
        preflight_of(&api, "Apply").await,
        403,
        "without an end it has no time at all"
    );

    let body = json!({"version": 1, "operation": "Apply", "operationId": "operation-1",
        "apply": {"result": "applied", "planDigest": fingerprint(), "statements": 1}});
    let request = request(Method::PUT, &identity("Apply"), body.to_string().into_bytes());
    assert_eq!(upload_of(&api, request).await, 200);
}

#[tokio::test]
async fn a_pod_that_is_being_deleted_does_not_begin_and_may_still_deliver() {
    for path in [POD, JOB] {
        let api = world("Plan");
        api.world().objects.get_mut(path).unwrap()["metadata"]["deletionTimestamp"] = NOW.into();
        assert_eq!(preflight_of(&api, "Plan").await, 403, "{path}");
        assert_eq!(upload_of(&api, put()).await, 200, "{path}");
    }
}

#[tokio::test]
async fn a_claim_that_the_read_could_not_show_yet_is_asked_for_again() {
    let api = world("Plan");
    let mut past = api.world().objects[SCHEMA].clone();
    past["metadata"]["generation"] = 2.into();
    past["status"] = json!({});
    api.put(SCHEMA, past);
    let request = request(Method::HEAD, &identity("Plan"), Vec::new());
    let (status, headers, _) = call(receiver(api.client()).router(), request).await;
    assert_eq!(
        (status.as_u16(), &headers["retry-after"]),
        (503, &"1".parse().unwrap())
    );
}

/// Each row changes the request itself.
#[tokio::test]
async fn a_request_that_is_not_of_the_protocol_has_its_code() {
    type Change = fn(&mut Request<Vec<u8>>);
    fn set(request: &mut Request<Vec<u8>>, header: &'static str, value: &str) {
        request.headers_mut().insert(header, value.parse().unwrap());
    }
    let table: [(&str, Change, u16); 15] = [
        ("no token", |r| drop(r.headers_mut().remove("authorization")), 401),
        ("basic", |r| set(r, "authorization", "Basic YTpi"), 401),
        ("bad token", |r| set(r, "authorization", "Bearer a b"), 401),
        (
            "no identity",
            |r| drop(r.headers_mut().remove("x-ptah-result-identity")),
            400,
        ),
        ("not base64", |r| set(r, "x-ptah-result-identity", "???"), 400),
        ("not JSON", |r| set(r, "x-ptah-result-identity", "AAAA"), 400),
        (
            "large identity",
            |r| set(r, "x-ptah-result-identity", &"A".repeat(5000)),
            400,
        ),
        (
            "no length",
            |r| drop(r.headers_mut().remove("content-length")),
            411,
        ),
        ("too large", |r| set(r, "content-length", "12582913"), 413),
        ("longer", |r| set(r, "content-length", "10"), 400),
        ("shorter", |r| set(r, "content-length", "1000"), 400),
        (
            "no digest",
            |r| drop(r.headers_mut().remove("x-ptah-result-digest")),
            400,
        ),
        (
            "other digest",
            |r| set(r, "x-ptah-result-digest", &Digest::of(b"x").to_string()),
            400,
        ),
        ("media type", |r| set(r, "content-type", "application/json"), 415),
        ("encoding", |r| set(r, "content-encoding", "gzip"), 415),
    ];
    for (what, change, code) in table {
        let api = world("Plan");
        let mut request = put();
        change(&mut request);
        assert_eq!(upload_of(&api, request).await, code, "{what}");
        assert_eq!(stored(&api), 0, "{what}");
    }
    let other = Request::put("/v1/results/ptah-result-0")
        .body(Vec::new())
        .unwrap();
    assert_eq!(upload_of(&world("Plan"), other).await, 415);
    let get = request(Method::GET, &identity("Plan"), Vec::new());
    assert_eq!(upload_of(&world("Plan"), get).await, 405);
    let mut speaker = identity("Plan");
    speaker["identity"]["operationId"] = "operation-2".into();
    let renamed = request(Method::PUT, &speaker, outcome());
    assert_eq!(
        upload_of(&world("Plan"), renamed).await,
        400,
        "the name is another attempt's"
    );
}

#[tokio::test]
async fn what_is_no_outcome_of_this_operation_is_not_stored() {
    let mut other: Value = serde_json::from_slice(&outcome()).unwrap();
    other["operationId"] = "operation-2".into();
    let mut version: Value = serde_json::from_slice(&outcome()).unwrap();
    version["version"] = 2.into();
    for body in [json!({}), other, version] {
        let api = world("Plan");
        let request = request(Method::PUT, &identity("Plan"), body.to_string().into_bytes());
        assert_eq!(upload_of(&api, request).await, 422, "{body}");
        assert_eq!(stored(&api), 0, "{body}");
    }
}

#[tokio::test]
async fn another_result_of_the_same_attempt_is_a_conflict() {
    let api = world("Plan");
    assert_eq!(upload_of(&api, put()).await, 200);
    let other = String::from_utf8(outcome())
        .unwrap()
        .replace("\"m\"", "\"n\"")
        .into_bytes();
    assert_eq!(
        upload_of(&api, request(Method::PUT, &identity("Plan"), other)).await,
        409
    );
}

#[tokio::test]
async fn a_claim_that_ends_while_the_body_arrives_stores_nothing() {
    let api = world("Plan");
    let mut ended = api.world().objects[SCHEMA].clone();
    ended["status"] = json!({});
    // Review, Pod, Job and resource are asked once; the second look begins with the fifth request.
    api.world().changes.push((5, SCHEMA.to_owned(), ended));
    assert_eq!(upload_of(&api, put()).await, 403);
    assert_eq!(stored(&api), 0);
}

#[tokio::test]
async fn an_api_server_that_is_away_and_a_full_receiver_are_worth_another_try() {
    for answered in 0..4 {
        let api = world("Plan");
        api.world().away_after = Some(answered);
        assert_eq!(preflight_of(&api, "Plan").await, 503, "{answered}");
    }
    let receiver = receiver(world("Plan").client());
    let places = receiver.uploads.clone();
    let _all = places
        .try_acquire_many(u32::try_from(CONCURRENT_UPLOADS).unwrap())
        .unwrap();
    let (status, headers, _) = call(receiver.router(), put()).await;
    assert_eq!(
        (status.as_u16(), &headers["retry-after"]),
        (503, &"1".parse().unwrap())
    );
}

#[tokio::test]
async fn an_upload_that_takes_too_long_is_ended() {
    let api = world("Plan");
    // Otherwise all of it could be done before the time is looked at.
    api.world().silent = true;
    let receiver = Receiver {
        limit: Duration::ZERO,
        ..receiver(api.client())
    };
    assert_eq!(call(receiver.router(), put()).await.0.as_u16(), 408);
}
