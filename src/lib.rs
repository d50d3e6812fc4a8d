//! The manager: it gathers evidence, decides with a pure function, and carries the decision out.
//!
//! Promises: it opens no database connection, reads no Secret but its own serving certificate, and writes down what
//! it is about to do before it does it. `docs/development.md` tells the way of an edit through these modules.

pub mod admission;
pub mod controller;
pub mod lifecycle;
pub mod manager;
pub mod operation;
pub mod owner;
pub mod plan;
pub mod realm;
pub mod source;
pub mod telemetry;
