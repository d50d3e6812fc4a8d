//! What every test of this program needs.

use std::collections::BTreeMap;
use std::path::Path;

use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::protocol::{SourceLocator, SourceReport, SourceRequest, SourceRevision, StepFailure};
use ptah_contract::resolution::Resolution;
use ptah_resolver::net::{Attempt, Limits, Network};
use ptah_resolver::oci::{self, Credentials, Request};
use ptah_resolver::source::{self, Access, HeldTo};
use ptah_verifier::Policy;

/// An attempt as the command line makes it.
pub fn attempt() -> Attempt {
    Attempt::new(Limits::default(), Default::default())
}

/// An anonymous request over plain http.
pub fn request(reference: &str) -> Request {
    let mut request = Request::new(reference.parse().unwrap());
    request.plain_http = true;
    request
}

/// A Secret's values as a credential.
pub fn credentials(values: &[(&str, &str)]) -> Credentials {
    let values: BTreeMap<String, Vec<u8>> = values
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
        .collect();
    Credentials::from_values(&values).unwrap()
}

/// The files below a folder, by path.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let manifest = match ptah_resolver::folder::resolve(folder) {
        Ok(manifest) => manifest,
        Err(error) if error.code() == "nothing_selected" => return BTreeMap::new(),
        Err(error) => panic!("{error}"),
    };
    let read = |path: &str| std::fs::read(folder.join(path)).unwrap();
    let paths = manifest.files().iter().map(|file| file.path.to_string());
    paths.map(|path| (path.clone(), read(&path))).collect()
}

/// Resolves into a folder, which holds the whole content or nothing afterwards.
pub async fn resolve(request: &Request) -> Result<(Resolution, BTreeMap<String, Vec<u8>>), oci::Error> {
    resolve_in(request, &attempt()).await
}

/// The same, within an attempt of the caller's.
pub async fn resolve_in(
    request: &Request,
    attempt: &Attempt,
) -> Result<(Resolution, BTreeMap<String, Vec<u8>>), oci::Error> {
    let out = tempfile::tempdir().unwrap();
    let resolved = oci::resolve(request, attempt, Some(out.path())).await;
    if let Err(error) = &resolved {
        let left = std::fs::read_dir(out.path()).unwrap().count();
        assert_eq!(left, 0, "something was left after: {error}");
    }
    let resolution = resolved?;
    assert!(resolution.is_consistent());
    Ok((resolution, files(out.path())))
}

/// Reaches an artifact over plain http as an operation does, by its tag and held to a policy.
pub async fn reach(
    reference: &str,
    known: Option<&SourceRevision>,
    policy: &Policy,
    out: Option<&Path>,
) -> Result<SourceReport, StepFailure> {
    let wanted = SourceRequest {
        locator: SourceLocator::Oci {
            reference: reference.to_owned(),
            plain_http: true,
        },
        pinned: None,
        known: known.cloned(),
        max_bytes: None,
        max_files: None,
        verification: None,
        commit_verification: None,
    };
    let access = Access {
        ca: None,
        secret: None,
        network: Network::any(),
        scratch: None,
        out: out.map(Path::to_owned),
        attempt: Limits::default(),
        content: Default::default(),
        evidence: Default::default(),
        unpacked_bytes: None,
        more_attempts: 0,
        stop: Default::default(),
    };
    let held_to = HeldTo {
        artifact: Some(policy),
        commit: None,
    };
    source::reach(&wanted, &access, held_to).await
}

/// What an earlier resolution recorded of an artifact.
pub fn revision(digest: Digest) -> SourceRevision {
    SourceRevision {
        revision: digest.to_string(),
        reference: None,
        index_digest: None,
        tag_object: None,
        content_digest: Digest::of(b"the content of then"),
    }
}

/// `<class> <code> <sentence>`: what a table expects of a failure.
pub fn told(failure: &Failure) -> String {
    format!("{:?} {} {}", failure.class, failure.code, failure.message)
}
