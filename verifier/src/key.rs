//! A public key of a policy, and whether it made a signature.
//!
//! Keys and hashes are those that cosign signs with: P-256 with SHA-256; P-384 with SHA-384 or SHA-256; RSA with
//! SHA-256, PKCS#1 v1.5 or PSS with a salt of any length; Ed25519 pure, or pre-hashed with SHA-512 (RFC 8032).

use ed25519_dalek::{Digest as _, Sha512};
use rsa::BoxedUint;
use rsa::signature::hazmat::PrehashVerifier as _;
use sigstore_crypto::{KeyAlgorithm, SigningScheme, verify_signature, verify_signature_prehashed};
use sigstore_types::{DerPublicKey, SignatureBytes};
use x509_cert::der::Decode as _;
use x509_cert::spki::SubjectPublicKeyInfoRef;

/// Shortest and longest RSA modulus that is believed, in bits.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// Why text is no key that is believed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Not one PEM block, or not of a key.
    #[error("it is no PEM document with one \"PUBLIC KEY\" block{0}")]
    Pem(&'static str),
    /// Not a key.
    #[error("its key cannot be read")]
    Malformed,
    /// An algorithm that is not evaluated.
    #[error("its key is neither ECDSA on P-256 or P-384, nor Ed25519, nor RSA, and no other is evaluated")]
    Algorithm,
    /// Too short to be believed, or longer than is evaluated.
    #[error("its RSA key has {0} bits; 2048 to 8192 are accepted")]
    RsaBits(usize),
}

/// A key that is believed to be somebody's.
#[derive(Clone, Debug)]
pub(crate) struct PublicKey {
    der: DerPublicKey,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    P256,
    P384,
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
    Rsa(Box<rsa::RsaPublicKey>),
}

/// What was signed.
pub(crate) enum Message<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// Bytes that nobody has here, by their SHA-256.
    Sha256([u8; 32]),
}

impl PublicKey {
    /// Reads a PEM document with one `PUBLIC KEY` block (RFC 7468, section 13).
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let blocks = text.matches("-----BEGIN ").count();
        if text.contains("PRIVATE KEY") {
            return Err(Error::Pem(
                "; it holds a private key, which belongs into no policy",
            ));
        }
        if text.contains("BEGIN CERTIFICATE") {
            return Err(Error::Pem("; for a certificate, name its public key"));
        }
        if text.contains("BEGIN RSA PUBLIC KEY") {
            return Err(Error::Pem(
                "; `openssl rsa -RSAPublicKey_in -pubout` makes one of an RSA PUBLIC KEY",
            ));
        }
        if blocks != 1 {
            return Err(Error::Pem(""));
        }
        let der = DerPublicKey::from_pem(text.trim()).map_err(|_| Error::Pem(""))?;
        let spki = SubjectPublicKeyInfoRef::from_der(der.as_bytes()).map_err(|_| Error::Malformed)?;
        let raw = spki.subject_public_key.as_bytes().ok_or(Error::Malformed)?;
        let algorithm = KeyAlgorithm::from_spki(&der).map_err(|_| Error::Algorithm)?;
        let kind = match algorithm {
            KeyAlgorithm::EcdsaP256 => Kind::P256,
            KeyAlgorithm::EcdsaP384 => Kind::P384,
            KeyAlgorithm::Ed25519 => {
                let key = raw.try_into().map_err(|_| Error::Malformed)?;
                let key = ed25519_dalek::VerifyingKey::from_bytes(&key).map_err(|_| Error::Malformed)?;
                if key.is_weak() {
                    return Err(Error::Malformed);
                }
                Kind::Ed25519(Box::new(key))
            }
            KeyAlgorithm::Rsa => Kind::Rsa(Box::new(rsa_key(raw)?)),
            _ => return Err(Error::Algorithm),
        };
        // A point that is not on its curve would be found with the first signature; it is no key.
        if matches!(kind, Kind::P256 | Kind::P384) {
            sigstore_crypto::VerificationKey::from_spki(&der).map_err(|_| Error::Malformed)?;
        }
        Ok(Self { der, kind })
    }

    /// Its algorithm, for people.
    pub(crate) fn algorithm(&self) -> &'static str {
        match self.kind {
            Kind::P256 => "ECDSA P-256",
            Kind::P384 => "ECDSA P-384",
            Kind::Ed25519(_) => "Ed25519",
            Kind::Rsa(_) => "RSA",
        }
    }

    /// Whether this key made the signature; why not, in a few words.
    pub(crate) fn made(&self, signature: &[u8], message: &Message<'_>) -> Result<(), &'static str> {
        let bytes = SignatureBytes::from_bytes(signature);
        let by = |scheme| match message {
            Message::Bytes(message) => verify_signature(&self.der, message, &bytes, scheme).is_ok(),
            Message::Sha256(digest) => verify_signature_prehashed(&self.der, digest, &bytes, scheme).is_ok(),
        };
        let good = match &self.kind {
            Kind::P256 => by(SigningScheme::EcdsaP256Sha256),
            // Over a digest of SHA-256 alone nothing else can be asked.
            Kind::P384 => match message {
                Message::Bytes(_) => by(SigningScheme::EcdsaP384Sha384) || by(SigningScheme::EcdsaP384Sha256),
                Message::Sha256(_) => by(SigningScheme::EcdsaP384Sha256),
            },
            Kind::Rsa(key) => by(SigningScheme::RsaPkcs1Sha256) || pss(key, signature, message),
            Kind::Ed25519(key) => {
                let Message::Bytes(message) = message else {
                    return Err("made with Ed25519 over content that is known by its digest only");
                };
                ed25519(key, signature, message)
            }
        };
        if good {
            Ok(())
        } else {
            Err("not made with this key")
        }
    }
}

/// Reads a modulus and an exponent (RFC 8017, A.1.1).
fn rsa_key(der: &[u8]) -> Result<rsa::RsaPublicKey, Error> {
    let parts = rsa::pkcs1::RsaPublicKey::try_from(der).map_err(|_| Error::Malformed)?;
    let modulus = BoxedUint::from_be_slice_vartime(parts.modulus.as_bytes());
    let bits = modulus.bit_width() as usize;
    if !RSA_BITS.contains(&bits) {
        return Err(Error::RsaBits(bits));
    }
    let exponent = BoxedUint::from_be_slice_vartime(parts.public_exponent.as_bytes());
    rsa::RsaPublicKey::new_with_max_size(modulus, exponent, *RSA_BITS.end()).map_err(|_| Error::Malformed)
}

/// Go signs with the longest salt that fits unless it is told otherwise, others with one as long as the hash.
fn pss(key: &rsa::RsaPublicKey, signature: &[u8], message: &Message<'_>) -> bool {
    let digest = match message {
        Message::Bytes(bytes) => *sigstore_crypto::sha256(bytes).as_bytes(),
        Message::Sha256(digest) => *digest,
    };
    let verifying = rsa::pss::VerifyingKey::<rsa::sha2::Sha256>::new_with_auto_salt_len(key.clone());
    rsa::pss::Signature::try_from(signature)
        .is_ok_and(|signature| verifying.verify_prehash(&digest, &signature).is_ok())
}

fn ed25519(key: &ed25519_dalek::VerifyingKey, signature: &[u8], message: &[u8]) -> bool {
    let Ok(signature) = ed25519_dalek::Signature::from_slice(signature) else {
        return false;
    };
    let prehashed = || Sha512::new_with_prefix(message);
    key.verify_strict(message, &signature).is_ok()
        || key.verify_prehashed_strict(prehashed(), None, &signature).is_ok()
}
