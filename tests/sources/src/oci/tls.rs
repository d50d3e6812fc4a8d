//! A certificate for loopback, and the bundle that trusts it.

use std::path::Path;

use rcgen::{CertifiedKey, generate_simple_self_signed};

/// A certificate, its key, and itself as the CA.
pub struct Tls {
    /// The certificate, PEM.
    pub certificate: String,
    /// The key, PEM.
    pub key: String,
}

impl Tls {
    /// For the names of loopback.
    ///
    /// # Panics
    /// Never, as the names are fixed.
    #[must_use]
    pub fn new() -> Self {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("the names are valid");
        Self {
            certificate: cert.pem(),
            key: signing_key.serialize_pem(),
        }
    }

    /// Writes `cert.pem` and `key.pem`.
    ///
    /// # Panics
    /// When that fails.
    pub fn write(&self, folder: &Path) {
        std::fs::write(folder.join("cert.pem"), &self.certificate).expect("the certificate is written");
        std::fs::write(folder.join("key.pem"), &self.key).expect("the key is written");
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self::new()
    }
}
