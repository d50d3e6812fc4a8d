//! A result is stored once, whole, and read back as itself or not at all.

use ptah_contract::protocol::Operation;
use serde_json::json;

use super::*;
use crate::operation::receiver::fake::Api as Fake;

const NAME: &str = "ptah-result-1";
const BASE: &str = "/apis/operator.ptah.run/v1alpha1/namespaces/application/ptahresultrecords";

fn identity() -> OperationIdentity {
    OperationIdentity {
        namespace: "application".into(),
        kind: "PtahSchema".into(),
        name: "shop".into(),
        uid: "schema-uid".into(),
        generation: 1,
        execution_binding: "v1-1".into(),
        input_fingerprint: Digest::of(b"inputs"),
        operation: Operation::Plan,
        operation_id: "operation-1".into(),
        job_name: "job-1".into(),
    }
}

fn pod() -> PodIdentity {
    PodIdentity {
        pod_name: "job-1-x".into(),
        pod_uid: "pod-uid".into(),
        job_uid: "job-uid".into(),
    }
}

async fn store(api: &Fake, payload: &[u8]) -> Result<Receipt, Error> {
    let (identity, pod, client) = (identity(), pod(), api.client());
    let mut publication = Publication::new(NAME, &identity, &pod, payload)?;
    publication.intent(&client).await?;
    publication.chunks(&client).await?;
    publication.complete(&client).await
}

async fn read(api: &Fake) -> Result<Option<Vec<u8>>, Error> {
    load(&api.client(), "application", NAME, &identity()).await
}

fn payload(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

#[tokio::test]
async fn a_small_result_is_one_record_and_a_large_one_is_committed_last() {
    for (length, records) in [
        (1, 1),
        (INLINE_BYTES, 1),
        (INLINE_BYTES + 1, 3),
        (1_200_000, 5),
        (MAX_OUTCOME_BYTES, 26),
    ] {
        let api = Fake::default();
        assert_eq!(read(&api).await.unwrap(), None);
        let receipt = store(&api, &payload(length)).await.unwrap();
        assert_eq!(receipt.name, NAME);
        assert_eq!(
            (receipt.digest, receipt.size),
            (Digest::of(&payload(length)), length as u64)
        );
        assert_eq!(api.world().objects.len(), records, "{length}");
        assert_eq!(read(&api).await.unwrap(), Some(payload(length)), "{length}");
        let last = api
            .world()
            .requests
            .iter()
            .filter(|r| r.starts_with("POST"))
            .count();
        assert_eq!(last, records);
    }
    let too_large = store(&Fake::default(), &payload(MAX_OUTCOME_BYTES + 1)).await;
    assert!(matches!(too_large, Err(Error::TooLarge(_))));
}

#[tokio::test]
async fn every_record_belongs_to_the_job_and_says_what_it_is() {
    let api = Fake::default();
    store(&api, &payload(600_000)).await.unwrap();
    let world = api.world();
    for (name, kind) in [
        (NAME, "intent"),
        ("ptah-result-1-000", "chunk"),
        ("ptah-result-1-001", "chunk"),
        ("ptah-result-1-complete", "complete"),
    ] {
        let record = &world.objects[&format!("{BASE}/{name}")];
        assert_eq!(record["spec"]["type"], kind);
        assert_eq!(
            record["metadata"]["labels"]["operator.ptah.run/result-record"],
            kind
        );
        assert_eq!(
            record["metadata"]["ownerReferences"],
            json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "job-1", "uid": "job-uid", "controller": true}])
        );
    }
}

#[tokio::test]
async fn an_interrupted_delivery_is_resumed_wherever_it_was_cut_and_gives_the_same_receipt() {
    let whole = Fake::default();
    let receipt = store(&whole, &payload(530_000)).await.unwrap();
    let steps = whole.world().requests.len();
    for cut in 0..steps {
        let api = Fake::default();
        api.world().away_after = Some(cut);
        assert!(
            matches!(store(&api, &payload(530_000)).await, Err(Error::Api(_))),
            "{cut}"
        );
        api.world().away_after = None;
        let before = read(&api).await.unwrap();
        assert!(
            before.is_none() || cut > 3,
            "committed before its completion: {cut}"
        );
        let again = store(&api, &payload(530_000)).await.unwrap();
        assert_eq!(
            (again.digest, again.size),
            (receipt.digest, receipt.size),
            "{cut}"
        );
        assert_eq!(store(&api, &payload(530_000)).await.unwrap(), again, "{cut}");
    }
}

#[tokio::test]
async fn other_bytes_of_the_same_attempt_are_a_conflict_and_change_nothing() {
    let api = Fake::default();
    store(&api, b"one").await.unwrap();
    assert!(matches!(store(&api, b"two").await, Err(Error::Conflict(name)) if name == NAME));
    assert_eq!(read(&api).await.unwrap().as_deref(), Some(b"one".as_slice()));
}

#[tokio::test]
async fn promise_p038_a_result_of_another_attempt_is_not_read() {
    let api = Fake::default();
    store(&api, b"one").await.unwrap();
    let mut other = identity();
    other.execution_binding = "v1-2".into();
    let refused = load(&api.client(), "application", NAME, &other).await;
    assert!(matches!(
        refused,
        Err(Error::Corrupt {
            what: "is the result of another attempt",
            ..
        })
    ));
}

#[tokio::test]
async fn a_record_that_was_touched_is_refused_whole() {
    let chunk = format!("{BASE}/{NAME}-001");
    let completion = format!("{BASE}/{NAME}-complete");
    let intent = format!("{BASE}/{NAME}");
    let table = [
        (&chunk, "/spec/data", json!("AAAA"), "does not give its digest"),
        (
            &chunk,
            "/metadata/uid",
            json!("other"),
            "is not the chunk that was committed",
        ),
        (
            &chunk,
            "/metadata/ownerReferences/0/uid",
            json!("other"),
            "is not the chunk that was committed",
        ),
        (&chunk, "/spec/type", json!("intent"), "is of another type"),
        (&completion, "/spec/data", json!("e30="), "is not a completion"),
        (
            &completion,
            "/metadata/ownerReferences/0/kind",
            json!("Pod"),
            "does not belong to the operation's Job",
        ),
        (
            &intent,
            "/metadata/uid",
            json!("other"),
            "completes another intent",
        ),
        (
            &intent,
            "/metadata/ownerReferences/0/controller",
            json!(false),
            "does not belong to the operation's Job",
        ),
        (
            &intent,
            "/spec/data",
            json!("e30="),
            "is not an intent of this version",
        ),
    ];
    for (path, pointer, value, words) in table {
        let api = Fake::default();
        store(&api, &payload(600_000)).await.unwrap();
        *api.world()
            .objects
            .get_mut(path)
            .unwrap()
            .pointer_mut(pointer)
            .unwrap() = value;
        match read(&api).await {
            Err(Error::Corrupt { what, .. }) => assert_eq!(what, words, "{path}{pointer}"),
            other => panic!("{path}{pointer}: {other:?}"),
        }
    }
    let api = Fake::default();
    store(&api, &payload(600_000)).await.unwrap();
    api.world().objects.remove(&chunk);
    assert!(matches!(
        read(&api).await,
        Err(Error::Corrupt {
            what: "is missing",
            ..
        })
    ));
}
