//! `ptah-runner verify`: whether a source is what a policy demands, as the operator would judge it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_resolver::git;
use ptah_resolver::net::{Attempt, Limits};
use ptah_resolver::oci::describe;
use ptah_verifier::{Policy, PolicyDocument, Root, Verdict};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::Output;
use crate::fail::Failed;
use crate::resolve::git::Place;
use crate::resolve::oci::Artifact;
use crate::resolve::verification::{self, bytes};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Source,
}

#[derive(Subcommand)]
enum Source {
    /// Checks an artifact in a registry, named by its digest.
    Oci(Oci),
    /// Checks the signatures of a commit and of the tag that leads to it.
    Git(Git),
    /// Checks a Sigstore bundle about a file; asks no registry and nobody else.
    Blob(Blob),
}

#[derive(Args)]
struct PolicyArguments {
    /// The verification policy, version 1.
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Stands for every `trusted_root_from` of the policy, which is else looked for as `NAME/KEY` beside it.
    #[arg(long, value_name = "FILE")]
    trusted_root: Option<PathBuf>,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  printf 'version: 1\\nrequire_digest_pin: true\\n' > policy.yaml\n  \
    app=oci://ghcr.io/stefanprodan/manifests/podinfo\n  \
    digest=$(ptah-runner resolve oci $app | sed -n 's/.*\"artifactDigest\": \"\\(.*\\)\".*/\\1/p')\n  \
    ptah-runner verify oci $app@$digest --policy policy.yaml"
)]
struct Oci {
    #[command(flatten)]
    artifact: Artifact,
    #[command(flatten)]
    policy: PolicyArguments,
}

#[derive(Args)]
#[command(after_help = "Example:\n  cosign generate-key-pair\n  \
    cosign sign-blob --key cosign.key --bundle schema.sigstore.json schema.sql\n  \
    { printf 'version: 1\\nsignatures:\\n- name: release-key\\n  key: |\\n'; sed 's/^/    /' cosign.pub; } > policy.yaml\n  \
    ptah-runner verify blob schema.sql --bundle schema.sigstore.json --policy policy.yaml")]
struct Blob {
    /// The file, or its digest as `sha256:HEX`.
    #[arg(value_name = "FILE|sha256:HEX")]
    content: String,
    /// The Sigstore bundle.
    #[arg(long, value_name = "FILE")]
    bundle: PathBuf,
    #[command(flatten)]
    policy: PolicyArguments,
}

#[derive(Args)]
#[command(after_help = "Example:\n  mkdir -p keys\n  \
    printf 'me@example.com %s\\n' \"$(cat ~/.ssh/id_ed25519.pub)\" > keys/allowed_signers\n  \
    printf 'mode: Head\\nkeysFrom: {name: keys, key: allowed_signers}\\n' > verification.yaml\n  \
    ptah-runner verify git https://git.example/team/application.git \\\n    \
    --commit \"$(git rev-parse HEAD)\" --verification verification.yaml")]
struct Git {
    #[command(flatten)]
    place: Place,
    /// The id of the commit.
    #[arg(long, value_name = "COMMIT")]
    commit: String,
    /// The tag that leads to it, whose object is looked at too.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Whose signatures are asked for, as YAML with the keys of `git.verification`; its keysFrom is looked for as NAME/KEY
    /// beside it.
    #[arg(long, value_name = "FILE")]
    verification: PathBuf,
}

pub(crate) async fn run(arguments: Arguments, token: CancellationToken) -> ExitCode {
    // As the operator calls it.
    let refused = match arguments.source {
        Source::Git(_) => "commit_signature_refused",
        Source::Oci(_) | Source::Blob(_) => "policy_refused",
    };
    let verdict = match arguments.source {
        Source::Oci(oci) => artifact(&oci, token).await,
        Source::Git(git) => commit(&git, token).await,
        Source::Blob(blob) => content(&blob),
    };
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(failure) => return Failed::from(failure).print(Output::Text),
    };
    let word = if verdict.is_satisfied() {
        "satisfied"
    } else {
        "refused"
    };
    println!(
        "{:#}",
        json!({"verdict": word, "requirements": verdict.requirements})
    );
    match verdict.refusal() {
        None => ExitCode::SUCCESS,
        Some(why) => Failed::from(Failure::new(refused, FailureClass::Refused, why)).print(Output::Text),
    }
}

async fn artifact(arguments: &Oci, token: CancellationToken) -> Result<Verdict, Failure> {
    let policy = arguments.policy.read()?;
    let request = arguments.artifact.request()?;
    // A tag may move between this answer and what is done with it.
    let digest = request.reference.digest().ok_or_else(|| {
        let message = "only an artifact named by its digest can be verified".to_owned();
        Failure::new("reference_not_pinned", FailureClass::Input, message)
    })?;
    let attempt = Attempt::new(Limits::default(), token);
    let artifact = describe(&request, digest, policy.attachments(), &attempt).await;
    Ok(policy.check(&artifact.map_err(|error| error.to_failure())?))
}

async fn commit(arguments: &Git, token: CancellationToken) -> Result<Verdict, Failure> {
    let policy = verification::read(&arguments.verification)?;
    let digits = arguments.commit.len();
    if !matches!(digits, 40 | 64)
        || !arguments
            .commit
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    {
        let message = "--commit takes the whole id of a commit: 40 or 64 lower-case hex digits";
        return Err(Failure::new("commit_invalid", FailureClass::Input, message));
    }
    let named = arguments.tag.as_ref().map(|tag| match tag.starts_with("refs/") {
        true => tag.clone(),
        false => format!("refs/tags/{tag}"),
    });
    let request = arguments
        .place
        // No content is asked for; the path has no part in it.
        .request(named.as_ref().unwrap_or(&arguments.commit), "nothing")?;
    let attempt = Attempt::new(Limits::default(), token);
    let tip = git::fetch_tip(&request, &attempt)
        .await
        .map_err(|error| error.to_failure())?;
    if tip.commit != arguments.commit {
        let message = format!(
            "the tag leads to {}, and not to the commit that is named",
            tip.commit
        );
        return Err(Failure::new("commit_differs", FailureClass::Refused, message));
    }
    policy
        .check(&tip.tip(), Timestamp::now())
        .map_err(|why| Failure::new("commit_signature_refused", FailureClass::Refused, why))
}

fn content(arguments: &Blob) -> Result<Verdict, Failure> {
    let policy = arguments.policy.read()?;
    let bundle = bytes("bundle", &arguments.bundle)?;
    let path = Path::new(&arguments.content);
    // A file of that name is meant by it.
    Ok(match arguments.content.parse::<Digest>() {
        Ok(digest) if !path.exists() => policy.check_blob(digest, None, &bundle),
        _ => {
            let bytes = bytes("content", path)?;
            policy.check_blob(Digest::of(&bytes), Some(&bytes), &bundle)
        }
    })
}

impl PolicyArguments {
    fn read(&self) -> Result<Policy, Failure> {
        let failed =
            |error: ptah_verifier::Error| Failure::new(error.code(), error.class(), error.to_string());
        let document = PolicyDocument::parse(&bytes("verification policy", &self.policy)?).map_err(failed)?;
        let beside = self.policy.parent().unwrap_or(Path::new(""));
        let mut roots = Vec::new();
        for reference in document.roots() {
            let path = match &self.trusted_root {
                Some(path) => path.clone(),
                None => beside.join(&reference.name).join(&reference.key),
            };
            roots.push(Root {
                reference: reference.clone(),
                uid: String::new(),
                bytes: bytes("trusted root", &path)?,
            });
        }
        document.bind(&roots).map_err(failed)
    }
}
