//! Which database, and how to reach it.
//!
//! Promises: a target is parsed once, its password decoded exactly once, and nothing of it but the address can
//! be printed. Assumes that files are mounted as Kubernetes mounts a Secret: one file a key.
//! Never reads an environment variable, a password file or a service file.

mod identity;
mod session;
mod stranger;
mod tls;
mod url;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use session::{Guard, Session};
pub use tls::{RootCertificates, SslMode};

use crate::error::{Code, Error, Result};

/// A moment at which work stops, and a request to stop earlier.
pub type Deadline = Guard;

/// Text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

/// One database of one server.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    pub(crate) database: String,
    pub(crate) ssl_mode: SslMode,
    /// Whether the target itself named the mode.
    pub(crate) ssl_mode_given: bool,
    pub(crate) roots: RootCertificates,
    pub(crate) schema: Option<String>,
    pub(crate) connect_timeout: Duration,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("address", &self.server_address())
            .finish_non_exhaustive()
    }
}

impl Target {
    /// Reads a folder with one file per Secret key: `url`, or `host`, `port`, `user`, `password`, `database`,
    /// `sslmode`; `sslrootcert` holds certificates and may stand beside either form.
    ///
    /// # Errors
    /// `malformed_target` when it is neither or both forms, `unsupported_engine` for another database's URL.
    pub fn from_directory(directory: &Path) -> Result<Self> {
        let key = |name: &str| read_key(directory, name);
        let separate = ["host", "port", "user", "password", "database", "sslmode"];
        let mut target = if let Some(text) = key("url")? {
            if let Some(name) = separate.iter().find(|name| directory.join(name).exists()) {
                return Err(malformed(format!("the Secret has both url and {name}")));
            }
            url::parse(text.trim())?
        } else {
            let Some(host) = key("host")? else {
                return Err(malformed("the Secret has neither url nor host"));
            };
            let host = host.trim().to_owned();
            let user = key("user")?
                .ok_or_else(|| malformed("the Secret has no user"))?
                .trim_end_matches('\n')
                .to_owned();
            let port = match key("port")? {
                Some(text) => url::port(text.trim())?,
                None => 5432,
            };
            // A trailing line feed is an editor's, not the password's; everything else is taken as it stands.
            let password = key("password")?.map(|text| Secret::new(text.strip_suffix('\n').unwrap_or(&text)));
            let database =
                key("database")?.map_or_else(|| user.clone(), |text| text.trim_end_matches('\n').to_owned());
            let mode = key("sslmode")?;
            Self {
                ssl_mode: mode
                    .as_deref()
                    .map_or(Ok(SslMode::Prefer), |text| text.trim().parse())?,
                ssl_mode_given: mode.is_some(),
                ..Self::bare(host, port, user, password, database)
            }
        };
        let root = directory.join("sslrootcert");
        if root.exists() {
            if target.roots != RootCertificates::Unset {
                return Err(malformed("both the url and the Secret name sslrootcert"));
            }
            target.roots = RootCertificates::File(root);
        }
        target.check()
    }

    /// Reads a file that holds one URL.
    ///
    /// # Errors
    /// As [`Self::from_directory`].
    pub fn from_url_file(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            malformed(format!(
                "the file with the database URL cannot be read: {}",
                error.kind()
            ))
        })?;
        url::parse(text.trim())?.check()
    }

    /// Parses a URL that came from somewhere safe.
    ///
    /// # Errors
    /// As [`Self::from_directory`].
    pub fn from_url(text: &str) -> Result<Self> {
        url::parse(text)?.check()
    }

    /// `host:port/database`, which names no user and no secret.
    #[must_use]
    pub fn server_address(&self) -> String {
        format!("{}:{}/{}", self.host, self.port, self.database)
    }

    /// The schema that the URL pins by `search_path`.
    #[must_use]
    pub fn pinned_schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The schema that is the URL's own: the pinned one, else `public`.
    #[must_use]
    pub fn own_schema(&self) -> &str {
        self.schema.as_deref().unwrap_or("public")
    }

    /// Whether nothing said how to use TLS, which deserves a warning that names `verify-full`.
    #[must_use]
    pub fn tls_is_unspecified(&self) -> bool {
        !self.ssl_mode_given && !self.is_socket()
    }

    /// The mode in force.
    #[must_use]
    pub fn ssl_mode(&self) -> SslMode {
        self.ssl_mode
    }

    /// The same with another limit for connecting.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    pub(crate) fn bare(
        host: String,
        port: u16,
        user: String,
        password: Option<Secret>,
        database: String,
    ) -> Self {
        Self {
            host,
            port,
            user,
            password,
            database,
            ssl_mode: SslMode::Prefer,
            ssl_mode_given: false,
            roots: RootCertificates::Unset,
            schema: None,
            connect_timeout: Duration::from_secs(10),
        }
    }

    pub(crate) fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }

    fn check(self) -> Result<Self> {
        for (name, text) in [
            ("host", &self.host),
            ("user", &self.user),
            ("database", &self.database),
        ] {
            if text.is_empty() || text.contains('\0') {
                return Err(malformed(format!("the target has no usable {name}")));
            }
        }
        if self.host.contains(',') {
            return Err(malformed("the target names several hosts; name one"));
        }
        Ok(self)
    }
}

fn read_key(directory: &Path, name: &str) -> Result<Option<String>> {
    let path: PathBuf = directory.join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(malformed(format!(
            "key {name} of the Secret cannot be read: {}",
            error.kind()
        ))),
    }
}

fn malformed(message: impl Into<String>) -> Error {
    Error::new(Code::MalformedTarget, message)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
