//! A signature of a document: whether somebody trusted made it, and might.

use jiff::Timestamp;
use pgp::packet::{Packet, Signature, SignatureConfig, SignatureType, SignatureVersion, SubpacketData};

use super::certificate::{Certificate, Identity};
use super::component::{Component, KeyPacket};
use super::refusal::Refusal;
use super::statement::{Statement, latest};
use super::{Certificates, packets, selfsig, strength};
use crate::git::armor::{self, Form};
use crate::git::text::shown;

/// How far a signer's clock may be ahead of ours.
const CLOCK_SKEW: i64 = 300;

impl Certificates {
    /// Holds one armored signature against the keys, and says for people who made it.
    ///
    /// A key that expired, or was revoked as superseded or retired, verifies what was signed before; gpg calls that
    /// `EXPKEYSIG` and `REVKEYSIG`, which Git takes for no signature. The time is the signer's word in both.
    pub(in super::super) fn verify(&self, armor: &[u8], payload: &[u8], now: i64) -> Result<String, Refusal> {
        let block = armor::read(armor, "PGP SIGNATURE", Form::OpenPgp).map_err(Refusal::Malformed)?;
        if !block.rest.trim_ascii().is_empty() {
            return Err(Refusal::Malformed("something follows its end"));
        }
        let packets = packets::read(&block.bytes).map_err(Refusal::Library)?;
        let [Packet::Signature(signature)] = packets.as_slice() else {
            return Err(Refusal::NotOne);
        };
        let config = document(signature)?;
        let (certificate, key) = self.maker(signature)?;
        let name = key.name();
        strength::key(key.key(), &name)?;
        if !key.verifies(signature, payload) {
            return Err(Refusal::Bad(name));
        }
        let made = selfsig::made(config).map_err(|_| Refusal::Lacks("when it was made"))?;
        let time = |seconds| Timestamp::from_second(seconds).unwrap_or_default();
        if made > now + CLOCK_SKEW {
            return Err(Refusal::Future(time(made)));
        }
        let life = signature
            .signature_expiration_time()
            .map_or(0, |life| i64::from(life.as_secs()));
        if life != 0 && made + life <= now {
            return Err(Refusal::SignatureExpired(time(made + life)));
        }
        certificate.may_sign(key, made, now)?;
        let user = certificate
            .user(now)
            .map(|user| format!(" of {}", shown(user.as_bytes())));
        Ok(format!("the key {name}{}", user.unwrap_or_default()))
    }

    /// The one key that the signature names, by everything that it names.
    fn maker(&self, signature: &Signature) -> Result<(&Certificate, &Component), Refusal> {
        let (ids, fingerprints) = (signature.issuer_key_id(), signature.issuer_fingerprint());
        let named: Vec<String> = match fingerprints.is_empty() {
            true => ids
                .iter()
                .map(|id| format!("{id}").to_ascii_uppercase())
                .collect(),
            false => fingerprints.iter().map(|one| format!("{one:X}")).collect(),
        };
        let wanted = named.first().ok_or(Refusal::Lacks("who made it"))?;
        let is = |key: &Component| {
            let (fingerprint, id) = (key.key().fingerprint(), key.key().legacy_key_id());
            fingerprints.iter().any(|one| **one == fingerprint) || ids.iter().any(|one| **one == id)
        };
        let all = self
            .0
            .iter()
            .flat_map(|certificate| certificate.components().map(move |key| (certificate, key)));
        let mut found = all.filter(|(_, key)| is(key));
        let Some((certificate, key)) = found.next() else {
            return Err(Refusal::Unknown(wanted.clone()));
        };
        let fingerprint = key.key().fingerprint();
        let agrees = ids.iter().all(|id| **id == key.key().legacy_key_id())
            && fingerprints.iter().all(|one| **one == fingerprint);
        match agrees && found.next().is_none() {
            true => Ok((certificate, key)),
            false => Err(Refusal::TwoIssuers),
        }
    }
}

/// What a signature of a document may be, and may demand.
fn document(signature: &Signature) -> Result<&SignatureConfig, Refusal> {
    let config = match (signature.version(), signature.config()) {
        (SignatureVersion::V4 | SignatureVersion::V6, Some(config)) => config,
        (version, _) => return Err(Refusal::Version(u8::from(version))),
    };
    if !matches!(config.typ(), SignatureType::Binary | SignatureType::Text) {
        return Err(Refusal::Type(u8::from(config.typ())));
    }
    if !strength::is_strong(config.hash_alg) {
        return Err(Refusal::Hash(config.hash_alg.to_string()));
    }
    if let Some(what) = selfsig::twice(config) {
        return Err(Refusal::Twice(what));
    }
    let understood = |data: &SubpacketData| {
        matches!(
            data,
            SubpacketData::SignatureCreationTime(_)
                | SubpacketData::SignatureExpirationTime(_)
                | SubpacketData::IssuerKeyId(_)
                | SubpacketData::IssuerFingerprint(_)
                | SubpacketData::SignersUserID(_)
        )
    };
    match config
        .hashed_subpackets()
        .find(|packet| packet.is_critical && !understood(&packet.data))
    {
        Some(packet) => Err(Refusal::Critical(selfsig::subpacket_name(&packet.data))),
        None => Ok(config),
    }
}

impl Certificate {
    /// Whether the key was one that signs when it says to have signed.
    fn may_sign(&self, key: &Component, made: i64, now: i64) -> Result<(), Refusal> {
        let primary = self.primary.name();
        strength::key(self.primary.key(), &primary)?;
        let direct = latest(&self.primary.statements, now);
        let identity = self.identity(now).map(|(_, statement)| statement);
        let own = || direct.into_iter().chain(identity);
        if own().next().is_none() {
            return Err(Refusal::NotInForce(primary));
        }
        self.primary
            .lived(made, own().find_map(|statement| statement.key_life))?;
        if let KeyPacket::Primary(_) = key.packet {
            return match own().find_map(|statement| statement.may_sign) {
                Some(true) => Ok(()),
                _ => Err(Refusal::MayNotSign(primary)),
            };
        }
        let binding = latest(&key.statements, now).ok_or_else(|| Refusal::NotBound(key.name()))?;
        key.lived(made, binding.key_life)?;
        match (binding.may_sign, binding.cross_certified) {
            (Some(true), true) => Ok(()),
            (Some(true), false) => Err(Refusal::NotCrossCertified(key.name())),
            _ => Err(Refusal::MayNotSign(key.name())),
        }
    }

    /// The identity that was signed last, of those that are not revoked; gpg takes expiry and flags from it.
    fn identity(&self, now: i64) -> Option<(&Identity, &Statement)> {
        let in_force = self.identities.iter().filter_map(|identity| {
            let statement = latest(&identity.statements, now)?;
            let revoked = identity.revoked.iter().any(|at| *at >= statement.made);
            (!revoked).then_some((identity, statement))
        });
        in_force.max_by_key(|(_, statement)| statement.made)
    }

    /// Who it says to be.
    fn user(&self, now: i64) -> Option<String> {
        let latest = self.identity(now).and_then(|(identity, _)| identity.text());
        latest.or_else(|| self.identities.iter().find_map(Identity::text))
    }
}
