//! `ptah-runner resolve oci`.

use std::path::{Path, PathBuf};

use clap::Args;
use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::resolution::Resolution;
use ptah_resolver::net;
use ptah_resolver::oci::{self, Credentials, Error, Request};
use tokio_util::sync::CancellationToken;

use super::attempts::Patience;

#[derive(Args)]
#[command(
    after_help = "Example:\n  ptah-runner resolve oci oci://ghcr.io/stefanprodan/manifests/podinfo:latest"
)]
pub(super) struct Oci {
    /// Which artifact, and how its registry is reached.
    #[command(flatten)]
    artifact: Artifact,
    /// Writes the files into this folder, which must be empty.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Refuses any other content than that with this digest.
    #[arg(long, value_name = "DIGEST")]
    content_digest: Option<Digest>,
    #[command(flatten)]
    patience: Patience,
}

/// An artifact as the command line names it.
#[derive(Args)]
pub(crate) struct Artifact {
    /// oci://host/repository:tag, or @sha256:... in the tag's place.
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// A folder with one file for each key of the Secret.
    #[arg(long, value_name = "DIR")]
    auth_dir: Option<PathBuf>,
    /// Certificates to believe beside the system's, as PEM.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Speaks plain http with the registry.
    #[arg(long)]
    plain_http: bool,
}

impl Artifact {
    /// What is asked of the registry.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let reference = self
            .reference
            .parse()
            .map_err(|error| Error::Reference(error).to_failure())?;
        let mut request = Request::new(reference);
        request.requested.clone_from(&self.reference);
        request.plain_http = self.plain_http;
        request.ca = self.ca.as_deref().map(read).transpose()?;
        let credentials = self.auth_dir.as_deref().map(Credentials::from_dir).transpose();
        request.credentials = credentials.map_err(|error| Error::Credentials(error).to_failure())?;
        Ok(request)
    }
}

pub(super) async fn resolve(arguments: Oci, token: CancellationToken) -> Result<Resolution, Failure> {
    let mut request = arguments.artifact.request()?;
    request.content_digest = arguments.content_digest;
    let (request, out) = (&request, arguments.out.as_deref());
    let once = |attempt| async move {
        let resolved = oci::resolve(request, &attempt, out).await;
        resolved.map_err(|error| error.to_failure())
    };
    arguments.patience.attempt(&token, once).await
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|_| Error::Net(net::Error::InvalidCa("it cannot be read")).to_failure())
}
