//! A certificate is replaced without anybody who trusted the old one being turned away.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};

use super::store::ANNOUNCED_FOR;
use super::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn now() -> Timestamp {
    // The handshakes below are checked against this machine's clock.
    Timestamp::from_second(Timestamp::now().as_second()).unwrap()
}

fn our_names() -> Vec<String> {
    names("ptah-system", &["ptah-webhook", "ptah-results"])
}

/// Whether a client that trusts `trust` reaches `name` where `served` is served.
fn reaches(trust: &str, served: &Bundle, name: &str) -> Result<rustls::ProtocolVersion, rustls::Error> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(trust.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let client = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut client =
        ClientConnection::new(Arc::new(client), ServerName::try_from(name.to_owned()).unwrap()).unwrap();
    let mut server = ServerConnection::new(server_config(served).unwrap()).unwrap();
    while client.is_handshaking() {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets()?;
        let mut wire = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    Ok(client.protocol_version().unwrap())
}

#[test]
fn every_name_of_both_services_is_served_over_tls_1_3_and_no_other_name() {
    let bundle = issue(&our_names(), now()).unwrap();
    for name in our_names() {
        assert_eq!(
            reaches(&bundle.ca_pem, &bundle, &name),
            Ok(rustls::ProtocolVersion::TLSv1_3),
            "{name}"
        );
    }
    assert!(our_names().contains(&"ptah-results.ptah-system.svc".to_owned()));
    assert!(reaches(&bundle.ca_pem, &bundle, "other.ptah-system.svc").is_err());
    let stranger = issue(&our_names(), now()).unwrap();
    assert!(reaches(&stranger.ca_pem, &bundle, "ptah-results.ptah-system.svc").is_err());
    assert_eq!(bundle.not_after, now().checked_add(DAY * 90).unwrap());
}

#[test]
fn a_key_is_never_shown() {
    let bundle = issue(&our_names(), now()).unwrap();
    let stored = advance(None, &our_names(), now()).unwrap().unwrap();
    for text in [format!("{bundle:?}"), format!("{stored:?}")] {
        assert!(!text.contains("PRIVATE"), "{text}");
    }
}

#[test]
fn a_rotation_announces_before_it_serves_and_both_sides_always_meet() {
    // As if this were the end of the first certificate's second month.
    let (at, names) = (now(), our_names());
    let issued = at.checked_sub(DAY * 60).unwrap();
    let first = advance(None, &names, issued).unwrap().unwrap();
    assert_eq!(
        advance(Some(&first), &names, at.checked_sub(DAY).unwrap()).unwrap(),
        None
    );

    let announced = advance(Some(&first), &names, at).unwrap().unwrap();
    assert_eq!(announced.current.cert_pem, first.current.cert_pem);
    assert_eq!(announced.current.ca_pem.matches("BEGIN CERTIFICATE").count(), 2);
    let soon = at
        .checked_add(ANNOUNCED_FOR)
        .unwrap()
        .checked_sub(SignedDuration::from_secs(1))
        .unwrap();
    assert_eq!(advance(Some(&announced), &names, soon).unwrap(), None);

    let later = at.checked_add(ANNOUNCED_FOR).unwrap();
    let replaced = advance(Some(&announced), &names, later).unwrap().unwrap();
    assert_ne!(replaced.current.cert_pem, first.current.cert_pem);
    assert_eq!(replaced.current.ca_pem.matches("BEGIN CERTIFICATE").count(), 2);
    assert_eq!(
        advance(Some(&replaced), &names, later.checked_add(DAY).unwrap()).unwrap(),
        None
    );

    let name = "ptah-results.ptah-system.svc";
    // Whoever learnt the trust at or after the announcement reaches every replica, ahead or behind.
    for trust in [&announced.current.ca_pem, &replaced.current.ca_pem] {
        for served in [&first.current, &announced.current, &replaced.current] {
            assert!(reaches(trust, served, name).is_ok());
        }
    }
    // The next announcement forgets the first authority.
    let again = advance(Some(&replaced), &names, at.checked_add(DAY * 60).unwrap())
        .unwrap()
        .unwrap();
    assert_eq!(again.current.ca_pem.matches("BEGIN CERTIFICATE").count(), 2);
    assert!(reaches(&again.current.ca_pem, &first.current, name).is_err());
}

#[test]
fn an_expired_certificate_and_one_for_other_names_are_replaced_at_once() {
    let (at, names) = (now(), our_names());
    let first = advance(None, &names, at).unwrap().unwrap();
    let expired = advance(Some(&first), &names, at.checked_add(DAY * 91).unwrap())
        .unwrap()
        .unwrap();
    assert_ne!(expired.current.cert_pem, first.current.cert_pem);
    assert_eq!(expired.next, None);
    let renamed = super::names("elsewhere", &["ptah-webhook"]);
    let other = advance(Some(&first), &renamed, at).unwrap().unwrap();
    assert!(
        reaches(
            &other.current.ca_pem,
            &other.current,
            "ptah-webhook.elsewhere.svc"
        )
        .is_ok()
    );
}

mod stored_in_a_secret {
    use std::sync::{Arc, Mutex};

    use axum::http::{Method, StatusCode, Uri};
    use axum::{Json, Router};
    use serde_json::{Value, json};

    use super::*;

    /// One Secret, with resource versions as an API server keeps them.
    fn api(secret: Arc<Mutex<Option<Value>>>) -> kube::Client {
        let handle = move |method: Method, _: Uri, body: axum::body::Bytes| {
            let secret = secret.clone();
            async move {
                let mut secret = secret.lock().unwrap();
                let status = |code: u16, reason: &str| {
                    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                        "reason": reason, "message": reason, "code": code});
                    (StatusCode::from_u16(code).unwrap(), Json(body))
                };
                let version = secret.as_ref().map(|s| s["metadata"]["resourceVersion"].clone());
                match (method, version.clone()) {
                    (Method::GET, Some(_)) => (StatusCode::OK, Json(secret.clone().unwrap())),
                    (Method::GET, None) => status(404, "NotFound"),
                    (Method::POST, Some(_)) => status(409, "AlreadyExists"),
                    (Method::POST, None) | (Method::PUT, Some(_)) => {
                        let mut object: Value = serde_json::from_slice(&body).unwrap();
                        let asked = object["metadata"]["resourceVersion"].clone();
                        if let Some(version) = version
                            && asked != version
                        {
                            return status(409, "Conflict");
                        }
                        let next = asked.as_str().map_or(1, |text| text.parse::<u32>().unwrap() + 1);
                        object["metadata"]["resourceVersion"] = next.to_string().into();
                        *secret = Some(object.clone());
                        (StatusCode::CREATED, Json(object))
                    }
                    _ => status(405, "MethodNotAllowed"),
                }
            }
        };
        kube::Client::new(Router::new().fallback(handle), "ptah-system")
    }

    #[tokio::test]
    async fn the_leader_makes_it_once_and_every_replica_reads_it() {
        let secret = Arc::new(Mutex::new(None));
        let client = api(secret.clone());
        assert_eq!(read(&client, "ptah-system", "serving").await.unwrap(), None);
        let made = ensure(&client, "ptah-system", "serving", &our_names(), now())
            .await
            .unwrap();
        let before = secret.lock().unwrap().clone();
        let again = ensure(&client, "ptah-system", "serving", &our_names(), now())
            .await
            .unwrap();
        assert_eq!((again.clone(), secret.lock().unwrap().clone()), (made, before));
        assert_eq!(
            read(&client, "ptah-system", "serving").await.unwrap(),
            Some(again)
        );
    }

    #[tokio::test]
    async fn a_secret_that_was_there_is_adopted_and_keeps_its_labels() {
        let found = json!({"kind": "Secret", "apiVersion": "v1", "type": "Opaque", "metadata": {
            "name": "serving", "namespace": "ptah-system", "resourceVersion": "7", "labels": {"a": "b"}}});
        let secret = Arc::new(Mutex::new(Some(found)));
        let client = api(secret.clone());
        ensure(&client, "ptah-system", "serving", &our_names(), now())
            .await
            .unwrap();
        let stored = secret.lock().unwrap().clone().unwrap();
        assert_eq!(stored["metadata"]["labels"], json!({"a": "b"}));
        assert!(stored["data"]["tls.crt"].is_string());
        // Damage is made good instead of being served.
        secret.lock().unwrap().as_mut().unwrap()["data"]["tls.key"] = "AAAA".into();
        assert_eq!(read(&client, "ptah-system", "serving").await.unwrap(), None);
        let repaired = ensure(&client, "ptah-system", "serving", &our_names(), now())
            .await
            .unwrap();
        assert!(server_config(&repaired).is_ok());
    }
}

