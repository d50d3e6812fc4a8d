//! The serving certificate between its issues: one Secret, written by the leader, read by every replica.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, PostParams};
use kube::{Client, Error as KubeError};
use ptah_api::names;

use super::issue::{Bundle, Error, VALIDITY, issue};

/// Longer than an operation may run (24 h): a Pod that knows only the old authority has ended by then.
pub const ANNOUNCED_FOR: SignedDuration = SignedDuration::from_hours(25);
/// Another replica may write at the same moment; its result is then looked at, a few times.
const ATTEMPTS: usize = 5;

const CA: &str = "ca.crt";
const CERT: &str = "tls.crt";
const KEY: &str = "tls.key";
const NOT_AFTER: &str = "not-after";
const NAMES: &str = "names";
const NEXT: [&str; 5] = [
    "next-ca.crt",
    "next.crt",
    "next.key",
    "next-not-after",
    "next-announced-at",
];

/// Everything that the Secret holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What is served now. Its `ca_pem` is the whole trust bundle.
    pub current: Bundle,
    /// The names that `current` is for.
    pub names: Vec<String>,
    /// What will be served, and since when its authority is trusted.
    pub next: Option<(Bundle, Timestamp)>,
}

/// What should be stored now; `None` when it is what is stored already.
///
/// # Errors
/// When a certificate is to be made and cannot be.
pub fn advance(stored: Option<&Stored>, names: &[String], now: Timestamp) -> Result<Option<Stored>, Error> {
    // Nothing usable: serve a new one at once, nobody can be connected with the old one.
    let Some(stored) = stored.filter(|stored| stored.names == names && stored.current.not_after > now) else {
        let current = issue(names, now)?;
        return Ok(Some(Stored {
            current,
            names: names.to_vec(),
            next: None,
        }));
    };
    if let Some((next, since)) = &stored.next {
        if now.duration_since(*since) < ANNOUNCED_FOR {
            return Ok(None);
        }
        // The old authority stays: a replica may serve the old certificate a little longer.
        let ca_pem = format!("{}{}", next.ca_pem, authority(&stored.current.ca_pem));
        let current = Bundle {
            ca_pem,
            ..next.clone()
        };
        return Ok(Some(Stored {
            current,
            names: names.to_vec(),
            next: None,
        }));
    }
    let left = stored.current.not_after.duration_since(now);
    if left > VALIDITY / 3 {
        return Ok(None);
    }
    let next = issue(names, now)?;
    let ca_pem = format!("{}{}", authority(&stored.current.ca_pem), next.ca_pem);
    let current = Bundle {
        ca_pem,
        ..stored.current.clone()
    };
    Ok(Some(Stored {
        current,
        names: names.to_vec(),
        next: Some((next, now)),
    }))
}

/// The first certificate of a bundle: the authority of what is served.
#[must_use]
pub fn authority(pem: &str) -> &str {
    const END: &str = "-----END CERTIFICATE-----";
    let end = pem.find(END).map_or(pem.len(), |at| at + END.len());
    pem[end..].chars().next().map_or(
        &pem[..end],
        |c| if c == '\n' { &pem[..=end] } else { &pem[..end] },
    )
}

/// What every replica serves now; `None` until the leader has made it.
///
/// # Errors
/// When the API server does not give the Secret.
pub async fn read(client: &Client, namespace: &str, secret: &str) -> Result<Option<Bundle>, Error> {
    let found = Api::<Secret>::namespaced(client.clone(), namespace)
        .get_opt(secret)
        .await?;
    Ok(found.as_ref().and_then(decode).map(|stored| stored.current))
}

/// Makes, announces or replaces the certificate when its time has come, and returns what is to be served. For the
/// leader, at its start and then every few minutes.
///
/// # Errors
/// When the certificate cannot be made, or the Secret neither read nor written.
pub async fn ensure(
    client: &Client,
    namespace: &str,
    secret: &str,
    names: &[String],
    now: Timestamp,
) -> Result<Bundle, Error> {
    let api = Api::<Secret>::namespaced(client.clone(), namespace);
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let found = api.get_opt(secret).await?;
        let stored = found.as_ref().and_then(decode);
        let Some(wanted) = advance(stored.as_ref(), names, now)? else {
            return stored
                .map(|stored| stored.current)
                .ok_or(Error::Unreadable("certificate"));
        };
        let written = match found {
            Some(object) => {
                api.replace(secret, &PostParams::default(), &encode(object, &wanted))
                    .await
            }
            None => {
                api.create(&PostParams::default(), &encode(fresh(namespace, secret), &wanted))
                    .await
            }
        };
        match written {
            Ok(_) => return Ok(wanted.current),
            Err(KubeError::Api(status)) if status.is_conflict() || status.is_already_exists() => {
                last = Some(KubeError::Api(status));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.map_or(Error::Unreadable("certificate"), Error::Api))
}

fn fresh(namespace: &str, name: &str) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some(BTreeMap::from([
                (names::LABEL_MANAGED_BY.to_owned(), names::MANAGED_BY.to_owned()),
                (
                    names::LABEL_COMPONENT.to_owned(),
                    "serving-certificate".to_owned(),
                ),
            ])),
            ..ObjectMeta::default()
        },
        ..Secret::default()
    }
}

/// Metadata and type of an object that was there before are left as they are.
fn encode(mut object: Secret, stored: &Stored) -> Secret {
    let mut data = BTreeMap::new();
    let mut put = |key: &str, text: &str| data.insert(key.to_owned(), ByteString(text.as_bytes().to_vec()));
    put(CA, &stored.current.ca_pem);
    put(CERT, &stored.current.cert_pem);
    put(KEY, &stored.current.key_pem);
    put(NOT_AFTER, &stored.current.not_after.to_string());
    put(NAMES, &stored.names.join("\n"));
    if let Some((next, since)) = &stored.next {
        let values = [
            &next.ca_pem,
            &next.cert_pem,
            &next.key_pem,
            &next.not_after.to_string(),
            &since.to_string(),
        ];
        for (key, value) in NEXT.iter().zip(values) {
            put(key, value);
        }
    }
    object.data = Some(data);
    object
}

/// `None` for anything that is not whole: it is then made anew.
fn decode(object: &Secret) -> Option<Stored> {
    let text = |key: &str| {
        let bytes = &object.data.as_ref()?.get(key)?.0;
        std::str::from_utf8(bytes)
            .ok()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let current = Bundle {
        ca_pem: text(CA)?,
        cert_pem: text(CERT)?,
        key_pem: text(KEY)?,
        not_after: text(NOT_AFTER)?.parse().ok()?,
    };
    // What cannot be served is not kept for the sake of its date.
    super::server_config(&current).ok()?;
    let next = || {
        let next = Bundle {
            ca_pem: text(NEXT[0])?,
            cert_pem: text(NEXT[1])?,
            key_pem: text(NEXT[2])?,
            not_after: text(NEXT[3])?.parse().ok()?,
        };
        Some((next, text(NEXT[4])?.parse().ok()?))
    };
    let next = next();
    Some(Stored {
        current,
        names: text(NAMES)?.lines().map(str::to_owned).collect(),
        next,
    })
}
