//! Signatures with certificates of a minted instance, and faults in everything that says whose they are and when they
//! were made. (Time stamps of RFC 3161, certificate logs and Rekor's second version: the conformance suite.)

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::artifact::{ArtifactDescription, Found, SIMPLE_SIGNING};
use ptah_contract::digest::Digest;
use ptah_verifier::{PolicyDocument, Root};
use serde_json::{Value, json};

use super::mint::{ISSUER, Leaf, SUBJECT, Sigstore, encoded, payload, statement};
use super::{Row, artifact, attachment};

const SIGN: &str = "https://sigstore.dev/cosign/sign/v1";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const ALGORITHM: &str = "keyless";

/// A fault: what it is called, how its refusal goes on, and what it does to the world.
struct Fault {
    name: &'static str,
    /// Where it can be: a bundle, cosign's tag, or both.
    layouts: &'static [&'static str],
    /// What the refusal holds; `None` when it has to be accepted.
    why: Option<&'static str>,
    make: fn(&mut World),
}

/// Everything that a fault may be in.
struct World {
    sigstore: Sigstore,
    leaf: Leaf,
    artifact: Digest,
    /// What the signature is about.
    signed: Digest,
    predicate_type: &'static str,
    edit_bundle: fn(&mut Value),
    edit_layer: fn(&mut std::collections::BTreeMap<String, String>, &mut Vec<u8>),
    edit_root: fn(&mut Value),
    identity: Value,
    root: Option<Sigstore>,
    /// Whether the authority's own certificate was valid when it signed.
    ended_authority: bool,
    beside: bool,
}

const BOTH: &[&str] = &["bundle", "tag"];

