//! The serving certificate of the webhook and of the result receiver.
//!
//! Promises: a change of certificate is announced before it happens. The new authority stands in the trust bundle
//! for longer than an operation may run before anything is served with it, so that a Pod that was given the old
//! bundle still reaches the receiver. The authority's own key is thrown away with each issue: nobody can sign again.
//! Assumes that whoever may write the release namespace is trusted. Never logs or displays a key.
//!
//! The life of a certificate: *issued* (served at once when nothing usable is served), *announced* (its successor is
//! stored and trusted, at two thirds of its life), *replaced* (the successor is served), *forgotten* (its authority
//! leaves the bundle with the next announcement).

mod issue;
mod store;
mod webhook;

pub use issue::{Bundle, Error, issue, names};
pub use store::{Stored, advance, authority, ensure, read};
pub use webhook::{patch_ca_bundle, published};

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// TLS 1.3 with this certificate, for `axum_server::tls_rustls::RustlsConfig::from_config` and `reload_from_config`.
///
/// # Errors
/// When the stored certificate and key do not read or do not belong together.
pub fn server_config(bundle: &Bundle) -> Result<Arc<ServerConfig>, Error> {
    let chain = CertificateDer::pem_slice_iter(bundle.cert_pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| Error::Unreadable("certificate"))?;
    let key =
        PrivateKeyDer::from_pem_slice(bundle.key_pem.as_bytes()).map_err(|_| Error::Unreadable("key"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(Error::Tls)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(Error::Tls)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests;