mod told_to_the_api_server {
    use axum::http::Method;
    use axum::{Json, Router};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn only_ca_bundle_of_our_own_webhook_is_changed_and_only_when_it_differs() {
        let patches = Arc::new(Mutex::new(Vec::<Value>::new()));
        let seen = patches.clone();
        let handle = move |method: Method, body: axum::body::Bytes| {
            let seen = seen.clone();
            async move {
                if method == Method::PATCH {
                    seen.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                }
                Json(
                    json!({"kind": "MutatingWebhookConfiguration", "apiVersion": "admissionregistration.k8s.io/v1",
                    "metadata": {"name": "ptah-approvals"}, "webhooks": [{
                        "name": "approvals.operator.ptah.run", "admissionReviewVersions": ["v1"],
                        "sideEffects": "None", "clientConfig": {"caBundle": "b2xk"}}]}),
                )
            }
        };
        let client = kube::Client::new(Router::new().fallback(handle), "ptah-system");
        assert!(!patch_ca_bundle(&client, "ptah-approvals", "old").await.unwrap());
        assert!(patch_ca_bundle(&client, "ptah-approvals", "new").await.unwrap());
        assert_eq!(
            *patches.lock().unwrap(),
            [json!([
                {"op": "test", "path": "/webhooks/0/name", "value": "approvals.operator.ptah.run"},
                {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "bmV3"},
            ])]
        );
    }
}
