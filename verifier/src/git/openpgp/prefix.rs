//! The two bytes of the hash that a signature repeats in the clear (RFC 9580, section 5.2.3).
//!
//! They let a reader give up early, and prove nothing. The library refuses a signature of version 4 whose two bytes are
//! wrong; the RFC demands that of version 6 alone, and gpg does not look at them. GitHub's key of 2017 to 2024 has such a
//! signature of itself, and many a commit that was merged there carries one.

use pgp::packet::{Signature, SignatureVersion};
use pgp::ser::Serialize;

/// The signature with the two bytes as they have to be for what it is on, where it is of version 4; the signature proper
/// is untouched, and still to be verified. `None` when there is nothing to put right.
pub(super) fn corrected(signature: &Signature, signed: &[impl AsRef<[u8]>]) -> Option<Signature> {
    let config = signature
        .config()
        .filter(|_| signature.version() == SignatureVersion::V4)?;
    let mut hasher = config.hash_alg.new_hasher().ok()?;
    signed.iter().for_each(|part| hasher.update(part.as_ref()));
    let length = config.hash_signature_data(&mut hasher).ok()?;
    hasher.update(&config.trailer(length).ok()?);
    let hash = hasher.finalize();
    let prefix = *hash.first_chunk::<2>()?;
    let wrong = signature.signed_hash_value() != Some(prefix);
    wrong.then(|| Signature::from_config(config.clone(), prefix, signature.signature()?.clone()).ok())?
}

/// A key of version 4 as it is hashed (RFC 9580, section 5.2.4).
pub(super) fn key(packet: &impl Serialize) -> Vec<u8> {
    let body = packet.to_bytes().unwrap_or_default();
    let length = u16::try_from(body.len()).unwrap_or_default();
    [&[0x99][..], &length.to_be_bytes(), &body].concat()
}

/// A user id or attribute as it is hashed; the first byte says which.
pub(super) fn identity(first: u8, packet: &impl Serialize) -> Vec<u8> {
    let body = packet.to_bytes().unwrap_or_default();
    let length = u32::try_from(body.len()).unwrap_or_default();
    [&[first][..], &length.to_be_bytes(), &body].concat()
}
