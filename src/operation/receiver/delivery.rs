//! What a Pod says about itself and about the body that it sends. Nothing here is believed yet.

use axum::http::{HeaderMap, HeaderName, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ptah_contract::digest::Digest;
use ptah_contract::protocol::{
    MAX_OUTCOME_BYTES, OUTCOME_MEDIA_TYPE, OperationIdentity, PodIdentity, result_name,
};
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;

/// Header that says which attempt and which Pod this is: base64url without padding of a [`Speaker`] as JSON.
pub const IDENTITY_HEADER: HeaderName = HeaderName::from_static("x-ptah-result-identity");
/// Header that carries the body's digest.
pub const DIGEST_HEADER: HeaderName = HeaderName::from_static("x-ptah-result-digest");
const MAX_IDENTITY_BYTES: usize = 4 * 1024;
const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// The one kind whose operations deliver results.
const KIND: &str = "PtahSchema";

/// Content of the identity header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speaker {
    /// Which attempt.
    pub identity: OperationIdentity,
    /// Which Pod.
    pub pod: PodIdentity,
}

/// Who speaks, as they say, and the token to check it by.
pub struct Delivery {
    /// Which attempt.
    pub identity: OperationIdentity,
    /// Which Pod.
    pub pod: PodIdentity,
    token: String,
}

impl Delivery {
    /// Reads the headers that a preflight and an upload share.
    ///
    /// # Errors
    /// 401 without a usable token, 400 for an identity that is not one or not of this name.
    pub fn read(name: &str, headers: &HeaderMap) -> Result<Self, Refusal> {
        let token = token(headers)?;
        let text = headers
            .get(&IDENTITY_HEADER)
            .ok_or(Refusal::Unreadable("the identity header is missing"))?;
        let bytes = Some(text.as_bytes())
            .filter(|text| text.len() <= MAX_IDENTITY_BYTES)
            .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
            .ok_or(Refusal::Unreadable(
                "the identity header is not base64url of at most 4 KiB",
            ))?;
        let Speaker { identity, pod } = serde_json::from_slice(&bytes)
            .map_err(|_| Refusal::Unreadable("the identity header does not hold an identity"))?;
        let whole = [
            &identity.namespace,
            &identity.name,
            &identity.uid,
            &identity.job_name,
            &identity.operation_id,
        ]
        .into_iter()
        .chain([&pod.pod_name, &pod.pod_uid, &pod.job_uid])
        .all(|part| !part.is_empty());
        if identity.kind != KIND || !whole {
            return Err(Refusal::Unreadable(
                "the identity header names no operation of a PtahSchema",
            ));
        }
        let expected = result_name(
            &identity.namespace,
            &identity.uid,
            &identity.operation_id,
            &identity.job_name,
        );
        if name != expected {
            return Err(Refusal::Unreadable(
                "the result's name is not that of the identity",
            ));
        }
        Ok(Self { identity, pod, token })
    }

    /// The bearer token. For the review and nothing else.
    pub(super) fn token(&self) -> &str {
        &self.token
    }
}

fn token(headers: &HeaderMap) -> Result<String, Refusal> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Refusal::Unauthenticated("one bearer token is required"));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    value
        .to_str()
        .ok()
        .and_then(|value| value.strip_prefix("Bearer "))
        .filter(|token| !token.is_empty() && token.len() <= MAX_TOKEN_BYTES && token.chars().all(plain))
        .map(str::to_owned)
        .ok_or(Refusal::Unauthenticated(
            "the authorization header holds no bearer token",
        ))
}

/// What an upload says about its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its length in bytes.
    pub size: usize,
    /// Its digest.
    pub digest: Digest,
}

impl Body {
    /// Reads the headers that only an upload has.
    ///
    /// # Errors
    /// 415, 411, 413, and 400 for a digest that is none.
    pub fn read(headers: &HeaderMap) -> Result<Self, Refusal> {
        if headers
            .get(header::CONTENT_TYPE)
            .is_none_or(|value| value != OUTCOME_MEDIA_TYPE)
        {
            return Err(Refusal::MediaType("the content type is not that of an outcome"));
        }
        if headers.contains_key(header::CONTENT_ENCODING) {
            return Err(Refusal::MediaType("a content encoding is not understood"));
        }
        let length = headers.get(header::CONTENT_LENGTH).ok_or(Refusal::NoLength)?;
        let size: u64 = length
            .to_str()
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or(Refusal::Unreadable("the content length is no number"))?;
        if size > MAX_OUTCOME_BYTES as u64 {
            return Err(Refusal::TooLarge);
        }
        let digest = headers
            .get(&DIGEST_HEADER)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.parse().ok())
            .ok_or(Refusal::Unreadable("the digest header holds no digest"))?;
        Ok(Self {
            size: usize::try_from(size).map_err(|_| Refusal::TooLarge)?,
            digest,
        })
    }
}
