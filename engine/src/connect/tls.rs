//! `sslmode` as libpq means it, on rustls.
//!
//! Deviation: `prefer` does not fall back to plain text when the server offers TLS and the handshake fails.
//! `verify-ca` and `verify-full` without `sslrootcert` trust the system's roots; libpq wants a file.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::malformed;
use crate::error::{Code, Error, Result};

/// How the connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Plain text.
    Disable,
    /// TLS when the server offers it; nothing is verified.
    Prefer,
    /// TLS; verified as `verify-ca` only when root certificates are named.
    Require,
    /// TLS, and the certificate chains to a trusted root.
    VerifyCa,
    /// The same, and it is the host's own.
    VerifyFull,
}

impl FromStr for SslMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(malformed(
                    "sslmode is none of disable, prefer, require, verify-ca and verify-full",
                ));
            }
        })
    }
}

/// Which roots a certificate may chain to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootCertificates {
    /// Nothing was said.
    Unset,
    /// The system's.
    System,
    /// Those in this file (PEM).
    File(PathBuf),
}

/// Signatures are checked in every mode; what differs is whom the key must belong to.
#[derive(Debug)]
enum Trust {
    Anyone,
    Chain(Arc<WebPkiServerVerifier>),
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Trust::Chain(verifier) = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        match verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is compared last, so this error means that the chain is good.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            answer => answer,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The connector of a mode; none for plain text.
pub(super) fn connector(mode: SslMode, roots: &RootCertificates) -> Result<Option<MakeRustlsConnect>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|_| Error::internal("no TLS version is enabled"))?;
    let verify = match (mode, roots) {
        (SslMode::Disable, _) => return Ok(None),
        (SslMode::Prefer, _) | (SslMode::Require, RootCertificates::Unset) => Trust::Anyone,
        (SslMode::VerifyFull, _) => {
            let config = builder
                .with_root_certificates(store(roots)?)
                .with_no_client_auth();
            return Ok(Some(MakeRustlsConnect::new(config)));
        }
        (SslMode::Require | SslMode::VerifyCa, _) => {
            let store = Arc::new(store(roots)?);
            let verifier = WebPkiServerVerifier::builder_with_provider(store, Arc::clone(&provider))
                .build()
                .map_err(|_| Error::new(Code::TlsFailed, "there is no root certificate to verify with"))?;
            Trust::Chain(verifier)
        }
    };
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier {
            trust: verify,
            provider,
        }))
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn store(roots: &RootCertificates) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    match roots {
        RootCertificates::File(file) => {
            let unreadable = || {
                Error::new(
                    Code::TlsFailed,
                    "sslrootcert does not hold certificates in PEM form",
                )
            };
            let bytes = std::fs::read(file).map_err(|error| {
                Error::new(
                    Code::TlsFailed,
                    format!("sslrootcert cannot be read: {}", error.kind()),
                )
            })?;
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                store
                    .add(certificate.map_err(|_| unreadable())?)
                    .map_err(|_| unreadable())?;
            }
            if store.is_empty() {
                return Err(unreadable());
            }
        }
        RootCertificates::Unset | RootCertificates::System => {
            for certificate in rustls_native_certs::load_native_certs().certs {
                // One odd certificate among the system's roots is no reason to trust none of them.
                let _ = store.add(certificate);
            }
            if store.is_empty() {
                return Err(Error::new(
                    Code::TlsFailed,
                    "the system has no root certificates; name sslrootcert",
                ));
            }
        }
    }
    Ok(store)
}
