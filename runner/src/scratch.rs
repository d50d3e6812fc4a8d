//! `ptah-runner scratch`: what the sidecar of an operation Pod runs.

use std::process::ExitCode;

use ptah_engine::{Deadline, scratch};

use crate::cli::{Output, Scratch};
use crate::fail::Failed;

pub(crate) async fn run(arguments: Scratch, stop: Deadline) -> ExitCode {
    let served = scratch::serve(
        &arguments.directory,
        &arguments.servers,
        &arguments.templates,
        &arguments.work,
        stop,
    )
    .await;
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => Failed::from(error).print(Output::Text),
    }
}
