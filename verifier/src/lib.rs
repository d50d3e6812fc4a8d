//! Verification: whether an artifact is what a policy demands, and whether somebody trusted signed a Git commit ([`git`]).
//!
//! Promises: a policy that is not understood whole is refused, so that no requirement is skipped for being unknown;
//! every requirement is checked, whatever the others said; what is asked for and cannot be checked is a refusal. Pure:
//! the artifact comes as a description that whoever fetched it made from bytes that gave their digests.
//!
//! `require_signature` keeps the meaning that it has elsewhere: a signature is attached. It says nothing about who
//! signed; what does (`signatures`, `attestations`) is refused by name until it can be checked.

pub mod git;
mod policy;
mod verdict;

pub use policy::{Error, MAX_POLICY_BYTES, Policy};
pub use verdict::{Requirement, Verdict};

#[cfg(test)]
mod tests;
