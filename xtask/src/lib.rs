//! Everything a developer or the build server runs, as a library: the command line in `main.rs` is one user of it,
//! the tests of the cluster group are another.
//!
//! It prepares what it needs by itself (`cache`), runs a real Kubernetes on this machine (`node`), puts the
//! product's images there (`images`), and runs the tests (`test`). It needs Linux, and root for the node.

pub mod artifact;
pub mod bench;
pub mod cache;
pub mod demo;
pub mod fuzz;
pub mod generated;
pub mod images;
pub mod lint;
pub mod node;
pub mod progress;
pub mod promises;
pub mod run;
pub mod stage;
pub mod test;
pub mod workspace;
