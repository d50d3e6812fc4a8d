//! The effective policy of a schema, as the manager sends it to a runner and a person writes it into a file.
//!
//! Promises: every field that changes what a plan says, or how it runs, is part of [`SchemaPolicy::fingerprint`];
//! an unknown key is refused. Whether a plan may be applied at all (`apply`) is the manager's question and is
//! not here.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;

/// What a plan may contain, what it leaves alone, and how long its statements may wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SchemaPolicy {
    /// Destructive statements are allowed as a category; an approval is still the manager's to ask for.
    pub allow_destructive: bool,
    /// `table` or `schema.table`, compared without regard to case; a plan that touches one is refused.
    pub protected_tables: Vec<String>,
    /// Selectors of what is left out of the comparison, on both sides alike.
    pub exclude: Vec<String>,
    /// How the plan's statements are wrapped.
    pub transaction_mode: TransactionMode,
    /// How long to wait for the advisory lock.
    pub lock_timeout: Span,
    /// How long one statement may wait for a table lock (PostgreSQL's `lock_timeout`).
    pub statement_lock_timeout: Span,
    /// How long one statement may run (PostgreSQL's `statement_timeout`); none means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement_timeout: Option<Span>,
    /// How long to wait for a connection.
    pub connect_timeout: Span,
    /// Which differences the drift report counts. Never decides whether a database has converged.
    pub drift_severity: DriftSeverity,
}

impl Default for SchemaPolicy {
    fn default() -> Self {
        Self {
            allow_destructive: false,
            protected_tables: Vec::new(),
            exclude: Vec::new(),
            transaction_mode: TransactionMode::File,
            lock_timeout: Span::seconds(30),
            statement_lock_timeout: Span::seconds(5),
            statement_timeout: None,
            connect_timeout: Span::seconds(10),
            drift_severity: DriftSeverity::All,
        }
    }
}

impl SchemaPolicy {
    /// The identity of this policy. The two lists are sets: their order does not count.
    ///
    /// # Errors
    /// Never in practice; the encoder's own error type is passed on.
    pub fn fingerprint(&self) -> Result<Digest, serde_json::Error> {
        let mut normal = self.clone();
        for list in [&mut normal.protected_tables, &mut normal.exclude] {
            list.sort();
            list.dedup();
        }
        canonical::digest(&normal)
    }
}

/// How the statements of a plan are wrapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransactionMode {
    /// One transaction for the whole plan.
    All,
    /// One transaction for the whole plan; kept apart from `all` because the reference knows both words.
    #[default]
    File,
    /// Each statement on its own, in the forms that lock least.
    None,
}

impl TransactionMode {
    /// Whether the whole plan is one transaction, so that a failure leaves nothing behind.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// Which differences a drift report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftSeverity {
    /// All of them.
    #[default]
    All,
    /// Only those whose repair would be destructive.
    Destructive,
}

/// A span of time in the spelling that Kubernetes resources use: `500ms`, `30s`, `1h30m`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(Duration);

/// Text that is not a span of time.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a duration such as 500ms, 30s or 1h30m")]
pub struct InvalidSpan;

impl Span {
    /// That many seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// As the standard library's type.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl std::str::FromStr for Span {
    type Err = InvalidSpan;

    fn from_str(text: &str) -> Result<Self, InvalidSpan> {
        let mut rest = text;
        let mut millis: u64 = 0;
        if rest.is_empty() {
            return Err(InvalidSpan);
        }
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number: u64 = rest[..digits].parse().map_err(|_| InvalidSpan)?;
            let (unit, length) = match &rest[digits..] {
                r if r.starts_with("ms") => (1, 2),
                r if r.starts_with('s') => (1_000, 1),
                r if r.starts_with('m') => (60_000, 1),
                r if r.starts_with('h') => (3_600_000, 1),
                _ => return Err(InvalidSpan),
            };
            millis = number
                .checked_mul(unit)
                .and_then(|n| millis.checked_add(n))
                .ok_or(InvalidSpan)?;
            rest = &rest[digits + length..];
        }
        Ok(Self(Duration::from_millis(millis)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let parts = [
            (millis / 3_600_000, "h"),
            (millis / 60_000 % 60, "m"),
            (millis / 1_000 % 60, "s"),
        ];
        let mut written = false;
        for (number, unit) in parts {
            if number > 0 {
                write!(f, "{number}{unit}")?;
                written = true;
            }
        }
        match millis % 1_000 {
            0 if written => Ok(()),
            0 => f.write_str("0s"),
            rest => write!(f, "{rest}ms"),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_document_is_the_default_and_an_unknown_key_is_refused() {
        assert_eq!(
            serde_json::from_str::<SchemaPolicy>("{}").unwrap(),
            SchemaPolicy::default()
        );
        assert!(serde_json::from_str::<SchemaPolicy>(r#"{"allowdestructive":true}"#).is_err());
        assert!(serde_json::from_str::<SchemaPolicy>(r#"{"apply":"Always"}"#).is_err());
    }

    #[test]
    fn every_field_is_in_the_fingerprint_and_the_order_of_sets_is_not() {
        let base = SchemaPolicy::default();
        let changed = [
            r#"{"allowDestructive":true}"#,
            r#"{"protectedTables":["a"]}"#,
            r#"{"exclude":["a"]}"#,
            r#"{"transactionMode":"none"}"#,
            r#"{"lockTimeout":"31s"}"#,
            r#"{"statementLockTimeout":"6s"}"#,
            r#"{"statementTimeout":"1h"}"#,
            r#"{"connectTimeout":"11s"}"#,
            r#"{"driftSeverity":"destructive"}"#,
        ];
        let mut seen = vec![base.fingerprint().unwrap()];
        for text in changed {
            let policy: SchemaPolicy = serde_json::from_str(text).unwrap();
            let print = policy.fingerprint().unwrap();
            assert!(!seen.contains(&print), "{text}");
            seen.push(print);
        }
        let set = |text: &str| {
            serde_json::from_str::<SchemaPolicy>(text)
                .unwrap()
                .fingerprint()
                .unwrap()
        };
        assert_eq!(
            set(r#"{"exclude":["a","b"]}"#),
            set(r#"{"exclude":["b","a","a"]}"#)
        );
    }

    #[test]
    fn spans_read_and_write_as_kubernetes_does() {
        for (text, written) in [
            ("90s", "1m30s"),
            ("1h", "1h"),
            ("500ms", "500ms"),
            ("0s", "0s"),
            ("1h0m1s", "1h1s"),
        ] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), written);
        }
        for wrong in ["", "5", "s", "-1s", "1d", "1.5s", "1 s", "99999999999999999999h"] {
            assert_eq!(wrong.parse::<Span>(), Err(InvalidSpan), "{wrong}");
        }
    }
}
