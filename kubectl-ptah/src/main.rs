//! `kubectl ptah`: reads what the operator stored and checks it as the operator does, before it shows anything.
//!
//! Promises: it only reads; bytes that are not those of the fingerprint are never printed; standard output carries
//! the answer and nothing else. Exit status: 0 printed, 1 failed or did not verify, 2 wrong usage, 3 no plan there.

mod plan;
mod text;

use std::error::Error as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::plan::{Error, Selection};

/// Reads what Ptah Operator stored.
#[derive(Debug, Parser)]
#[command(name = "kubectl-ptah", bin_name = "kubectl ptah", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows the plan of a PtahSchema: its SQL, and what each statement locks and destroys.
    Plan(PlanArgs),
}

#[derive(Debug, Args)]
struct PlanArgs {
    /// Name of the PtahSchema.
    name: String,
    /// Namespace of the PtahSchema; the context's own when left out.
    #[arg(short, long)]
    namespace: Option<String>,
    /// Context of the kubeconfig.
    #[arg(long)]
    context: Option<String>,
    /// Path of the kubeconfig.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// How to show it.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// The plan that waits (the default).
    #[arg(long, conflicts_with = "applied")]
    current: bool,
    /// The plan that ran last.
    #[arg(long)]
    applied: bool,
    /// Time for the whole command, in seconds.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people; characters that could deceive a reader are escaped.
    Text,
    /// The stored document, byte for byte.
    Json,
    /// The statements, in the order in which they run.
    Sql,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Cli {
        command: Command::Plan(args),
    } = Cli::parse();
    let limit = Duration::from_secs(args.timeout);
    let result = match tokio::time::timeout(limit, show(&args)).await {
        Ok(result) => result,
        Err(_) => Err(Error::Slow(args.timeout)),
    };
    let error = match result.and_then(|bytes| print(&bytes)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) => error,
    };
    let mut text = format!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        // Some libraries repeat their cause in their own text.
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(&format!(": {words}"));
        }
        cause = error.source();
    }
    // Nothing is left to do when even this cannot be written.
    let _ = writeln!(io::stderr(), "{}", text::visible(&text));
    ExitCode::from(error.exit_status())
}

async fn show(args: &PlanArgs) -> Result<Vec<u8>, Error> {
    let (client, namespace) = connect(args).await?;
    let namespace = args.namespace.clone().unwrap_or(namespace);
    let selection = if args.applied {
        Selection::Applied
    } else {
        Selection::Current
    };
    let loaded = plan::load(&client, &namespace, &args.name, selection).await?;
    Ok(match args.output {
        Output::Text => text::page(&loaded).into_bytes(),
        Output::Json => loaded.bytes,
        Output::Sql => text::sql(&loaded.document).into_bytes(),
    })
}

/// As kubectl finds its cluster: `--kubeconfig`, else `KUBECONFIG`, else the file in the home folder.
async fn connect(args: &PlanArgs) -> Result<(Client, String), Error> {
    let options = KubeConfigOptions {
        context: args.context.clone(),
        ..KubeConfigOptions::default()
    };
    let config = match &args.kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path).map_err(Error::Kubeconfig)?;
            Config::from_custom_kubeconfig(file, &options).await
        }
        None => Config::from_kubeconfig(&options).await,
    }
    .map_err(Error::Kubeconfig)?;
    let namespace = config.default_namespace.clone();
    Ok((Client::try_from(config).map_err(Error::Connect)?, namespace))
}

fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Error::Print),
    }
}

#[cfg(test)]
mod tests;
