//! A running manager: what every replica serves, and what the leader does.
//!
//! Every replica serves probes, metrics, the approval webhook and the result receiver. One replica, the leader, runs
//! the controller and keeps the certificate. Losing the Lease ends the process: what it was about to do is decided
//! anew by the next leader from what the API server holds.

mod arguments;
mod audience;
mod leader;
mod patience;
mod serving;

use std::sync::{Arc, RwLock};
use std::time::Duration;

use anyhow::Context as _;
use kube::{Client, Config};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::controller::{self, Context, Installation};
use crate::realm::Leases;
use crate::source::InProcess;
use crate::telemetry::{Metrics, Readiness};

pub use arguments::Arguments;

/// How long the API server may be silent about a request. Watches have a limit of their own, in the watcher.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for the leader's Lease, of whose renewals several must fit into its duration.
const ELECTION_TIMEOUT: Duration = Duration::from_secs(4);

/// Runs until SIGTERM, until leadership is lost, or until something that cannot be done without fails.
///
/// # Errors
/// When the cluster cannot be reached, a port is taken, or leadership was lost.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = Config::infer().await.context("no way to the API server")?;
    let client = answering_within(&config, READ_TIMEOUT)?;
    let watches = Client::try_from(config.clone()).context("no way to the API server")?;
    let stop = stop_on_signals()?;
    let (metrics, readiness) = (Metrics::default(), Readiness::default());

    serving::probes(&arguments, readiness.clone(), metrics.clone(), &stop);
    let trust = Arc::new(RwLock::new(String::new()));
    let certified = patience::answered("the serving certificate", &stop, async || {
        serving::Serving::certificate(&arguments, &client).await
    });
    let Some(certificate) = certified.await? else {
        return Ok(());
    };
    let serving = serving::Serving::start(&arguments, &client, &certificate, Arc::clone(&trust), &stop)?;
    let judged = patience::answered("the audience of results", &stop, async || {
        audience::refused_by_the_api_server(&client, &arguments).await
    });
    if judged.await?.is_none() {
        return Ok(());
    }

    let (lead, leading) = watch::channel(false);
    tokio::spawn(serving.keep_certificate(client.clone(), leading, readiness, stop.clone()));
    let election = answering_within(&config, ELECTION_TIMEOUT)?;
    let Some(leadership) = leader::elect(&arguments, &election, &stop).await? else {
        return Ok(());
    };
    lead.send_replace(true);
    tracing::info!("leading");
    let controller = controller::of(&watches);
    let (in_process, wakes) = InProcess::new(arguments.in_process(), stop.clone());
    let context = Arc::new(Context {
        in_process,
        leases: Leases::new(client.clone(), arguments.coordination_namespace()),
        schemas: controller.store(),
        installation: installation(&arguments),
        client,
        trust,
        metrics,
    });
    let work = controller::run(controller, watches, context, wakes, stop.clone());
    let lost = leadership.lost();
    tokio::select! {
        () = work => {}
        () = lost => {
            stop.cancel();
            anyhow::bail!("leadership was lost");
        }
    }
    leadership.resign().await;
    tracing::info!("stopped");
    Ok(())
}

/// A client whose requests are given up when the API server is silent for so long.
fn answering_within(config: &Config, limit: Duration) -> anyhow::Result<Client> {
    let mut config = config.clone();
    config.connect_timeout = Some(limit);
    config.read_timeout = Some(limit);
    config.reset_reader_on_write = true;
    Client::try_from(config).context("no way to the API server")
}

fn installation(arguments: &Arguments) -> Installation {
    Installation {
        controller_image: arguments.controller_image.clone(),
        controller_revision: arguments.controller_revision.clone(),
        runner_image_postgresql: arguments.runner_image_postgresql.clone(),
        runner_image_mysql: arguments.runner_image_mysql.clone(),
        results_endpoint: format!(
            "https://{}.{}.svc",
            arguments.results_service, arguments.namespace
        ),
    }
}

fn stop_on_signals() -> anyhow::Result<CancellationToken> {
    let stop = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut stream = signal(kind).context("signals cannot be handled")?;
        let stop = stop.clone();
        tokio::spawn(async move {
            stream.recv().await;
            stop.cancel();
        });
    }
    Ok(stop)
}
