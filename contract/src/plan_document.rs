//! The plan document, format version 2: what a person approves and what Apply runs, to the byte.
//!
//! Promises: one document has one encoding ([`PlanDocument::encode`]), and [`PlanDocument::decode`] accepts
//! nothing but that encoding, so neither trailing text, a repeated key nor another spelling of the same plan
//! can stand behind a digest. Field order and escaping are those of the reference's format version 1.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::drift::Severity;
use crate::policy::TransactionMode;

/// The format version that this program writes and reads.
pub const FORMAT_VERSION: u32 = 2;
/// The dialect word of PostgreSQL plans.
pub const POSTGRES: &str = "postgres";
/// The most bytes a document may have: 16 chunks of 512 KiB.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanDocument {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// `plan_` and the first twelve hex digits of SHA-256 over both fingerprints.
    pub name: String,
    /// [`POSTGRES`].
    pub dialect: String,
    /// Fingerprint of the state that the plan starts from; Apply reads it again under its lock.
    pub from_fingerprint: Digest,
    /// Fingerprint of the state that the plan leads to.
    pub to_fingerprint: Digest,
    /// Selectors that were left out of the comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The schemas that were read, sorted. Apply reads exactly these.
    pub scope: Vec<String>,
    /// How the statements are wrapped; the plan was proven in this mode and runs in no other.
    pub transaction_mode: TransactionMode,
    /// Whether any statement is destructive.
    pub destructive: bool,
    /// In the order in which they run; empty when the database has the desired state.
    pub statements: Vec<Statement>,
    /// What a person should know and no statement says, such as an extension that is left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the plan was proven.
    pub proof: Proof,
}

/// One statement of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Statement {
    /// The text that is sent, without a closing semicolon.
    pub sql: String,
    /// From the change, not from the text.
    pub severity: Severity,
    /// One sentence.
    pub reason: String,
    /// The strongest table lock that it takes, as PostgreSQL's manual spells it; none when it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// Whether it writes every row of a table again.
    pub rewrites: bool,
    /// Whether it reads every row of a table.
    pub scans: bool,
    /// Whether it may run in a transaction.
    pub transactional: bool,
    /// Whether rows may make it fail.
    pub data_dependent: bool,
    /// Kinds of privilege change, sorted, such as `Grant`.
    pub privileges: Vec<PrivilegeChange>,
    /// Qualified names of what it touches, sorted.
    pub objects: Vec<String>,
}

/// What a statement changes about who may do what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PrivilegeChange {
    /// A privilege is given.
    Grant,
    /// A privilege is taken.
    Revoke,
    /// A role becomes or ceases to be a member of another.
    RoleMembership,
    /// A role itself.
    Role,
    /// An object's owner.
    Ownership,
    /// A row-security policy, or whether it applies.
    RowSecurityPolicy,
    /// Code or a view that runs with its owner's rights.
    SecurityDefiner,
    /// The MySQL family's `DEFINER`.
    Definer,
    /// A function that others may call is replaced.
    FunctionReplacement,
}

/// How a plan was proven before it was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proof {
    /// Name and major version of the server that the plan was replayed on, such as `postgres 17`.
    pub scratch_server: String,
    /// How many statements were replayed.
    pub replayed: u32,
    /// How many differences were left; nothing but 0 is ever published.
    pub residual: u32,
}

/// Bytes that are no plan document.
#[derive(Debug, thiserror::Error)]
pub enum PlanDocumentError {
    /// More than [`MAX_BYTES`].
    #[error("the plan document is larger than 8 MiB")]
    TooLarge,
    /// Not the JSON of a plan document.
    #[error("the plan document does not parse at line {line}, column {column}")]
    Malformed {
        /// 1-based.
        line: usize,
        /// 1-based.
        column: usize,
    },
    /// A format version that this program does not know.
    #[error("the plan document has a format version other than 2")]
    Version,
    /// A dialect that this program does not know.
    #[error("the plan document is for another kind of database")]
    Dialect,
    /// Parses, and yet is not byte for byte what the encoder writes.
    #[error("the plan document is not in its canonical encoding")]
    NotCanonical,
    /// A field contradicts another one.
    #[error("the plan document contradicts itself: {0}")]
    Inconsistent(&'static str),
}

impl PlanDocument {
    /// The one encoding: two spaces of indent, one trailing newline, and `<`, `>`, `&`, U+2028 and U+2029 escaped
    /// as Go's encoder does.
    ///
    /// # Errors
    /// [`PlanDocumentError::TooLarge`].
    pub fn encode(&self) -> Result<Vec<u8>, PlanDocumentError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| malformed(&error))?;
        // None of these characters is part of JSON's own syntax, so they occur in strings only.
        let mut out = String::with_capacity(text.len() + 64);
        for c in text.chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
                _ => out.push(c),
            }
        }
        out.push('\n');
        if out.len() > MAX_BYTES {
            return Err(PlanDocumentError::TooLarge);
        }
        Ok(out.into_bytes())
    }

    /// Reads exactly what [`Self::encode`] writes.
    ///
    /// # Errors
    /// When the bytes are anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, PlanDocumentError> {
        #[derive(Deserialize)]
        struct Head {
            format_version: u32,
        }
        if bytes.len() > MAX_BYTES {
            return Err(PlanDocumentError::TooLarge);
        }
        let head: Head = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
        if head.format_version != FORMAT_VERSION {
            return Err(PlanDocumentError::Version);
        }
        let document: Self = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
        document.check()?;
        if document.encode()? != bytes {
            return Err(PlanDocumentError::NotCanonical);
        }
        Ok(document)
    }

    /// `plan_` and twelve hex digits, as the reference names its plans.
    #[must_use]
    pub fn default_name(from: Digest, to: Digest) -> String {
        let hex = Digest::of(format!("{from}\n{to}").as_bytes()).hex();
        format!("plan_{}", &hex[..12])
    }

    /// The kinds of privilege change of all statements, sorted.
    #[must_use]
    pub fn privilege_changes(&self) -> Vec<PrivilegeChange> {
        let mut kinds: Vec<_> = self
            .statements
            .iter()
            .flat_map(|s| s.privileges.iter().copied())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// The severity of the worst statement.
    #[must_use]
    pub fn highest_severity(&self) -> Option<Severity> {
        self.statements.iter().map(|s| s.severity).max()
    }

    fn check(&self) -> Result<(), PlanDocumentError> {
        use PlanDocumentError::Inconsistent;
        if self.dialect != POSTGRES {
            return Err(PlanDocumentError::Dialect);
        }
        if self.statements.iter().any(|s| s.sql.trim().is_empty()) {
            return Err(Inconsistent("a statement is empty"));
        }
        if self.destructive != (self.highest_severity() == Some(Severity::Destructive)) {
            return Err(Inconsistent("destructive is not what the statements say"));
        }
        if self.transaction_mode.is_atomic() && self.statements.iter().any(|s| !s.transactional) {
            return Err(Inconsistent("a statement cannot run in the plan's transaction"));
        }
        if self.proof.residual != 0 || self.proof.replayed as usize != self.statements.len() {
            return Err(Inconsistent("the proof is not of these statements"));
        }
        Ok(())
    }
}

fn malformed(error: &serde_json::Error) -> PlanDocumentError {
    PlanDocumentError::Malformed {
        line: error.line(),
        column: error.column(),
    }
}

#[cfg(test)]
#[path = "plan_document_tests.rs"]
mod tests;
