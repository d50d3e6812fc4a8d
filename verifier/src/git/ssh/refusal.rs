//! Why an SSH signature does not count.

use jiff::Timestamp;

/// Why an SSH signature does not count.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(in super::super) enum Refusal {
    #[error("its signature cannot be read: {0}")]
    Malformed(&'static str),
    #[error("its signature cannot be read: {0}")]
    Library(String),
    #[error("its signature is of version {0}, only 1 is known")]
    Version(u32),
    #[error("its signature is by a certificate, which is not supported")]
    Certificate,
    #[error("its signature uses the weak hash SHA-1 (ssh-rsa)")]
    Sha1,
    #[error("its signature is of the algorithm {0}, which is not supported or not that of its key")]
    Algorithm(String),
    #[error("its signature was made by a security key that nobody touched")]
    NoUser,
    #[error("its signature is in the namespace {0}, and not in \"git\"")]
    Namespace(String),
    #[error("its signature was made by the key {0}, which is not among the allowed signers")]
    Unknown(String),
    #[error("its signature by the key {0} does not match what it is on")]
    Bad(String),
    #[error("line {0} of the allowed signers does not let its key sign in the namespace \"git\"")]
    NamespaceOption(usize),
    #[error("line {line} of the allowed signers has its key valid from {at}, and the signer says {made}")]
    TooEarly {
        line: usize,
        at: Timestamp,
        made: Timestamp,
    },
    #[error("line {line} of the allowed signers has its key valid until {at}, and the signer says {made}")]
    TooLate {
        line: usize,
        at: Timestamp,
        made: Timestamp,
    },
    #[error("line {line} of the allowed signers gives its key to {principals}, and not to {address}")]
    Principal {
        line: usize,
        principals: String,
        address: String,
    },
}
