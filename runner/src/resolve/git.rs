//! `ptah-runner resolve git`.

use std::path::PathBuf;

use clap::Args;
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::resolution::Resolution;
use ptah_resolver::git::{self, Credential, Error, Recorded, Request, SecretKeys};
use ptah_resolver::net;
use tokio_util::sync::CancellationToken;

use super::attempts::Patience;
use super::policy;

#[derive(Args)]
#[command(
    after_help = "Example:\n  ptah-runner resolve git https://github.com/octocat/Hello-World.git \
    --ref master --path README"
)]
pub(super) struct Git {
    /// https://..., ssh://... or user@host:path.
    #[arg(value_name = "REPOSITORY")]
    repository: String,
    /// A branch, a tag, a full ref name, HEAD, or the id of a commit.
    #[arg(long = "ref", value_name = "REF")]
    reference: String,
    /// A folder or a file in the repository; `.` for everything.
    #[arg(long, value_name = "PATH")]
    path: String,
    /// A folder with one file for each key of the Secret.
    #[arg(long, value_name = "DIR")]
    auth_dir: Option<PathBuf>,
    /// Certificates to believe beside the system's, as PEM.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Writes the files into this folder, which must be empty.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A source policy: what the repository's host and the files have to keep to.
    #[arg(long, value_name = "FILE")]
    source_policy: Option<PathBuf>,
    /// Which signatures the commit needs; not supported yet.
    #[arg(long, value_name = "FILE")]
    verification: Option<PathBuf>,
    #[command(flatten)]
    patience: Patience,
    /// Fetches this commit, which an earlier resolution recorded.
    #[arg(long, value_name = "COMMIT", requires = "content_digest")]
    commit: Option<String>,
    /// Refuses any other content than that with this digest.
    #[arg(long, value_name = "DIGEST", requires = "commit")]
    content_digest: Option<Digest>,
}

pub(super) async fn resolve(arguments: Git, token: CancellationToken) -> Result<Resolution, Failure> {
    if arguments.verification.is_some() {
        // Not passed over in silence: whoever asks for a check must not believe that it was made.
        return Err(Failure::new(
            "not_supported",
            FailureClass::Refused,
            "--verification is not supported yet for Git sources",
        ));
    }
    let policy = arguments.source_policy.as_deref().map(policy::read).transpose()?;
    let mut request = request(&arguments).map_err(|error| error.to_failure())?;
    if let Some(policy) = &policy {
        policy::admit(policy, &request.repository)?;
        request.limits = request.limits.under(policy);
    }
    let recorded = arguments
        .commit
        .as_ref()
        .zip(arguments.content_digest)
        .map(|(commit, content_digest)| Recorded {
            commit: commit.clone(),
            reference: None,
            content_digest,
        });
    let (request, recorded, out) = (&request, &recorded, arguments.out.as_deref());
    let once = |attempt| async move {
        let resolved = match recorded {
            Some(recorded) => git::fetch_recorded(request, recorded, &attempt, out).await,
            None => git::resolve(request, &attempt, out).await,
        };
        resolved
            .map(|resolved| resolved.resolution)
            .map_err(|error| error.to_failure())
    };
    arguments.patience.attempt(&token, once).await
}

fn request(arguments: &Git) -> Result<Request, Error> {
    let mut request = Request::new(
        arguments.repository.parse()?,
        arguments.reference.parse()?,
        arguments.path.parse()?,
    );
    let ca = match &arguments.ca {
        Some(file) => Some(std::fs::read(file).map_err(|_| net::Error::InvalidCa("it cannot be read"))?),
        None => None,
    };
    if let Some(ca) = &ca {
        request.trust = request.trust.with_pem(ca)?;
    }
    if let Some(folder) = &arguments.auth_dir {
        let keys = SecretKeys::read(folder)?;
        request.credential = Some(Credential::new(&keys, &request.repository, ca.as_deref())?);
    }
    Ok(request)
}
