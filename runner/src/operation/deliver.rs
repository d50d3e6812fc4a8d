//! To the result receiver and back.
//!
//! Promises: TLS 1.3, and no authority but those of the request; the token is read anew for every attempt; no redirect
//! is followed; the same bytes are offered again until the receiver has them, or refuses them, or the deadline passes.

use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable as _};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ptah_contract::canonical;
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{OUTCOME_MEDIA_TYPE, Outcome, PodIdentity, Request, paths, result_name};
use reqwest::{Certificate, Client, Method, StatusCode, redirect};
use serde_json::json;

/// One request may take this long.
const ATTEMPT: Duration = Duration::from_secs(30);
/// A connection may take this long: an address that nobody has any more does not answer at all.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the receiver may be away before a preflight gives up: it protects nobody to wait with an open database.
const PREFLIGHT_FOR: Duration = Duration::from_secs(60);

/// The receiver, as this Pod reaches it.
pub(super) struct Delivery {
    client: Client,
    url: String,
    identity: String,
    ends: Instant,
}

impl Delivery {
    /// Prepares to speak for this Pod. The deadline of the work is the deadline of the delivery as well.
    pub(super) fn new(request: &Request, limit: Duration) -> Result<Self, Failure> {
        let pod = PodIdentity {
            pod_name: fact("name")?,
            pod_uid: fact("uid")?,
            job_uid: fact("job-uid")?,
        };
        let identity = canonical::to_bytes(&json!({"identity": request.identity, "pod": pod}))
            .map_err(|error| internal(&error.to_string()))?;
        let trust = Certificate::from_pem_bundle(request.delivery.trust.as_bytes())
            .map_err(|_| internal("the receiver's certificate authorities cannot be read"))?;
        let client = Client::builder()
            .tls_certs_only(trust)
            .min_tls_version(reqwest::tls::Version::TLS_1_3)
            .https_only(true)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT)
            .timeout(ATTEMPT)
            .build()
            .map_err(|error| internal(&error.to_string()))?;
        let of = &request.identity;
        let name = result_name(&of.namespace, &of.uid, &of.operation_id, &of.job_name);
        Ok(Self {
            client,
            url: format!("{}/v1/results/{name}", request.delivery.endpoint),
            identity: BASE64_URL_SAFE_NO_PAD.encode(identity),
            ends: Instant::now() + limit,
        })
    }

    /// Asks for leave to begin. Nothing is open yet, so a manager that is away for minutes costs nothing but them.
    pub(super) async fn begin(&self) -> Result<(), Failure> {
        self.offer(Method::HEAD, None, self.left() / 2).await
    }

    /// Asks whether the claim is the live one. Nothing is sent to a database unless it is.
    pub(super) async fn preflight(&self) -> Result<(), Failure> {
        self.offer(Method::HEAD, None, PREFLIGHT_FOR.min(self.left()))
            .await
    }

    /// Delivers the outcome.
    pub(super) async fn upload(&self, outcome: &Outcome) -> Result<(), Failure> {
        let body = canonical::to_bytes(outcome).map_err(|error| internal(&error.to_string()))?;
        self.offer(Method::PUT, Some(body), self.left()).await
    }

    fn left(&self) -> Duration {
        self.ends
            .saturating_duration_since(Instant::now())
            .max(Duration::from_secs(5))
    }

    async fn offer(&self, method: Method, body: Option<Vec<u8>>, patience: Duration) -> Result<(), Failure> {
        let backoff = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(250))
            .with_max_delay(Duration::from_secs(5))
            .with_jitter()
            .with_total_delay(Some(patience))
            .without_max_times();
        (|| self.once(method.clone(), body.clone()))
            .retry(backoff)
            .when(|failed| failed.class == FailureClass::Transient)
            .await
    }

    async fn once(&self, method: Method, body: Option<Vec<u8>>) -> Result<(), Failure> {
        let token = std::fs::read_to_string(paths::RESULT_TOKEN_FILE)
            .map_err(|error| internal(&format!("the result token cannot be read: {}", error.kind())))?;
        let mut request = self
            .client
            .request(method, &self.url)
            .bearer_auth(token.trim())
            .header("X-Ptah-Result-Identity", &self.identity);
        if let Some(body) = body {
            request = request
                .header("X-Ptah-Result-Digest", Digest::of(&body).to_string())
                .header(reqwest::header::CONTENT_TYPE, OUTCOME_MEDIA_TYPE)
                .body(body);
        }
        let answer = request.send().await.map_err(|error| {
            // The error's own text may hold the URL, which holds nothing secret; its cause says what happened.
            let cause = std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default();
            Failure::new(
                "receiver_unreachable",
                FailureClass::Transient,
                format!("the result receiver cannot be reached: {cause}"),
            )
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let said: String = answer
            .text()
            .await
            .unwrap_or_default()
            .chars()
            .take(256)
            .collect();
        let transient = matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::TOO_MANY_REQUESTS
                | StatusCode::INTERNAL_SERVER_ERROR
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        let class = if transient {
            FailureClass::Transient
        } else {
            FailureClass::Refused
        };
        Err(Failure::new(
            "result_refused",
            class,
            format!("the result receiver answered {}: {said}", status.as_u16()),
        ))
    }
}

/// A fact about this Pod (downward API).
fn fact(name: &str) -> Result<String, Failure> {
    let at = std::path::Path::new(paths::POD_DIR).join(name);
    std::fs::read_to_string(&at)
        .map(|text| text.trim().to_owned())
        .map_err(|error| internal(&format!("{} cannot be read: {}", at.display(), error.kind())))
}

fn internal(message: &str) -> Failure {
    Failure::new("delivery_failed", FailureClass::Internal, message)
}
