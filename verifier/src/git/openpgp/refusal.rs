//! Why an OpenPGP signature does not count.

use jiff::Timestamp;

/// Why an OpenPGP signature does not count. `{key}` is a fingerprint.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(in super::super) enum Refusal {
    #[error("its signature cannot be read: {0}")]
    Malformed(&'static str),
    #[error("its signature cannot be read: {0}")]
    Library(String),
    #[error("it carries several signatures in one block, or something beside the signature")]
    NotOne,
    #[error("its signature is of version {0}, only 4 and 6 count")]
    Version(u8),
    #[error("its signature is of the type 0x{0:02x}, and not of a document")]
    Type(u8),
    #[error("its signature uses the weak hash {0}")]
    Hash(String),
    #[error("its signature demands an understanding of {0}, which is not supported")]
    Critical(String),
    #[error("its signature says {0} more than once")]
    Twice(&'static str),
    #[error("its signature does not say {0}")]
    Lacks(&'static str),
    #[error("its signature was made by the key {0}, which is not among the trusted keys")]
    Unknown(String),
    #[error("its signature names two different keys as its maker")]
    TwoIssuers,
    #[error("its signature by the key {0} does not match what it is on")]
    Bad(String),
    #[error("the key {key} is {algorithm}, which is too weak")]
    Weak { key: String, algorithm: String },
    #[error("the key {key} is {algorithm}, which is not supported")]
    Algorithm { key: String, algorithm: String },
    #[error("the key {0} has neither a user id nor a signature of its own that is in force")]
    NotInForce(String),
    #[error("the key {0} is not bound to its primary key by a signature that is in force")]
    NotBound(String),
    #[error("the key {0} may not sign: its key flags do not say so")]
    MayNotSign(String),
    #[error("the signing subkey {0} lacks a valid back-signature, so it never agreed to its primary key")]
    NotCrossCertified(String),
    #[error("the key {0} is revoked, and not for a reason that leaves earlier signatures alone")]
    Revoked(String),
    #[error("the key {key} was revoked at {at}, and the signature says {made}")]
    RevokedBefore {
        key: String,
        at: Timestamp,
        made: Timestamp,
    },
    #[error("the key {key} expired at {at}, and the signature says {made}")]
    Expired {
        key: String,
        at: Timestamp,
        made: Timestamp,
    },
    #[error("the key {key} was made at {at}, after the signature, which says {made}")]
    TooEarly {
        key: String,
        at: Timestamp,
        made: Timestamp,
    },
    #[error("its signature says {0}, which is in the future")]
    Future(Timestamp),
    #[error("its signature expired at {0}")]
    SignatureExpired(Timestamp),
}
