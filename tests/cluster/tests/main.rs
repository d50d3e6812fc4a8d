//! The product on a real node: images, chart, manager, Jobs, webhook, plugin.

mod approvals;
mod inputs;
mod main_job;
mod quiet;
mod snapshots;