fn faults() -> Vec<Fault> {
    let fault = |name, layouts, why, make| Fault {
        name,
        layouts,
        why,
        make,
    };
    vec![
        fault("none", BOTH, None, |_| {}),
        fault("a subject by its pattern", BOTH, None, |world| {
            world.identity = json!({"issuer": ISSUER, "subject_pattern": "^https://ci\\.example/team/[a-z]+/release\\.yml@.*$"});
        }),
        fault(
            "another subject",
            BOTH,
            Some(
                "signed by \"https://ci.example/team/app/release.yml@refs/heads/main\" of \"https://issuer.example\", whom this authority does not name",
            ),
            |world| {
                world.identity =
                    json!({"issuer": ISSUER, "subject": "https://ci.example/team/app/release.yml"});
            },
        ),
        fault(
            "another issuer",
            BOTH,
            Some("whom this authority does not name"),
            |world| {
                world.identity = json!({"issuer": "https://issuer.example/", "subject": SUBJECT});
            },
        ),
        fault(
            "a pattern that covers a part",
            BOTH,
            Some("whom this authority does not name"),
            |world| {
                world.identity =
                    json!({"issuer": ISSUER, "subject_pattern": "^https://ci.example/team/app$"});
            },
        ),
        fault(
            "two issuers that disagree",
            BOTH,
            Some("its certificate names two issuers that disagree"),
            |world| {
                world.leaf.issuer_v1 = Some("https://other.example");
            },
        ),
        fault("an issuer of the first kind alone", BOTH, None, |world| {
            world.leaf.issuer = None
        }),
        fault(
            "no issuer",
            BOTH,
            Some("its certificate names no issuer"),
            |world| {
                (world.leaf.issuer, world.leaf.issuer_v1) = (None, None);
            },
        ),
        fault(
            "another artifact's signature",
            &["bundle"],
            Some("its statement is about something else"),
            |world| {
                world.signed = Digest::of(b"other");
            },
        ),
        fault(
            "another artifact's signature",
            &["tag"],
            Some("its payload is about another artifact"),
            |world| {
                world.signed = Digest::of(b"other");
            },
        ),
        fault(
            "another statement",
            &["bundle"],
            Some("a statement of \"https://slsa.dev/provenance/v1\""),
            |world| {
                world.predicate_type = "https://slsa.dev/provenance/v1";
            },
        ),
        fault(
            "altered payload",
            &["bundle"],
            Some("DSSE signature verification failed"),
            |world| {
                world.edit_bundle = |bundle| {
                    let payload = bundle["dsseEnvelope"]["payload"].as_str().unwrap();
                    let mut payload = STANDARD.decode(payload).unwrap();
                    payload.push(b' ');
                    bundle["dsseEnvelope"]["payload"] = json!(encoded(&payload));
                };
            },
        ),
        fault("altered payload", &["tag"], Some("invalid signature"), |world| {
            world.edit_layer = |_, payload| payload.push(b' ');
        }),
        fault(
            "altered signature",
            &["bundle"],
            Some("DSSE signature verification failed"),
            |world| {
                world.edit_bundle = |bundle| flip(&mut bundle["dsseEnvelope"]["signatures"][0]["sig"]);
            },
        ),
        fault(
            "altered signature",
            &["tag"],
            Some("invalid signature"),
            |world| {
                world.edit_layer = |annotations, _| {
                    let signature = annotations.get_mut("dev.cosignproject.cosign/signature").unwrap();
                    let mut value = json!(signature);
                    flip(&mut value);
                    *signature = value.as_str().unwrap().to_owned();
                };
            },
        ),
        fault(
            "a certificate of another authority",
            BOTH,
            Some("certificate chain"),
            |world| {
                world.edit_root = |root| {
                    let other = Sigstore::new().root(|_| {});
                    let other: Value = serde_json::from_slice(&other).unwrap();
                    root["certificateAuthorities"] = other["certificateAuthorities"].clone();
                };
            },
        ),
        fault(
            "a certificate that may not sign code",
            BOTH,
            Some("certificate chain"),
            |world| world.leaf.signs_code = false,
        ),
        fault(
            "a certificate that had ended",
            BOTH,
            Some("CertExpired"),
            |world| world.leaf.begins = -60,
        ),
        fault(
            "a certificate that had not begun",
            BOTH,
            Some("CertNotValidYet"),
            |world| world.leaf.begins = 30,
        ),
        fault(
            "an authority whose time had ended",
            BOTH,
            Some("no trusted certificate authority"),
            |world| {
                world.edit_root = |root| {
                    root["certificateAuthorities"][0]["validFor"]["end"] = json!("2021-01-01T00:00:00Z")
                };
            },
        ),
        fault("a log whose time had ended", BOTH, Some("log"), |world| {
            world.edit_root =
                |root| root["tlogs"][0]["publicKey"]["validFor"]["end"] = json!("2021-01-01T00:00:00Z");
        }),
        fault(
            "a certificate that no log has",
            BOTH,
            Some("signed certificate timestamp"),
            |world| {
                world.edit_root = |root| root["ctlogs"] = Sigstore::certificate_log();
            },
        ),
        fault(
            "a forged time",
            &["bundle"],
            Some("SET verification failed"),
            |world| {
                world.edit_bundle = |bundle| {
                    let time = &mut entry(bundle)["integratedTime"];
                    let seconds: i64 = time.as_str().unwrap().parse().unwrap();
                    *time = json!((seconds + 1).to_string());
                };
            },
        ),
        fault(
            "a forged time",
            &["tag"],
            Some("SET verification failed"),
            |world| {
                world.edit_layer = |annotations, _| {
                    edit_entry(annotations, |entry| {
                        let time = entry["Payload"]["integratedTime"].as_i64().unwrap();
                        entry["Payload"]["integratedTime"] = json!(time + 1);
                    })
                };
            },
        ),
        fault("a promise of another log", &["tag"], Some("log"), |world| {
            world.root = Some(Sigstore::new())
        }),
        fault(
            "no promise and no time stamp",
            &["bundle"],
            Some("No verified timestamp found"),
            |world| {
                world.edit_bundle = |bundle| {
                    entry(bundle).as_object_mut().unwrap().remove("inclusionPromise");
                };
            },
        ),
        fault(
            "a broken proof",
            &["bundle"],
            Some("invalid inclusion proof"),
            |world| {
                world.edit_bundle =
                    |bundle| entry(bundle)["inclusionProof"]["hashes"] = json!([encoded(&[7; 32])]);
            },
        ),
        fault(
            "no proof",
            &["bundle"],
            Some("must have an inclusion proof"),
            |world| {
                world.edit_bundle = |bundle| {
                    entry(bundle).as_object_mut().unwrap().remove("inclusionProof");
                };
            },
        ),
        fault(
            "a checkpoint of another log",
            &["bundle"],
            Some("checkpoint"),
            |world| {
                world.edit_bundle = |bundle| {
                    let other = Sigstore::new();
                    let body = entry(bundle)["canonicalizedBody"].as_str().unwrap().to_owned();
                    let body: Value = serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
                    let foreign = other.entry("dsse", &body);
                    entry(bundle)["inclusionProof"]["checkpoint"] =
                        foreign["inclusionProof"]["checkpoint"].clone();
                };
            },
        ),
        fault("no log entry", &["bundle"], Some("inclusion proof"), |world| {
            world.edit_bundle = |bundle| bundle["verificationMaterial"]["tlogEntries"] = json!([]);
        }),
        fault("no log entry", &["tag"], Some("inclusion proof"), |world| {
            world.edit_layer = |annotations, _| {
                annotations.remove("dev.sigstore.cosign/bundle");
            };
        }),
        fault(
            "an entry of another signature",
            &["bundle"],
            Some("does not match"),
            |world| {
                world.edit_bundle = |bundle| {
                    // The same statement, signed once more by the same certificate's key would do; another's entry is simplest.
                    bundle["verificationMaterial"]["tlogEntries"] = bundle["other"].take();
                };
            },
        ),
        fault(
            "no layer at all",
            &["bundle"],
            Some("holds no Sigstore bundle"),
            |world| {
                world.edit_bundle = |bundle| *bundle = Value::Null;
            },
        ),
        fault("a bad one beside a good one", BOTH, None, |world| {
            world.beside = true
        }),
        fault(
            "a bundle of an unknown version",
            &["bundle"],
            Some("Invalid media type"),
            |world| {
                world.edit_bundle =
                    |bundle| bundle["mediaType"] = json!("application/vnd.dev.sigstore.bundle.v9+json");
            },
        ),
        fault(
            "two signatures in one envelope",
            &["bundle"],
            Some("exactly one signature"),
            |world| {
                world.edit_bundle = |bundle| {
                    let signatures = &mut bundle["dsseEnvelope"]["signatures"];
                    let first = signatures[0].clone();
                    signatures.as_array_mut().unwrap().push(first);
                };
            },
        ),
        fault(
            "a key where a certificate is asked for",
            &["bundle"],
            Some("signed with a key and not with a certificate"),
            |world| {
                world.edit_bundle = |bundle| {
                    let material = bundle["verificationMaterial"].as_object_mut().unwrap();
                    material.remove("certificate");
                    material.insert("publicKey".to_owned(), json!({"hint": ""}));
                };
            },
        ),
        fault(
            "a key where a certificate is asked for",
            &["tag"],
            Some("signed with a key and not with a certificate"),
            |world| {
                world.edit_layer = |annotations, _| {
                    annotations.remove("dev.sigstore.cosign/certificate");
                };
            },
        ),
        fault(
            "a root without a log and without time stamps",
            BOTH,
            Some("it has neither a transparency log (tlogs) nor a timestamp authority"),
            |world| {
                world.edit_root = |root| root["tlogs"] = json!([]);
            },
        ),
        fault(
            "a root without a certificate authority",
            BOTH,
            Some("it has no certificate authority (certificateAuthorities)"),
            |world| {
                world.edit_root = |root| root["certificateAuthorities"] = json!([]);
            },
        ),
        fault(
            "a root with an unknown key",
            BOTH,
            Some("its key \"ctLogs\" is not known"),
            |world| {
                world.edit_root = |root| root["ctLogs"] = Sigstore::certificate_log();
            },
        ),
        fault(
            "a root of an unknown version",
            BOTH,
            Some("its mediaType is none of"),
            |world| {
                world.edit_root =
                    |root| root["mediaType"] = json!("application/vnd.dev.sigstore.trustedroot.v9+json");
            },
        ),
        fault(
            "an authority whose certificate had ended",
            BOTH,
            Some("no trusted certificate authority"),
            |world| world.ended_authority = true,
        ),
        fault(
            "a log entry of megabytes",
            &["tag"],
            Some("it has a log entry that cannot be read"),
            |world| {
                world.edit_layer = |annotations, _| {
                    edit_entry(annotations, |entry| {
                        entry["Payload"]["integratedTime"] = json!("x".repeat(1 << 20));
                    })
                };
            },
        ),
        fault(
            "a root that is none",
            BOTH,
            Some("it is no trusted root that is understood"),
            |world| {
                world.edit_root = |root| *root = json!([]);
            },
        ),
    ]
}

