//! `allowed_signers`, one key a line. A line that cannot be evaluated is an error and not skipped: it may be the one that
//! takes a permission away.

use jiff::Timestamp;
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PublicKey};

use super::options::{Options, Problem};
use super::patterns::Patterns;
use super::refusal::Refusal;
use crate::git::error::Error;
use crate::git::text::shown;

/// The shortest RSA key that counts, in bits, and the longest that the library takes.
const RSA: std::ops::RangeInclusive<u32> = 2048..=4096;

/// Lines, of which there is one at least.
#[derive(Clone, Debug)]
pub(in super::super) struct AllowedSigners(Vec<Line>);

/// A key and whom it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Line {
    number: usize,
    pub(super) principals: Patterns,
    options: Options,
    key: KeyData,
}

impl AllowedSigners {
    pub(in super::super) fn read(text: &str) -> Result<Self, Error> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let number = index + 1;
            if line.starts_with("-----BEGIN ") {
                return Err(match line.contains("PRIVATE KEY") {
                    true => Error::SecretKey { line: number },
                    false => Error::Block {
                        line: number,
                        problem: "it is no OpenPGP public key".to_owned(),
                    },
                });
            }
            lines.push(Line::read(line, number)?);
        }
        match lines.is_empty() {
            true => Err(Error::Empty),
            false => Ok(Self(lines)),
        }
    }

    /// The lines of that key.
    pub(super) fn of(&self, key: &KeyData) -> impl Iterator<Item = &Line> {
        self.0.iter().filter(move |line| line.key == *key)
    }
}

impl Line {
    fn read(line: &str, number: usize) -> Result<Self, Error> {
        let malformed = |problem: &str| Error::AllowedSigner {
            line: number,
            problem: problem.to_owned(),
        };
        let (principals, rest) = match line.strip_prefix('"') {
            Some(quoted) => quoted
                .split_once('"')
                .ok_or_else(|| malformed("its quote does not end"))?,
            None => line
                .split_once([' ', '\t'])
                .ok_or_else(|| malformed("it has no key"))?,
        };
        let principals =
            Patterns::read(principals).ok_or_else(|| malformed("its principals have an empty pattern"))?;
        let (word, rest) = word(rest.trim_start_matches([' ', '\t']));
        let (options, kind, rest) = match is_key_type(word) {
            true => (Options::default(), word, rest),
            false => {
                let (kind, rest) = self::word(rest);
                (
                    Options::read(word).map_err(|problem| problem.at(number))?,
                    kind,
                    rest,
                )
            }
        };
        let (base64, _comment) = self::word(rest);
        if kind.contains("-cert-v0") {
            return Err(Error::NotSupported {
                line: number,
                what: "a certificate",
            });
        }
        let key = PublicKey::from_openssh(&format!("{kind} {base64}"));
        let key = key
            .map_err(|_| malformed("its key cannot be read"))?
            .key_data()
            .clone();
        fit(&key).map_err(|problem| malformed(&problem))?;
        Ok(Self {
            number,
            principals,
            options,
            key,
        })
    }

    /// Whether the line lets its key sign: there, then, for that address. Both ends of its time are within it.
    pub(super) fn permits(&self, namespace: &str, made: i64, address: Option<&[u8]>) -> Result<(), Refusal> {
        let (line, options) = (self.number, &self.options);
        let time = |seconds| Timestamp::from_second(seconds).unwrap_or_default();
        if options
            .namespaces
            .as_ref()
            .is_some_and(|list| !list.matches(namespace.as_bytes()))
        {
            return Err(Refusal::NamespaceOption(line));
        }
        if let Some(at) = options.valid_after.filter(|at| made < *at) {
            return Err(Refusal::TooEarly {
                line,
                at: time(at),
                made: time(made),
            });
        }
        if let Some(at) = options.valid_before.filter(|at| made > *at) {
            return Err(Refusal::TooLate {
                line,
                at: time(at),
                made: time(made),
            });
        }
        match address.filter(|address| !self.principals.matches(address)) {
            Some(address) => Err(Refusal::Principal {
                line,
                principals: shown(self.principals.as_str().as_bytes()),
                address: shown(address),
            }),
            None => Ok(()),
        }
    }
}

impl Problem {
    fn at(self, line: usize) -> Error {
        match self {
            Self::Malformed(problem) => Error::AllowedSigner { line, problem },
            Self::NotSupported(what) => Error::NotSupported { line, what },
        }
    }
}

/// Up to a blank outside of quotes, and what follows the blanks.
fn word(text: &str) -> (&str, &str) {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' | b'\t' if !quoted => return (&text[..at], text[at..].trim_start_matches([' ', '\t'])),
            b'"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
    }
    (text, "")
}

/// No option begins like that.
fn is_key_type(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-", "rsa-", "webauthn-"]
        .iter()
        .any(|start| word.starts_with(start))
}

/// Whether a key may sign for anybody.
fn fit(key: &KeyData) -> Result<(), String> {
    match key {
        KeyData::Rsa(rsa) if !RSA.contains(&rsa.key_size()) => Err(format!(
            "its key {} is RSA of {} bits, and not of {} to {}",
            key.fingerprint(HashAlg::Sha256),
            rsa.key_size(),
            RSA.start(),
            RSA.end()
        )),
        KeyData::Rsa(_) | KeyData::Ecdsa(_) | KeyData::Ed25519(_) => Ok(()),
        KeyData::SkEd25519(_) | KeyData::SkEcdsaSha2NistP256(_) => Ok(()),
        other => Err(format!(
            "keys of the type {} are not supported",
            shown(other.algorithm().as_str().as_bytes())
        )),
    }
}
