//! Sources: bytes in, checked content out.
//!
//! Promises: the same files give the same content digest whatever held them; nothing selected is a refusal; a file
//! is handed on only after its bytes gave the digest that was asked for. This crate knows no database and no
//! Kubernetes object.

pub mod archive;
pub mod config_map;
pub mod content;
mod error;
pub mod folder;
pub mod git;
pub mod net;
pub mod oci;
pub mod snapshot;
pub mod source;
#[cfg(test)]
mod testing;

pub use error::Error;
