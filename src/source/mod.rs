//! Sources as far as the manager reads them: a ConfigMap whole, with the snapshot that operations read in its place; of a
//! Git repository and an OCI artifact what whoever resolves them is held to, and what stands there, where the
//! installation lets the manager look itself.

mod answers;
mod config_map;
mod in_process;
mod network;
mod policy;
mod request;
mod snapshot;

pub use in_process::{InProcess, Settings, Wanted};
pub use request::{Incomplete, at, pinned_to};
pub use snapshot::{collect, ensure};

use kube::Client;
use ptah_api::{PtahSchema, SourceTerms};
use ptah_contract::failure::Failure;
use ptah_resolver::config_map::Content;

use crate::lifecycle::evidence::SourceEvidence;

/// A source as it was found, with what an effect may need to act on it.
#[derive(Debug)]
pub struct Resolution {
    /// What the lifecycle decides on.
    pub evidence: SourceEvidence,
    /// The files, where a snapshot of them may have to be written.
    pub content: Option<Content>,
    /// What the manager would look at itself.
    pub wanted: Option<Wanted>,
}

impl Resolution {
    fn refused(reason: &'static str, failure: Failure) -> Self {
        Self::only(SourceEvidence::Refused { failure, reason })
    }

    fn in_pod(terms: SourceTerms) -> Self {
        Self::only(SourceEvidence::InPod(terms))
    }

    fn only(evidence: SourceEvidence) -> Self {
        Self {
            evidence,
            content: None,
            wanted: None,
        }
    }
}

/// Resolves `spec.desired`, as far as a pass does.
///
/// # Errors
/// When the API server cannot be asked. What is wrong with the source itself is evidence, not an error.
pub async fn resolve(
    client: &Client,
    schema: &PtahSchema,
    in_process: &InProcess,
) -> Result<Resolution, kube::Error> {
    match &schema.spec.desired.config_map {
        Some(source) => config_map::resolve(client, schema, source).await,
        None => network::resolve(client, schema, in_process).await,
    }
}
