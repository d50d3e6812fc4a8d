//! Signatures that gpg does not make, made with the library by a key that gpg made; and a key of version 6.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgp::composed::{Deserializable as _, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Notation, PacketTrait as _, SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{Duration, Fingerprint, KeyDetails as _, KeyId, Password, Timestamp as PgpTime};

use super::*;

/// 1 January 2024.
const MADE: u32 = 1_704_067_200;

fn secret(name: &str) -> SignedSecretKey {
    SignedSecretKey::from_armor_single(&file(name)[..]).unwrap().0
}

/// What gpg says in a signature.
fn usual(key: &SignedSecretKey) -> Vec<SubpacketData> {
    vec![
        SubpacketData::IssuerFingerprint(key.fingerprint()),
        SubpacketData::SignatureCreationTime(PgpTime::from_secs(MADE)),
    ]
}

fn critical(data: Vec<SubpacketData>) -> Vec<Subpacket> {
    data.into_iter()
        .map(|data| Subpacket::critical(data).unwrap())
        .collect()
}

/// A commit with that signature of it.
fn commit(config: SignatureConfig, key: &SignedSecretKey) -> Vec<u8> {
    let plain = file("objects/unsigned");
    let signature = config.sign(&key.primary_key, &Password::empty(), &plain[..]);
    let mut bytes = Vec::new();
    signature.unwrap().to_writer_with_header(&mut bytes).unwrap();
    with(&bytes)
}

/// The commit with those packets as its signature.
fn with(packets: &[u8]) -> Vec<u8> {
    let plain = String::from_utf8(file("objects/unsigned")).unwrap();
    let (head, body) = plain.split_once("\n\n").unwrap();
    let base64 = STANDARD.encode(packets);
    let armor = format!("-----BEGIN PGP SIGNATURE-----\n \n {base64}\n -----END PGP SIGNATURE-----");
    format!("{head}\ngpgsig {armor}\n\n{body}").into_bytes()
}

fn version_4(kind: SignatureType, subpackets: Vec<Subpacket>) -> SignatureConfig {
    let mut config = SignatureConfig::v4(kind, PublicKeyAlgorithm::EdDSALegacy, HashAlgorithm::Sha256);
    config.hashed_subpackets = subpackets;
    config
}

#[test]
fn a_signature_that_gpg_does_not_make_is_judged_by_its_form() {
    let (policy, key) = (policy("keys/maker.asc"), secret("keys/maker-secret.asc"));
    let id = SubpacketData::IssuerKeyId(key.legacy_key_id());
    let other_id = SubpacketData::IssuerKeyId(KeyId::from([7; 8]));
    let other = SubpacketData::IssuerFingerprint(Fingerprint::V4([7; 20]));
    let time = |seconds| SubpacketData::SignatureCreationTime(PgpTime::from_secs(seconds));
    let until = |seconds| SubpacketData::SignatureExpirationTime(Duration::from_secs(seconds));
    let notation = SubpacketData::Notation(Notation {
        readable: true,
        name: "a@b".into(),
        value: "c".into(),
    });
    let beside = |more: &[SubpacketData]| [usual(&key), more.to_vec()].concat();
    let binary = |data| version_4(SignatureType::Binary, critical(data));
    let cases = [
        (binary(beside(&[])), "satisfied"),
        (binary(beside(std::slice::from_ref(&id))), "satisfied"),
        (binary(vec![id.clone(), time(MADE)]), "satisfied"),
        (binary(beside(&[until(0)])), "satisfied"),
        (
            binary(beside(&[until(1)])),
            "its signature expired at 2024-01-01T00:00:01Z",
        ),
        (
            binary(beside(&[SubpacketData::SignersUserID("anybody".into())])),
            "satisfied",
        ),
        (version_4(SignatureType::Text, critical(beside(&[]))), "satisfied"),
        (binary(vec![id.clone()]), "does not say when it was made"),
        (binary(vec![time(MADE)]), "does not say who made it"),
        (
            binary(beside(&[time(MADE)])),
            "says when it was made more than once",
        ),
        (
            binary(beside(&[until(1), until(0)])),
            "says when it expires more than once",
        ),
        (
            binary(beside(&[other_id])),
            "names two different keys as its maker",
        ),
        (
            binary(beside(std::slice::from_ref(&other))),
            "names two different keys as its maker",
        ),
        (
            binary(vec![other, time(MADE)]),
            "0707070707070707070707070707070707070707, which is not among",
        ),
        (
            binary(beside(&[SubpacketData::PolicyURI("https://example.com".into())])),
            "demands an understanding of the subpacket PolicyURI",
        ),
        (
            binary(beside(&[notation])),
            "demands an understanding of a notation",
        ),
        (
            binary(vec![id.clone(), time(0)]),
            "was made at 2020-01-01T12:00:00Z, after the signature",
        ),
        (binary(vec![id, time(MADE * 2)]), "which is in the future"),
    ];
    for (config, expected) in cases {
        let shown = format!("{config:?}");
        let said = said(&policy, &commit(config, &key), day("-"));
        let matches = if expected == "satisfied" {
            said == expected
        } else {
            said.contains(expected)
        };
        assert!(matches, "{expected}: {said}: {shown}");
    }
}

