//! The network as Git and OCI share it.
//!
//! Promises: one deadline covers everything that an attempt does, and a cancelled attempt ends at its next wait; every
//! byte that arrives is counted against the attempt's budget; an address is judged after the name was resolved and
//! before a connection is opened, for each hop of a redirect again; a credential is sent to the authority that it was
//! granted for and to no other; no proxy, certificate or credential comes from the environment.
//!
//! Assumes that the caller drives it on a tokio runtime with time and I/O.

mod address;
mod attempt;
mod authority;
mod client;
mod error;
mod secret;
mod trust;

pub use address::{Network, is_public};
pub use attempt::{Attempt, Limits};
pub use authority::Authority;
pub use client::{Client, Credential, MAX_REDIRECTS, Request, Response};
pub use error::Error;
pub use secret::Secret;
pub use trust::Trust;
