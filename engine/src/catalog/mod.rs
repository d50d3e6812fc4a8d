//! Reading a database: one snapshot, the catalogs themselves, and everything in scope or a refusal that names it.

mod depends;
mod exclude;
mod model;
mod queries;
mod read;

pub use exclude::Selectors;
pub use model::{Column, Function, Id, Identity, Model, Object, Sequence, View};
pub(crate) use read::{Reading, read};
