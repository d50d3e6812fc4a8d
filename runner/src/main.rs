//! `ptah-runner`: the operations of a Pod, and the same as a command line for people and pipelines.
//!
//! Promises: standard output carries the result and nothing else; a failure is one line `error: <code>:
//! <sentence>` on standard error and an exit status that tells who can end it. Never takes a database URL or a
//! credential from an argument or from the environment.

mod apply;
mod cli;
mod diff;
mod fail;
mod files;
mod observe;
mod operation;
mod plan;
mod resolve;
mod scratch;
mod text;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;
use ptah_engine::Deadline;

#[tokio::main]
async fn main() -> ExitCode {
    if let Some(failed) = cli::secret_in_arguments(std::env::args_os()) {
        return failed.print(cli::Output::Text);
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::usage(&error),
    };
    let token = files::stop_on_signals();
    let stop = Deadline::on(token.clone());
    match cli.command {
        cli::Command::Operation(arguments) => operation::run(arguments, token).await,
        cli::Command::Resolve(arguments) => resolve::run(arguments, token).await,
        cli::Command::Verify(arguments) => verify::run(arguments, token).await,
        cli::Command::Observe(arguments) => observe::run(arguments, stop).await,
        cli::Command::Plan(arguments) => plan::run(arguments, stop).await,
        cli::Command::Apply(arguments) => apply::run(arguments, stop).await,
        cli::Command::Diff(arguments) => diff::run(arguments, stop).await,
        cli::Command::Scratch(arguments) => scratch::run(arguments, stop).await,
    }
}
