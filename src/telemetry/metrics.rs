//! Counters in OpenMetrics form.

use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

/// The manager's counters.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    /// Passes over a resource.
    pub passes: Counter,
    /// Passes that ended early and are tried again.
    pub failed_passes: Counter,
    /// Watches that broke and began anew.
    pub failed_watches: Counter,
    /// Status writes.
    pub status_writes: Counter,
    /// Jobs created.
    pub jobs_created: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("ptah_operator");
        let mut counter = |name: &str, help: &str| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let passes = counter("passes", "Passes over a resource");
        let failed_passes = counter("failed_passes", "Passes that ended early and are tried again");
        let failed_watches = counter("failed_watches", "Watches that broke and began anew");
        let status_writes = counter("status_writes", "Status writes");
        let jobs_created = counter("jobs_created", "Operation Jobs created");
        Self {
            registry: Arc::new(Mutex::new(registry)),
            passes,
            failed_passes,
            failed_watches,
            status_writes,
            jobs_created,
        }
    }
}

impl Metrics {
    /// All counters as text.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
