//! The credential of a registry, with what its owner granted.
//!
//! Promises: a credential is of one kind, the one that the Secret's keys name; it is used only for the authority that
//! the owner wrote beside it, over plain http only with the owner's leave, and with a CA of the resource's author only
//! when the owner named that very CA. Without a grant no credential is sent and no request is made.

use std::collections::BTreeMap;
use std::path::Path;

use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;

use super::docker_config::{self, Login};
use super::{Reference, reference};
use crate::net::{Authority, Secret};

const REGISTRY: &str = "registry";
const ALLOW_PLAIN_HTTP: &str = "allowPlainHTTP";
const CA_SHA256: &str = "caSHA256";
const USERNAME: &str = "username";
const PASSWORD: &str = "password";
const TOKEN: &str = "token";
const DOCKER_CONFIG: &str = ".dockerconfigjson";
const KEYS: [&str; 7] = [
    REGISTRY,
    ALLOW_PLAIN_HTTP,
    CA_SHA256,
    USERNAME,
    PASSWORD,
    TOKEN,
    DOCKER_CONFIG,
];
/// Largest value that is read.
const MAX_VALUE: u64 = 1 << 20;

/// Why a credential is not used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read.
    #[error("the folder of the credential cannot be read: {0}")]
    Io(std::io::ErrorKind),
    /// A value that is no text, or too long.
    #[error("the Secret's key {0} is not text of at most 1 MiB")]
    Value(&'static str),
    /// Two kinds of credential.
    #[error("the Secret holds both {first} and {second}; a credential is of one kind")]
    TwoModes {
        /// A key of one kind.
        first: &'static str,
        /// A key of another.
        second: &'static str,
    },
    /// Half of a credential.
    #[error("the Secret holds {present} and no {missing}")]
    Incomplete {
        /// What is there.
        present: &'static str,
        /// What is not.
        missing: &'static str,
    },
    /// No credential at all.
    #[error(
        "the Secret holds no credential: neither username and password, nor token, nor .dockerconfigjson"
    )]
    None,
    /// The docker configuration.
    #[error(transparent)]
    DockerConfig(#[from] docker_config::Error),
    /// A value of another form than its key has.
    #[error("the Secret's key {key} is not {form}")]
    Malformed {
        /// Which.
        key: &'static str,
        /// What it should be.
        form: &'static str,
    },
    /// The owner did not consent.
    #[error("the Secret has no key {key}, which grants the credential for {purpose}")]
    NoGrant {
        /// The key that is missing.
        key: &'static str,
        /// What it would grant.
        purpose: &'static str,
    },
    /// The owner consented to another registry.
    #[error("the Secret grants its credential to {granted}, the source is at {registry}")]
    OtherRegistry {
        /// What the owner wrote.
        granted: Authority,
        /// What would be talked to.
        registry: Authority,
    },
    /// The owner consented to another CA.
    #[error("the Secret grants a CA bundle with digest {granted}, the given one has {found}")]
    OtherCa {
        /// What the owner wrote.
        granted: Digest,
        /// What was given.
        found: Digest,
    },
    /// A grant that the source does not use: it was meant for something else.
    #[error("the Secret grants {key}, and the source uses {unused}")]
    Unused {
        /// Which.
        key: &'static str,
        /// What the source does instead.
        unused: &'static str,
    },
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "auth_unreadable",
            Self::Value(_) => "auth_value",
            Self::TwoModes { .. } => "auth_ambiguous",
            Self::Incomplete { .. } => "auth_incomplete",
            Self::None => "auth_empty",
            Self::DockerConfig(error) => error.code(),
            Self::Malformed { key: USERNAME, .. } => "auth_value",
            Self::Malformed { .. } => "grant_malformed",
            Self::NoGrant { .. } => "grant_missing",
            Self::OtherRegistry { .. } => "grant_other_registry",
            Self::OtherCa { .. } => "grant_other_ca",
            Self::Unused { .. } => "grant_unused",
        }
    }

    /// What a grant does not cover is refused; what is no Secret needs an edit.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::NoGrant { .. }
            | Self::OtherRegistry { .. }
            | Self::OtherCa { .. }
            | Self::Unused { .. } => FailureClass::Refused,
            Self::DockerConfig(error) => error.class(),
            _ => FailureClass::Input,
        }
    }
}

/// A Secret's values, as they were mounted.
#[derive(Clone, Debug)]
pub struct Credentials {
    registry: Option<String>,
    allow_plain_http: Option<String>,
    ca_sha256: Option<String>,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Login(Login),
    DockerConfig(Secret<Vec<u8>>),
}

/// A credential that its owner granted for what is about to be done.
#[derive(Clone, Debug)]
pub struct Granted {
    /// What proves who asks.
    pub(super) login: Login,
    /// Over plain http as well.
    pub(super) plain_http: bool,
}

impl Credentials {
    /// Reads a folder with one file a key, as a mounted Secret has.
    ///
    /// # Errors
    /// When it cannot be read, or is not one credential.
    pub fn from_dir(folder: &Path) -> Result<Self, Error> {
        let mut values = BTreeMap::new();
        if !folder.is_dir() {
            return Err(Error::Io(std::io::ErrorKind::NotFound));
        }
        for key in KEYS {
            let at = folder.join(key);
            match std::fs::metadata(&at) {
                Ok(about) if about.is_file() && about.len() <= MAX_VALUE => {
                    let value = std::fs::read(&at).map_err(|error| Error::Io(error.kind()))?;
                    values.insert(key.to_owned(), value);
                }
                Ok(_) => return Err(Error::Value(key)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::Io(error.kind())),
            }
        }
        Self::from_values(&values)
    }

