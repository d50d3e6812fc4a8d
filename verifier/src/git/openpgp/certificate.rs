//! A transferable public key (RFC 9580, section 10.1), read whole.
//!
//! Whatever a key signed about itself has to verify and to be understood: a revocation that is passed over is a revoked
//! key that signs. What others signed about it says nothing here, since whoever wrote the keys down trusts them.

use pgp::errors::Error as LibraryError;
use pgp::packet::{Packet, PublicKey, Signature, SignatureType, UserAttribute, UserId};
use pgp::types::{KeyDetails as _, KeyVersion, Tag};

use ptah_contract::failure::quoted;

use super::component::{Component, KeyPacket};
use super::refusal::Refusal;
use super::statement::{Revocation, Statement};
use super::{packets, selfsig, strength};
use crate::git::error::Error;

/// A primary key, who it says to be, and its subkeys.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    pub(super) primary: Component,
    pub(super) identities: Vec<Identity>,
    pub(super) subkeys: Vec<Component>,
}

/// A user id or an image, with what the primary key signed about it.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    packet: IdentityPacket,
    pub(super) statements: Vec<Statement>,
    /// When each of its revocations was made.
    pub(super) revoked: Vec<i64>,
}

#[derive(Clone, Debug)]
enum IdentityPacket {
    User(UserId),
    Image(UserAttribute),
}

impl Identity {
    /// The user id as text; `None` for an image.
    pub(super) fn text(&self) -> Option<String> {
        match &self.packet {
            IdentityPacket::User(id) => Some(String::from_utf8_lossy(id.id()).into_owned()),
            IdentityPacket::Image(_) => None,
        }
    }
}

impl Certificate {
    pub(super) fn components(&self) -> impl Iterator<Item = &Component> {
        std::iter::once(&self.primary).chain(&self.subkeys)
    }

    /// Every certificate of a block.
    pub(super) fn read_all(bytes: &[u8], line: usize) -> Result<Vec<Self>, Error> {
        let block = |problem: String| Error::Block { line, problem };
        let mut all: Vec<Self> = Vec::new();
        for packet in packets::read(bytes).map_err(block)? {
            let packet = match packet {
                Packet::SecretKey(_) | Packet::SecretSubkey(_) => return Err(Error::SecretKey { line }),
                // Of a local keyring; gpg does not read it from others either.
                Packet::Trust(_) | Packet::Marker(_) | Packet::Padding(_) => continue,
                Packet::PublicKey(key) => {
                    all.push(Self::begin(key)?);
                    continue;
                }
                packet => packet,
            };
            let none = || block("it does not begin with a public key".to_owned());
            let current = all.last_mut().ok_or_else(none)?;
            let problem = |problem| Error::OpenPgp {
                key: current.primary.name(),
                problem,
            };
            current
                .clone()
                .take(packet)
                .map_err(problem)
                .map(|next| *current = next)?;
        }
        Ok(all)
    }

    fn begin(key: PublicKey) -> Result<Self, Error> {
        let version = key.version();
        let primary = Component::new(KeyPacket::Primary(key));
        if !matches!(version, KeyVersion::V4 | KeyVersion::V6) {
            let problem = format!(
                "it is of version {}, only 4 and 6 are supported",
                u8::from(version)
            );
            return Err(Error::OpenPgp {
                key: primary.name(),
                problem,
            });
        }
        // Nothing that it signed about itself could be checked.
        if let Err(Refusal::Algorithm { key, algorithm }) =
            strength::key(primary.key().public_params(), &primary.name())
        {
            let problem = format!("it is {algorithm}, which is not supported");
            return Err(Error::OpenPgp { key, problem });
        }
        Ok(Self {
            primary,
            identities: Vec::new(),
            subkeys: Vec::new(),
        })
    }

    fn take(mut self, packet: Packet) -> Result<Self, String> {
        let identity = |packet| Identity {
            packet,
            statements: Vec::new(),
            revoked: Vec::new(),
        };
        match packet {
            Packet::UserId(_) | Packet::UserAttribute(_) if !self.subkeys.is_empty() => {
                return Err("a user id follows a subkey".to_owned());
            }
            Packet::UserId(id) => self.identities.push(identity(IdentityPacket::User(id))),
            Packet::UserAttribute(image) => self.identities.push(identity(IdentityPacket::Image(image))),
            Packet::PublicSubkey(key) if key.version() == self.primary.key().version() => {
                self.subkeys.push(Component::new(KeyPacket::Sub(key)));
            }
            Packet::PublicSubkey(_) => return Err("a subkey is of another version".to_owned()),
            Packet::Signature(signature) => self.signature(&signature)?,
            _ => return Err("it holds a packet that belongs in no public key".to_owned()),
        }
        Ok(self)
    }

    /// A signature is about what stands before it.
    fn signature(&mut self, signature: &Signature) -> Result<(), String> {
        let KeyPacket::Primary(primary) = &self.primary.packet else {
            return Err("its primary key is none".to_owned());
        };
        let own = selfsig::claims(signature, &primary.fingerprint(), &primary.legacy_key_id());
        let revokes = |kind| {
            matches!(
                kind,
                Some(SignatureType::KeyRevocation | SignatureType::SubkeyRevocation)
            )
        };
        match signature.typ() {
            None => return Err("it holds a signature of an unknown version".to_owned()),
            kind if !own && revokes(kind) => {
                return Err("another key says to revoke it, which cannot be checked".to_owned());
            }
            _ if !own && self.subkeys.is_empty() => return Ok(()),
            _ if !own => return Err("a subkey is bound by another key".to_owned()),
            _ => {}
        }
        let config = selfsig::form(signature)?;
        let made = selfsig::made(config).ok_or("a signature of its own does not say when it was made")?;
        let bad = |error: LibraryError| quoted(&format!("a signature of its own does not verify: {error}"));
        if let Some(subkey) = self.subkeys.last_mut() {
            let KeyPacket::Sub(key) = &subkey.packet else {
                return Err("a subkey is none".to_owned());
            };
            signature.verify_subkey_binding(primary, key).map_err(bad)?;
            if config.typ() == SignatureType::SubkeyRevocation {
                subkey.revocations.push(Revocation::of(signature, made));
                return Ok(());
            }
            let back = signature
                .embedded_signature()
                .filter(|back| selfsig::form(back).is_ok());
            let back = back.is_some_and(|back| back.verify_primary_key_binding(key, primary).is_ok());
            subkey.statements.push(selfsig::statement(signature, back)?);
            return Ok(());
        }
        let Some(identity) = self.identities.last_mut() else {
            signature.verify_key(primary).map_err(bad)?;
            match config.typ() {
                SignatureType::KeyRevocation => {
                    self.primary.revocations.push(Revocation::of(signature, made))
                }
                _ => self.primary.statements.push(selfsig::statement(signature, true)?),
            }
            return Ok(());
        };
        match &identity.packet {
            IdentityPacket::User(id) => signature.verify_certification(primary, Tag::UserId, id),
            IdentityPacket::Image(image) => {
                signature.verify_certification(primary, Tag::UserAttribute, image)
            }
        }
        .map_err(bad)?;
        match config.typ() {
            SignatureType::CertRevocation => identity.revoked.push(made),
            _ => identity.statements.push(selfsig::statement(signature, true)?),
        }
        Ok(())
    }
}
