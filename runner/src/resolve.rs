//! `ptah-runner resolve`: the content of a source, as the operator would see it.

mod attempts;
mod files;
pub(crate) mod git;
pub(crate) mod oci;
mod policy;
pub(crate) mod verification;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::resolution::Resolution;
use tokio_util::sync::CancellationToken;

use crate::cli::Output;
use crate::fail::Failed;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Source,
}

#[derive(Subcommand)]
enum Source {
    /// Takes a folder, or one file, of a Git repository.
    Git(git::Git),
    /// Takes the files of an artifact in a registry.
    Oci(oci::Oci),
    /// Takes a folder, or one file.
    Files(files::Files),
}

pub(crate) async fn run(arguments: Arguments, token: CancellationToken) -> ExitCode {
    let resolved = match arguments.source {
        Source::Git(git) => git::resolve(git, token).await,
        Source::Oci(oci) => oci::resolve(oci, token).await,
        Source::Files(files) => files::resolve(&files).map_err(|error| error.to_failure()),
    };
    match resolved.and_then(|resolution| print(&resolution)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => Failed::from(failure).print(Output::Text),
    }
}

fn print(resolution: &Resolution) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(resolution)
        .map_err(|error| Failure::new("unprintable", FailureClass::Internal, error.to_string()))?;
    println!("{text}");
    Ok(())
}
