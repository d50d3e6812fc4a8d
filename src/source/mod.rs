//! Sources as far as the manager reads them: a ConfigMap whole, with the snapshot that operations read in its place; of a
//! Git repository and an OCI artifact what the Pod that resolves them is held to.

mod config_map;
mod pod;
mod policy;
mod snapshot;

pub use snapshot::{collect, ensure};

use kube::Client;
use ptah_api::PtahSchema;
use ptah_contract::failure::Failure;
use ptah_resolver::config_map::Content;

use crate::lifecycle::evidence::SourceEvidence;

/// A source as it was found, with its bytes where a snapshot of them may have to be written.
#[derive(Debug)]
pub struct Resolution {
    /// What the lifecycle decides on.
    pub evidence: SourceEvidence,
    /// The files.
    pub content: Option<Content>,
}

impl Resolution {
    fn refused(reason: &'static str, failure: Failure) -> Self {
        Self {
            evidence: SourceEvidence::Refused { failure, reason },
            content: None,
        }
    }
}

/// Resolves `spec.desired`, as far as the manager does.
///
/// # Errors
/// When the API server cannot be asked. What is wrong with the source itself is evidence, not an error.
pub async fn resolve(client: &Client, schema: &PtahSchema) -> Result<Resolution, kube::Error> {
    match &schema.spec.desired.config_map {
        Some(source) => config_map::resolve(client, schema, source).await,
        None => pod::resolve(client, schema).await,
    }
}
