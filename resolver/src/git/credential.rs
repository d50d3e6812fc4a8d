//! The keys of a Secret as one credential.
//!
//! Promises: a credential exists only when the Secret's owner granted it for the authority of the repository and,
//! where a CA is given, for exactly that CA; keys that contradict each other, that nothing would use, or that are not
//! known are refused. Nothing here is shown in a message or in `Debug`.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::digest::Digest;
use russh::keys::PrivateKey;

use super::app::App;
use super::ssh::KnownHosts;
use super::{Error, Repository, identity};
use crate::net::{self, Authority, Secret};

/// Every key that a Secret may have. `identity.pub` is what key generators leave beside `identity`; it is not read.
pub const SECRET_KEYS: [&str; 11] = [
    "host",
    "caSHA256",
    "username",
    "password",
    "bearerToken",
    "identity",
    "identity.pub",
    "known_hosts",
    "githubAppID",
    "githubAppInstallationID",
    "githubAppPrivateKey",
];

const MAX_VALUE: u64 = 1 << 20;

/// The keys of a Secret, unread.
#[derive(Clone, Debug, Default)]
pub struct SecretKeys(BTreeMap<String, Secret<Vec<u8>>>);

impl SecretKeys {
    /// Takes them.
    pub fn new(keys: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self(
            keys.into_iter()
                .map(|(key, value)| (key, Secret::new(value)))
                .collect(),
        )
    }

    /// Reads a folder with a file for each key, as a Secret is mounted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let unreadable =
            |error: std::io::Error| Error::SecretKeys(format!("the folder cannot be read: {}", error.kind()));
        let mut keys = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // The kubelet keeps its versions in folders of such names.
            if name.starts_with("..") {
                continue;
            }
            let metadata = std::fs::metadata(entry.path()).map_err(unreadable)?;
            if !metadata.is_file() || metadata.len() > MAX_VALUE {
                return Err(Error::SecretKeys(format!(
                    "key {name} is not a file of at most 1 MiB"
                )));
            }
            let value = std::fs::read(entry.path()).map_err(unreadable)?;
            keys.insert(name, Secret::new(value));
        }
        Ok(Self(keys))
    }

    /// A value as text; one trailing newline, which editors leave, is ignored.
    fn text(&self, key: &'static str) -> Result<Option<&str>, Error> {
        let Some(value) = self.0.get(key) else {
            return Ok(None);
        };
        let problem = |problem| Error::SecretKey { key, problem };
        let text = std::str::from_utf8(value.reveal()).map_err(|_| problem("it is not UTF-8"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Err(problem("it is empty"));
        }
        Ok(Some(text))
    }

    fn needed(&self, key: &'static str) -> Result<&str, Error> {
        self.text(key)?.ok_or(Error::SecretKey {
            key,
            problem: "it is missing",
        })
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }
}

/// A credential that may be sent to the repository it was made for.
#[derive(Clone)]
pub struct Credential(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    /// A header of every request.
    Header(net::Credential),
    /// A key of the user, and the keys of the host.
    Ssh {
        identity: Box<PrivateKey>,
        known_hosts: KnownHosts,
    },
    /// A token has to be asked for first.
    App(App),
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential([redacted])")
    }
}

