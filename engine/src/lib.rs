//! Observe, plan, prove and apply schemas of PostgreSQL databases.
//!
//! The server speaks for both sides: the desired state is loaded into a scratch server of the target's major
//! version, and both are read by the same catalog queries. What differs, differs.
//!
//! Promises: no statement leaves the engine that was not replayed on a scratch server and led there to exactly the
//! desired state; no text of the target's server, no URL and no password is in any error. Never drops by
//! `CASCADE`, never creates a role, never changes what is outside the scope.

mod apply;
mod catalog;
pub mod connect;
mod declared;
mod desired;
mod drift;
pub mod error;
mod name;
mod observe;
mod plan;
mod reconcile;
pub mod scratch;

pub use apply::{ApplyOutcome, LOCK_KEY, apply, read_plan};
pub use connect::{Deadline, Target};
pub use declared::desired_scope;
#[doc(hidden)]
pub use desired::inspect;
pub use drift::drift;
pub use error::{Code, Error, Result};
pub use observe::{Observation, Scope, Server, observe};
pub use plan::{Planned, Refusal, diff, plan};
pub use scratch::Scratch;
