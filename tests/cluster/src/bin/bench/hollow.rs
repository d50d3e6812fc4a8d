//! Stands in for Pods that no node takes: proves who it is and delivers as the runner does, then says that they ended.
//!
//! The receiver, the Job controller and the manager see what they always see; only the containers are missing.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures::StreamExt as _;
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use ptah_api::names;
use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use ptah_contract::drift::{DriftReport, Severity};
use ptah_contract::plan_document::{FORMAT_VERSION, PlanDocument, Proof, Statement};
use ptah_contract::protocol::{
    OUTCOME_MEDIA_TYPE, ObserveReport, Operation, Outcome, PROTOCOL_VERSION, PlanReport, PlanResult,
    PodIdentity, RESULT_AUDIENCE, Request, TargetReading, result_name,
};
use serde_json::json;
use tokio::sync::Semaphore;

/// Resources whose namespace begins so have nothing to change.
pub const STEADY: &str = "bench-steady";
/// Pods that are served at the same moment.
const AT_ONCE: usize = 16;

/// Serves every Pod of the operator that waits for a node, for ever.
pub async fn serve(client: Client, receiver: SocketAddr) -> Result<()> {
    let api = Api::<Pod>::all(client.clone());
    let selector = format!("{}={}", names::LABEL_MANAGED_BY, names::MANAGED_BY);
    let pods = watcher(api, watcher::Config::default().labels(&selector)).applied_objects();
    let mut pods = Box::pin(pods);
    let (mut seen, room) = (
        std::collections::HashSet::new(),
        Arc::new(Semaphore::new(AT_ONCE)),
    );
    while let Some(pod) = pods.next().await {
        let pod = pod?;
        let waits = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_none());
        if !waits || !seen.insert(pod.uid()) {
            continue;
        }
        let (client, room) = (client.clone(), room.clone());
        tokio::spawn(async move {
            let _held = room.acquire().await;
            if let Err(error) = stand_in(&client, receiver, &pod).await {
                eprintln!("{}: {error:#}", pod.name_any());
            }
        });
    }
    Ok(())
}

async fn stand_in(client: &Client, receiver: SocketAddr, pod: &Pod) -> Result<()> {
    let text = pod
        .annotations()
        .get("operator.ptah.run/request")
        .context("a Pod without a request")?;
    let request = Request::from_bytes(text.as_bytes())?;
    let namespace = pod.namespace().unwrap_or_default();
    let account = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.service_account_name.clone())
        .unwrap_or_else(|| "default".to_owned());
    let token = TokenRequest {
        spec: Some(TokenRequestSpec {
            audiences: Some(vec![RESULT_AUDIENCE.to_owned()]),
            bound_object_ref: Some(BoundObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("Pod".to_owned()),
                name: Some(pod.name_any()),
                uid: pod.uid(),
            }),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let token = Api::<ServiceAccount>::namespaced(client.clone(), &namespace)
        .create_token_request(&account, &PostParams::default(), &token)
        .await?
        .status
        .and_then(|status| status.token)
        .context("no token")?;
    let me = PodIdentity {
        pod_name: pod.name_any(),
        pod_uid: pod.uid().unwrap_or_default(),
        job_uid: pod
            .owner_references()
            .first()
            .context("a Pod without a Job")?
            .uid
            .clone(),
    };
    let delivered = deliver(&request, &me, &token, receiver).await;
    // A runner whose result is refused, such as one of an operation that an edit ended, ends as well.
    let phase = if delivered.is_ok() { "Succeeded" } else { "Failed" };
    let ended = json!({"status": {"phase": phase}});
    Api::<Pod>::namespaced(client.clone(), &namespace)
        .patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(ended))
        .await?;
    delivered
}

