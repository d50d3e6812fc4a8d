//! From a reference to content: the manifest, what it means, and its layers.

use std::path::Path;

use ptah_contract::artifact::{ArtifactDescription, Attachments};
use ptah_contract::digest::Digest;
use ptah_contract::resolution::{Kind, Resolution};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use super::manifest::{ACCEPT, Descriptor, Document, MAX_MANIFEST, Manifest, is_index};
use super::session::Session;
use super::{Error, Request, Selector, layers, referrers, shape};
use crate::content::Content;
use crate::net::{self, Attempt};

const CONTENT_DIGEST: &str = "docker-content-digest";

/// Finds the artifact, reads all of it, and writes its files below `out` when that is given.
///
/// # Expected flow
/// One request for the manifest (two when an index is followed), one for each layer; more only to prove who asks.
///
/// # Guarantees
/// `out` holds the whole content afterwards, or is empty.
///
/// # Errors
/// When something is not there, not allowed, or not what it should be.
pub async fn resolve(request: &Request, attempt: &Attempt, out: Option<&Path>) -> Result<Resolution, Error> {
    let session = Session::open(request, attempt)?;
    let found = pull(&session, &request.reference.selector()).await?;
    finish(request, &session, found, out).await
}

/// As [`resolve`], unless the reference still leads to the manifest or the index with the digest `known`: then there
/// is nothing to do, and one HEAD request has shown that.
///
/// # Errors
/// As [`resolve`].
pub async fn resolve_if_changed(
    request: &Request,
    known: Digest,
    attempt: &Attempt,
    out: Option<&Path>,
) -> Result<Option<Resolution>, Error> {
    let session = Session::open(request, attempt)?;
    let selector = request.reference.selector();
    let selector = match head(&session, &selector).await? {
        Some(digest) if digest == known => return Ok(None),
        // From here on the tag is not asked again: it may move meanwhile.
        Some(digest) => Selector::Digest(digest),
        None => selector,
    };
    let found = pull(&session, &selector).await?;
    if found.index.unwrap_or(found.digest) == known {
        return Ok(None);
    }
    finish(request, &session, found, out).await.map(Some)
}

/// What a policy wants to know of the artifact with this digest. `request` holds the reference as somebody wrote it.
///
/// # Errors
/// As [`resolve`]; nothing of the content is read.
pub async fn describe(
    request: &Request,
    digest: Digest,
    attachments: Attachments,
    attempt: &Attempt,
) -> Result<ArtifactDescription, Error> {
    let session = Session::open(request, attempt)?;
    let found = pull(&session, &Selector::Digest(digest)).await?;
    let attached = match attachments {
        Attachments::LeftOut => Vec::new(),
        Attachments::Listed => referrers::of(&session, found.digest, None).await?,
        Attachments::Read => referrers::of(&session, found.digest, Some(request.evidence)).await?,
    };
    Ok(ArtifactDescription {
        reference: request.requested.clone(),
        pinned: request.reference.digest().is_some(),
        digest: found.digest,
        artifact_type: found.manifest.kind().to_owned(),
        annotations: found.manifest.annotations,
        attached,
    })
}

/// A manifest, and the index that led to it.
struct Found {
    digest: Digest,
    index: Option<Digest>,
    manifest: Manifest,
}

