//! `known_hosts`, as sshd(8) describes it, read strictly.
//!
//! Promises: a host has the keys that its lines list, and no other; a key that any line revokes for it is revoked; a
//! line that cannot be read is a refusal, not a line less. A bare `host` says nothing about another port than 22
//! (OpenSSH would fall back to it). Certificate authorities are refused by name.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg};

use crate::git::Error;

/// The lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct KnownHosts {
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    revoked: bool,
    hosts: Hosts,
    kind: String,
    blob: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Hosts {
    /// Patterns with `*`, `?` and a leading `!`.
    Patterns(Vec<String>),
    /// HMAC-SHA1 of one name.
    Hashed { salt: Vec<u8>, hash: Vec<u8> },
}

/// What a file says about one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostKeys {
    known: Vec<(String, Vec<u8>)>,
    revoked: Vec<Vec<u8>>,
}

/// What a file says about one key of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Known,
    Unknown,
    Revoked,
}

impl KnownHosts {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parsed = Line::parse(line).map_err(|problem| Error::KnownHosts {
                line: index + 1,
                problem,
            })?;
            lines.push(parsed);
        }
        if lines.is_empty() {
            return Err(Error::SecretKey {
                key: "known_hosts",
                problem: "it lists no host key",
            });
        }
        Ok(Self { lines })
    }

    /// The keys of a host at a port.
    pub(crate) fn of(&self, host: &str, port: u16) -> Result<HostKeys, Error> {
        let name = name(host, port);
        let mut keys = HostKeys::default();
        for line in self.lines.iter().filter(|line| line.hosts.holds(&name)) {
            if line.revoked {
                keys.revoked.push(line.blob.clone());
            } else {
                keys.known.push((line.kind.clone(), line.blob.clone()));
            }
        }
        if keys.known.is_empty() {
            let bare = port != 22
                && self
                    .lines
                    .iter()
                    .any(|line| line.hosts.holds(&host.to_lowercase()));
            let hint = if bare {
                format!("; a line for {host} alone does not stand for port {port}: write {name}")
            } else {
                String::new()
            };
            return Err(Error::HostUnknown { host: name, hint });
        }
        Ok(keys)
    }
}

/// The name that lines are written for.
pub(crate) fn name(host: &str, port: u16) -> String {
    let host = host.to_lowercase();
    if port == 22 {
        host
    } else {
        format!("[{host}]:{port}")
    }
}

impl HostKeys {
    /// The algorithms that may be negotiated: those of the listed keys, in the order of our preference.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let lists = |kind: &str| self.known.iter().any(|(known, _)| known == kind);
        let mut algorithms = Vec::new();
        if lists("ssh-ed25519") {
            algorithms.push(Algorithm::Ed25519);
        }
        for (kind, curve) in [
            ("ecdsa-sha2-nistp256", EcdsaCurve::NistP256),
            ("ecdsa-sha2-nistp384", EcdsaCurve::NistP384),
            ("ecdsa-sha2-nistp521", EcdsaCurve::NistP521),
        ] {
            if lists(kind) {
                algorithms.push(Algorithm::Ecdsa { curve });
            }
        }
        if lists("ssh-rsa") {
            // The kind of the key; a signature with SHA-1 is not accepted.
            for hash in [HashAlg::Sha512, HashAlg::Sha256] {
                algorithms.push(Algorithm::Rsa { hash: Some(hash) });
            }
        }
        algorithms
    }

    /// The kinds on file, for messages.
    pub(crate) fn kinds(&self) -> String {
        let mut kinds: Vec<&str> = self.known.iter().map(|(kind, _)| kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.join(", ")
    }

    /// Judges the key that a host shows, by its encoding.
    pub(crate) fn judge(&self, blob: &[u8]) -> Verdict {
        if self.revoked.iter().any(|revoked| revoked == blob) {
            Verdict::Revoked
        } else if self.known.iter().any(|(_, known)| known == blob) {
            Verdict::Known
        } else {
            Verdict::Unknown
        }
    }
}

impl Line {
    fn parse(line: &str) -> Result<Self, &'static str> {
        let mut fields = line.split_ascii_whitespace();
        let mut next = || fields.next();
        let mut first = next().ok_or("it is empty")?;
        let mut revoked = false;
        if let Some(marker) = first.strip_prefix('@') {
            match marker {
                "revoked" => revoked = true,
                "cert-authority" => return Err("@cert-authority is not supported; list the host's own key"),
                _ => return Err("it has an unknown marker"),
            }
            first = next().ok_or("it names no host")?;
        }
        let hosts = Hosts::parse(first)?;
        let kind = next().ok_or("it names no kind of key")?.to_owned();
        let blob = next().ok_or("it holds no key")?;
        let blob = STANDARD.decode(blob).map_err(|_| "its key is not base64")?;
        if kind_of(&blob) != Some(kind.as_bytes()) {
            return Err("its key is not of the kind that it names");
        }
        Ok(Self {
            revoked,
            hosts,
            kind,
            blob,
        })
    }
}

