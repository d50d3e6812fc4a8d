//! OpenPGP: certificates of signers (RFC 9580, section 10) and their signatures.
//!
//! The library reads packets and does the arithmetic. What makes a key one that may sign, and a signature one that
//! counts, is decided here: bindings and their back-signatures, expiry, revocation, algorithms, times.

mod bindings;
mod certificate;
mod component;
mod document;
mod packets;
mod prefix;
mod refusal;
mod selfsig;
mod statement;
mod strength;

use std::collections::HashSet;

use super::armor::{self, Form};
use super::error::Error;
use certificate::Certificate;

/// Certificates, of which no key is there twice.
#[derive(Clone, Debug)]
pub(super) struct Certificates(Vec<Certificate>);

/// The mark of an armored block of public keys.
/// Keys and subkeys that are read: each is judged again for every signature.
const MAX_COMPONENTS: usize = 256;
const PUBLIC: &str = "PGP PUBLIC KEY BLOCK";

impl Certificates {
    /// Armored blocks, with blank lines and `#` comments between them.
    pub(super) fn from_armor(text: &str) -> Result<Self, Error> {
        let (mut all, mut rest, mut line) = (Vec::new(), text, 1);
        while !rest.is_empty() {
            let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let trimmed = first.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                (rest, line) = (after, line + 1);
                continue;
            }
            let Some(label) = trimmed.strip_prefix("-----BEGIN ") else {
                return Err(Error::Mixed { line });
            };
            if label.contains("PRIVATE KEY") || label.contains("SECRET KEY") {
                return Err(Error::SecretKey { line });
            }
            let problem = |problem: &str| Error::Block {
                line,
                problem: problem.to_owned(),
            };
            if label != format!("{PUBLIC}-----") {
                return Err(problem("it is no OpenPGP public key"));
            }
            let block = armor::read(rest.as_bytes(), PUBLIC, Form::OpenPgp).map_err(problem)?;
            all.extend(Certificate::read_all(&block.bytes, line)?);
            let taken = rest.len() - block.rest.len();
            (rest, line) = (rest.get(taken..).unwrap_or_default(), line + block.lines);
        }
        Self::distinct(all)
    }

    /// A keyring as `gpg --export` writes it.
    pub(super) fn from_binary(bytes: &[u8]) -> Result<Self, Error> {
        Self::distinct(Certificate::read_all(bytes, 0)?)
    }

    /// A key twice would be judged by one of two copies, of which only the other may be revoked.
    fn distinct(all: Vec<Certificate>) -> Result<Self, Error> {
        let mut seen = HashSet::new();
        for component in all.iter().flat_map(Certificate::components) {
            let fingerprint = component.key().fingerprint();
            if seen.len() == MAX_COMPONENTS {
                return Err(Error::OpenPgp {
                    key: format!("{fingerprint:X}"),
                    problem: format!("there are more than {MAX_COMPONENTS} keys and subkeys"),
                });
            }
            if !seen.insert(fingerprint.clone()) {
                return Err(Error::OpenPgp {
                    key: format!("{fingerprint:X}"),
                    problem: "it is there twice; merge its copies into one".to_owned(),
                });
            }
        }
        if all.is_empty() {
            return Err(Error::Empty);
        }
        Ok(Self(all))
    }
}
