//! Documents that cross a process boundary: what a source contains, what a plan says, what a runner is asked
//! and what it answers.
//!
//! Promises: every document has one canonical encoding, its digest is taken over those bytes, and a reader
//! refuses what it does not know. Nothing here opens a socket or knows Kubernetes.

pub mod artifact;
pub mod canonical;
pub mod commit;
pub mod digest;
pub mod drift;
pub mod failure;
pub mod manifest;
pub mod plan_chunks;
pub mod plan_contract;
pub mod plan_document;
pub mod policy;
pub mod protocol;
pub mod realm;
pub mod resolution;
pub mod source;
pub mod source_policy;
pub mod wildcard;
