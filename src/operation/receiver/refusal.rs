//! What the receiver says no with.
//!
//! A refused Pod learns which check it failed, and nothing of the objects that it was checked against.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::operation::records;

/// Why a preflight or an upload is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A header or the body is not what the protocol asks for (400).
    #[error("{0}")]
    Unreadable(&'static str),
    /// No usable token (401).
    #[error("{0}")]
    Unauthenticated(&'static str),
    /// The token is good, and the claim is not this Pod's to speak for (403). Trying again does not help.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The upload took longer than [`super::UPLOAD_LIMIT`] (408).
    #[error("the upload took too long")]
    Slow,
    /// Another result of the attempt is stored (409).
    #[error("another result of this attempt is stored already")]
    Conflict(#[source] records::Error),
    /// No length was declared (411).
    #[error("a content length is required")]
    NoLength,
    /// Larger than a result may be (413).
    #[error(
        "the result is larger than {} bytes",
        ptah_contract::protocol::MAX_OUTCOME_BYTES
    )]
    TooLarge,
    /// Not an outcome by its media type (415).
    #[error("{0}")]
    MediaType(&'static str),
    /// Not an outcome by its content (422).
    #[error("{0}")]
    Invalid(String),
    /// All places are taken (503).
    #[error("other results are being taken; try again")]
    Busy,
    /// The claim is on its way (503).
    #[error("the claim is not visible yet; try again")]
    NotYet,
    /// The API server did not answer (503).
    #[error("the API server cannot be asked now; try again")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What is stored contradicts itself (500).
    #[error("the stored result does not hold together")]
    Broken(#[source] records::Error),
}

impl Refusal {
    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Unreadable(_) => StatusCode::BAD_REQUEST,
            Self::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::NoLength => StatusCode::LENGTH_REQUIRED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Busy | Self::NotYet | Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The response.
    #[must_use]
    pub fn answer(&self) -> Response {
        let mut response = (self.status(), self.to_string()).into_response();
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<kube::Error> for Refusal {
    fn from(error: kube::Error) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

impl From<records::Error> for Refusal {
    fn from(error: records::Error) -> Self {
        match error {
            records::Error::Conflict(_) => Self::Conflict(error),
            records::Error::TooLarge(_) => Self::TooLarge,
            records::Error::Api(_) => Self::Unavailable(Box::new(error)),
            records::Error::Corrupt { .. } | records::Error::Encoding(_) => Self::Broken(error),
        }
    }
}
