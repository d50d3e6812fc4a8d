//! The readings of PostgreSQL's catalogs. Most take the schemas in scope as `$1`, and leave out what belongs to an
//! extension. The catalogs are read, not `information_schema`, which hides what a user may not see.
//!
//! Promises: their number does not depend on the number of objects.

mod access;
mod parts;
mod relations;
mod types;
mod unsupported;

pub(super) use access::*;
pub(super) use parts::*;
pub(super) use relations::*;
pub(super) use types::*;
pub(super) use unsupported::*;
