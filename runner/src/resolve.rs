//! `ptah-runner resolve`: the content of a source, as the operator would see it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Subcommand};
use ptah_resolver::folder;
use serde_json::{Value, json};

use crate::cli::Output;
use crate::fail::Failed;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Source,
}

#[derive(Subcommand)]
enum Source {
    /// Takes a folder, or one file.
    Files(Files),
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  printf 'CREATE TABLE users (id bigint PRIMARY KEY);' > schema.sql\n  \
    ptah-runner resolve files schema.sql"
)]
struct Files {
    /// A folder, or one file.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Copies the files into this folder, which must be empty.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Source::Files(files) = &arguments.source;
    match resolve(files) {
        Ok(report) => {
            println!("{report:#}");
            ExitCode::SUCCESS
        }
        Err(error) => Failed::from(error.to_failure()).print(Output::Text),
    }
}

fn resolve(files: &Files) -> Result<Value, ptah_resolver::Error> {
    let began = Instant::now();
    let manifest = folder::resolve(&files.path)?;
    if let Some(out) = &files.out {
        folder::copy(&files.path, &manifest, out)?;
    }
    let digest = manifest.content_digest();
    Ok(json!({
        "kind": "files",
        "revision": digest,
        "requested": files.path.display().to_string(),
        "contentDigest": digest,
        "manifest": {"files": manifest.files(), "version": 1},
        "bytes": manifest.total_bytes(),
        "files": manifest.files().len(),
        "received": 0,
        "attempts": 1,
        "elapsedMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}
