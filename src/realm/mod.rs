//! Database realms: who claims one, and the Lease that lets one operation at a time write to it.

mod census;
mod lease;

pub use census::claimants;
pub use lease::{Error, Leases};
