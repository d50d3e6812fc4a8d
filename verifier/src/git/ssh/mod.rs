//! SSH: `allowed_signers` (ssh-keygen(1), ALLOWED SIGNERS) and SSHSIG (PROTOCOL.sshsig).
//!
//! `valid-after` and `valid-before` are held against the time that the commit or the tag gives for its committer or
//! tagger, as Git has `ssh-keygen -Overify-time` do it. That time is the signer's own word: whoever has the key may write
//! an earlier one, so that these options end a key's use by honest holders, and by nobody else.

mod allowed;
mod options;
mod patterns;
mod refusal;

use ssh_key::{Algorithm, HashAlg, PublicKey, SshSig, public::KeyData};

use super::armor::{self, Form};
use super::content::Person;
use super::text::shown;
pub(super) use allowed::AllowedSigners;
use allowed::Line;
use refusal::Refusal;

/// What Git signs in, and nobody else (PROTOCOL.sshsig, "namespace").
const NAMESPACE: &str = "git";
/// The bit of a security key's flags that says that somebody touched it (PROTOCOL.u2f).
const USER_PRESENT: u8 = 1;

impl AllowedSigners {
    /// Holds one armored signature against the lines, and says for people who made it.
    ///
    /// `principal` is the address that a line's principals have to match; without it any line of the key does, as Git
    /// has it. Every line of the key counts: Git looks at the principals of the first one alone.
    pub(super) fn verify(
        &self,
        armor: &[u8],
        payload: &[u8],
        person: &Person<'_>,
        principal: Option<&[u8]>,
    ) -> Result<String, Refusal> {
        let block = armor::read(armor, "SSH SIGNATURE", Form::Ssh).map_err(Refusal::Malformed)?;
        if !block.rest.trim_ascii().is_empty() {
            return Err(Refusal::Malformed("something follows its end"));
        }
        let signature = decode(&block.bytes)?;
        let fingerprint = signature.public_key().fingerprint(HashAlg::Sha256).to_string();
        algorithm(&signature)?;
        if signature.namespace() != NAMESPACE {
            return Err(Refusal::Namespace(shown(signature.namespace().as_bytes())));
        }
        let lines: Vec<&Line> = self.of(signature.public_key()).collect();
        if lines.is_empty() {
            return Err(Refusal::Unknown(fingerprint));
        }
        let key = PublicKey::new(signature.public_key().clone(), "");
        if key.verify(NAMESPACE, payload, &signature).is_err() {
            return Err(Refusal::Bad(fingerprint));
        }

        let mut refusal = Refusal::Unknown(fingerprint.clone());
        for line in lines {
            match line.permits(NAMESPACE, person.time, principal) {
                Ok(()) => {
                    let principals = shown(line.principals.as_str().as_bytes());
                    return Ok(format!("the SSH key {fingerprint} of {principals}"));
                }
                Err(found) => refusal = found,
            }
        }
        Err(refusal)
    }
}

/// The signature, every byte of it.
fn decode(bytes: &[u8]) -> Result<SshSig, Refusal> {
    use ssh_key::encoding::Decode as _;
    let mut rest = bytes;
    let signature = SshSig::decode(&mut rest).map_err(|error| Refusal::Library(error.to_string()))?;
    match (signature.version(), rest) {
        (1, []) => Ok(signature),
        (1, _) => Err(Refusal::Malformed("it is longer than it says")),
        (version, _) => Err(Refusal::Version(version)),
    }
}

/// What may sign, and with what. Keys of `allowed_signers` were held to the same at load.
fn algorithm(signature: &SshSig) -> Result<(), Refusal> {
    let used = signature.algorithm();
    let matches = match (signature.public_key(), &used) {
        (KeyData::Certificate(_), _) => return Err(Refusal::Certificate),
        (KeyData::Rsa(_), Algorithm::Rsa { hash: None }) => return Err(Refusal::Sha1),
        (KeyData::Rsa(_), Algorithm::Rsa { hash: Some(_) }) => true,
        (KeyData::Ecdsa(key), Algorithm::Ecdsa { curve }) => key.curve() == *curve,
        (KeyData::Ed25519(_), Algorithm::Ed25519) => true,
        (KeyData::SkEd25519(_), Algorithm::SkEd25519)
        | (KeyData::SkEcdsaSha2NistP256(_), Algorithm::SkEcdsaSha2NistP256) => {
            // The library keeps flags and counter, five bytes, behind the signature proper.
            let flags = signature.signature_bytes().iter().rev().nth(4);
            if flags.is_none_or(|flags| flags & USER_PRESENT == 0) {
                return Err(Refusal::NoUser);
            }
            true
        }
        _ => false,
    };
    match matches {
        true => Ok(()),
        false => Err(Refusal::Algorithm(shown(used.as_str().as_bytes()))),
    }
}
