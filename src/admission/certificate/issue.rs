//! Makes a certificate authority, one serving certificate, and nothing that outlives them.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// How long a certificate is valid.
pub const VALIDITY: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Clocks of other machines may be behind.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// What is served, and what a client must trust.
#[derive(Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Every authority to trust now, as PEM: the one of this certificate first.
    pub ca_pem: String,
    /// The serving certificate.
    pub cert_pem: String,
    /// Its private key (PKCS #8).
    pub key_pem: String,
    /// End of its validity.
    pub not_after: Timestamp,
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle")
            .field("not_after", &self.not_after)
            .finish_non_exhaustive()
    }
}

/// A certificate that cannot be made, kept or served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Making it failed.
    #[error("the serving certificate cannot be made")]
    Issue(#[from] rcgen::Error),
    /// What is stored is no PEM.
    #[error("the stored {0} is not readable")]
    Unreadable(&'static str),
    /// Certificate and key do not serve TLS.
    #[error("the serving certificate cannot be used")]
    Tls(#[source] rustls::Error),
    /// The API server refused.
    #[error("the serving certificate's object cannot be read or written")]
    Api(#[from] kube::Error),
    /// The webhook configuration holds no webhook, or the change to it cannot be expressed.
    #[error("the webhook configuration {0} cannot be given its certificate authority")]
    Webhook(String),
}

/// The names that Services are reached under.
#[must_use]
pub fn names(namespace: &str, services: &[&str]) -> Vec<String> {
    services
        .iter()
        .flat_map(|service| {
            [
                (*service).to_owned(),
                format!("{service}.{namespace}"),
                format!("{service}.{namespace}.svc"),
                format!("{service}.{namespace}.svc.cluster.local"),
            ]
        })
        .collect()
}

/// Makes an authority and a certificate for these names. The authority's key is not kept.
///
/// # Errors
/// When a name is no DNS name, or the system gives no randomness.
pub fn issue(names: &[String], now: Timestamp) -> Result<Bundle, Error> {
    let not_after = now.checked_add(VALIDITY).unwrap_or(Timestamp::MAX);
    // The certificate library's own type of instant has no other door.
    let instant =
        |at: Timestamp| date_time_ymd(1970, 1, 1) + Duration::from_secs(at.as_second().max(0).unsigned_abs());
    let (from, until) = (
        instant(now.checked_sub(BACKDATED).unwrap_or(now)),
        instant(not_after),
    );

    let mut authority = CertificateParams::new(Vec::new())?;
    // A name of its own for each authority: a bundle with two of one name makes verifiers guess.
    authority.distinguished_name.push(
        DnType::CommonName,
        format!("ptah-operator serving {}", now.as_second()),
    );
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    (authority.not_before, authority.not_after) = (from, until);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let key = KeyPair::generate()?;
    let mut serving = CertificateParams::new(names.to_vec())?;
    let name = names.first().map_or("ptah-operator", String::as_str);
    // X.509 allows a common name of 64 characters; clients read the alternative names.
    serving
        .distinguished_name
        .push(DnType::CommonName, name.chars().take(64).collect::<String>());
    serving.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    serving.use_authority_key_identifier_extension = true;
    (serving.not_before, serving.not_after) = (from, until);
    let certificate = serving.signed_by(&key, &authority)?;

    Ok(Bundle {
        ca_pem: authority.pem(),
        cert_pem: certificate.pem(),
        key_pem: key.serialize_pem(),
        not_after: Timestamp::from_second(not_after.as_second()).unwrap_or(not_after),
    })
}
