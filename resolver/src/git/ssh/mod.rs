//! `git-upload-pack` over SSH.
//!
//! Promises: the host is known before a key of the user is offered, and only by a key that `known_hosts` lists for it;
//! nothing is accepted on first use; neither an agent, nor a configuration, nor a key of the home folder is looked at;
//! the connection is closed when its last end is dropped, whatever the other side does.

mod channel;
mod guarded;
mod known_hosts;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use russh::client::{self, Config, Handle};
use russh::keys::{HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{Preferred, SshId};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

pub(super) use self::channel::{Reader, Writer};
use self::guarded::Guarded;
pub(super) use self::known_hosts::KnownHosts;
use self::known_hosts::{HostKeys, Verdict, name};
use super::Error;
use super::repository::SSH_PORT;
use super::wire::Wire;
use crate::net::{self, Authority, Network};

/// Where `git-upload-pack` runs, and for whom.
pub(super) struct Target<'a> {
    pub(super) user: &'a str,
    pub(super) authority: &'a Authority,
    pub(super) path: &'a str,
    pub(super) identity: &'a PrivateKey,
    pub(super) known_hosts: &'a KnownHosts,
    pub(super) network: &'a Network,
}

/// Starts `git-upload-pack` and gives both ends of it. `version_2` asks for protocol version 2; a server that does not
/// take the variable answers in version 0.
pub(super) async fn open(
    target: &Target<'_>,
    wire: &Wire,
    version_2: bool,
) -> Result<(Reader, Writer), Error> {
    let host = target.authority.bare_host();
    let port = target.authority.port().unwrap_or(SSH_PORT);
    let keys = target.known_hosts.of(host, port)?;
    let closed = CancellationToken::new();
    let guard = closed.clone().drop_guard();
    let addresses = async { target.network.addresses(host, port).await };
    let addresses = wire.attempt.connecting(host, addresses).await?;
    let refusal = Arc::default();
    let setting_up = async {
        let stream = TcpStream::connect(addresses.as_slice())
            .await
            .map_err(|_| net::Error::Connection {
                host: name(host, port),
            })?;
        let handler = Judge {
            host: name(host, port),
            keys: keys.clone(),
            refusal: Arc::clone(&refusal),
        };
        let config = Arc::new(Config {
            client_id: SshId::Standard(Cow::Borrowed(concat!("SSH-2.0-ptah_", env!("CARGO_PKG_VERSION")))),
            preferred: Preferred {
                key: Cow::Owned(keys.algorithms()),
                ..Preferred::DEFAULT
            },
            nodelay: true,
            ..Config::default()
        });
        // The outer error is that of the attempt; what SSH says is kept apart.
        Ok::<_, net::Error>(log_in(config, Guarded::new(stream, closed), handler, target).await)
    };
    let handle = match wire.attempt.connecting(host, setting_up).await? {
        Ok(handle) => handle,
        Err(Setup::Rejected) => {
            return Err(Error::AuthenticationFailed {
                host: name(host, port),
            });
        }
        Err(Setup::Failed(error)) => {
            let refusal = refusal.lock().unwrap_or_else(PoisonError::into_inner).take();
            return Err(refusal.unwrap_or_else(|| explain(&error, name(host, port), &keys)));
        }
    };
    let starting = async { Ok::<_, net::Error>(start(&handle, target.path, version_2).await) };
    let channel = wire
        .attempt
        .connecting(host, starting)
        .await?
        .map_err(|error| explain(&error, name(host, port), &keys))?;
    Ok(channel::split(channel, handle, guard, wire.clone()))
}

enum Setup {
    Rejected,
    Failed(russh::Error),
}

impl From<russh::Error> for Setup {
    fn from(error: russh::Error) -> Self {
        Self::Failed(error)
    }
}

async fn log_in(
    config: Arc<Config>,
    stream: Guarded,
    handler: Judge,
    target: &Target<'_>,
) -> Result<Handle<Judge>, Setup> {
    let mut handle = client::connect_stream(config, stream, handler).await?;
    let mut hash = None;
    if target.identity.algorithm().is_rsa() {
        // A server that does not say what it takes takes SHA-512 since ten years; SHA-1 is never offered.
        hash = handle
            .best_supported_rsa_hash()
            .await?
            .flatten()
            .or(Some(HashAlg::Sha512));
    }
    let key = PrivateKeyWithHashAlg::new(Arc::new(target.identity.clone()), hash);
    if handle.authenticate_publickey(target.user, key).await?.success() {
        Ok(handle)
    } else {
        Err(Setup::Rejected)
    }
}

async fn start(
    handle: &Handle<Judge>,
    path: &str,
    version_2: bool,
) -> Result<russh::Channel<client::Msg>, russh::Error> {
    let channel = handle.channel_open_session().await?;
    if version_2 {
        channel.set_env(false, "GIT_PROTOCOL", "version=2").await?;
    }
    // The path holds no apostrophe; see `Repository`.
    channel.exec(true, format!("git-upload-pack '{path}'")).await?;
    Ok(channel)
}

fn explain(error: &russh::Error, host: String, keys: &HostKeys) -> Error {
    match error {
        russh::Error::NoCommonAlgo {
            kind: russh::AlgorithmKind::Key,
            theirs,
            ..
        } => Error::HostKeyKinds {
            host,
            // Names of algorithms, as the other side wrote them: shown only as far as they are such names.
            offered: theirs
                .iter()
                .filter(|name| name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_graphic()))
                .take(16)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", "),
            known: keys.kinds(),
        },
        russh::Error::NoCommonAlgo { kind, .. } => Error::SshAlgorithms {
            host,
            what: match kind {
                russh::AlgorithmKind::Kex => "key exchange",
                russh::AlgorithmKind::Cipher => "cipher",
                russh::AlgorithmKind::Mac => "message authentication",
                _ => "algorithm",
            },
        },
        russh::Error::IO(_)
        | russh::Error::HUP
        | russh::Error::Disconnect
        | russh::Error::SendError
        | russh::Error::ConnectionTimeout
        | russh::Error::InactivityTimeout => net::Error::Connection { host }.into(),
        _ => Error::Ssh { host },
    }
}

/// Judges the host's key.
pub(super) struct Judge {
    host: String,
    keys: HostKeys,
    refusal: Arc<Mutex<Option<Error>>>,
}

impl client::Handler for Judge {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, russh::Error> {
        let key = shown.public_key();
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let host = self.host.clone();
        let refused = match (shown, self.keys.judge(&key.to_bytes()?)) {
            (PublicKeyOrCertificate::PublicKey { .. }, Verdict::Known) => return Ok(true),
            (_, Verdict::Revoked) => Error::HostKeyRevoked { host, fingerprint },
            _ => Error::HostKeyMismatch {
                host,
                algorithm: key.algorithm().to_string(),
                fingerprint,
            },
        };
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
        Ok(false)
    }
}
