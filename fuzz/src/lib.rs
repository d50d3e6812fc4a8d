//! The parsers that read bytes of somebody else, each as a function that takes any bytes and holds the parser to a
//! property. A fault is a panic.
//!
//! Each function is a fuzz target (`fuzz/targets/`); a test runs the seeds through all of them without libFuzzer.
//!
//! Modules of the resolver that are private there are compiled in here, from the same files, instead of being made
//! public for this: `git` and `oci` stand in the place of their parents.

mod archives;
mod bundles;
mod credentials;
mod git;
mod oci;
mod paths;
mod plan;
mod policies;
mod runner;
mod schemas;
mod signatures;

// Where the resolver's own modules look for each other.
use ptah_resolver::{Error, archive, content, folder, net};

pub use archives::{archive_compressed, archive_tar};
pub use bundles::{dsse_statement, sigstore_bundle, simple_signing, trusted_root};
pub use credentials::{docker_config, git_credential};
pub use git::{git_repository, git_requested, git_session, git_tree, known_hosts};
pub use oci::{oci_challenge, oci_link, oci_manifest, oci_reference};
pub use paths::{content_manifest, content_path};
pub use plan::plan_document;
pub use policies::{source_policy, verification_policy};
pub use runner::{runner_outcome, runner_request};
pub use schemas::{hcl_schema, yaml_schema};
pub use signatures::{git_keys, git_object, git_signature};

/// A target by its name, which is also that of its file and of its seeds' folder.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 29] = [
    ("archive_compressed", archive_compressed),
    ("archive_tar", archive_tar),
    ("content_manifest", content_manifest),
    ("content_path", content_path),
    ("docker_config", docker_config),
    ("dsse_statement", dsse_statement),
    ("git_credential", git_credential),
    ("git_keys", git_keys),
    ("git_object", git_object),
    ("git_repository", git_repository),
    ("git_requested", git_requested),
    ("git_session", git_session),
    ("git_signature", git_signature),
    ("git_tree", git_tree),
    ("hcl_schema", hcl_schema),
    ("known_hosts", known_hosts),
    ("oci_challenge", oci_challenge),
    ("oci_link", oci_link),
    ("oci_manifest", oci_manifest),
    ("oci_reference", oci_reference),
    ("plan_document", plan_document),
    ("runner_outcome", runner_outcome),
    ("runner_request", runner_request),
    ("sigstore_bundle", sigstore_bundle),
    ("simple_signing", simple_signing),
    ("source_policy", source_policy),
    ("trusted_root", trusted_root),
    ("verification_policy", verification_policy),
    ("yaml_schema", yaml_schema),
];

/// A word that seeds hold where a secret stands; no message may repeat it.
const SECRET: &str = "hunter2";

/// The longest message that a refusal may have. What it quotes was written by somebody else, and it is stored.
const MAX_MESSAGE: usize = 8 << 10;

/// The text of the bytes; what is no text is no case for a parser of text.
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// The first line, and what follows it.
fn first_line(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &[]),
    }
}

/// A refusal is a message of bounded length.
fn bounded(error: &dyn std::fmt::Display) {
    let message = error.to_string();
    assert!(
        message.len() <= MAX_MESSAGE,
        "a message of {} bytes",
        message.len()
    );
}
