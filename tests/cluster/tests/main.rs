//! The product on a real node: images, chart, manager, Jobs, webhook, plugin.

// A failed step of a test is a failed test.
#![allow(clippy::unwrap_used)]

mod access;
mod approvals;
mod decisions;
mod escape;
mod examples;
mod footprint;
mod git;
mod inputs;
mod lifetimes;
mod main_job;
mod oci;
mod quiet;
mod receiver;
mod snapshots;
mod sources;
mod stored_plans;
mod targets;
mod verification;
