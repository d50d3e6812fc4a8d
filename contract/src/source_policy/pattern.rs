//! Names and hosts as a policy lists them.

use std::net::Ipv6Addr;
use std::str::FromStr;

use serde::Deserialize;

use crate::wildcard;

/// A name of an object, in which `*` stands for any run of characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NamePattern(String);

impl TryFrom<String> for NamePattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '*');
        if text.is_empty() || text.len() > 253 || !text.chars().all(allowed) {
            return Err(format!(
                "{text:?} is not the name of a ConfigMap, nor one with * in it"
            ));
        }
        Ok(Self(text))
    }
}

impl NamePattern {
    pub(super) fn covers(&self, name: &str) -> bool {
        wildcard::matches(&self.0, name)
    }
}

/// A host, exact or with `*` as its first label, and with a port when only that port is meant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct HostPattern {
    /// Below which domain one label is free.
    wildcard: bool,
    host: String,
    port: Option<u16>,
}

impl TryFrom<String> for HostPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refuse = |problem: &str| Err(format!("{text:?} {problem}"));
        let (host, port) = match split_port(&text) {
            Some((host, port)) => match port.parse() {
                Ok(port) if port != 0 && !port_has_sign(&text) => (host, Some(port)),
                _ => return refuse("has no valid port"),
            },
            None => (text.as_str(), None),
        };
        let (wildcard, host) = match host.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, host),
        };
        if host.contains('*') {
            return refuse("has a * that is not its whole first label");
        }
        let valid = match host.starts_with('[') {
            true => !wildcard && address(host).is_some(),
            false => is_name(host),
        };
        if !valid {
            return refuse("is not a host");
        }
        Ok(Self {
            wildcard,
            host: host.to_ascii_lowercase(),
            port,
        })
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.to_owned().try_into()
    }
}

fn port_has_sign(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(_, port)| port.starts_with('+'))
}

/// The port's text, where there is a colon outside of brackets.
fn split_port(text: &str) -> Option<(&str, &str)> {
    let (host, port) = text.rsplit_once(':')?;
    (!port.contains(']')).then_some((host, port))
}

/// An IPv6 address in brackets, which has many spellings.
fn address(host: &str) -> Option<Ipv6Addr> {
    host.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

fn is_name(host: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    host.len() <= 253 && host.split('.').all(label)
}

impl HostPattern {
    /// Whether it means this host, an IPv6 address in brackets. A pattern without a port covers every port.
    #[must_use]
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        let named = if self.wildcard {
            host.split_once('.')
                .is_some_and(|(first, rest)| !first.is_empty() && rest == self.host)
        } else {
            host == self.host || address(&host).is_some_and(|one| address(&self.host) == Some(one))
        };
        named && self.port.is_none_or(|only| only == port)
    }
}
