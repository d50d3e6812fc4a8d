//! Resolving a ConfigMap source in the manager, and the snapshot that operations read in its place.

mod config_map;
mod snapshot;

pub use config_map::{Resolution, resolve};
pub use snapshot::{collect, ensure};