async fn deliver(request: &Request, me: &PodIdentity, token: &str, receiver: SocketAddr) -> Result<()> {
    let of = &request.identity;
    let trust = reqwest::Certificate::from_pem_bundle(request.delivery.trust.as_bytes())?;
    let endpoint = &request.delivery.endpoint;
    let host = endpoint.trim_start_matches("https://");
    let client = reqwest::Client::builder()
        .tls_certs_only(trust)
        .resolve(host, receiver)
        .build()?;
    let body = canonical::to_bytes(&outcome(request))?;
    let identity = canonical::to_bytes(&json!({"identity": of, "pod": me}))?;
    let name = result_name(&of.namespace, &of.uid, &of.operation_id, &of.job_name);
    for attempt in 0.. {
        let answer = client
            .put(format!("{endpoint}/v1/results/{name}"))
            .bearer_auth(token)
            .header("X-Ptah-Result-Identity", BASE64_URL_SAFE_NO_PAD.encode(&identity))
            .header("X-Ptah-Result-Digest", Digest::of(&body).to_string())
            .header(reqwest::header::CONTENT_TYPE, OUTCOME_MEDIA_TYPE)
            .body(body.clone())
            .send()
            .await?;
        let status = answer.status();
        if status.is_success() {
            break;
        }
        // As the runner does: busy is no refusal.
        ensure!(
            attempt < 100 && (status.is_server_error() || status.as_u16() == 429),
            "the receiver answered {status}: {}",
            answer.text().await.unwrap_or_default()
        );
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    }
    Ok(())
}

fn outcome(request: &Request) -> Outcome {
    let steady = request.identity.namespace.starts_with(STEADY);
    let (from, to) = (
        Digest::of(b"database"),
        request.content_digest.unwrap_or_else(|| Digest::of(b"")),
    );
    let mut outcome = Outcome {
        version: PROTOCOL_VERSION,
        operation: request.identity.operation,
        operation_id: request.identity.operation_id.clone(),
        source: None,
        target: Some(TargetReading {
            identity_digest: Digest::of(request.identity.uid.as_bytes()),
            server_identity: None,
            dialect: "postgres".to_owned(),
            server_version: "17.0".to_owned(),
        }),
        observe: None,
        plan: None,
        apply: None,
        failure: None,
    };
    match request.identity.operation {
        Operation::Observe => {
            let stands = request.last.is_some();
            let found = if steady {
                vec![]
            } else {
                vec![("tables_added", Severity::Safe)]
            };
            outcome.observe = Some(ObserveReport {
                fingerprint: from,
                scope: vec!["public".to_owned()],
                steady: stands,
                files_missing: false,
                drift: (!stands).then(|| DriftReport::count(from, "postgres", found)),
            });
        }
        _ => {
            let document = (!steady).then(|| document(request, from, to).encode().unwrap());
            outcome.plan = Some(PlanReport {
                result: if steady {
                    PlanResult::NoChanges
                } else {
                    PlanResult::Changes
                },
                actual_state_fingerprint: from,
                desired_state_fingerprint: if steady { from } else { to },
                scope: vec!["public".to_owned()],
                plan_digest: document.as_deref().map(Digest::of),
                document: document.map(|bytes| String::from_utf8(bytes).unwrap()),
            });
        }
    }
    outcome
}

fn document(request: &Request, from: Digest, to: Digest) -> PlanDocument {
    PlanDocument {
        format_version: FORMAT_VERSION,
        name: PlanDocument::default_name(from, to),
        dialect: "postgres".to_owned(),
        from_fingerprint: from,
        to_fingerprint: to,
        exclude: request.policy.exclude.clone(),
        scope: vec!["public".to_owned()],
        transaction_mode: request.policy.transaction_mode,
        destructive: false,
        statements: vec![Statement {
            sql: "CREATE TABLE t ()".to_owned(),
            severity: Severity::Safe,
            reason: "table public.t is new".to_owned(),
            lock: None,
            rewrites: false,
            scans: false,
            transactional: true,
            data_dependent: false,
            privileges: vec![],
            objects: vec!["public.t".to_owned()],
        }],
        notes: vec![],
        proof: Proof {
            scratch_server: "17.0".to_owned(),
            replayed: 1,
            residual: 0,
        },
    }
}
