//! A key of a certificate: the primary key, or a subkey.

use jiff::Timestamp;
use pgp::packet::{PublicKey, PublicSubkey, Signature, SignatureType};
use pgp::types::KeyDetails;

use super::prefix;
use super::refusal::Refusal;
use super::statement::{Revocation, Statement};

/// A key, and what its holder said about it.
#[derive(Clone, Debug)]
pub(super) struct Component {
    pub(super) packet: KeyPacket,
    /// Bindings of a subkey, or the primary key's signatures directly on itself.
    pub(super) statements: Vec<Statement>,
    pub(super) revocations: Vec<Revocation>,
}

/// The packet itself, by whose bytes it is known.
#[derive(Clone, Debug)]
pub(super) enum KeyPacket {
    Primary(PublicKey),
    Sub(PublicSubkey),
}

impl Component {
    pub(super) fn new(packet: KeyPacket) -> Self {
        Self {
            packet,
            statements: Vec::new(),
            revocations: Vec::new(),
        }
    }

    pub(super) fn key(&self) -> &dyn KeyDetails {
        match &self.packet {
            KeyPacket::Primary(key) => key,
            KeyPacket::Sub(key) => key,
        }
    }

    /// The fingerprint, as gpg shows it.
    pub(super) fn name(&self) -> String {
        format!("{:X}", self.key().fingerprint())
    }

    /// Whether the signature is of these bytes, by this key.
    pub(super) fn verifies(&self, signature: &Signature, payload: &[u8]) -> bool {
        // What a signature of a text is of, the library makes from the payload itself.
        let is_binary = signature.typ() == Some(SignatureType::Binary);
        let corrected = if is_binary {
            prefix::corrected(signature, &[payload])
        } else {
            None
        };
        let signature = corrected.as_ref().unwrap_or(signature);
        let verified = match &self.packet {
            KeyPacket::Primary(key) => signature.verify(key, payload),
            KeyPacket::Sub(key) => signature.verify(key, payload),
        };
        verified.is_ok()
    }

    /// Whether the key lived when the signature says to have been made: made by then, not expired, not revoked.
    pub(super) fn lived(&self, made: i64, life: Option<u32>) -> Result<(), Refusal> {
        let born = i64::from(self.key().created_at().as_secs());
        let time = |seconds| Timestamp::from_second(seconds).unwrap_or_default();
        let key = self.name();
        if self.revocations.iter().any(|revocation| revocation.hard) {
            return Err(Refusal::Revoked(key));
        }
        if let Some(end) = self
            .revocations
            .iter()
            .map(|revocation| revocation.made)
            .min()
            .filter(|end| made >= *end)
        {
            return Err(Refusal::RevokedBefore {
                key,
                at: time(end),
                made: time(made),
            });
        }
        if made < born {
            return Err(Refusal::TooEarly {
                key,
                at: time(born),
                made: time(made),
            });
        }
        match life.filter(|life| *life != 0).map(|life| born + i64::from(life)) {
            Some(end) if made >= end => Err(Refusal::Expired {
                key,
                at: time(end),
                made: time(made),
            }),
            _ => Ok(()),
        }
    }
}
