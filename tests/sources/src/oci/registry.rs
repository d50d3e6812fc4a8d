//! Real registries: distribution, and one with the referrers API.

use std::path::Path;
use std::process::Command;

use super::process::Server;
use super::program;
use super::tls::Tls;
use super::token::Realm;

/// A running registry.
pub struct Registry {
    /// `127.0.0.1:port`.
    pub authority: String,
    _server: Server,
    folder: tempfile::TempDir,
}

/// Who may read and write.
pub enum Access<'a> {
    /// Everybody.
    All,
    /// `user:bcrypt hash` lines, checked by the registry.
    Passwords(&'a str),
    /// Whoever brings a token of this realm.
    Tokens(&'a Realm),
}

impl Registry {
    /// distribution, over TLS when a certificate is given.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn distribution(tls: Option<&Tls>, access: &Access<'_>) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the registry");
        let at = folder.path().display().to_string();
        let mut config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage:\n  filesystem: {{rootdirectory: {at}/data}}\n  delete: {{enabled: true}}\n\
             http:\n  addr: 127.0.0.1:0\n  secret: test\n"
        );
        if let Some(tls) = tls {
            tls.write(folder.path());
            config.push_str(&format!(
                "  tls: {{certificate: {at}/cert.pem, key: {at}/key.pem}}\n"
            ));
        }
        match access {
            Access::All => {}
            Access::Passwords(lines) => {
                std::fs::write(folder.path().join("htpasswd"), lines).expect("the passwords are written");
                config.push_str(&format!(
                    "auth:\n  htpasswd: {{realm: test, path: {at}/htpasswd}}\n"
                ));
            }
            Access::Tokens(realm) => {
                std::fs::write(folder.path().join("realm.pem"), realm.certificate())
                    .expect("the root is written");
                config.push_str(&format!(
                    "auth:\n  token:\n    realm: {}\n    service: {}\n    issuer: {}\n    rootcertbundle: {at}/realm.pem\n",
                    realm.url(),
                    super::token::SERVICE,
                    super::token::ISSUER
                ));
            }
        }
        std::fs::write(folder.path().join("config.yml"), config).expect("the configuration is written");
        let mut command = Command::new(program("registry"));
        command.args(["serve", "config.yml"]).current_dir(folder.path());
        command.env_clear().env("OTEL_TRACES_EXPORTER", "none");
        let (server, authority) = Server::start(&mut command, listening);
        Self {
            authority,
            _server: server,
            folder,
        }
    }

    /// One in memory that serves the referrers API.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn with_referrers() -> Self {
        let mut command = Command::new(program("referrers"));
        let (server, authority) = Server::start(command.env_clear(), |line| {
            line.parse::<std::net::SocketAddr>().ok().map(|_| line.to_owned())
        });
        Self {
            authority,
            _server: server,
            folder: tempfile::tempdir().expect("a folder for the registry"),
        }
    }

    /// Where distribution keeps a blob's bytes.
    #[must_use]
    pub fn blob(&self, hex: &str) -> std::path::PathBuf {
        let data = self.folder.path().join("data/docker/registry/v2/blobs/sha256");
        data.join(&hex[..2]).join(hex).join("data")
    }

    /// A folder that nobody else uses.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// distribution's line: `... msg="listening on 127.0.0.1:40123, tls" ...`.
fn listening(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on ")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ':')))?;
    Some(rest[..end].to_owned())
}
