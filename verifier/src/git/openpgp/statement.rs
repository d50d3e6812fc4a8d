//! What a key's holder said about the key, in signatures of the key itself.

use pgp::packet::{RevocationCode, Signature};

/// What a self-signature or a binding says. Made by the key itself, as was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Seconds since 1970.
    pub(super) made: i64,
    /// When it ceases to count by itself.
    pub(super) until: Option<i64>,
    /// How long the key lives from its making; 0 for ever, `None` when it does not say.
    pub(super) key_life: Option<u32>,
    /// Whether the key may sign; `None` when it does not say.
    pub(super) may_sign: Option<bool>,
    /// Whether the subkey signed back, where it had to.
    pub(super) cross_certified: bool,
}

/// A key's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Revocation {
    pub(super) made: i64,
    /// Whether even what was signed before no longer counts.
    pub(super) hard: bool,
}

impl Revocation {
    /// RFC 9580, section 5.2.3.31: superseded and retired keys, and user ids out of use, leave earlier signatures alone.
    /// Whoever gives no reason may mean a compromise.
    pub(super) fn of(signature: &Signature, made: i64) -> Self {
        let soft = matches!(
            signature.revocation_reason_code(),
            Some(
                RevocationCode::KeySuperseded
                    | RevocationCode::KeyRetired
                    | RevocationCode::CertUserIdInvalid
            )
        );
        Self { made, hard: !soft }
    }
}

/// The latest that is in force, and of two in the same second the later one in the key, as gpg takes it.
pub(super) fn latest(statements: &[Statement], now: i64) -> Option<&Statement> {
    let in_force = |one: &&Statement| one.made <= now && one.until.is_none_or(|until| now < until);
    statements.iter().filter(in_force).max_by_key(|one| one.made)
}
