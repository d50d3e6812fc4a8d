//! What holds for all bytes.

use gix_hash::Kind;
use proptest::prelude::*;

use super::*;

/// Tips that are satisfied as they are: object, keys, type.
const GOOD: [(&str, &str, &str); 9] = [
    ("alice", "alice.asc", "commit"),
    ("bob", "bob.asc", "commit"),
    ("carol", "carol.asc", "commit"),
    ("nist", "nist.asc", "commit"),
    ("textmode", "alice.asc", "commit"),
    ("ssh-ed25519", "ed25519.signers", "commit"),
    ("ssh-rsa", "rsa.signers", "commit"),
    ("ssh-sk-1", "sk.signers", "commit"),
    ("tag-alice", "alice.asc", "tag"),
];

/// What the policy says of the object, by the id of what it is now.
fn judge(kind: &str, keys: &str, bytes: &[u8]) -> Verdict {
    let keys = GitKeys::parse(&file(&format!("keys/{keys}"))).unwrap();
    let (mode, commit_bytes) = match kind {
        "commit" => (SignedObject::Head, bytes.to_vec()),
        _ => (SignedObject::Tag, objects()["alice"].2.clone()),
    };
    let tag = Object {
        id: id_of("tag", bytes, Kind::Sha1),
        bytes,
    };
    let tags = if kind == "tag" { vec![tag] } else { Vec::new() };
    let commit = Object {
        id: id_of("commit", &commit_bytes, Kind::Sha1),
        bytes: &commit_bytes,
    };
    let tip = Tip {
        reference: Some("refs/tags/v1"),
        commit,
        tags: &tags,
    };
    GitPolicy::new(mode, keys, Vec::new())
        .unwrap()
        .check(&tip, day("-"))
}

#[test]
fn the_samples_are_satisfied_as_they_are() {
    for (name, keys, kind) in GOOD {
        let verdict = judge(kind, keys, &objects()[name].2);
        assert_eq!(verdict.refusal(), None, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Even when the id is that of the altered object, as a server that lies would have it.
    #[test]
    fn a_byte_changed_anywhere_is_never_satisfied(sample in 0..GOOD.len(), at in any::<prop::sample::Index>(), flip in 1u8..) {
        let (name, keys, kind) = GOOD[sample];
        let mut bytes = objects()[name].2.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        // A blank in the place of the last line feed, behind the armor, says nothing either.
        prop_assume!(bytes.trim_ascii_end() != objects()[name].2.trim_ascii_end());
        let verdict = judge(kind, keys, &bytes);
        prop_assert!(!verdict.is_satisfied(), "{name} at {at} with {flip}");
    }

    #[test]
    fn a_line_put_in_or_taken_out_is_never_satisfied(sample in 0..GOOD.len(), at in any::<prop::sample::Index>(), line in "[ -~]{1,20}", take in any::<bool>()) {
        let (name, keys, kind) = GOOD[sample];
        let text = String::from_utf8(objects()[name].2.clone()).unwrap();
        let mut lines: Vec<&str> = text.split('\n').collect();
        let at = at.index(lines.len());
        let taken = if take { lines.remove(at) } else { "" };
        if !take {
            lines.insert(at, &line);
        }
        let changed = lines.join("\n");
        // A line feed behind the armor says nothing, nor does a checksum that is missing, nor an armor's header.
        prop_assume!(changed.trim_end() != text.trim_end() && !line.contains(':'));
        prop_assume!(!taken.trim_start().starts_with('='));
        prop_assert!(!judge(kind, keys, changed.as_bytes()).is_satisfied(), "{name} at {at}: {changed}");
    }

    #[test]
    fn no_bytes_make_the_reader_of_keys_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let _ = GitKeys::parse(&bytes);
    }

    #[test]
    fn no_packets_make_the_reader_of_keys_panic(at in any::<prop::sample::Index>(), flip in 1u8.., cut in any::<prop::sample::Index>()) {
        for name in ["keys/one-block.gpg", "keys/carol-no-back-signature.gpg"] {
            let mut bytes = file(name);
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let _ = GitKeys::parse(&bytes);
            let _ = GitKeys::parse(&bytes[..cut.index(bytes.len())]);
        }
    }

    #[test]
    fn no_line_makes_the_reader_of_allowed_signers_panic(options in "[a-zA-Z=\",\\\\!*Z0-9 -]{0,40}", principals in "[a-z@,!*?\"]{0,12}") {
        let key = String::from_utf8(file("keys/ed25519.signers")).unwrap();
        let (_, key) = key.split_once(' ').unwrap();
        let line = format!("{principals} {options} {key}");
        if let Ok(keys) = GitKeys::parse(line.as_bytes()) {
            let policy = GitPolicy::new(SignedObject::Head, keys, vec!["alice@example.com".to_owned()]).unwrap();
            let _ = said(&policy, &objects()["ssh-ed25519"].2, day("-"));
        }
    }

    #[test]
    fn no_object_makes_the_check_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for kind in ["commit", "tag"] {
            prop_assert!(!judge(kind, "alice.asc", &bytes).is_satisfied());
        }
    }

    #[test]
    fn no_signature_makes_the_check_panic(packets in prop::collection::vec(any::<u8>(), 1..200), first in prop::sample::select(vec![0xc2u8, 0x88, 0x89, 0x53])) {
        use base64::Engine as _;
        let plain = String::from_utf8(file("objects/unsigned")).unwrap();
        let (head, body) = plain.split_once("\n\n").unwrap();
        for (label, blank, keys) in [("PGP", " \n", "several.asc"), ("SSH", "", "ed25519.signers")] {
            let first = if label == "SSH" { b"SSHSIG\0\0\0\x01".to_vec() } else { vec![first] };
            let base64 = base64::engine::general_purpose::STANDARD.encode([first, packets.clone()].concat());
            let armor = format!("-----BEGIN {label} SIGNATURE-----\n{blank} {base64}\n -----END {label} SIGNATURE-----");
            let commit = format!("{head}\ngpgsig {armor}\n\n{body}");
            prop_assert!(!judge("commit", keys, commit.as_bytes()).is_satisfied());
        }
    }
}
