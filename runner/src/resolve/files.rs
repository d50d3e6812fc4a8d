//! `ptah-runner resolve files`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use ptah_contract::resolution::{Kind, Resolution};
use ptah_resolver::folder;

#[derive(Args)]
#[command(
    after_help = "Example:\n  printf 'CREATE TABLE users (id bigint PRIMARY KEY);' > schema.sql\n  \
    ptah-runner resolve files schema.sql"
)]
pub(super) struct Files {
    /// A folder, or one file.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Copies the files into this folder, which must be empty.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn resolve(files: &Files) -> Result<Resolution, ptah_resolver::Error> {
    let began = Instant::now();
    let manifest = folder::resolve(&files.path)?;
    if let Some(out) = &files.out {
        folder::copy(&files.path, &manifest, out)?;
    }
    let revision = manifest.content_digest().to_string();
    let requested = files.path.display().to_string();
    let mut resolution = Resolution::new(Kind::Files, revision, requested, manifest);
    resolution.elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(resolution)
}