#[test]
fn a_clock_that_is_a_little_ahead_is_no_reason_to_refuse() {
    let (policy, key) = (policy("keys/maker.asc"), secret("keys/maker-secret.asc"));
    let made = commit(version_4(SignatureType::Binary, critical(usual(&key))), &key);
    let at = |seconds: u32| Timestamp::from_second(i64::from(seconds)).unwrap();
    assert_eq!(said(&policy, &made, at(MADE - 300)), "satisfied");
    assert!(said(&policy, &made, at(MADE - 301)).contains("in the future"));
}

#[test]
fn a_signature_of_another_version_of_no_document_or_with_unknown_demands_is_refused_for_that() {
    let (policy, key) = (policy("keys/maker.asc"), secret("keys/maker-secret.asc"));
    let config = version_4(SignatureType::Binary, critical(usual(&key)));
    let signature = config
        .sign(&key.primary_key, &Password::empty(), &b""[..])
        .unwrap();
    let mut body = Vec::new();
    signature.to_writer(&mut body).unwrap();
    let unknown = |kind: u8| {
        let data = [usual(&key), vec![SubpacketData::Other(kind, "x".into())]].concat();
        let data = data.into_iter().map(|data| Subpacket::regular(data).unwrap());
        let config = version_4(SignatureType::Binary, data.collect());
        let signature = config
            .sign(&key.primary_key, &Password::empty(), &b""[..])
            .unwrap();
        let mut body = Vec::new();
        signature.to_writer(&mut body).unwrap();
        // The library signs nothing critical that it does not know.
        let at = body
            .windows(3)
            .position(|three| three == [2, kind, b'x'])
            .unwrap();
        body[at + 1] |= 0x80;
        body
    };
    // Version 3: five bytes are hashed, then issuer, algorithms, the hash's first two bytes, and two numbers.
    let id = key.legacy_key_id();
    let version_3 = [
        &[3, 5, 0, 0, 0, 0, 1][..],
        id.as_ref(),
        &[22, 8, 0, 0, 0, 1, 1, 0, 1, 1],
    ]
    .concat();
    let kind = |kind: u8| {
        let mut body = body.clone();
        body[1] = kind;
        body
    };
    let version = |version: u8| {
        let mut body = body.clone();
        body[0] = version;
        body
    };
    for (body, expected) in [
        (version_3, "its signature is of version 3, only 4 and 6 count"),
        (unknown(99), "demands an understanding of the subpacket 99"),
        (unknown(101), "demands an understanding of the subpacket 101"),
        (version(5), "its signature is of version 5, only 4 and 6 count"),
        (kind(0x02), "of the type 0x02, and not of a document"),
        (kind(0x10), "of the type 0x10, and not of a document"),
        (kind(0x40), "of the type 0x40, and not of a document"),
    ] {
        let header = [0xc2, u8::try_from(body.len()).unwrap()];
        let said = said(&policy, &with(&[&header[..], &body].concat()), day("-"));
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn a_key_of_version_6_signs_with_signatures_of_version_6() {
    // RFC 9580, A.3 and A.4.
    let (policy, key) = (policy("rfc9580/certificate.asc"), secret("rfc9580/secret.asc"));
    let mut config = SignatureConfig::v6_with_salt(
        SignatureType::Binary,
        PublicKeyAlgorithm::Ed25519,
        HashAlgorithm::Sha512,
        vec![5; 32],
    );
    config.hashed_subpackets = critical(usual(&key));
    let made = commit(config, &key);
    assert_eq!(said(&policy, &made, day("-")), "satisfied");
    let altered = String::from_utf8(made).unwrap().replace("Nobody", "Someone");
    assert!(said(&policy, altered.as_bytes(), day("-")).contains("does not match what it is on"));
}
