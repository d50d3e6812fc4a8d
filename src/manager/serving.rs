//! The ports of a replica, and the certificate that two of them serve.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use jiff::Timestamp;
use kube::Client;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Arguments;
use crate::admission::{self, certificate};
use crate::operation::receiver;
use crate::telemetry::{self, Metrics, Readiness};

/// How often the certificate is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(20);
/// The same, while the API server does not trust what is served.
const LOOK_SOON: Duration = Duration::from_secs(1);
/// How long requests under way may take when the process stops.
const DRAIN_FOR: Duration = Duration::from_secs(20);

/// What a replica serves over TLS.
pub(super) struct Serving {
    tls: RustlsConfig,
    trust: Arc<RwLock<String>>,
    arguments: Arguments,
    names: Vec<String>,
}

/// Probes and metrics, in clear text.
pub(super) fn probes(
    arguments: &Arguments,
    readiness: Readiness,
    metrics: Metrics,
    stop: &CancellationToken,
) {
    let router = telemetry::router(readiness, metrics);
    for address in [arguments.health_bind, arguments.metrics_bind] {
        let (router, stop) = (router.clone(), stop.clone());
        tokio::spawn(async move {
            let served = async {
                let listener = tokio::net::TcpListener::bind(address).await?;
                axum::serve(listener, router)
                    .with_graceful_shutdown(stop.clone().cancelled_owned())
                    .await
            };
            if let Err(error) = served.await {
                tracing::error!(%address, %error, "cannot serve");
                stop.cancel();
            }
        });
    }
}

impl Serving {
    /// The certificate of this release, which is made where there is none.
    pub(super) async fn certificate(
        arguments: &Arguments,
        client: &Client,
    ) -> anyhow::Result<certificate::Bundle> {
        let (namespace, secret) = (&arguments.namespace, &arguments.serving_secret);
        let names = names(arguments);
        Ok(certificate::ensure(client, namespace, secret, &names, Timestamp::now()).await?)
    }

    /// Serves the webhook and the receiver with it.
    pub(super) fn start(
        arguments: &Arguments,
        client: &Client,
        bundle: &certificate::Bundle,
        trust: Arc<RwLock<String>>,
        stop: &CancellationToken,
    ) -> anyhow::Result<Self> {
        let tls = RustlsConfig::from_config(certificate::server_config(bundle)?);
        set(&trust, &bundle.ca_pem);
        serve(
            arguments.webhook_bind,
            tls.clone(),
            admission::router(client.clone()),
            stop,
        );
        serve(
            arguments.results_bind,
            tls.clone(),
            receiver::Receiver::new(client.clone()).router(),
            stop,
        );
        Ok(Self {
            tls,
            trust,
            arguments: arguments.clone(),
            names: names(arguments),
        })
    }

    /// Keeps the certificate. The leader rotates it in time and keeps the webhook's trust equal to it; every other
    /// replica serves what the leader stored. A replica is ready once the API server trusts what it serves: a request
    /// that reached it before would be refused.
    pub(super) async fn keep_certificate(
        self,
        client: Client,
        leading: watch::Receiver<bool>,
        readiness: Readiness,
        stop: CancellationToken,
    ) {
        let (mut leading, mut trusted) = (leading, false);
        loop {
            let leads = *leading.borrow_and_update();
            let kept = if leads {
                self.rotate(&client).await
            } else {
                self.follow(&client).await
            };
            match kept {
                Err(error) => {
                    tracing::warn!(error = %format!("{error:#}"), "the certificate could not be kept");
                }
                Ok(()) if !trusted => {
                    trusted = self.is_trusted(&client).await;
                    if trusted {
                        readiness.set();
                    }
                }
                Ok(()) => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                // Becoming the leader is a reason to look at once: the webhook may not be trusted yet.
                Ok(()) = leading.changed() => {}
                () = tokio::time::sleep(if trusted { LOOK_EVERY } else { LOOK_SOON }) => {}
            }
        }
    }

    async fn rotate(&self, client: &Client) -> anyhow::Result<()> {
        let Arguments {
            namespace,
            serving_secret,
            webhook_configuration,
            ..
        } = &self.arguments;
        let bundle =
            certificate::ensure(client, namespace, serving_secret, &self.names, Timestamp::now()).await?;
        certificate::patch_ca_bundle(client, webhook_configuration, &bundle.ca_pem).await?;
        self.serve_with(&bundle)
    }

    async fn follow(&self, client: &Client) -> anyhow::Result<()> {
        let Arguments {
            namespace,
            serving_secret,
            ..
        } = &self.arguments;
        match certificate::read(client, namespace, serving_secret).await? {
            Some(bundle) => self.serve_with(&bundle),
            None => Ok(()),
        }
    }

    /// Whether the webhook's published trust holds the authority of what this replica serves.
    async fn is_trusted(&self, client: &Client) -> bool {
        let ours = self.trust.read().unwrap_or_else(PoisonError::into_inner).clone();
        match certificate::published(client, &self.arguments.webhook_configuration).await {
            Ok(bundles) => {
                let ours = certificate::authority(&ours);
                !bundles.is_empty() && bundles.iter().all(|bundle| bundle.contains(ours))
            }
            Err(error) => {
                tracing::warn!(error = %error, "the webhook's trust could not be read");
                false
            }
        }
    }

    fn serve_with(&self, bundle: &certificate::Bundle) -> anyhow::Result<()> {
        set(&self.trust, &bundle.ca_pem);
        self.tls.reload_from_config(certificate::server_config(bundle)?);
        Ok(())
    }
}

/// Every name that the webhook and the receiver are reached under.
fn names(arguments: &Arguments) -> Vec<String> {
    let services = [
        arguments.webhook_service.as_str(),
        arguments.results_service.as_str(),
    ];
    certificate::names(&arguments.namespace, &services)
}

fn set(trust: &RwLock<String>, pem: &str) {
    pem.clone_into(&mut trust.write().unwrap_or_else(PoisonError::into_inner));
}

fn serve(address: SocketAddr, tls: RustlsConfig, router: Router, stop: &CancellationToken) {
    let (handle, stop) = (Handle::new(), stop.clone());
    let ending = handle.clone();
    tokio::spawn({
        let stop = stop.clone();
        async move {
            stop.cancelled().await;
            ending.graceful_shutdown(Some(DRAIN_FOR));
        }
    });
    tokio::spawn(async move {
        let served = axum_server::bind_rustls(address, tls)
            .handle(handle)
            .serve(router.into_make_service())
            .await;
        if let Err(error) = served {
            tracing::error!(%address, %error, "cannot serve");
            stop.cancel();
        }
    });
}
