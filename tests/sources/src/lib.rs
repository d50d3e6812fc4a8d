//! Real servers for the tests of sources: started by a test on a port that the system chose, and ended with it.
//!
//! Nothing here knows the resolver: what it is tested against is git's own programs, and a server that lies as it is
//! told to.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

pub mod git_http;
pub mod https;
pub mod jgit;
pub mod measure;
pub mod oci;
pub mod repo;
pub mod signing;
pub mod sshd;
pub mod table;
pub mod tls;
