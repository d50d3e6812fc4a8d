//! The Kubernetes API `operator.ptah.run/v1alpha1`.
//!
//! Promises: a manifest read back is the manifest that was applied (no default stands under `spec`), what CEL can
//! refuse is refused where it is written, and every condition type, reason, label and object name that other
//! programs rely on has its one definition here. This crate talks to nobody.

// Printer columns repeat their keys; the derive reads each `printcolumn` by itself.
#![allow(clippy::duplicated_attributes)]

pub mod conditions;
pub mod effective;
pub mod names;
mod plan;
mod record;
mod schema;
mod shared;
mod source;
mod source_status;
mod status;

pub use plan::*;
pub use record::*;
pub use schema::*;
pub use shared::*;
pub use source::*;
pub use source_status::*;
pub use status::*;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt as _;

/// API group of every kind.
pub const GROUP: &str = "operator.ptah.run";
/// The only version.
pub const VERSION: &str = "v1alpha1";

/// Every CRD, as the chart ships it.
#[must_use]
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        PtahSchema::crd(),
        PtahSchemaPlan::crd(),
        PtahSchemaApproval::crd(),
        PtahResultRecord::crd(),
    ]
}

// The generator of the chart's CRDs is an example; a test runs it too, and it speaks of this crate by name.
#[cfg(test)]
extern crate self as ptah_api;

#[cfg(test)]
mod tests;
