//! What is attached to an artifact: by the referrers API, by the tag that stands for it in registries without that
//! API (OCI distribution specification 1.1, "Listing Referrers"), and under the tag that cosign uses.
//!
//! Promises: lists what there is, and never decides what it is worth; a list is followed only within the repository.

use std::collections::BTreeMap;

use ptah_contract::artifact::{Attached, Found};
use ptah_contract::digest::Digest;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use super::artifact::get;
use super::evidence::{self, Budget, EvidenceLimits};
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

/// Everything that is attached; with what may be signatures in it when `evidence` is given.
pub(super) async fn of(
    session: &Session<'_>,
    digest: Digest,
    evidence: Option<EvidenceLimits>,
) -> Result<Vec<Attached>, Error> {
    // One budget each: neither layout's signatures can crowd out the other's.
    let mut attached: Vec<Attached> = signature(session, digest, evidence).await?.into_iter().collect();
    let mut evidence = evidence.map(Budget::from);
    let listed = match (list(session, digest).await, &evidence) {
        (Ok(listed), _) => listed,
        // Whoever may attach something may spoil the list. That takes no good signature away that lies elsewhere.
        (Err(error @ (Error::TooManyReferrers { .. } | Error::Referrers { .. })), Some(budget)) => {
            vec![unlisted(digest, budget.left_out(error.to_string())?)]
        }
        (Err(error), _) => return Err(error),
    };
    let first = attached.len();
    attached.extend(listed);
    let mut order: Vec<usize> = (first..attached.len()).collect();
    // What calls itself a signature comes before what does not, for the same reason.
    order.sort_by_key(|at| !evidence::is_named(&attached[*at].artifact_type));
    for at in order {
        open(session, &mut attached[at], &mut evidence).await?;
    }
    Ok(attached)
}

async fn list(session: &Session<'_>, digest: Digest) -> Result<Vec<Attached>, Error> {
    match api(session, digest).await? {
        Some(listed) => Ok(listed),
        None => by_tag(session, digest).await,
    }
}

/// Stands for a list that was not read.
fn unlisted(digest: Digest, why: String) -> Attached {
    let mut attached = Attached {
        found: Found::Referrers,
        ..tagged(digest, 0, String::new(), BTreeMap::new())
    };
    attached.evidence = vec![evidence::unread(&attached, why)];
    attached
}

/// Asks an attachment itself: what it is, since some registries list the configuration's media type, or nothing,
/// where the type should stand; and what may be signatures in it.
async fn open(session: &Session<'_>, one: &mut Attached, budget: &mut Option<Budget>) -> Result<(), Error> {
    if !one.evidence.is_empty() {
        return Ok(());
    }
    let nameless = matches!(one.artifact_type.as_str(), "" | EMPTY);
    // A bundle is a signature or a statement about something else, which its annotations say; not every list has them.
    let unexplained = evidence::is_named(&one.artifact_type) && one.annotations.is_empty();
    if !nameless && !unexplained && budget.is_none() {
        return Ok(());
    }
    if let Some(budget) = budget
        && let Some(left_out) = budget.manifest(one)?
    {
        one.evidence = vec![left_out];
        return Ok(());
    }
    match get(session, &Selector::Digest(one.digest)).await {
        Ok((_, _, Document::Manifest(manifest))) => {
            if nameless {
                manifest.kind().clone_into(&mut one.artifact_type);
            }
            if one.annotations.is_empty() {
                one.annotations.clone_from(&manifest.annotations);
            }
            if let Some(budget) = budget {
                one.evidence = budget.read(session, &manifest).await?;
            }
        }
        // It is listed, and that is all that can be said of it.
        Ok((_, _, Document::Index(_))) => {}
        Err(error) if is_its_own(&error) => {
            if budget.is_some() {
                one.evidence = vec![evidence::unread(one, error.to_string())];
            }
        }
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
        // The specification says 404; those who do not know the path say what they say of any other.
        if page == 0 && matches!(response.status().as_u16(), 400 | 404 | 405 | 406 | 501) {
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

/// Whether this is wrong with one attachment alone, whose neighbours may be good.
fn is_its_own(error: &Error) -> bool {
    matches!(
        error,
        Error::Manifest(_)
            | Error::NotFound { .. }
            | Error::ManifestTooLarge { .. }
            | Error::OtherDigest { .. }
            | Error::OtherSize { .. }
    )
}

async fn signature(
    session: &Session<'_>,
    of: Digest,
    evidence: Option<EvidenceLimits>,
) -> Result<Option<Attached>, Error> {
    let tag = Selector::Tag(format!("sha256-{}.sig", of.hex()));
    let unreadable = |why: String| {
        let mut attached = tagged(of, 0, String::new(), Default::default());
        attached.evidence = vec![evidence::unread(&attached, why)];
        // Without its content there is only the tag, and whoever asks for presence is not told of a signature.
        evidence.map(|_| attached)
    };
    match get(session, &tag).await {
        Ok((digest, size, Document::Manifest(manifest))) => {
            let kind = manifest.kind().to_owned();
            let mut attached = tagged(digest, size, kind, manifest.annotations.clone());
            if let Some(limits) = evidence {
                attached.evidence = Budget::from(limits).read(session, &manifest).await?;
            }
            Ok(Some(attached))
        }
        Err(Error::NotFound { .. }) => Ok(None),
        // Something else under that tag is no signature, and no reason to stop.
        Ok((_, _, Document::Index(_))) => Ok(unreadable("an index stands under the tag".to_owned())),
        Err(error) if is_its_own(&error) => Ok(unreadable(error.to_string())),
        Err(error) => Err(error),
    }
}

fn tagged(
    digest: Digest,
    size: u64,
    artifact_type: String,
    annotations: BTreeMap<String, String>,
) -> Attached {
    Attached {
        found: Found::SignatureTag,
        media_type: OCI_MANIFEST.to_owned(),
        digest,
        size,
        artifact_type,
        annotations,
        evidence: Vec::new(),
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
        evidence: Vec::new(),
    }));
    Ok(())
}
