//! A private Sigstore, minted: a certificate authority, a transparency log, and the certificates, entries, promises and
//! proofs that they would give.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use ptah_contract::digest::Digest;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use serde_json::{Value, json};
use sigstore_crypto::sha256;
use sigstore_types::DerPublicKey;

pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const SUBJECT: &str = "https://ci.example/team/app/release.yml@refs/heads/main";
const LOG: &str = "log.example";
pub(super) const IN_TOTO: &str = "application/vnd.in-toto+json";

/// A key that signs with ECDSA on P-256.
pub(super) struct Key {
    pair: KeyPair,
    signer: sigstore_crypto::KeyPair,
}

impl Key {
    pub(super) fn new() -> Self {
        let pair = KeyPair::generate().unwrap();
        let signer = sigstore_crypto::KeyPair::from_pkcs8_der(&pair.serialize_der()).unwrap();
        Self { pair, signer }
    }

    fn public(&self) -> DerPublicKey {
        self.signer.public_key_der().unwrap()
    }

    pub(super) fn pem(&self) -> String {
        self.public().to_pem()
    }

    pub(super) fn sign(&self, message: &[u8]) -> String {
        encoded(self.signer.sign(message).unwrap().as_bytes())
    }
}

/// What a certificate says of its holder.
pub(super) struct Leaf {
    pub issuer: Option<&'static str>,
    /// The issuer as certificates of the first kind name it.
    pub issuer_v1: Option<&'static str>,
    pub subject: &'static str,
    /// Whether it may sign code.
    pub signs_code: bool,
    /// How long after the log's time it begins, in minutes.
    pub begins: i64,
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            issuer: Some(ISSUER),
            issuer_v1: Some(ISSUER),
            subject: SUBJECT,
            signs_code: true,
            begins: -1,
        }
    }
}

/// The instance.
pub(super) struct Sigstore {
    issuer: Issuer<'static, KeyPair>,
    params: CertificateParams,
    authority: Vec<u8>,
    log: Key,
    now: Timestamp,
}

/// A certificate with its key.
pub(super) struct Signer {
    pub key: Key,
    pub der: Vec<u8>,
}

