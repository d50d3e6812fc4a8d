//! Trusted roots: whose certificates, log entries and times are believed (sigstore/protobuf-specs, trustroot).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use ptah_contract::digest::Digest;
use ptah_contract::failure::quoted;
use serde::{Deserialize, Serialize};
use sigstore_trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TimeRange, TrustedRoot};
use sigstore_types::{Artifact, Bundle};
use sigstore_verify::{VerificationPolicy, Verifier};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::asn1::Utf8StringRef;
use x509_cert::der::oid::ObjectIdentifier;

/// The issuer as Fulcio writes it now, and as it wrote it first (Fulcio, oid-info.md).
const ISSUER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.8");
const ISSUER_V1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.1");

/// The documents that are understood (sigstore/protobuf-specs, `TrustedRoot`).
const VERSIONS: [&str; 3] = [
    "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    "application/vnd.dev.sigstore.trustedroot.v0.1+json",
    "application/vnd.dev.sigstore.trustedroot.v0.2+json",
];
/// Everything that such a document may hold.
const KEYS: [&str; 5] = [
    "mediaType",
    "tlogs",
    "certificateAuthorities",
    "ctlogs",
    "timestampAuthorities",
];

/// Where a policy says that a trusted root stands: a key of an immutable ConfigMap in the policy's namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootReference {
    /// Name of the ConfigMap.
    pub name: String,
    /// Its key.
    pub key: String,
}

impl fmt::Display for RootReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {:?} of ConfigMap {:?}", self.key, self.name)
    }
}

/// A trusted root that a policy names, as somebody read it.
#[derive(Clone, Debug)]
pub struct Root {
    /// Where it stands.
    pub reference: RootReference,
    /// The ConfigMap's UID; empty where there is no API server.
    pub uid: String,
    /// The document.
    pub bytes: Vec<u8>,
}

/// What of a root a digest covers.
#[derive(Serialize)]
pub(crate) struct Bound<'a> {
    digest: Digest,
    key: &'a str,
    name: &'a str,
    uid: &'a str,
}

impl Root {
    pub(crate) fn bound(&self) -> Bound<'_> {
        Bound {
            digest: Digest::of(&self.bytes),
            key: &self.reference.key,
            name: &self.reference.name,
            uid: &self.uid,
        }
    }
}

/// A root that signatures are held to.
pub(crate) struct Trusted {
    verifier: Verifier,
    /// Whether certificates must have been logged: the root has such logs.
    certificates_logged: bool,
    /// Whether signatures must have been logged: the root has such logs.
    signatures_logged: bool,
}

impl fmt::Debug for Trusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trusted")
    }
}

/// Who a certificate is for, and when it was used.
pub(crate) struct Signer {
    pub issuer: String,
    pub subject: String,
    pub at: Timestamp,
}

impl Trusted {
    /// The instance that everybody may use, as it was when this program was built; read once, since every policy that
    /// believes it is read again and again.
    pub(crate) fn public_good() -> Result<Arc<Self>, String> {
        static READ: LazyLock<Result<Arc<Trusted>, String>> =
            LazyLock::new(|| Trusted::parse(SIGSTORE_PRODUCTION_TRUSTED_ROOT.as_bytes()).map(Arc::new));
        READ.clone()
    }

