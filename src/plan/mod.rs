//! Plan objects: publication into immutable chunks, and loading with every byte checked.

mod load;
mod publish;

pub use load::load;
pub use publish::{Error, publish};