impl Credential {
    /// Reads the keys for this repository, reached with this CA bundle.
    ///
    /// # Errors
    /// When the keys do not make one credential, or it is not granted.
    pub fn new(keys: &SecretKeys, repository: &Repository, ca: Option<&[u8]>) -> Result<Self, Error> {
        if let Some(unknown) = keys.0.keys().find(|key| !SECRET_KEYS.contains(&key.as_str())) {
            return Err(Error::SecretKeys(format!("key {unknown:?} is not known")));
        }
        if ca.is_some() && repository.is_ssh() {
            return Err(Error::SecretKeys(
                "a CA bundle is not used for an SSH repository".to_owned(),
            ));
        }
        granted(keys, repository, ca)?;
        let modes: Vec<&str> = [
            ("username", "username and password"),
            ("bearerToken", "bearerToken"),
            ("identity", "identity"),
            ("githubAppID", "a GitHub App"),
        ]
        .into_iter()
        .filter(|(key, _)| keys.has(key))
        .map(|(_, mode)| mode)
        .collect();
        match modes.as_slice() {
            [_] => {}
            [] => {
                return Err(Error::SecretKeys(
                    "it holds none of username, bearerToken, identity and githubAppID".to_owned(),
                ));
            }
            several => {
                return Err(Error::SecretKeys(format!(
                    "it holds {} at once",
                    several.join(" and ")
                )));
            }
        }
        let (kind, used): (Kind, &[&str]) = if keys.has("identity") {
            (
                ssh(keys)?,
                &["identity", "identity.pub", "known_hosts", "password"],
            )
        } else if keys.has("username") {
            let (username, password) = (keys.needed("username")?, keys.needed("password")?);
            if username.contains(':') {
                return Err(Error::SecretKey {
                    key: "username",
                    problem: "it contains a colon",
                });
            }
            let value = format!("Basic {}", STANDARD.encode(format!("{username}:{password}")));
            (header(repository, &value, "password")?, &["username", "password"])
        } else if keys.has("bearerToken") {
            let value = format!("Bearer {}", keys.needed("bearerToken")?);
            (header(repository, &value, "bearerToken")?, &["bearerToken"])
        } else {
            let app = App::new(
                keys.needed("githubAppID")?,
                keys.needed("githubAppInstallationID")?,
                keys.needed("githubAppPrivateKey")?,
                repository.authority(),
            )?;
            let used = ["githubAppID", "githubAppInstallationID", "githubAppPrivateKey"].as_slice();
            (Kind::App(app), used)
        };
        let grants = ["host", "caSHA256"];
        if let Some(unused) = keys
            .0
            .keys()
            .find(|key| !used.contains(&key.as_str()) && !grants.contains(&key.as_str()))
        {
            return Err(Error::SecretKeys(format!(
                "key {unused} is not used beside {}",
                modes[0]
            )));
        }
        match (&kind, repository.is_ssh()) {
            (Kind::Ssh { .. }, false) => Err(Error::SecretKeys(
                "identity is for SSH, and the repository is reached over https".to_owned(),
            )),
            (Kind::Header(_) | Kind::App(_), true) => Err(Error::IdentityMissing),
            _ => Ok(Self(kind)),
        }
    }
}

/// What the owner of the Secret consents to.
fn granted(keys: &SecretKeys, repository: &Repository, ca: Option<&[u8]>) -> Result<(), Error> {
    let host: Authority = keys.needed("host")?.parse().map_err(|_| Error::SecretKey {
        key: "host",
        problem: "it is not a bare host or host:port",
    })?;
    if host != repository.authority() {
        return Err(Error::NotGranted {
            authority: repository.authority().to_string(),
            granted: host.to_string(),
        });
    }
    match (ca, keys.text("caSHA256")?) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(Error::SecretKeys(
            "caSHA256 is not used without a CA bundle".to_owned(),
        )),
        (Some(_), None) => Err(Error::SecretKey {
            key: "caSHA256",
            problem: "it is missing, and a CA bundle is given; no credential is sent",
        }),
        (Some(ca), Some(text)) => {
            let granted: Digest = text.parse().map_err(|_| Error::SecretKey {
                key: "caSHA256",
                problem: "it is not of the form sha256:<64 lower-case hex digits>",
            })?;
            let found = Digest::of(ca);
            if granted == found {
                Ok(())
            } else {
                Err(Error::CaNotGranted { granted, found })
            }
        }
    }
}

fn header(repository: &Repository, value: &str, key: &'static str) -> Result<Kind, Error> {
    net::Credential::new(repository.authority(), value)
        .map(Kind::Header)
        .map_err(|_| Error::SecretKey {
            key,
            problem: "it holds a character that a header cannot",
        })
}

fn ssh(keys: &SecretKeys) -> Result<Kind, Error> {
    let (text, password) = (keys.needed("identity")?, keys.text("password")?);
    let known_hosts = KnownHosts::parse(keys.needed("known_hosts")?)?;
    Ok(Kind::Ssh {
        identity: Box::new(identity::read(text, password)?),
        known_hosts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever a Secret holds, it is a credential or refused, and none of it is repeated.
        #[test]
        fn any_secret_is_a_credential_or_refused_without_a_word_of_it(
            keys in proptest::collection::btree_map(
                proptest::sample::select(SECRET_KEYS.as_slice()),
                "(git\\.test|hunter2[ -~]{0,12}|\n|hunter2\u{0}|-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n)",
                0..5,
            ),
            ssh in any::<bool>(),
        ) {
            let url = if ssh { "ssh://git@git.test/app.git" } else { "https://git.test/app.git" };
            let keys = keys.into_iter().map(|(key, value)| {
                // Where it may go is no secret, and is named.
                let value = if key == "host" { "git.test".to_owned() } else { value };
                (key.to_owned(), value.into_bytes())
            });
            let keys = SecretKeys::new(keys);
            let repository = url.parse().unwrap();
            let shown = match Credential::new(&keys, &repository, None) {
                Ok(credential) => format!("{credential:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shown.contains("hunter2"), "{}", shown);
            let debug = format!("{keys:?}");
            prop_assert!(!debug.contains("hunter2"));
        }
    }
}
