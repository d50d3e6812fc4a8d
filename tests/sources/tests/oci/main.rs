//! OCI sources against real registries and one that lies.
#![allow(clippy::unwrap_used, clippy::panic)]

mod attached;
mod honest;
mod ptah;
mod scripts;
mod support;
