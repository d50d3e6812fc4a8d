//! The product on a cluster, and a database for it: what the demo and the tests on the node set up alike.

mod cluster;
mod database;
mod git;
mod install;

pub use cluster::Cluster;
pub use database::{Database, Session};
pub use git::GitServer;
pub use install::{NAMESPACE, RELEASE, install, install_chart, uninstall};
