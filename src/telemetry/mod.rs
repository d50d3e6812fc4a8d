//! Events, metrics, probes. None of them ever carries a secret: they are made of names, reasons and counts.

mod events;
mod metrics;
mod probes;

pub use events::emit;
pub use metrics::Metrics;
pub use probes::{Readiness, router};
