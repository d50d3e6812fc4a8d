//! The product on a real node: images, chart, manager, Jobs, webhook, plugin.

// A failed step of a test is a failed test.
#![allow(clippy::unwrap_used)]

mod approvals;
mod escape;
mod inputs;
mod main_job;
mod quiet;
mod snapshots;