    /// Reads a document; otherwise what is wrong with it, or what it lacks.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let unreadable = |error: &dyn fmt::Display| {
            format!(
                "it is no trusted root that is understood: {}",
                quoted(&error.to_string())
            )
        };
        let text = std::str::from_utf8(bytes).map_err(|error| unreadable(&error))?;
        // The library passes over keys that it does not know, and a list under such a key is a check that nobody makes.
        let keys: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        let version = keys.get("mediaType").and_then(serde_json::Value::as_str);
        if !version.is_some_and(|version| VERSIONS.contains(&version)) {
            return Err(format!("its mediaType is none of {VERSIONS:?}"));
        }
        if let Some(unknown) = keys.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("its key {:?} is not known", quoted(unknown)));
        }
        let mut root = TrustedRoot::from_json(text).map_err(|error| unreadable(&error))?;
        for authority in &mut root.certificate_authorities {
            let chain = authority.cert_chain.certificates.iter();
            let ders = chain.map(|certificate| certificate.raw_bytes.as_bytes());
            authority.valid_for = Some(validity(ders, authority.valid_for)?);
        }
        if root.certificate_authorities.is_empty() {
            return Err(
                "it has no certificate authority (certificateAuthorities), so no certificate is believed"
                    .to_owned(),
            );
        }
        if root.tlogs.is_empty() && root.timestamp_authorities.is_empty() {
            return Err(
                "it has neither a transparency log (tlogs) nor a timestamp authority (timestampAuthorities), so \
                 nothing says when a signature was made"
                    .to_owned(),
            );
        }
        Ok(Self {
            verifier: Verifier::new(&root).map_err(|error| unreadable(&error))?,
            certificates_logged: !root.ctlogs.is_empty(),
            signatures_logged: !root.tlogs.is_empty(),
        })
    }

    /// Whether a certificate of this root made the signature, and everything that the root can say of it is said: the
    /// chain at the time of signing, the certificate's log, the signature's log, and a signed time.
    pub(crate) fn signer<'a>(
        &self,
        bundle: &Bundle,
        artifact: impl Into<Artifact<'a>>,
    ) -> Result<Signer, String> {
        // Whose identity is accepted is asked by whoever wants to know the signer; everything else is asked here.
        let mut policy = VerificationPolicy::any_identity();
        if !self.certificates_logged {
            policy = policy.skip_sct();
        }
        if !self.signatures_logged {
            policy = policy.skip_tlog_unsafe();
        }
        let found = self
            .verifier
            .verify(artifact, bundle, &policy)
            .map_err(|error| quoted(&error.to_string()))?;
        // What the library says it has done, and not only that it found nothing wrong.
        let missing = if !found.certificate_verified() {
            Some("its certificate")
        } else if self.certificates_logged && !found.sct_verified() {
            Some("its certificate's log (SCT)")
        } else if self.signatures_logged && !found.tlog_verified() {
            Some("its transparency-log entry")
        } else if found.verified_timestamps().is_empty() {
            Some("the time at which it was made")
        } else {
            None
        };
        if let Some(part) = missing {
            return Err(format!("{part} was not checked"));
        }
        let certificate = bundle.signing_certificate().ok_or("it has no certificate")?;
        let issuer = issuer(certificate.as_bytes())?;
        let subject = found.identity().ok_or("its certificate names no subject")?;
        let at = found.verified_timestamps().iter().min();
        Ok(Signer {
            issuer,
            subject: subject.as_str().to_owned(),
            at: *at.ok_or("it was made at no time")?,
        })
    }
}

/// When an authority may vouch: as the root says, and while every certificate of its chain is valid. The library asks the
/// root alone.
fn validity<'a>(chain: impl Iterator<Item = &'a [u8]>, said: Option<TimeRange>) -> Result<TimeRange, String> {
    let mut range = said.unwrap_or(TimeRange::new(Timestamp::MIN, None));
    for der in chain {
        let certificate = Certificate::from_der(der)
            .map_err(|_| "a certificate of its certificateAuthorities cannot be read")?;
        let validity = certificate.tbs_certificate.validity;
        let instant = |time: x509_cert::time::Time| {
            Timestamp::try_from(time.to_system_time())
                .map_err(|_| "a certificate of its certificateAuthorities is valid at no time")
        };
        let (begin, end) = (instant(validity.not_before)?, instant(validity.not_after)?);
        range.start = range.start.max(begin);
        range.end = Some(range.end.map_or(end, |said| said.min(end)));
    }
    Ok(range)
}

/// The issuer that a certificate names: in one way, or in two that agree.
fn issuer(der: &[u8]) -> Result<String, String> {
    let certificate = Certificate::from_der(der).map_err(|_| "its certificate cannot be read")?;
    let extensions = certificate.tbs_certificate.extensions.unwrap_or_default();
    let mut named: Vec<String> = Vec::new();
    for extension in &extensions {
        let value = extension.extn_value.as_bytes();
        let text = match extension.extn_id {
            ISSUER => Utf8StringRef::from_der(value)
                .ok()
                .map(|text| text.as_str().to_owned()),
            // The text itself, not wrapped.
            ISSUER_V1 => std::str::from_utf8(value).ok().map(str::to_owned),
            _ => continue,
        };
        named.push(text.ok_or("its certificate names an issuer that cannot be read")?);
    }
    named.dedup();
    match named.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err("its certificate names no issuer".to_owned()),
        _ => Err("its certificate names two issuers that disagree".to_owned()),
    }
}
