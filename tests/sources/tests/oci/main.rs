//! OCI sources against real registries and one that lies.
#![allow(clippy::unwrap_used, clippy::panic)]

mod attached;
mod bounds;
mod evidence;
mod honest;
mod neighbours;
mod ptah;
mod scripts;
mod signatures;
mod signed_again;
mod support;
