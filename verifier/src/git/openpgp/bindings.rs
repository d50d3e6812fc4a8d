//! What a certificate's primary key signed about the certificate: each signature verified, and understood.

use pgp::errors::Error as LibraryError;
use pgp::packet::{PublicKey, PublicSubkey, Signature, SignatureType};
use pgp::types::{KeyDetails as _, Tag};

use super::certificate::{Certificate, Identity, IdentityPacket};
use super::component::{Component, KeyPacket};
use super::statement::Revocation;
use super::{packets, prefix, selfsig};

type Verified = Result<(), LibraryError>;

impl Certificate {
    /// Takes a signature, which is about what stands before it.
    ///
    /// What others signed is passed over, but for what looks like a revocation: nobody here can tell whether that key may
    /// revoke this one.
    pub(super) fn signature(&mut self, signature: &Signature) -> Result<(), String> {
        let KeyPacket::Primary(primary) = &self.primary.packet else {
            return Err("its primary key is none".to_owned());
        };
        let primary = primary.clone();
        let own = selfsig::claims(signature, &primary.fingerprint(), &primary.legacy_key_id());
        match signature.typ() {
            None => return Err("it holds a signature of an unknown version".to_owned()),
            Some(SignatureType::KeyRevocation | SignatureType::SubkeyRevocation) if !own => {
                return Err("another key says to revoke it, which cannot be checked".to_owned());
            }
            Some(_) if !own => return Ok(()),
            Some(_) => {}
        }
        match (self.subkeys.last_mut(), self.identities.last_mut()) {
            (Some(subkey), _) => subkey.bound(signature, &primary),
            (None, Some(identity)) => identity.certified(signature, &primary),
            (None, None) => self.primary.direct(signature, &primary),
        }
    }
}

impl Component {
    /// On a subkey, by the primary key.
    fn bound(&mut self, signature: &Signature, primary: &PublicKey) -> Result<(), String> {
        let KeyPacket::Sub(key) = &self.packet else {
            return Err("a subkey is none".to_owned());
        };
        let config = selfsig::form(signature)?;
        verify(
            signature,
            &[prefix::key(primary), prefix::key(key)],
            |signature| signature.verify_subkey_binding(primary, key),
        )?;
        if config.typ() == SignatureType::SubkeyRevocation {
            self.revocations
                .push(Revocation::of(signature, selfsig::made(config)?));
            return Ok(());
        }
        let cross_certified = signature
            .embedded_signature()
            .is_some_and(|back| signs_back(back, primary, key));
        self.statements
            .push(selfsig::statement(signature, cross_certified)?);
        Ok(())
    }

    /// On the primary key, by itself.
    fn direct(&mut self, signature: &Signature, primary: &PublicKey) -> Result<(), String> {
        let config = selfsig::form(signature)?;
        verify(signature, &[prefix::key(primary)], |signature| {
            signature.verify_key(primary)
        })?;
        match config.typ() {
            SignatureType::KeyRevocation => {
                self.revocations
                    .push(Revocation::of(signature, selfsig::made(config)?));
            }
            _ => self.statements.push(selfsig::statement(signature, true)?),
        }
        Ok(())
    }
}

impl Identity {
    /// On a user id or an image, by the primary key.
    fn certified(&mut self, signature: &Signature, primary: &PublicKey) -> Result<(), String> {
        let config = selfsig::form(signature)?;
        match &self.packet {
            IdentityPacket::User(id) => {
                let on = [prefix::key(primary), prefix::identity(0xb4, id)];
                verify(signature, &on, |signature| {
                    signature.verify_certification(primary, Tag::UserId, id)
                })
            }
            IdentityPacket::Image(image) => {
                let on = [prefix::key(primary), prefix::identity(0xd1, image)];
                verify(signature, &on, |signature| {
                    signature.verify_certification(primary, Tag::UserAttribute, image)
                })
            }
        }?;
        match config.typ() {
            SignatureType::CertRevocation => self.revoked.push(selfsig::made(config)?),
            _ => self.statements.push(selfsig::statement(signature, true)?),
        }
        Ok(())
    }
}

/// Without it anybody could take somebody else's signing key for a subkey, and the signatures with it.
fn signs_back(back: &Signature, primary: &PublicKey, key: &PublicSubkey) -> bool {
    let on = [prefix::key(primary), prefix::key(key)];
    let verified = verify(back, &on, |back| back.verify_primary_key_binding(key, primary));
    selfsig::form(back).is_ok() && verified.is_ok()
}

fn verify(
    signature: &Signature,
    on: &[Vec<u8>],
    verified: impl Fn(&Signature) -> Verified,
) -> Result<(), String> {
    let corrected = prefix::corrected(signature, on);
    verified(corrected.as_ref().unwrap_or(signature)).map_err(|error| {
        format!(
            "a signature of its own does not verify: {}",
            packets::reason(&error)
        )
    })
}
