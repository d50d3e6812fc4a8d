//! Operation Jobs: how they are built, how their end is read, and how their results arrive.

pub mod harvest;
pub mod job;
pub mod receiver;
pub mod records;
