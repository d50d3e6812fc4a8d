//! `ptah-runner verify`: whether a source is what a policy demands, as the operator would judge it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_resolver::net::{Attempt, Limits};
use ptah_resolver::oci::describe;
use ptah_verifier::{Policy, PolicyDocument, Root, Verdict};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::Output;
use crate::fail::Failed;
use crate::resolve::oci::Artifact;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Source,
}

#[derive(Subcommand)]
enum Source {
    /// Checks an artifact in a registry, named by its digest.
    Oci(Oci),
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

pub(crate) async fn run(arguments: Arguments, token: CancellationToken) -> ExitCode {
    let verdict = match arguments.source {
        Source::Oci(oci) => artifact(&oci, token).await,
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
        Some(why) => {
            Failed::from(Failure::new("policy_refused", FailureClass::Refused, why)).print(Output::Text)
        }
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

fn content(arguments: &Blob) -> Result<Verdict, Failure> {
    let policy = arguments.policy.read()?;
    let bundle = read("bundle", &arguments.bundle)?;
    let path = Path::new(&arguments.content);
    // A file of that name is meant by it.
    Ok(match arguments.content.parse::<Digest>() {
        Ok(digest) if !path.exists() => policy.check_blob(digest, None, &bundle),
        _ => {
            let bytes = read("content", path)?;
            policy.check_blob(Digest::of(&bytes), Some(&bytes), &bundle)
        }
    })
}

impl PolicyArguments {
    fn read(&self) -> Result<Policy, Failure> {
        let failed =
            |error: ptah_verifier::Error| Failure::new(error.code(), error.class(), error.to_string());
        let document = PolicyDocument::parse(&read("verification policy", &self.policy)?).map_err(failed)?;
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
                bytes: read("trusted root", &path)?,
            });
        }
        document.bind(&roots).map_err(failed)
    }
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        let code = format!("{}_unreadable", what.replace(' ', "_"));
        let path = path.display().to_string();
        let message = format!("the {what} {path:?} cannot be read: {}", error.kind());
        Failure::new(&code, FailureClass::Input, message)
    })
}