/// A key begins with the length and the name of its kind.
fn kind_of(blob: &[u8]) -> Option<&[u8]> {
    let (length, rest) = blob.split_first_chunk::<4>()?;
    rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

impl Hosts {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(hashed) = text.strip_prefix('|') {
            let parts: Vec<&str> = hashed.split('|').collect();
            let ["1", salt, hash] = parts.as_slice() else {
                return Err("its hashed host is not of the form |1|salt|hash");
            };
            let decode = |text: &str| STANDARD.decode(text).map_err(|_| "its hashed host is not base64");
            let (salt, hash) = (decode(salt)?, decode(hash)?);
            if salt.len() != 20 || hash.len() != 20 {
                return Err("its hashed host has not the length of SHA-1");
            }
            return Ok(Self::Hashed { salt, hash });
        }
        let patterns: Vec<String> = text.split(',').map(str::to_lowercase).collect();
        if patterns
            .iter()
            .any(|pattern| pattern.trim_start_matches('!').is_empty())
        {
            return Err("it has an empty host pattern");
        }
        Ok(Self::Patterns(patterns))
    }

    fn holds(&self, name: &str) -> bool {
        match self {
            Self::Patterns(patterns) => {
                let hit = |pattern: &str| glob(pattern.as_bytes(), name.as_bytes());
                let (not, yes): (Vec<&str>, Vec<&str>) = patterns
                    .iter()
                    .map(String::as_str)
                    .partition(|pattern| pattern.starts_with('!'));
                yes.into_iter().any(hit) && !not.into_iter().any(|pattern| hit(&pattern[1..]))
            }
            Self::Hashed { salt, hash } => {
                let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, salt);
                hmac::verify(&key, name.as_bytes(), hash).is_ok()
            }
        }
    }
}

/// `*` is any run of characters, `?` is one. Without recursion: a hostile pattern costs pattern times name.
fn glob(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[of] => {
                at += 1;
                of += 1;
            }
            _ => match star {
                Some((from, seen)) => {
                    at = from + 1;
                    of = seen + 1;
                    star = Some((from, seen + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ED25519: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIHeGldc1XrDGs4JDHZjYTtRUxr+ZYfLbO6tJcHwqRdMI";
    const OTHER: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
    const ECDSA: &str = "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAAADAAEC";
    const RSA: &str = "AAAAB3NzaC1yc2EAAAADAQABAAAAAwABAg==";

    fn lines(text: &str) -> String {
        text.replace("ED25519", &format!("ssh-ed25519 {ED25519}"))
            .replace("OTHER", &format!("ssh-ed25519 {OTHER}"))
            .replace("ECDSA", &format!("ecdsa-sha2-nistp256 {ECDSA}"))
            .replace("RSA", &format!("ssh-rsa {RSA}"))
            .replace(" / ", "\n")
    }

    /// The file, the host and port, and what follows for the key ED25519.
    #[test]
    fn every_file_of_the_table_says_what_its_row_says() {
        for row in crate::testing::rows(include_str!("../../../testdata/git/known_hosts.txt")) {
            let parts: Vec<&str> = row.split(" => ").collect();
            let [text, at, expected] = parts.as_slice() else {
                panic!("{row}");
            };
            let (host, port) = at.trim().rsplit_once(' ').unwrap();
            let key = STANDARD.decode(ED25519).unwrap();
            let found = KnownHosts::parse(&lines(text))
                .and_then(|known| known.of(host, port.parse().unwrap()))
                .map(|keys| format!("{:?} [{}]", keys.judge(&key), keys.kinds()));
            let found = match found {
                Ok(found) => found,
                Err(error) => format!("{}: {error}", error.code()),
            };
            assert_eq!(found, expected.trim(), "{row}");
        }
    }

    #[test]
    fn only_the_listed_kinds_are_negotiated_and_never_with_sha1() {
        let known = KnownHosts::parse(&lines("a RSA / a ECDSA")).unwrap();
        let names: Vec<String> = known
            .of("a", 22)
            .unwrap()
            .algorithms()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, ["ecdsa-sha2-nistp256", "rsa-sha2-512", "rsa-sha2-256"]);
    }

    fn slow(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some((b'*', rest)), _) => (0..=name.len()).any(|skip| slow(rest, &name[skip..])),
            (Some((byte, rest)), Some((first, tail))) => (*byte == b'?' || byte == first) && slow(rest, tail),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn a_pattern_holds_what_its_definition_says(pattern in "[ab*?]{0,8}", name in "[ab]{0,8}") {
            prop_assert_eq!(glob(pattern.as_bytes(), name.as_bytes()), slow(pattern.as_bytes(), name.as_bytes()));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            if let Ok(known) = KnownHosts::parse(&text) {
                let _ = known.of("git.example", 22);
            }
        }
    }
}
