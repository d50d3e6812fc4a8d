//! Verification: whether an artifact is what a policy demands, and whether somebody trusted signed a Git commit ([`git`]).
//!
//! Promises: a policy that is not understood whole is refused, so that no requirement is skipped for being unknown;
//! every requirement is checked, whatever the others said; what is asked for and cannot be checked is a refusal. Pure:
//! the artifact comes as a description that whoever fetched it made from bytes that gave their digests, and nothing
//! here opens a connection.
//!
//! `require_signature` keeps the meaning that it has elsewhere: a signature is attached. It says nothing about who
//! signed; `signatures` and `attestations` do.

pub mod git;

mod authority;
mod candidate;
mod commits;
mod error;
mod identity;
mod key;
mod legacy;
mod policy;
mod root;
mod signatures;
mod statement;
mod verdict;

pub use commits::CommitPolicy;
pub use error::Error;
pub use policy::{MAX_POLICY_BYTES, Policy, PolicyDocument};
pub use root::{Root, RootReference};
pub use verdict::{Requirement, Verdict};

#[cfg(test)]
mod tests;
