//! Git: whether somebody whom given keys trust signed a commit, or the tag that led to it.
//!
//! Promises: an object is read as Git reads it or refused; its name is computed from its bytes; a signature counts only
//! when it is of exactly these bytes, by a key that was given, that was allowed to sign then; what cannot be evaluated
//! (X.509 and gitsign, certificates of SSH, unknown options) is refused with its name. Pure: objects, keys and the time
//! come as arguments.
//!
//! What it does not promise: the time of a signature is its maker's word. Whoever holds a key that expired, or was
//! revoked without a compromise, can date a signature back.
//!
//! Rules: gitformat-signature(5), RFC 9580, PROTOCOL.sshsig, ssh-keygen(1). Where Git decides otherwise,
//! `testdata/git/cases.txt` says so, case by case.

mod armor;
mod check;
mod content;
mod error;
mod object;
mod openpgp;
mod ssh;
mod text;

use ptah_contract::commit::SignedObject;
use ptah_contract::digest::Digest;

pub use error::Error;
pub use gix_hash::{Kind, ObjectId};

use openpgp::Certificates;
use ssh::AllowedSigners;

/// The largest keys that are read, in bytes: what fits a ConfigMap.
pub const MAX_KEYS_BYTES: usize = 1 << 20;

/// Whom to trust: OpenPGP public keys, or an `allowed_signers` file of OpenSSH.
#[derive(Clone, Debug)]
pub struct GitKeys {
    keys: Keys,
    digest: Digest,
}

#[derive(Clone, Debug)]
enum Keys {
    OpenPgp(Certificates),
    Ssh(AllowedSigners),
}

impl GitKeys {
    /// Reads keys whole: what is not understood is an error, and never skipped.
    ///
    /// OpenPGP keys are armored blocks, with blank lines and `#` comments between them, or one binary keyring. Anything
    /// else is an `allowed_signers` file.
    ///
    /// # Errors
    /// Nothing in it, secret keys, both kinds mixed, and whatever cannot be evaluated, with the line or the key.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > MAX_KEYS_BYTES {
            return Err(Error::TooLarge);
        }
        Ok(Self {
            keys: Self::read(bytes)?,
            digest: Digest::of(bytes),
        })
    }

    /// SHA-256 of the bytes: what a plan is bound to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    fn read(bytes: &[u8]) -> Result<Keys, Error> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // The first bit of every packet is set (RFC 9580, section 4.2).
            Err(_) if bytes.first().is_some_and(|first| first & 0x80 != 0) => {
                return Ok(Keys::OpenPgp(Certificates::from_binary(bytes)?));
            }
            Err(error) => {
                let before = bytes.iter().take(error.valid_up_to());
                let line = before.filter(|byte| **byte == b'\n').count() + 1;
                let problem = "it is no text".to_owned();
                return Err(Error::Block { line, problem });
            }
        };
        if text
            .lines()
            .any(|line| line.trim_start().starts_with("-----BEGIN PGP "))
        {
            return Ok(Keys::OpenPgp(Certificates::from_armor(text)?));
        }
        Ok(Keys::Ssh(AllowedSigners::read(text)?))
    }
}

/// Who has to have signed what.
#[derive(Clone, Debug)]
pub struct GitPolicy {
    mode: SignedObject,
    keys: GitKeys,
    committers: Vec<String>,
}

impl GitPolicy {
    /// A policy. `committers` are exact e-mail addresses, of which that of the commit's committer has to be one, and of
    /// the tagger where a tag has to be signed; an empty list is anybody whose key is trusted.
    ///
    /// With SSH the principals of the signing key have to match that address as well. An OpenPGP key is trusted as it is:
    /// two people whose keys are both given can sign for each other.
    ///
    /// # Errors
    /// An address that could match nobody.
    pub fn new(mode: SignedObject, keys: GitKeys, committers: Vec<String>) -> Result<Self, Error> {
        let odd = |text: &&String| {
            text.is_empty()
                || text
                    .chars()
                    .any(|one| one.is_whitespace() || one.is_control() || "<>".contains(one))
        };
        match committers.iter().find(odd) {
            Some(odd) => Err(Error::Committer(odd.chars().take(128).collect())),
            None => Ok(Self {
                mode,
                keys,
                committers,
            }),
        }
    }
}

/// An object of a repository.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// The name by which it was asked for, in the repository's hash.
    pub id: ObjectId,
    /// Its payload: what `git cat-file <type> <id>` prints.
    pub bytes: &'a [u8],
}

impl<'a> Object<'a> {
    /// A tag between the outermost one and the commit, by the name that its bytes give it; the tag before it has to lead
    /// there. `None` when the bytes were made to collide.
    #[must_use]
    pub fn inner_tag(bytes: &'a [u8], hash: Kind) -> Option<Self> {
        let id = object::name_of("tag", bytes, hash).ok()?;
        Some(Self { id, bytes })
    }
}

/// What a ref led to.
#[derive(Clone, Copy, Debug)]
pub struct Tip<'a> {
    /// The full name of the ref that was asked for, such as `refs/tags/v1`; `None` for a commit by its id.
    pub reference: Option<&'a str>,
    /// The commit.
    pub commit: Object<'a>,
    /// The tag objects that led to it, the outermost first.
    pub tags: &'a [Object<'a>],
}

#[cfg(test)]
mod tests;
