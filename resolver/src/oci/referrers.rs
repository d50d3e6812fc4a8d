//! What is attached to an artifact: by the referrers API, by the tag that stands for it in registries without that
//! API (OCI distribution specification 1.1, "Listing Referrers"), and under the tag that cosign uses.
//!
//! Promises: lists what there is, and never decides what it is worth; a list is followed only within the repository.

use ptah_contract::artifact::{Attached, Found};
use ptah_contract::digest::Digest;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use super::artifact::get;
use super::link;
use super::manifest::{Descriptor, Document, MAX_MANIFEST, OCI_INDEX, OCI_MANIFEST};
use super::session::Session;
use super::{Error, Selector};

/// Attachments that are read.
const MAX_REFERRERS: usize = 1000;
/// The media type of an artifact's empty configuration, which is no type of an artifact.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
/// Pages that they are read from.
const MAX_PAGES: usize = 100;

pub(super) async fn of(session: &Session<'_>, digest: Digest) -> Result<Vec<Attached>, Error> {
    let mut attached = match api(session, digest).await? {
        Some(attached) => attached,
        None => by_tag(session, digest).await?,
    };
    for one in &mut attached {
        name(session, one).await?;
    }
    attached.extend(signature(session, digest).await?);
    Ok(attached)
}

/// Some registries list the configuration's media type, or nothing, where the type should stand. Then the attachment
/// itself is asked what it is.
async fn name(session: &Session<'_>, one: &mut Attached) -> Result<(), Error> {
    if !matches!(one.artifact_type.as_str(), "" | EMPTY) {
        return Ok(());
    }
    match get(session, &Selector::Digest(one.digest)).await {
        Ok((_, _, Document::Manifest(manifest))) => manifest.kind().clone_into(&mut one.artifact_type),
        // It is listed, and that is all that can be said of it.
        Ok((_, _, Document::Index(_))) | Err(Error::Manifest(_) | Error::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// `None` when the registry does not have the API.
async fn api(session: &Session<'_>, digest: Digest) -> Result<Option<Vec<Attached>>, Error> {
    let mut url = session.url(&format!("referrers/{digest}"))?;
    let mut attached = Vec::new();
    for page in 0..MAX_PAGES {
        let response = session.ask(Method::GET, &url, OCI_INDEX).await?;
        if page == 0 && response.status().as_u16() == 404 {
            return Ok(None);
        }
        let response = response.success()?;
        let next = link::next(response.url(), response.headers());
        let said = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let said = said.map(str::to_owned);
        let malformed = |_| Error::Referrers {
            registry: session.registry(),
            digest,
        };
        let body = response.capped(session.attempt, MAX_MANIFEST).await?;
        match Document::read(&body, said.as_deref()).map_err(malformed)? {
            Document::Index(listed) => extend(session, digest, &mut attached, listed, Found::Referrers)?,
            Document::Manifest(_) => {
                return Err(Error::Referrers {
                    registry: session.registry(),
                    digest,
                });
            }
        }
        match next {
            None => return Ok(Some(attached)),
            Some(next) if session.is_own(&next) => url = next,
            Some(_) => break,
        }
    }
    Err(Error::Referrers {
        registry: session.registry(),
        digest,
    })
}

async fn by_tag(session: &Session<'_>, digest: Digest) -> Result<Vec<Attached>, Error> {
    let tag = Selector::Tag(format!("sha256-{}", digest.hex()));
    let mut attached = Vec::new();
    match get(session, &tag).await {
        Ok((_, _, Document::Index(listed))) => {
            extend(session, digest, &mut attached, listed, Found::ReferrersTag)?;
        }
        Err(Error::NotFound { .. }) => {}
        Ok((_, _, Document::Manifest(_))) | Err(Error::Manifest(_)) => {
            return Err(Error::Referrers {
                registry: session.registry(),
                digest,
            });
        }
        Err(error) => return Err(error),
    }
    Ok(attached)
}

async fn signature(session: &Session<'_>, digest: Digest) -> Result<Option<Attached>, Error> {
    let tag = Selector::Tag(format!("sha256-{}.sig", digest.hex()));
    match get(session, &tag).await {
        Ok((digest, size, Document::Manifest(manifest))) => Ok(Some(Attached {
            found: Found::SignatureTag,
            media_type: OCI_MANIFEST.to_owned(),
            digest,
            size,
            artifact_type: manifest.kind().to_owned(),
            annotations: manifest.annotations,
        })),
        // Something else under that tag is no signature, and no reason to stop.
        Ok((_, _, Document::Index(_))) | Err(Error::Manifest(_) | Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn extend(
    session: &Session<'_>,
    digest: Digest,
    attached: &mut Vec<Attached>,
    listed: Vec<Descriptor>,
    found: Found,
) -> Result<(), Error> {
    if attached.len() + listed.len() > MAX_REFERRERS {
        return Err(Error::TooManyReferrers {
            registry: session.registry(),
            digest,
            limit: MAX_REFERRERS,
        });
    }
    attached.extend(listed.into_iter().map(|descriptor| Attached {
        found,
        media_type: descriptor.media_type,
        digest: descriptor.digest,
        size: descriptor.size,
        artifact_type: descriptor.artifact_type.unwrap_or_default(),
        annotations: descriptor.annotations,
    }));
    Ok(())
}
