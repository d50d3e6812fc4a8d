//! A transferable public key (RFC 9580, section 10.1), read whole.
//!
//! Whatever a key signed about itself has to verify and to be understood: a revocation that is passed over is a revoked
//! key that signs. What others signed about it says nothing here, since whoever wrote the keys down trusts them.

use pgp::packet::{Packet, PublicKey, UserAttribute, UserId};
use pgp::types::{KeyDetails as _, KeyVersion};

use super::component::{Component, KeyPacket};
use super::refusal::Refusal;
use super::statement::Statement;
use super::{packets, strength};
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
    pub(super) packet: IdentityPacket,
    pub(super) statements: Vec<Statement>,
    /// When each of its revocations was made.
    pub(super) revoked: Vec<i64>,
}

/// What it is known by.
#[derive(Clone, Debug)]
pub(super) enum IdentityPacket {
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
            current.take(packet).map_err(|problem| Error::OpenPgp {
                key: current.primary.name(),
                problem,
            })?;
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
        if let Err(Refusal::Algorithm { key, algorithm }) = strength::key(primary.key(), &primary.name()) {
            let problem = format!("it is {algorithm}, which is not supported");
            return Err(Error::OpenPgp { key, problem });
        }
        Ok(Self {
            primary,
            identities: Vec::new(),
            subkeys: Vec::new(),
        })
    }

    fn take(&mut self, packet: Packet) -> Result<(), String> {
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
        Ok(())
    }
}
