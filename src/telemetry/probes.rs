//! `/healthz`, `/readyz` and `/metrics`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

use super::Metrics;

/// Whether webhook and receiver serve.
#[derive(Clone, Default)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// From now on this replica may be sent requests.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Probes and metrics. Which of them a port serves is the caller's choice.
pub fn router(readiness: Readiness, metrics: Metrics) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route(
            "/readyz",
            get(move || async move {
                if readiness.0.load(Ordering::Acquire) {
                    (StatusCode::OK, "ok")
                } else {
                    (
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the webhook and the result receiver do not serve yet",
                    )
                }
            }),
        )
        .route("/metrics", get(move || async move { metrics.encode() }))
}
