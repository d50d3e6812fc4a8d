//! `ptah-runner resolve git`.

use std::path::{Path, PathBuf};

use clap::Args;
use ptah_contract::commit::CommitVerification as _;
use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::resolution::Resolution;
use ptah_resolver::git::{self, Credential, Error, Recorded, Request, Resolved, SecretKeys};
use ptah_resolver::net::{self, Attempt};
use ptah_verifier::CommitPolicy;
use tokio_util::sync::CancellationToken;

use super::attempts::Patience;
use super::{policy, verification};

#[derive(Args)]
#[command(
    after_help = "Example:\n  ptah-runner resolve git https://github.com/octocat/Hello-World.git \
    --ref master --path README"
)]
pub(super) struct Git {
    #[command(flatten)]
    place: Place,
    /// A branch, a tag, a full ref name, HEAD, or the id of a commit.
    #[arg(long = "ref", value_name = "REF")]
    reference: String,
    /// A folder or a file in the repository; `.` for everything.
    #[arg(long, value_name = "PATH")]
    path: String,
    /// Writes the files into this folder, which must be empty.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A source policy: what the repository's host and the files have to keep to.
    #[arg(long, value_name = "FILE")]
    source_policy: Option<PathBuf>,
    /// Whose signatures the commit or its tag needs, as YAML with the keys of `git.verification`; its keysFrom is looked
    /// for as NAME/KEY beside it.
    #[arg(long, value_name = "FILE", conflicts_with = "commit")]
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

/// A repository as the command line names it.
#[derive(Args)]
pub(crate) struct Place {
    /// https://..., ssh://... or user@host:path.
    #[arg(value_name = "REPOSITORY")]
    repository: String,
    /// A folder with one file for each key of the Secret.
    #[arg(long, value_name = "DIR")]
    auth_dir: Option<PathBuf>,
    /// Certificates to believe beside the system's, as PEM.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Place {
    /// What a ref leads to there.
    pub(crate) fn request(&self, reference: &str, path: &str) -> Result<Request, Failure> {
        self.requested(reference, path)
            .map_err(|error| error.to_failure())
    }

    fn requested(&self, reference: &str, path: &str) -> Result<Request, Error> {
        let mut request = Request::new(self.repository.parse()?, reference.parse()?, path.parse()?);
        let ca = match &self.ca {
            Some(file) => Some(std::fs::read(file).map_err(|_| net::Error::InvalidCa("it cannot be read"))?),
            None => None,
        };
        if let Some(ca) = &ca {
            request.trust = request.trust.with_pem(ca)?;
        }
        if let Some(folder) = &self.auth_dir {
            let keys = SecretKeys::read(folder)?;
            request.credential = Some(Credential::new(&keys, &request.repository, ca.as_deref())?);
        }
        Ok(request)
    }
}

pub(super) async fn resolve(arguments: Git, token: CancellationToken) -> Result<Resolution, Failure> {
    let verification = arguments.verification.as_deref();
    let verification = verification.map(verification::read).transpose()?;
    let policy = arguments.source_policy.as_deref().map(policy::read).transpose()?;
    let mut request = arguments.place.request(&arguments.reference, &arguments.path)?;
    if let Some(policy) = &policy {
        policy::admit(policy, &request.repository, verification.is_some())?;
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
    let verification = &verification;
    let once = |attempt| async move {
        let resolved = match (recorded, verification) {
            (Some(recorded), _) => git::fetch_recorded(request, recorded, &attempt, out).await,
            (None, None) => git::resolve(request, &attempt, out).await,
            (None, Some(verification)) => verified(request, verification, &attempt, out).await,
        };
        resolved
            .map(|resolved| resolved.resolution)
            .map_err(|error| error.to_failure())
    };
    arguments.patience.attempt(&token, once).await
}

/// Resolves, and hands nothing on before the signatures are those that are asked for.
async fn verified(
    request: &Request,
    verification: &CommitPolicy,
    attempt: &Attempt,
    out: Option<&Path>,
) -> Result<Resolved, Error> {
    let fetched = git::fetch(request, attempt).await?;
    verification
        .judge(&fetched.resolved().tip())
        .map_err(Error::Unverified)?;
    fetched.finish(attempt, out).await
}
