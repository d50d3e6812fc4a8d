//! What a pass has at hand.

use std::sync::Arc;

use kube::Client;
use kube::runtime::reflector::Store;
use ptah_api::PtahSchema;
use ptah_contract::protocol::ResultDelivery;

use crate::lifecycle::evidence::Components;
use crate::realm::Leases;
use crate::source::InProcess;
use crate::telemetry::Metrics;

/// What this installation runs operations with.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Digest-pinned image of this manager.
    pub controller_image: String,
    /// Its revision.
    pub controller_revision: String,
    /// Digest-pinned runner image for PostgreSQL.
    pub runner_image_postgresql: String,
    /// Digest-pinned runner image for the MySQL family, where there is one.
    pub runner_image_mysql: Option<String>,
    /// `https://` and the receiver's authority.
    pub results_endpoint: String,
}

/// Version of what the manager keeps in status.
pub const CONTROLLER_STATE_VERSION: i32 = 1;

/// Shared by all passes.
pub struct Context {
    /// The API server.
    pub client: Client,
    /// Realm Leases.
    pub leases: Leases,
    /// Every schema, for the realm's census.
    pub schemas: Store<PtahSchema>,
    /// The manager's own looks at sources.
    pub in_process: Arc<InProcess>,
    /// What operations run with.
    pub installation: Installation,
    /// PEM that the receiver's certificate chains to; replaced when the certificate is rotated.
    pub trust: Arc<std::sync::RwLock<String>>,
    /// Counters.
    pub metrics: Metrics,
}

impl Context {
    /// Components for an engine; the runner image is absent when this installation has none for it.
    #[must_use]
    pub fn components(&self, engine: &str) -> Components {
        use ptah_contract::realm::Engine;
        let installation = &self.installation;
        let runner_image = match Engine::from_name(engine) {
            Some(Engine::PostgreSql) => Some(installation.runner_image_postgresql.clone()),
            Some(Engine::MySql) => installation.runner_image_mysql.clone(),
            None => None,
        };
        Components {
            controller_state_version: CONTROLLER_STATE_VERSION,
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            runner_image,
            protocol_version: i32::try_from(ptah_contract::protocol::PROTOCOL_VERSION).unwrap_or(i32::MAX),
            controller_image: installation.controller_image.clone(),
            controller_revision: installation.controller_revision.clone(),
        }
    }

    /// Where results go.
    #[must_use]
    pub fn delivery(&self) -> ResultDelivery {
        let trust = self
            .trust
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone();
        ResultDelivery {
            endpoint: self.installation.results_endpoint.clone(),
            trust,
        }
    }
}
