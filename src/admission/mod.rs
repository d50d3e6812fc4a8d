//! The admission webhook of approvals, and the certificate that it and the result receiver are served with.
//!
//! Promises: it answers for the creation of our own approvals and nothing else, reads what it decides by from the
//! API server, and changes nothing but the object that it was asked about. While it is away nobody can approve;
//! everything else goes on.

pub mod approval;
pub mod certificate;

use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use jiff::Timestamp;
use kube::Client;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview};

/// Where approvals are sent.
pub const APPROVALS_PATH: &str = "/approvals";
/// An object has at most 1.5 MiB at the API server; a review holds it and a little more.
const MAX_REVIEW_BYTES: usize = 4 << 20;
/// Below the webhook's own time limit, so that the requester gets our words and not a time-out's.
const TIME_LIMIT: Duration = Duration::from_secs(4);

/// The webhook's routes.
pub fn router(client: Client) -> Router {
    Router::new()
        .route(APPROVALS_PATH, post(approvals))
        .layer(DefaultBodyLimit::max(MAX_REVIEW_BYTES))
        .with_state(client)
}

async fn approvals(
    State(client): State<Client>,
    Json(review): Json<AdmissionReview<DynamicObject>>,
) -> Response {
    let Ok(request) = TryInto::<AdmissionRequest<DynamicObject>>::try_into(review) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let response = tokio::time::timeout(TIME_LIMIT, approval::answer(&client, &request, Timestamp::now()))
        .await
        .unwrap_or_else(|_| {
            Err(approval::Refusal::Unavailable(
                "the API server did not answer in time".into(),
            ))
        })
        .and_then(|stamp| {
            AdmissionResponse::from(&request)
                .with_patch(stamp.patch()?)
                .map_err(|error| approval::Refusal::Unavailable(error.to_string()))
        })
        .unwrap_or_else(|refusal| denied(&request, &refusal));
    Json(response.into_review()).into_response()
}

fn denied(request: &AdmissionRequest<DynamicObject>, refusal: &approval::Refusal) -> AdmissionResponse {
    tracing::info!(
        namespace = request.namespace.as_deref().unwrap_or_default(),
        user = request.user_info.username.as_deref().unwrap_or_default(),
        %refusal,
        "refused an approval"
    );
    let mut response = AdmissionResponse::from(request).deny(refusal);
    (response.result.code, response.result.reason) = match refusal {
        approval::Refusal::Unavailable(_) => (503, "ServiceUnavailable".to_owned()),
        _ => (403, "Forbidden".to_owned()),
    };
    response
}

#[cfg(test)]
mod tests;
