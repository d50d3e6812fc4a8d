//! The state machine of a schema: `(resource, evidence, now) -> step`.
//!
//! Promises: no I/O, no clock, no randomness; total; the same inputs give the same step. A step is safe to lose at
//! any point: what it writes down makes the effects after it survivable, and a pass that finds nothing new is
//! empty. Drivers (`controller/`) gather the evidence and carry the step out; they decide nothing.

pub mod approval;
pub mod claim;
mod cycle;
pub mod evidence;
mod pass;
mod proof;
pub mod publication;
mod reading;
mod report;
mod run;
pub mod schema;
mod settle;
mod source;
pub mod step;
mod supervise;

pub use schema::next;

#[cfg(test)]
mod tests;
