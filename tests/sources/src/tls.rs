//! Certificates for servers on loopback.

use std::sync::{Arc, LazyLock};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Names that every certificate here is for.
pub const NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "git.test",
    "api.git.test",
    "other.test",
    "registry.test",
    // The test node's own address.
    xtask::node::paths::ADDRESS,
];

/// A certificate authority.
pub struct Ca {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// The authority that tests trust.
pub static CA: LazyLock<Ca> = LazyLock::new(|| Ca::new("trusted"));
/// An authority that nobody trusts.
pub static STRANGER: LazyLock<Ca> = LazyLock::new(|| Ca::new("stranger"));

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    None,
    Expired,
    NotYet,
    OtherName,
}

impl Ca {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// The authority's certificate.
    pub fn pem(&self) -> &[u8] {
        self.pem.as_bytes()
    }

    /// A server with a certificate of this authority.
    pub fn server(&self, flaw: Flaw) -> Arc<ServerConfig> {
        Arc::new(self.config(flaw))
    }

    /// A server that speaks HTTP/2.
    pub fn http2_server(&self) -> Arc<ServerConfig> {
        let mut config = self.config(Flaw::None);
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }

    fn config(&self, flaw: Flaw) -> ServerConfig {
        let names: Vec<String> = match flaw {
            Flaw::OtherName => vec!["elsewhere.test".into()],
            _ => NAMES.iter().map(ToString::to_string).collect(),
        };
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names).unwrap();
        match flaw {
            Flaw::Expired => params.not_after = rcgen::date_time_ymd(2001, 1, 1),
            Flaw::NotYet => params.not_before = rcgen::date_time_ymd(2090, 1, 1),
            _ => {}
        }
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap()
    }
}
