//! The result receiver: where an operation Pod asks leave to begin and delivers what came of it.
//!
//! Promises: `HEAD` answers 204 only to the Pod of the live claim, read uncached, so that a Pod whose claim is no
//! longer the one in status sends no statement; `PUT` answers 200 only once the result is stored whole. A Pod is
//! whom its bound token, reviewed by the API server, says it is, never whom it claims to be. Serves in every replica,
//! leader or not, and decides nothing: what a result means is the manager's question. Never logs a token or a
//! payload.
//!
//! Assumes TLS in front of it: serve [`Receiver::router`] with the configuration of
//! [`crate::admission::certificate::server_config`], which speaks TLS 1.3 only.

pub mod authority;
pub mod delivery;
pub mod refusal;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodFilter;
use jiff::Timestamp;
use kube::Client;
use ptah_contract::digest::Digest;
use ptah_contract::protocol::Outcome;
use tokio::sync::Semaphore;

use self::authority::{Moment, authenticate, authorize};
use self::delivery::{Body as Declared, Delivery};
use self::refusal::Refusal;
use crate::operation::records::{Publication, Receipt};

/// Where results are, with the result's name as the last part.
pub const RESULTS_PATH: &str = "/v1/results/{name}";
/// Uploads at the same moment, in one replica. Each holds at most one payload and its encodings in memory.
pub const CONCURRENT_UPLOADS: usize = 2;
/// Time for one upload, from its first byte to its receipt.
pub const UPLOAD_LIMIT: Duration = Duration::from_secs(120);

/// The receiver of one replica.
#[derive(Clone)]
pub struct Receiver {
    client: Client,
    uploads: Arc<Semaphore>,
    now: fn() -> Timestamp,
    limit: Duration,
}

impl Receiver {
    /// A receiver that asks this API server.
    #[must_use]
    pub fn new(client: Client) -> Self {
        let uploads = Arc::new(Semaphore::new(CONCURRENT_UPLOADS));
        Self {
            client,
            uploads,
            now: Timestamp::now,
            limit: UPLOAD_LIMIT,
        }
    }

    /// Its routes. Other methods are answered with 405.
    pub fn router(self) -> Router {
        let routes = axum::routing::on(MethodFilter::HEAD, preflight).put(upload);
        Router::new().route(RESULTS_PATH, routes).with_state(self)
    }

    /// Who speaks, checked against the token, the Pod, the Job and the claim.
    async fn admit(&self, delivery: &Delivery, moment: Moment) -> Result<String, Refusal> {
        let account = authenticate(&self.client, delivery).await?;
        authorize(&self.client, delivery, &account, moment, (self.now)()).await?;
        Ok(account)
    }

    async fn store(
        &self,
        name: &str,
        headers: &HeaderMap,
        request: Request<Body>,
    ) -> Result<Receipt, Refusal> {
        let declared = Declared::read(headers)?;
        let delivery = Delivery::read(name, headers)?;
        let _permit = self.uploads.try_acquire().map_err(|_| Refusal::Busy)?;
        let account = self.admit(&delivery, Moment::Upload).await?;
        let payload = to_bytes(request.into_body(), declared.size)
            .await
            .map_err(|_| Refusal::Unreadable("the body is not of the length that was declared"))?;
        if payload.len() != declared.size {
            return Err(Refusal::Unreadable(
                "the body is not of the length that was declared",
            ));
        }
        if Digest::of(&payload) != declared.digest {
            return Err(Refusal::Unreadable(
                "the body does not give the digest that was declared",
            ));
        }
        let outcome = Outcome::from_bytes(&payload).map_err(|error| Refusal::Invalid(error.to_string()))?;
        let identity = &delivery.identity;
        if outcome.operation_id != identity.operation_id || outcome.operation != identity.operation {
            return Err(Refusal::Invalid("the outcome is of another operation".to_owned()));
        }
        drop(outcome);
        // The body may have taken its time: whoever held the claim when it began may not hold it now.
        let again = || authorize(&self.client, &delivery, &account, Moment::Upload, (self.now)());
        let mut publication = Publication::new(name, identity, &delivery.pod, &payload)?;
        again().await?;
        publication.intent(&self.client).await?;
        if !publication.is_inline() {
            publication.chunks(&self.client).await?;
            again().await?;
        }
        Ok(publication.complete(&self.client).await?)
    }
}

async fn preflight(
    State(receiver): State<Receiver>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        let delivery = Delivery::read(&name, &headers)?;
        receiver.admit(&delivery, Moment::Preflight).await
    };
    match answer.await {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(refusal) => refuse("preflight", &name, &refusal),
    }
}

async fn upload(
    State(receiver): State<Receiver>,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let stored = tokio::time::timeout(receiver.limit, receiver.store(&name, &headers, request)).await;
    match stored.unwrap_or(Err(Refusal::Slow)) {
        Ok(receipt) => {
            tracing::info!(result = name, size = receipt.size, "stored a result");
            let body = ptah_contract::canonical::to_bytes(&receipt).unwrap_or_default();
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(refusal) => refuse("upload", &name, &refusal),
    }
}

fn refuse(what: &str, name: &str, refusal: &Refusal) -> Response {
    let cause = std::error::Error::source(refusal).map(ToString::to_string);
    let cause = cause.as_deref().unwrap_or_default();
    tracing::warn!(
        result = name,
        status = refusal.status().as_u16(),
        cause,
        "refused a {what}: {refusal}"
    );
    refusal.answer()
}

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
