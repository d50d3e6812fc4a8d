//! Arguments to a running manager.

use std::process::ExitCode;

use clap::Parser as _;
use ptah_operator::manager::{self, Arguments};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_env_filter(EnvFilter::new(&arguments.log_level))
        .with_writer(std::io::stderr)
        .init();
    // The whole program uses one cryptographic provider; a second one, compiled in by some dependency, would make
    // the TLS library refuse to choose.
    if rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .is_err()
    {
        tracing::error!("another cryptographic provider is installed already");
        return ExitCode::FAILURE;
    }
    match manager::run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = %format!("{error:#}"), "the manager stops");
            ExitCode::FAILURE
        }
    }
}