    /// Takes a Secret's values; keys that are not a registry's are left alone.
    ///
    /// # Errors
    /// When they are not one credential.
    pub fn from_values(values: &BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        let text = |key: &'static str| -> Result<Option<String>, Error> {
            let Some(bytes) = values.get(key) else {
                return Ok(None);
            };
            let text = std::str::from_utf8(bytes).map_err(|_| Error::Value(key))?;
            // Editors end a file with a line feed, and `kubectl create secret --from-file` keeps it.
            let text = text
                .strip_suffix('\n')
                .map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
            if text.len() as u64 > MAX_VALUE {
                return Err(Error::Value(key));
            }
            Ok(Some(text.to_owned()))
        };
        let secret = |key| -> Result<Option<Secret>, Error> {
            Ok(text(key)?.filter(|text| !text.is_empty()).map(Secret::new))
        };
        let docker = values.get(DOCKER_CONFIG).map(|bytes| Secret::new(bytes.clone()));
        let (username, password, token) = (secret(USERNAME)?, secret(PASSWORD)?, secret(TOKEN)?);
        let pair = username
            .as_ref()
            .map(|_| USERNAME)
            .or(password.as_ref().map(|_| PASSWORD));
        let modes = [
            pair,
            token.as_ref().map(|_| TOKEN),
            docker.as_ref().map(|_| DOCKER_CONFIG),
        ];
        let mut modes = modes.into_iter().flatten();
        if let (Some(first), Some(second)) = (modes.next(), modes.next()) {
            return Err(Error::TwoModes { first, second });
        }
        if username.as_ref().is_some_and(|name| name.reveal().contains(':')) {
            // Basic authentication has no way to write it (RFC 7617, section 2).
            return Err(Error::Malformed {
                key: USERNAME,
                form: "a name without a colon",
            });
        }
        let source = match (username, password, token, docker) {
            (Some(username), Some(password), ..) => Source::Login(Login::Password { username, password }),
            (Some(_), None, ..) => {
                return Err(Error::Incomplete {
                    present: USERNAME,
                    missing: PASSWORD,
                });
            }
            (None, Some(_), ..) => {
                return Err(Error::Incomplete {
                    present: PASSWORD,
                    missing: USERNAME,
                });
            }
            (.., Some(token), _) => Source::Login(Login::Identity(token)),
            (.., Some(document)) => Source::DockerConfig(document),
            _ => return Err(Error::None),
        };
        Ok(Self {
            registry: text(REGISTRY)?,
            allow_plain_http: text(ALLOW_PLAIN_HTTP)?,
            ca_sha256: text(CA_SHA256)?,
            source,
        })
    }

    /// The credential for this reference, reached in this way, if its owner granted that.
    ///
    /// # Errors
    /// The grant that is missing or says something else.
    pub fn granted(
        &self,
        reference: &Reference,
        plain_http: bool,
        ca: Option<&[u8]>,
    ) -> Result<Granted, Error> {
        self.registry_grant(reference.registry())?;
        self.plain_http_grant(plain_http)?;
        self.ca_grant(ca)?;
        let login = match &self.source {
            Source::Login(login) => login.clone(),
            Source::DockerConfig(document) => docker_config::login(document.reveal(), reference)?,
        };
        Ok(Granted { login, plain_http })
    }

    fn registry_grant(&self, registry: &Authority) -> Result<(), Error> {
        let malformed = Error::Malformed {
            key: REGISTRY,
            form: "a bare host or host:port",
        };
        let text = self.registry.as_ref().ok_or(Error::NoGrant {
            key: REGISTRY,
            purpose: "one registry",
        })?;
        let granted: Authority = text.parse().map_err(|_| malformed)?;
        if granted == *registry {
            return Ok(());
        }
        Err(Error::OtherRegistry {
            granted,
            registry: registry.clone(),
        })
    }

    fn plain_http_grant(&self, used: bool) -> Result<(), Error> {
        let granted = match self.allow_plain_http.as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => {
                return Err(Error::Malformed {
                    key: ALLOW_PLAIN_HTTP,
                    form: "exactly true or false",
                });
            }
        };
        match (used, granted) {
            (true, false) => Err(Error::NoGrant {
                key: ALLOW_PLAIN_HTTP,
                purpose: "plain http",
            }),
            (false, true) => Err(Error::Unused {
                key: ALLOW_PLAIN_HTTP,
                unused: "https",
            }),
            _ => Ok(()),
        }
    }

    fn ca_grant(&self, ca: Option<&[u8]>) -> Result<(), Error> {
        let granted = match &self.ca_sha256 {
            None => None,
            Some(text) => Some(text.parse::<Digest>().map_err(|_| Error::Malformed {
                key: CA_SHA256,
                form: "sha256: and 64 lower-case hex digits",
            })?),
        };
        match (ca.map(Digest::of), granted) {
            (None, None) => Ok(()),
            (Some(found), Some(granted)) if found == granted => Ok(()),
            (Some(found), Some(granted)) => Err(Error::OtherCa { granted, found }),
            (Some(_), None) => Err(Error::NoGrant {
                key: CA_SHA256,
                purpose: "a CA bundle of the source's own",
            }),
            (None, Some(_)) => Err(Error::Unused {
                key: CA_SHA256,
                unused: "no CA bundle of its own",
            }),
        }
    }
}

/// What somebody would have to write into the Secret's key `registry` for this host.
///
/// # Errors
/// When it is no host.
pub fn grant_for(host: &str) -> Result<Authority, reference::Error> {
    reference::registry(host)
}

#[cfg(test)]
mod tests;
