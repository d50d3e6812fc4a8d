//! Which keys and hashes are strong enough to count.

use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::{EcdsaPublicParams, EddsaLegacyPublicParams, KeyDetails, PublicParams, RsaPublicParams};

use super::refusal::Refusal;

/// The shortest RSA key that counts, in bits, as elsewhere (NIST SP 800-131A).
const MIN_RSA: u16 = 2048;

/// Whether a key may verify anything.
pub(super) fn key(key: &dyn KeyDetails, name: &str) -> Result<(), Refusal> {
    let params = key.public_params();
    let weak = |algorithm: String| Refusal::Weak {
        key: name.to_owned(),
        algorithm,
    };
    let algorithm = match params {
        _ if key.algorithm() == PublicKeyAlgorithm::RSAEncrypt => "an encryption key".to_owned(),
        PublicParams::RSA(rsa) if bits(rsa) < MIN_RSA => {
            return Err(weak(format!("RSA of {} bits", bits(rsa))));
        }
        PublicParams::DSA(_) => return Err(weak("DSA".to_owned())),
        PublicParams::RSA(_) | PublicParams::Ed25519(_) | PublicParams::Ed448(_) => return Ok(()),
        PublicParams::EdDSALegacy(EddsaLegacyPublicParams::Ed25519 { .. }) => return Ok(()),
        PublicParams::ECDSA(EcdsaPublicParams::Unsupported { curve, .. }) => format!("ECDSA on {curve}"),
        // The library takes one of two forms of these signatures, and gpg makes either.
        PublicParams::ECDSA(EcdsaPublicParams::Secp256k1 { .. }) => "ECDSA on secp256k1".to_owned(),
        PublicParams::ECDSA(_) => return Ok(()),
        PublicParams::EdDSALegacy(_) => "EdDSA on an unknown curve".to_owned(),
        PublicParams::ECDH(_)
        | PublicParams::X25519(_)
        | PublicParams::X448(_)
        | PublicParams::Elgamal(_) => "an encryption key".to_owned(),
        _ => "of an unknown algorithm".to_owned(),
    };
    Err(Refusal::Algorithm {
        key: name.to_owned(),
        algorithm,
    })
}

/// The length of the modulus, which its encoding begins with (RFC 9580, section 3.2).
fn bits(rsa: &RsaPublicParams) -> u16 {
    let encoded = rsa.to_bytes().unwrap_or_default();
    encoded
        .first_chunk()
        .map_or(0, |length| u16::from_be_bytes(*length))
}

/// Whether a hash may be signed.
pub(super) fn is_strong(hash: HashAlgorithm) -> bool {
    use HashAlgorithm as Hash;
    matches!(
        hash,
        Hash::Sha224 | Hash::Sha256 | Hash::Sha384 | Hash::Sha512 | Hash::Sha3_256 | Hash::Sha3_512
    )
}

/// Whether a key may have signed it about itself. SHA-1 is in many keys of old, whose holders chose what they signed, and
/// the library looks for the marks of a collision; nobody but the trusted key's holder could have made one.
pub(super) fn is_fit_for_keys(hash: HashAlgorithm) -> bool {
    is_strong(hash) || hash == HashAlgorithm::Sha1
}
