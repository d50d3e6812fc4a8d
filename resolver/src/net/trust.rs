//! Which certificates are believed.

use std::path::Path;

use reqwest::Certificate;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::Error;

/// Where distributions keep the system's roots. The variables that OpenSSL reads are not asked: the environment
/// changes nothing.
const SYSTEM_BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Largest bundle that is read.
const MAX_BUNDLE: usize = 1 << 20;

/// The roots of one source: the system's and its own.
#[derive(Clone, Debug)]
pub struct Trust {
    roots: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// The system's roots; none where the system has none, as in an image without them.
    #[must_use]
    pub fn system() -> Self {
        let bundle = SYSTEM_BUNDLES
            .iter()
            .find_map(|file| std::fs::read(Path::new(file)).ok());
        // A system bundle may hold a certificate that does not parse; the others still count.
        let roots = bundle
            .iter()
            .flat_map(|pem| CertificateDer::pem_slice_iter(pem))
            .flatten()
            .filter(usable)
            .collect();
        Self { roots }
    }

    /// These roots beside those that are believed already.
    ///
    /// # Errors
    /// [`Error::InvalidCa`] when the bundle holds no certificate, or something that is none.
    pub fn with_pem(mut self, pem: &[u8]) -> Result<Self, Error> {
        if pem.len() > MAX_BUNDLE {
            return Err(Error::InvalidCa("it is larger than 1 MiB"));
        }
        let before = self.roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| Error::InvalidCa("it is not PEM"))?;
            if !usable(&certificate) {
                return Err(Error::InvalidCa("it holds a block that is no certificate"));
            }
            self.roots.push(certificate);
        }
        if self.roots.len() == before {
            return Err(Error::InvalidCa("it holds no certificate"));
        }
        Ok(self)
    }

    pub(super) fn certificates(&self) -> Result<Vec<Certificate>, Error> {
        self.roots
            .iter()
            .map(|der| Certificate::from_der(der).map_err(|_| Error::InvalidCa("it holds no certificate")))
            .collect()
    }
}

fn usable(der: &CertificateDer<'_>) -> bool {
    rustls::RootCertStore::empty().add(der.clone()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptah_contract::failure::FailureClass;

    #[test]
    fn a_bundle_that_parses_to_nothing_is_refused_and_one_that_parses_is_added() {
        let signed = rcgen::generate_simple_self_signed(vec!["git.example".into()]).unwrap();
        let pem = signed.cert.pem();
        let none = Trust { roots: vec![] };
        assert_eq!(none.clone().with_pem(pem.as_bytes()).unwrap().roots.len(), 1);
        let key = signed.signing_key.serialize_pem();
        let truncated = &pem[..pem.len() / 2];
        let other = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
        for wrong in ["", "hello", &key, truncated, other, &format!("{pem}{other}")] {
            let error = none.clone().with_pem(wrong.as_bytes()).unwrap_err();
            assert_eq!(error.code(), "invalid_ca", "{wrong}");
        }
        let large = vec![b'\n'; MAX_BUNDLE + 1];
        assert_eq!(
            none.with_pem(&large).unwrap_err().to_string(),
            "the CA bundle is unusable: it is larger than 1 MiB"
        );
    }

    #[test]
    fn a_client_is_made_where_the_system_has_no_roots() {
        let none = Trust { roots: vec![] };
        let limits = crate::net::Limits::default();
        assert!(crate::net::Client::new(&none, crate::net::Network::any(), &limits).is_ok());
    }

    /// [`Trust::with_pem`] and [`Trust::system`] let no such root in, so that it is put in by hand.
    #[test]
    fn a_root_that_came_past_the_checks_is_a_defect_of_this_program() {
        let broken = Trust {
            roots: vec![b"hello".to_vec().into()],
        };
        let limits = crate::net::Limits::default();
        let error = crate::net::Client::new(&broken, crate::net::Network::any(), &limits).unwrap_err();
        assert_eq!(
            (error.code(), error.class(), error.to_string()),
            (
                "client_failed",
                FailureClass::Internal,
                "the HTTP client cannot be made".to_owned()
            )
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_certificates_or_refused(text in "(-----(BEGIN|END) CERTIFICATE-----|[A-Za-z0-9+/=\n]{0,9}){0,9}") {
            let none = Trust { roots: vec![] };
            if let Ok(trust) = none.with_pem(text.as_bytes()) {
                proptest::prop_assert!(!trust.roots.is_empty());
            }
        }
    }
}
