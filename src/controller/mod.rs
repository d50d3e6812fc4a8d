//! The driver of schemas: gather evidence, call the lifecycle, carry the step out, in that order.

mod carry_out;
mod context;
mod gather;
mod run;

pub use context::{Context, Installation};
pub use run::run;
