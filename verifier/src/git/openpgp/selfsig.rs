//! The form of signatures: what each says at most once, and what nobody here may overlook.

use pgp::packet::{Signature, SignatureConfig, SignatureVersion, Subpacket, SubpacketData};
use pgp::types::{Fingerprint, KeyId};

use super::statement::Statement;
use super::strength;

/// Whether it says of itself to be by that key. Nobody named is nobody else, so it has to verify then as well.
pub(super) fn claims(signature: &Signature, fingerprint: &Fingerprint, id: &KeyId) -> bool {
    let (ids, fingerprints) = (signature.issuer_key_id(), signature.issuer_fingerprint());
    (ids.is_empty() && fingerprints.is_empty()) || ids.contains(&id) || fingerprints.contains(&fingerprint)
}

/// The signature's own form, of a signature that a key made about itself.
///
/// # Errors
/// What about it is not understood; a key with such a signature is not judged without it.
pub(super) fn form(signature: &Signature) -> Result<&SignatureConfig, String> {
    let config = match (signature.version(), signature.config()) {
        (SignatureVersion::V4 | SignatureVersion::V6, Some(config)) => config,
        (version, _) => {
            return Err(format!(
                "a signature of its own is of version {}",
                u8::from(version)
            ));
        }
    };
    if !strength::is_fit_for_keys(config.hash_alg) {
        return Err(format!(
            "a signature of its own uses the weak hash {}",
            config.hash_alg
        ));
    }
    if let Some(what) = twice(config) {
        return Err(format!("a signature of its own says {what} more than once"));
    }
    match config
        .hashed_subpackets()
        .find(|packet| packet.is_critical && !is_known(packet))
    {
        Some(packet) => Err(format!(
            "a signature of its own demands an understanding of {}",
            subpacket_name(&packet.data)
        )),
        None => Ok(config),
    }
}

/// What the signature says.
pub(super) fn statement(signature: &Signature, cross_certified: bool) -> Result<Statement, String> {
    let config = form(signature)?;
    let made = made(config)?;
    let life = signature.signature_expiration_time().map(|life| life.as_secs());
    let flags = config.hashed_subpackets().find_map(|packet| match &packet.data {
        SubpacketData::KeyFlags(flags) => Some(flags.sign()),
        _ => None,
    });
    Ok(Statement {
        made,
        until: life.filter(|life| *life != 0).map(|life| made + i64::from(life)),
        key_life: signature.key_expiration_time().map(|life| life.as_secs()),
        may_sign: flags,
        cross_certified,
    })
}

/// When it says to have been made.
pub(super) fn made(config: &SignatureConfig) -> Result<i64, String> {
    let created = config.created().map(|time| i64::from(time.as_secs()));
    created.ok_or_else(|| "a signature of its own does not say when it was made".to_owned())
}

/// What the hashed part says more than once, though readers differ in which of two they take.
pub(super) fn twice(config: &SignatureConfig) -> Option<&'static str> {
    type Is = fn(&SubpacketData) -> bool;
    let single: [(&'static str, Is); 5] = [
        ("when it was made", |data| {
            matches!(data, SubpacketData::SignatureCreationTime(_))
        }),
        ("when it expires", |data| {
            matches!(data, SubpacketData::SignatureExpirationTime(_))
        }),
        ("when the key expires", |data| {
            matches!(data, SubpacketData::KeyExpirationTime(_))
        }),
        ("what the key may do", |data| {
            matches!(data, SubpacketData::KeyFlags(_))
        }),
        ("why the key is revoked", |data| {
            matches!(data, SubpacketData::RevocationReason(..))
        }),
    ];
    let count = |is: Is| {
        config
            .hashed_subpackets()
            .filter(|packet| is(&packet.data))
            .count()
    };
    single
        .into_iter()
        .find(|(_, is)| count(*is) > 1)
        .map(|(what, _)| what)
}

/// Subpackets of a key's own signatures that are evaluated, or that restrict nothing that is done here.
fn is_known(packet: &Subpacket) -> bool {
    !matches!(
        packet.data,
        SubpacketData::Notation(_)
            | SubpacketData::RegularExpression(_)
            | SubpacketData::TrustSignature(..)
            | SubpacketData::SignatureTarget(..)
            | SubpacketData::IntendedRecipientFingerprint(_)
            | SubpacketData::Experimental(..)
            | SubpacketData::Other(..)
    )
}

/// For people.
pub(super) fn subpacket_name(data: &SubpacketData) -> String {
    match data {
        SubpacketData::Experimental(number, _) | SubpacketData::Other(number, _) => {
            format!("the subpacket {number}")
        }
        SubpacketData::Notation(_) => "a notation".to_owned(),
        // The variant's name without its contents, which may be anything.
        other => {
            let name = format!("{other:?}");
            let end = name.find(['(', ' ']).unwrap_or(name.len());
            format!("the subpacket {}", &name[..end])
        }
    }
}
