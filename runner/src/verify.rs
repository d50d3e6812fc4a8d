//! `ptah-runner verify`: whether a source is what a policy demands, as the operator would judge it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_resolver::net::{Attempt, Limits};
use ptah_resolver::oci::{Attachments, describe};
use ptah_verifier::{Policy, Verdict};
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
    /// The verification policy, version 1.
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
}

pub(crate) async fn run(arguments: Arguments, token: CancellationToken) -> ExitCode {
    let Source::Oci(oci) = arguments.source;
    let verdict = match verify(&oci, token).await {
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

async fn verify(arguments: &Oci, token: CancellationToken) -> Result<Verdict, Failure> {
    let policy = std::fs::read(&arguments.policy).map_err(|error| {
        let message = format!("the verification policy cannot be read: {}", error.kind());
        Failure::new("verification_policy_unreadable", FailureClass::Input, message)
    })?;
    let policy = Policy::parse(&policy)
        .map_err(|error| Failure::new(error.code(), error.class(), error.to_string()))?;
    let request = arguments.artifact.request()?;
    // A tag may move between this answer and what is done with it.
    let digest = request.reference.digest().ok_or_else(|| {
        let message = "only an artifact named by its digest can be verified".to_owned();
        Failure::new("reference_not_pinned", FailureClass::Input, message)
    })?;
    let attachments = Attachments::wanted(policy.looks_at_attachments());
    let attempt = Attempt::new(Limits::default(), token);
    let artifact = describe(&request, digest, attachments, &attempt).await;
    Ok(policy.check(&artifact.map_err(|error| error.to_failure())?))
}
