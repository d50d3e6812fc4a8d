//! What registries answer with, and how an artifact is named.

#[allow(dead_code)]
#[path = "../../resolver/src/oci/challenge.rs"]
mod challenge;
#[allow(dead_code)]
#[path = "../../resolver/src/oci/docker_config.rs"]
#[rustfmt::skip] // It would look for the tests' file beside this one.
pub(crate) mod docker_config;
#[path = "../../resolver/src/oci/link.rs"]
mod link;
#[allow(dead_code)]
#[path = "../../resolver/src/oci/manifest.rs"]
mod manifest;
#[allow(dead_code)]
#[path = "../../resolver/src/oci/reference.rs"]
mod reference;
#[allow(dead_code)]
#[path = "../../resolver/src/oci/shape.rs"]
#[rustfmt::skip] // It would look for the tests' file beside this one.
mod shape;

use reqwest::header::{HeaderMap, HeaderValue, LINK, WWW_AUTHENTICATE};
use serde_json::{Value, json};
use url::Url;

use self::challenge::Challenge;
use self::manifest::{Descriptor, Document};
// Where the modules above look for it.
use self::reference::Reference;
use self::shape::{Family, Form};
use crate::net::Authority;
use crate::paths::stays_below;
use crate::{SECRET, bounded, first_line, text};

/// A reference that is read is shown as itself, holds no user, and names exactly the place that a URL made of it does.
pub fn oci_reference(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let reference: Reference = match text.parse() {
        Ok(reference) => reference,
        Err(error) => return assert!(!error.to_string().contains(SECRET)),
    };
    let shown = reference.to_string();
    assert_eq!(shown.parse(), Ok(reference.clone()), "{shown}");
    let (registry, repository) = (reference.registry(), reference.repository());
    assert!(!registry.to_string().contains('@') && registry.to_string().len() + repository.len() < 256);
    let path = format!("/v2/{repository}/manifests/{}", reference.selector());
    if let Ok(url) = Url::parse(&format!("https://{registry}{path}")) {
        assert_eq!(url.path(), path);
        assert_eq!(Authority::of(&url).ok().as_ref(), Some(registry));
    }
}

/// A document that is read is one kind of document, however it is written again; the layers that are taken from it are
/// its own, and their paths stay below their folder.
pub fn oci_manifest(data: &[u8]) {
    let (said, body) = first_line(data);
    let said = text(said).filter(|said| !said.is_empty());
    let document = match Document::read(body, said) {
        Ok(document) => document,
        Err(error) => return bounded(&error),
    };
    assert_eq!(Document::read(&written(&document), None), Ok(document.clone()));
    let Document::Manifest(manifest) = document else {
        return;
    };
    for family in [None, Some(Family::Schema), Some(Family::Migrations)] {
        let parts = match shape::parts(&manifest, family) {
            Ok(parts) => parts,
            Err(error) => {
                bounded(&error);
                continue;
            }
        };
        assert!(parts.len() <= manifest.layers.len());
        for part in parts {
            assert!(manifest.layers.contains(&part.layer));
            match part.form {
                Form::File(path) => stays_below(&path),
                Form::Archive { folder, .. } => folder.iter().for_each(stays_below),
            }
        }
    }
}

fn written(document: &Document) -> Vec<u8> {
    let one = |descriptor: &Descriptor| {
        json!({
            "mediaType": descriptor.media_type, "digest": descriptor.digest, "size": descriptor.size,
            "artifactType": descriptor.artifact_type, "annotations": descriptor.annotations,
        })
    };
    let value: Value = match document {
        Document::Index(manifests) => {
            json!({"schemaVersion": 2, "manifests": manifests.iter().map(one).collect::<Vec<_>>()})
        }
        Document::Manifest(manifest) => json!({
            "schemaVersion": 2, "artifactType": manifest.artifact_type, "config": one(&manifest.config),
            "layers": manifest.layers.iter().map(one).collect::<Vec<_>>(), "annotations": manifest.annotations,
        }),
    };
    value.to_string().into_bytes()
}

/// Lines as values of one header; `None` when one of them can be none.
fn header(name: reqwest::header::HeaderName, data: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n') {
        headers.append(&name, HeaderValue::from_bytes(line).ok()?);
    }
    Some(headers)
}

/// A challenge that is read is written with its quotes and read as itself.
pub fn oci_challenge(data: &[u8]) {
    let Some(headers) = header(WWW_AUTHENTICATE, data) else {
        return;
    };
    let Some(Challenge::Bearer { realm, service }) = challenge::of(&headers) else {
        return;
    };
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut again = format!("Bearer realm={}", quoted(&realm));
    if let Some(service) = &service {
        again.push_str(&format!(",service={}", quoted(service)));
    }
    let headers = header(WWW_AUTHENTICATE, again.as_bytes()).expect("what stood in a header");
    assert_eq!(
        challenge::of(&headers),
        Some(Challenge::Bearer { realm, service }),
        "{again}"
    );
}

/// The next page is a URL; written as the header's one link, it is the next page again.
pub fn oci_link(data: &[u8]) {
    let Some(headers) = header(LINK, data) else { return };
    let page: Url = "https://registry.example/v2/app/referrers/x?n=1"
        .parse()
        .expect("a URL");
    let Some(next) = link::next(&page, &headers) else {
        return;
    };
    let again = format!("<{next}>; rel=\"next\"");
    let headers = header(LINK, again.as_bytes()).expect("a URL stands in a header");
    // A comma in a URL ends a link for this reader, as it does for others.
    if !next.as_str().contains([',', '>']) {
        assert_eq!(link::next(&page, &headers), Some(next));
    }
}