fn entry(bundle: &mut Value) -> &mut Value {
    &mut bundle["verificationMaterial"]["tlogEntries"][0]
}

fn edit_entry(annotations: &mut std::collections::BTreeMap<String, String>, edit: impl FnOnce(&mut Value)) {
    let text = annotations.get_mut("dev.sigstore.cosign/bundle").unwrap();
    let mut entry: Value = serde_json::from_str(text).unwrap();
    edit(&mut entry);
    *text = entry.to_string();
}

fn flip(text: &mut Value) {
    let mut bytes = STANDARD.decode(text.as_str().unwrap()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    *text = json!(encoded(&bytes));
}

pub(super) fn rows() -> Vec<Row> {
    judged().into_iter().map(|(row, _)| row).collect()
}

fn judged() -> Vec<(Row, Option<&'static str>)> {
    let mut rows = Vec::new();
    for fault in faults() {
        for layout in fault.layouts {
            let artifact = Digest::of(b"manifest");
            let mut world = World {
                sigstore: Sigstore::new(),
                leaf: Leaf::default(),
                artifact,
                signed: artifact,
                predicate_type: SIGN,
                edit_bundle: |_| {},
                edit_layer: |_, _| {},
                edit_root: |_| {},
                identity: json!({"issuer": ISSUER, "subject": SUBJECT}),
                root: None,
                ended_authority: false,
                beside: false,
            };
            (fault.make)(&mut world);
            let row = Row {
                algorithm: ALGORITHM.to_owned(),
                layout: (*layout).to_owned(),
                fault: fault.name.to_owned(),
                refusal: world.judge(layout),
                cosign: None,
            };
            rows.push((row, fault.why));
        }
    }
    rows
}

impl World {
    fn judge(&self, layout: &str) -> Option<String> {
        let policy = json!({"version": 1, "signatures": [{"name": "ci", "keyless": {
            "trusted_root_from": {"name": "root", "key": "trusted_root.json"},
            "identities": [self.identity],
        }}]});
        let root = self.root.as_ref().unwrap_or(&self.sigstore);
        let ended = self.ended_authority.then(|| self.sigstore.ended_authority());
        let root = Root {
            reference: serde_json::from_value(json!({"name": "root", "key": "trusted_root.json"})).unwrap(),
            uid: "u-1".to_owned(),
            bytes: root.root(|root| {
                if let Some(ended) = &ended {
                    root["certificateAuthorities"][0]["certChain"]["certificates"] =
                        json!([{"rawBytes": encoded(ended)}]);
                }
                (self.edit_root)(root);
            }),
        };
        let document = PolicyDocument::parse(policy.to_string().as_bytes()).unwrap();
        match document.bind(&[root]) {
            Ok(policy) => policy.check(&self.artifact(layout)).refusal(),
            Err(error) => Some(error.to_string()),
        }
    }

    fn artifact(&self, layout: &str) -> ArtifactDescription {
        let signer = self.sigstore.certify(&self.leaf);
        let attached = if layout == "bundle" {
            let statement = statement(self.predicate_type, self.signed);
            let mut bundle = self.sigstore.bundle(&signer, &statement);
            let other = self.sigstore.bundle(&signer, &statement);
            bundle["other"] = other["verificationMaterial"]["tlogEntries"].clone();
            (self.edit_bundle)(&mut bundle);
            let mut bundles = vec![bundle];
            if self.beside {
                let mut bad = other;
                flip(&mut bad["dsseEnvelope"]["signatures"][0]["sig"]);
                bundles.insert(0, bad);
            }
            let attach = |mut bundle: Value| {
                if let Some(bundle) = bundle.as_object_mut() {
                    bundle.remove("other");
                }
                let layer = (
                    BUNDLE.to_owned(),
                    Default::default(),
                    bundle.to_string().into_bytes(),
                );
                attachment(
                    Found::Referrers,
                    BUNDLE,
                    Some(layer).filter(|_| !bundle.is_null()),
                )
            };
            bundles.into_iter().map(attach).collect()
        } else {
            let mut payload = payload(self.signed);
            let mut annotations = self.sigstore.annotations(&signer, &payload);
            (self.edit_layer)(&mut annotations, &mut payload);
            let good = (SIMPLE_SIGNING.to_owned(), annotations, payload);
            let mut layers = vec![good.clone()];
            if self.beside {
                let mut bad = good;
                bad.2.push(b' ');
                layers.insert(0, bad);
            }
            vec![attachment(Found::SignatureTag, "", layers)]
        };
        artifact(self.artifact, attached)
    }
}

#[test]
fn b29_b31_b32_f16_every_signature_by_certificate_gets_its_verdict_and_every_refusal_its_reason() {
    let mut wrong = Vec::new();
    for (row, why) in judged() {
        let Row {
            layout,
            fault,
            refusal,
            ..
        } = row;
        let as_said = match (why, &refusal) {
            (None, None) => true,
            // However long what is wrong is, what is said of it is a message.
            (Some(why), Some(refusal)) => refusal.contains(why) && refusal.len() < 2048,
            _ => false,
        };
        if !as_said {
            wrong.push(format!("{fault}, {layout}: {refusal:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A key's own signature beside the certificate's: neither kind of authority takes the other's.
#[test]
fn a_key_does_not_vouch_for_what_its_owner_signed_with_a_certificate() {
    let sigstore = Sigstore::new();
    let digest = Digest::of(b"manifest");
    let signer = sigstore.certify(&Leaf::default());
    let bundle = sigstore.bundle(&signer, &statement(SIGN, digest)).to_string();
    let layer = (BUNDLE.to_owned(), Default::default(), bundle.into_bytes());
    let described = artifact(digest, vec![attachment(Found::Referrers, BUNDLE, [layer])]);
    let policy = json!({"version": 1, "signatures": [{"name": "k", "key": signer.key.pem()}]});
    let policy = ptah_verifier::Policy::parse(policy.to_string().as_bytes()).unwrap();
    let refusal = policy.check(&described).refusal().unwrap();
    assert!(
        refusal.contains("signed with a certificate and not with a key"),
        "{refusal}"
    );
}

#[test]
fn an_attestation_holds_when_every_authority_that_it_names_states_it() {
    let sigstore = Sigstore::new();
    let digest = Digest::of(b"manifest");
    let predicate = "https://slsa.dev/provenance/v1";
    let other = "https://ci.example/other";
    let bundle = |subject, predicate_type| {
        let signer = sigstore.certify(&Leaf {
            subject,
            ..Leaf::default()
        });
        let bundle = sigstore.bundle(&signer, &statement(predicate_type, digest));
        let layer = (
            BUNDLE.to_owned(),
            Default::default(),
            bundle.to_string().into_bytes(),
        );
        attachment(Found::Referrers, BUNDLE, [layer])
    };
    let authority = |name: &str, subject: &str| {
        json!({"name": name, "keyless": {
            "trusted_root_from": {"name": "root", "key": "r"},
            "identities": [{"issuer": ISSUER, "subject": subject}],
        }})
    };
    let policy = json!({
        "version": 1,
        "authorities": [authority("ci", SUBJECT), authority("review", other)],
        "attestations": [{"predicate_type": predicate, "authorities": ["ci", "review"]}],
    });
    let root = Root {
        reference: serde_json::from_value(json!({"name": "root", "key": "r"})).unwrap(),
        uid: String::new(),
        bytes: sigstore.root(|_| {}),
    };
    let document = PolicyDocument::parse(policy.to_string().as_bytes()).unwrap();
    let policy = document.bind(&[root]).unwrap();
    for (attached, refused) in [
        (vec![(SUBJECT, predicate), (other, predicate)], None),
        (vec![(SUBJECT, predicate)], Some("\"review\" does not state it")),
        (vec![(other, predicate)], Some("\"ci\" does not state it")),
        (
            vec![(SUBJECT, predicate), (other, SIGN)],
            Some("a signature and no such statement"),
        ),
        (
            vec![(SUBJECT, predicate), (other, "https://spdx.dev/Document")],
            Some("a statement of \"https://spdx.dev/Document\""),
        ),
        (vec![], Some("nothing is attached")),
    ] {
        let described = artifact(
            digest,
            attached
                .iter()
                .map(|(subject, kind)| bundle(*subject, *kind))
                .collect(),
        );
        let refusal = policy.check(&described).refusal();
        match refused {
            None => assert_eq!(refusal, None),
            Some(why) => assert!(
                refusal.as_ref().is_some_and(|found| found.contains(why)),
                "{attached:?}: {refusal:?}"
            ),
        }
    }
}

/// The digest that is recorded covers the roots: their bytes, and which objects held them.
#[test]
fn a_root_that_is_replaced_is_a_policy_that_is_replaced() {
    let policy = json!({"version": 1, "signatures": [{"name": "ci", "keyless": {
        "trusted_root_from": {"name": "root", "key": "r"},
        "identities": [{"issuer": ISSUER, "subject": SUBJECT}],
    }}]});
    let bytes = policy.to_string().into_bytes();
    let digest = |uid: &str, root: &[u8]| {
        let root = Root {
            reference: serde_json::from_value(json!({"name": "root", "key": "r"})).unwrap(),
            uid: uid.to_owned(),
            bytes: root.to_vec(),
        };
        PolicyDocument::parse(&bytes)
            .unwrap()
            .bind(&[root])
            .unwrap()
            .digest()
    };
    let sigstore = Sigstore::new();
    let root = sigstore.root(|_| {});
    let other = Sigstore::new().root(|_| {});
    let expected = json!({"policy": Digest::of(&bytes).hex(), "roots": [
        {"digest": Digest::of(&root).to_string(), "key": "r", "name": "root", "uid": "u-1"},
    ]});
    assert_eq!(digest("u-1", &root), Digest::of(expected.to_string().as_bytes()));
    assert_ne!(digest("u-1", &root), digest("u-2", &root));
    assert_ne!(digest("u-1", &root), digest("u-1", &other));
}
