//! Git sources against git's own programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod contents;
mod credentials;
mod failures;
mod jgit;
mod later;
mod pinned;
mod refs;
mod signatures;
mod signed_objects;
mod slow;
mod ssh;
mod support;