impl Sigstore {
    pub(super) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "authority");
        let authority = params.self_signed(&key).unwrap().der().to_vec();
        Self {
            issuer: Issuer::new(params.clone(), key),
            params,
            authority,
            log: Key::new(),
            now: Timestamp::from_second(Timestamp::now().as_second() - 3600).unwrap(),
        }
    }

    /// The authority's certificate as it would be had it ended before the log's time.
    pub(super) fn ended_authority(&self) -> Vec<u8> {
        let mut params = self.params.clone();
        params.not_after = time::OffsetDateTime::from_unix_timestamp(self.now.as_second() - 86_400).unwrap();
        params.self_signed(self.issuer.key()).unwrap().der().to_vec()
    }

    /// The document that trusts it; `edit` takes away or adds.
    pub(super) fn root(&self, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
        let public = self.log.public();
        let mut root = json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [{
                "baseUrl": "https://log.example",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": encoded(public.as_bytes()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": {"start": "2020-01-01T00:00:00Z"},
                },
                "logId": {"keyId": encoded(sha256(public.as_bytes()).as_bytes())},
            }],
            "certificateAuthorities": [{
                "subject": {"organization": "example", "commonName": "authority"},
                "uri": "https://authority.example",
                "certChain": {"certificates": [{"rawBytes": encoded(&self.authority)}]},
                "validFor": {"start": "2020-01-01T00:00:00Z"},
            }],
        });
        edit(&mut root);
        root.to_string().into_bytes()
    }

    /// A log of certificates, as a root names it.
    pub(super) fn certificate_log() -> Value {
        let public = Key::new().public();
        json!([{
            "baseUrl": "https://ct.example",
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": encoded(public.as_bytes()),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": {"start": "2020-01-01T00:00:00Z"},
            },
            "logId": {"keyId": encoded(sha256(public.as_bytes()).as_bytes())},
        }])
    }

    /// A certificate of ten minutes.
    pub(super) fn certify(&self, leaf: &Leaf) -> Signer {
        let key = Key::new();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        let at = |minutes: i64| {
            let time = self.now.checked_add(SignedDuration::from_mins(minutes)).unwrap();
            time::OffsetDateTime::from_unix_timestamp(time.as_second()).unwrap()
        };
        (params.not_before, params.not_after) = (at(leaf.begins), at(leaf.begins + 10));
        params.subject_alt_names = vec![SanType::URI(leaf.subject.try_into().unwrap())];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if leaf.signs_code {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        }
        let fulcio = |number, content| {
            CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 57264, 1, number], content)
        };
        if let Some(issuer) = leaf.issuer {
            // A UTF8String (X.690, 8.23).
            let mut content = vec![0x0c, u8::try_from(issuer.len()).unwrap()];
            content.extend(issuer.as_bytes());
            params.custom_extensions.push(fulcio(8, content));
        }
        if let Some(issuer) = leaf.issuer_v1 {
            params
                .custom_extensions
                .push(fulcio(1, issuer.as_bytes().to_vec()));
        }
        let der = params.signed_by(&key.pair, &self.issuer).unwrap().der().to_vec();
        Signer { key, der }
    }

    /// An entry with promise and proof, as a bundle holds it.
    pub(super) fn entry(&self, kind: &str, body: &Value) -> Value {
        let body = body.to_string().into_bytes();
        let id = sha256(self.log.public().as_bytes());
        let time = self.now.as_second();
        let promised = json!({
            "body": encoded(&body), "integratedTime": time, "logID": hex::encode(id.as_bytes()), "logIndex": 0,
        });
        // One leaf is its own root (RFC 6962, 2.1).
        let root = sha256(&[&[0], body.as_slice()].concat());
        let note = format!("{LOG} - 1\n1\n{}\n", encoded(root.as_bytes()));
        let mut signature = id.as_bytes()[..4].to_vec();
        signature.extend(STANDARD.decode(self.log.sign(note.as_bytes())).unwrap());
        json!({
            "logIndex": "0",
            "logId": {"keyId": encoded(id.as_bytes())},
            "kindVersion": {"kind": kind, "version": "0.0.1"},
            "integratedTime": time.to_string(),
            "inclusionPromise": {"signedEntryTimestamp": self.log.sign(promised.to_string().as_bytes())},
            "inclusionProof": {
                "logIndex": "0", "rootHash": encoded(root.as_bytes()), "treeSize": "1", "hashes": [],
                "checkpoint": {"envelope": format!("{note}\n\u{2014} {LOG} {}\n", encoded(&signature))},
            },
            "canonicalizedBody": encoded(&body),
        })
    }

    /// A bundle with a statement, as cosign attaches it.
    pub(super) fn bundle(&self, signer: &Signer, statement: &Value) -> Value {
        let payload = statement.to_string().into_bytes();
        let signature = signer.key.sign(&pae(&payload));
        let envelope = json!({
            "payload": encoded(&payload), "payloadType": IN_TOTO, "signatures": [{"sig": signature, "keyid": ""}],
        });
        let body = json!({
            "apiVersion": "0.0.1", "kind": "dsse",
            "spec": {
                "envelopeHash": hash(envelope.to_string().as_bytes()),
                "payloadHash": hash(&payload),
                "signatures": [{"signature": signature, "verifier": encoded(pem(&signer.der).as_bytes())}],
            },
        });
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": encoded(&signer.der)},
                "tlogEntries": [self.entry("dsse", &body)],
                "timestampVerificationData": {"rfc3161Timestamps": []},
            },
            "dsseEnvelope": envelope,
        })
    }

    /// The annotations of a layer under cosign's tag.
    pub(super) fn annotations(
        &self,
        signer: &Signer,
        payload: &[u8],
    ) -> std::collections::BTreeMap<String, String> {
        let signature = signer.key.sign(payload);
        let body = json!({
            "apiVersion": "0.0.1", "kind": "hashedrekord",
            "spec": {
                "data": {"hash": hash(payload)},
                "signature": {"content": signature, "publicKey": {"content": encoded(pem(&signer.der).as_bytes())}},
            },
        });
        let entry = self.entry("hashedrekord", &body);
        let log = STANDARD
            .decode(entry["logId"]["keyId"].as_str().unwrap())
            .unwrap();
        let bundle = json!({
            "SignedEntryTimestamp": entry["inclusionPromise"]["signedEntryTimestamp"],
            "Payload": {
                "body": entry["canonicalizedBody"],
                "integratedTime": self.now.as_second(),
                "logIndex": 0,
                "logID": hex::encode(log),
            },
        });
        [
            ("dev.cosignproject.cosign/signature", signature),
            ("dev.sigstore.cosign/certificate", pem(&signer.der)),
            ("dev.sigstore.cosign/chain", pem(&self.authority)),
            ("dev.sigstore.cosign/bundle", bundle.to_string()),
        ]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .collect()
    }
}

/// A statement of this predicate type about an artifact.
pub(super) fn statement(predicate_type: &str, artifact: Digest) -> Value {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"sha256": artifact.hex()}}],
        "predicateType": predicate_type,
        "predicate": {},
    })
}

/// The payload under cosign's tag.
pub(super) fn payload(artifact: Digest) -> Vec<u8> {
    let payload = json!({
        "critical": {
            "identity": {"docker-reference": "registry.example/app"},
            "image": {"docker-manifest-digest": artifact.to_string()},
            "type": "cosign container image signature",
        },
        "optional": null,
    });
    payload.to_string().into_bytes()
}

fn pae(payload: &[u8]) -> Vec<u8> {
    sigstore_types::pae(IN_TOTO, payload)
}

fn hash(bytes: &[u8]) -> Value {
    json!({"algorithm": "sha256", "value": hex::encode(sha256(bytes).as_bytes())})
}

fn pem(der: &[u8]) -> String {
    sigstore_types::DerCertificate::new(der.to_vec()).to_pem()
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