async fn finish(
    request: &Request,
    session: &Session<'_>,
    found: Found,
    out: Option<&Path>,
) -> Result<Resolution, Error> {
    let parts = shape::parts(&found.manifest, request.family)?;
    let content = Content::new(request.limits.clone(), out)?;
    layers::fetch(session, &parts, &content).await?;
    let wanted = request.content_digest;
    // Reads back what was written, which may be much.
    let finished = tokio::task::spawn_blocking(move || content.finish(wanted)).await;
    let manifest = finished??;
    let attempt = session.attempt;
    let mut resolution = Resolution::new(
        Kind::Oci,
        found.digest.to_string(),
        request.requested.clone(),
        manifest,
    );
    resolution.artifact_digest = Some(found.digest);
    resolution.index_digest = found.index;
    resolution.received = attempt.received();
    resolution.elapsed_ms = u64::try_from(attempt.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(resolution)
}

/// What a tag or digest is now, by the registry's word; `None` when it does not say.
async fn head(session: &Session<'_>, selector: &Selector) -> Result<Option<Digest>, Error> {
    if let Selector::Digest(digest) = selector {
        return Ok(Some(*digest));
    }
    let url = session.url(&format!("manifests/{selector}"))?;
    let response = session.ask(Method::HEAD, &url, ACCEPT).await?;
    match response.status().as_u16() {
        404 => Err(not_found(session, selector)),
        // Not everybody speaks HEAD.
        400 | 405 | 501 => Ok(None),
        _ => Ok(promised(response.success()?.headers())),
    }
}

async fn pull(session: &Session<'_>, selector: &Selector) -> Result<Found, Error> {
    let (digest, _, document) = get(session, selector).await?;
    let manifests = match document {
        Document::Manifest(manifest) => {
            return Ok(Found {
                digest,
                index: None,
                manifest,
            });
        }
        Document::Index(manifests) => manifests,
    };
    let [only] = manifests.as_slice() else {
        return Err(Error::IndexCount {
            digest,
            count: manifests.len(),
        });
    };
    if is_index(&only.media_type) {
        return Err(Error::NestedIndex { digest });
    }
    match held(session, only).await? {
        Document::Manifest(manifest) => Ok(Found {
            digest: only.digest,
            index: Some(digest),
            manifest,
        }),
        Document::Index(_) => Err(Error::NestedIndex { digest }),
    }
}

/// A manifest that another one describes.
async fn held(session: &Session<'_>, descriptor: &Descriptor) -> Result<Document, Error> {
    let (_, size, document) = get(session, &Selector::Digest(descriptor.digest)).await?;
    if size == descriptor.size {
        return Ok(document);
    }
    Err(Error::OtherSize {
        what: format!("the manifest {}", descriptor.digest),
        registry: session.registry(),
        found: size,
        wanted: descriptor.size,
    })
}

/// The manifest, with the digest and size of its bytes.
pub(super) async fn get(
    session: &Session<'_>,
    selector: &Selector,
) -> Result<(Digest, u64, Document), Error> {
    let url = session.url(&format!("manifests/{selector}"))?;
    let response = session.ask(Method::GET, &url, ACCEPT).await?;
    if response.status().as_u16() == 404 {
        return Err(not_found(session, selector));
    }
    let response = response.success()?;
    let said = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let said = said.map(str::to_owned);
    let promised = promised(response.headers());
    let body = response.capped(session.attempt, MAX_MANIFEST).await;
    let body = body.map_err(|error| match error {
        net::Error::TooLarge { limit, .. } => Error::ManifestTooLarge {
            registry: session.registry(),
            name: selector.to_string(),
            limit,
        },
        other => other.into(),
    })?;
    let found = Digest::of(&body);
    let asked = match selector {
        Selector::Digest(digest) => Some(*digest),
        Selector::Tag(_) => None,
    };
    for wanted in asked.into_iter().chain(promised) {
        if wanted != found {
            return Err(Error::OtherDigest {
                what: format!("the manifest {:?}", selector.to_string()),
                registry: session.registry(),
                found,
                wanted,
            });
        }
    }
    let document = Document::read(&body, said.as_deref())?;
    Ok((found, body.len() as u64, document))
}

/// The digest that a registry promises; one of another algorithm promises nothing that can be held.
fn promised(headers: &HeaderMap) -> Option<Digest> {
    headers.get(CONTENT_DIGEST)?.to_str().ok()?.parse().ok()
}

fn not_found(session: &Session<'_>, selector: &Selector) -> Error {
    Error::NotFound {
        registry: session.registry(),
        what: "manifest",
        name: selector.to_string(),
    }
}
