//! Who a certificate has to be for: an issuer that logged somebody in, and the subject that it logged in.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// Largest compiled pattern, in bytes; an honest one takes some kilobytes.
const PATTERN_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    issuer: Option<String>,
    issuer_pattern: Option<String>,
    subject: Option<String>,
    subject_pattern: Option<String>,
}

/// An issuer and a subject; there is no identity of any issuer, or of any subject.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    issuer: Matcher,
    subject: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    Exact(String),
    Pattern(Regex),
}

impl Document {
    /// The identity; otherwise what is wrong with which field.
    pub(crate) fn read(self) -> Result<Identity, String> {
        Ok(Identity {
            issuer: matcher("issuer", self.issuer, self.issuer_pattern)?,
            subject: matcher("subject", self.subject, self.subject_pattern)?,
        })
    }
}

fn matcher(field: &str, exact: Option<String>, pattern: Option<String>) -> Result<Matcher, String> {
    match (exact, pattern) {
        (Some(text), None) if text.trim().is_empty() => Err(format!("its {field} is blank")),
        (Some(text), None) => Ok(Matcher::Exact(text)),
        (None, Some(text)) => pattern_of(field, &text).map(Matcher::Pattern),
        (None, None) => Err(format!("it names no {field}: give {field} or {field}_pattern")),
        (Some(_), Some(_)) => Err(format!("it gives both {field} and {field}_pattern")),
    }
}

/// A pattern covers the whole text. It has to say so itself, since it means something else to programs that search.
fn pattern_of(field: &str, text: &str) -> Result<Regex, String> {
    if !(text.starts_with('^') && text.ends_with('$')) {
        return Err(format!(
            "its {field}_pattern is not anchored: begin it with ^ and end it with $, since it has to cover the whole {field}"
        ));
    }
    let compiled = |text: &str| {
        RegexBuilder::new(text)
            .size_limit(PATTERN_BYTES)
            .build()
            .map_err(|_| format!("its {field}_pattern is no regular expression that is understood"))
    };
    // Alone as well: one with a parenthesis too many could close the group that holds it to the whole text.
    compiled(text)?;
    compiled(&format!(r"\A(?:{text})\z"))
}

impl Identity {
    pub(crate) fn covers(&self, issuer: &str, subject: &str) -> bool {
        self.issuer.covers(issuer) && self.subject.covers(subject)
    }
}

impl Matcher {
    fn covers(&self, text: &str) -> bool {
        match self {
            Self::Exact(wanted) => wanted == text,
            Self::Pattern(pattern) => pattern.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_exact_or_a_pattern_that_covers_all_of_it() {
        for (document, issuer, subject, expected) in [
            ("{issuer: i, subject: s}", "i", "s", Ok(true)),
            ("{issuer: i, subject: s}", "i", "s2", Ok(false)),
            ("{issuer: i, subject: s}", "I", "s", Ok(false)),
            ("{issuer: i, subject_pattern: ^s.*$}", "i", "s2", Ok(true)),
            ("{issuer: i, subject_pattern: '^a|b$'}", "i", "ax", Ok(false)),
            ("{issuer: i, subject_pattern: '^a|b$'}", "i", "b", Ok(true)),
            (
                "{issuer: i, subject_pattern: '^(?m:^b$)$'}",
                "i",
                "a\nb",
                Ok(false),
            ),
            ("{issuer: i, subject_pattern: '^a$'}", "i", "a\n", Ok(false)),
            (
                "{issuer_pattern: '^https://.*$', subject: s}",
                "https://x",
                "s",
                Ok(true),
            ),
            ("{issuer: i}", "", "", Err("it names no subject")),
            ("{subject: s}", "", "", Err("it names no issuer")),
            ("{issuer: ' ', subject: s}", "", "", Err("its issuer is blank")),
            (
                "{issuer: i, subject_pattern: s.*}",
                "",
                "",
                Err("its subject_pattern is not anchored"),
            ),
            (
                "{issuer: i, subject_pattern: ^s.*}",
                "",
                "",
                Err("its subject_pattern is not anchored"),
            ),
            (
                "{issuer: i, subject_pattern: '^(s$'}",
                "",
                "",
                Err("its subject_pattern is no regular expression"),
            ),
            (
                "{issuer: i, subject_pattern: '^(a{1000}){1000}$'}",
                "",
                "",
                Err("its subject_pattern is no regular"),
            ),
            (
                "{issuer: i, subject_pattern: '^a)|(b$'}",
                "",
                "",
                Err("its subject_pattern is no regular"),
            ),
            (
                "{issuer: i, issuer_pattern: ^i$, subject: s}",
                "",
                "",
                Err("it gives both issuer and"),
            ),
        ] {
            let identity = serde_yaml_ng::from_str::<Document>(document).unwrap().read();
            match (identity, expected) {
                (Ok(identity), Ok(covers)) => {
                    assert_eq!(identity.covers(issuer, subject), covers, "{document}")
                }
                (Err(error), Err(beginning)) => assert!(error.starts_with(beginning), "{document}: {error}"),
                (found, _) => panic!("{document}: {found:?}"),
            }
        }
    }
}
