//! Reading a database: one snapshot, the catalogs themselves, and everything in scope or a refusal that names it.

mod exclude;
mod id;
mod model;
mod object;
mod queries;
mod read;

pub use exclude::Selectors;
pub use id::{DefaultPrivileges, Id};
pub use model::Model;
pub use object::{
    Attribute, Column, Constraint, Domain, Function, Identity, Index, NotNull, Object, Policy, Sequence,
    Table, View,
};
pub(crate) use read::{Reading, read};
