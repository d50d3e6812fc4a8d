//! The drift report as it leaves a Pod: counts by category, never a name, a value or a statement.
//!
//! Promises: at most [`MAX_FINDINGS`] categories, ordered by descending severity, then by name; the digest
//! stands for the details, which stay where the database was read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The most categories one report names.
pub const MAX_FINDINGS: usize = 64;

/// How bad a statement or a difference is. The order of the variants is the order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Removes nothing and tightens nothing.
    Safe,
    /// Worth reading.
    Info,
    /// Can fail on rows that exist, or break those who use the object.
    Warning,
    /// Will not work as it stands.
    Error,
    /// Removes data, behaviour or protection.
    Destructive,
}

impl Severity {
    /// The word that documents and reports use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Destructive => "destructive",
        }
    }
}

/// How many differences of one category there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finding {
    /// Such as `columns_added`: `^[a-z][a-z0-9_]{0,63}$`.
    pub category: String,
    /// At least 1.
    pub count: u32,
    /// Of the worst difference in the category.
    pub severity: Severity,
}

/// What differs between a database and its desired state, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DriftReport {
    /// SHA-256 over the canonical JSON of the whole difference.
    pub digest: Digest,
    /// `postgres`.
    pub dialect: String,
    /// Sum of all counts.
    pub total: u32,
    /// Of the worst finding; absent when nothing differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_severity: Option<Severity>,
    /// By descending severity, then category.
    pub findings: Vec<Finding>,
}

impl DriftReport {
    /// Counts `(category, severity)` pairs, one per difference.
    pub fn count<'a>(
        digest: Digest,
        dialect: &str,
        differences: impl IntoIterator<Item = (&'a str, Severity)>,
    ) -> Self {
        let mut counts: BTreeMap<&str, (u32, Severity)> = BTreeMap::new();
        for (category, severity) in differences {
            let entry = counts.entry(category).or_insert((0, severity));
            entry.0 = entry.0.saturating_add(1);
            entry.1 = entry.1.max(severity);
        }
        let total = counts
            .values()
            .fold(0_u32, |sum, (count, _)| sum.saturating_add(*count));
        let mut findings: Vec<Finding> = counts
            .into_iter()
            .map(|(category, (count, severity))| Finding {
                category: category.to_owned(),
                count,
                severity,
            })
            .collect();
        findings.sort_by(|a, b| {
            b.severity
                .cmp(&a.severity)
                .then_with(|| a.category.cmp(&b.category))
        });
        findings.truncate(MAX_FINDINGS);
        let highest_severity = findings.first().map(|finding| finding.severity);
        Self {
            digest,
            dialect: dialect.to_owned(),
            total,
            highest_severity,
            findings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_worst_first_and_the_total_is_complete() {
        let report = DriftReport::count(
            Digest::of(b""),
            "postgres",
            [
                ("columns_added", Severity::Warning),
                ("tables_removed", Severity::Destructive),
                ("columns_added", Severity::Safe),
            ],
        );
        assert_eq!(report.total, 3);
        assert_eq!(report.highest_severity, Some(Severity::Destructive));
        assert_eq!(
            report.findings,
            [
                Finding {
                    category: "tables_removed".into(),
                    count: 1,
                    severity: Severity::Destructive
                },
                Finding {
                    category: "columns_added".into(),
                    count: 2,
                    severity: Severity::Warning
                },
            ]
        );
    }

    #[test]
    fn no_difference_has_no_severity() {
        let report = DriftReport::count(Digest::of(b""), "postgres", []);
        assert_eq!(
            (report.total, report.highest_severity, report.findings),
            (0, None, vec![])
        );
    }
}
