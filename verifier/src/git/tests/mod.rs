//! Tables of `testdata/git`: objects and keys by git, gpg and ssh-keygen, whose own word stands beside ours.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::*;
use crate::Verdict;

mod made;
mod properties;

/// A file of `testdata/git`.
fn file(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/git")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Kind, id and bytes of the objects, by name.
fn objects() -> BTreeMap<String, (String, ObjectId, Vec<u8>)> {
    let list = String::from_utf8(file("objects.txt")).unwrap();
    let read = |line: &str| {
        let [name, kind, id] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let id = ObjectId::from_hex(id.as_bytes()).unwrap();
        (
            name.to_owned(),
            (kind.to_owned(), id, file(&format!("objects/{name}"))),
        )
    };
    list.lines().map(read).collect()
}

/// The cells of a table's lines, without comments.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(file(name)).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect();
    lines.map(cells).collect()
}

fn mode(name: &str) -> SignedObject {
    match name {
        "Head" => SignedObject::Head,
        "Tag" => SignedObject::Tag,
        "TagAndHead" => SignedObject::TagAndHead,
        other => panic!("{other}"),
    }
}

fn day(text: &str) -> Timestamp {
    let date: Date = if text == "-" { "20240601" } else { text }.parse().unwrap();
    date.to_zoned(TimeZone::UTC).unwrap().timestamp()
}

/// `commit<tag<tag@ref`.
fn judged(cells: &[String]) -> Verdict {
    let (objects, [_, tip, keys, mode_name, committers, now, ..]) = (objects(), cells) else {
        panic!("{cells:?}");
    };
    let keys =
        GitKeys::parse(&file(&format!("keys/{keys}"))).unwrap_or_else(|error| panic!("{cells:?}: {error}"));
    let committers = committers
        .split(' ')
        .filter(|one| *one != "-")
        .map(str::to_owned)
        .collect();
    let policy = GitPolicy::new(mode(mode_name), keys, committers).unwrap();
    let (names, reference) = tip
        .split_once('@')
        .map_or((tip.as_str(), None), |(names, of)| (names, Some(of)));
    let named: Vec<Object<'_>> = names
        .split('<')
        .map(|name| objects.get(name).unwrap_or_else(|| panic!("{name}")))
        .map(|(_, id, bytes)| Object { id: *id, bytes })
        .collect();
    for inner in named.iter().skip(2) {
        let found = Object::inner_tag(inner.bytes, inner.id.kind()).unwrap();
        assert_eq!(found.id, inner.id);
    }
    let tip = Tip {
        reference,
        commit: named[0],
        tags: &named[1..],
    };
    policy.check(&tip, day(now))
}

/// A policy in the mode `Head` without committers.
fn policy(keys: &str) -> GitPolicy {
    let keys = GitKeys::parse(&file(keys)).unwrap();
    GitPolicy::new(SignedObject::Head, keys, Vec::new()).unwrap()
}

/// The object's own id.
fn id_of(kind: &str, bytes: &[u8], hash: gix_hash::Kind) -> ObjectId {
    let mut hasher = gix_hash::hasher(hash);
    hasher.update(format!("{kind} {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    hasher.try_finalize().unwrap()
}

/// What a policy says of a commit of those bytes, by its own id.
fn said(policy: &GitPolicy, bytes: &[u8], now: Timestamp) -> String {
    let id = id_of("commit", bytes, gix_hash::Kind::Sha1);
    let tip = Tip {
        reference: None,
        commit: Object { id, bytes },
        tags: &[],
    };
    policy
        .check(&tip, now)
        .refusal()
        .unwrap_or_else(|| "satisfied".to_owned())
}

#[test]
fn every_tip_of_the_table_is_judged_as_the_table_says() {
    let (mut count, mut wrong) = (0, Vec::new());
    for cells in table("cases.txt") {
        count += 1;
        let verdict = judged(&cells);
        let said = verdict.refusal().unwrap_or_else(|| {
            let details: Vec<&str> = verdict
                .requirements
                .iter()
                .map(|one| one.detail.as_str())
                .collect();
            format!("satisfied: {}", details.join("; "))
        });
        let expected = &cells[6];
        let matches = match expected.strip_prefix("satisfied") {
            Some(rest) => said.starts_with("satisfied") && said.contains(rest.trim_start_matches(": ")),
            None => !said.starts_with("satisfied") && said.contains(expected.as_str()),
        };
        if !matches {
            wrong.push(format!("{}: {said}", cells[0]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count > 100, "{count}");
}

#[test]
fn where_we_and_git_differ_the_table_says_why() {
    for cells in table("cases.txt") {
        let ours = cells[6].starts_with("satisfied");
        let gits = cells[7] == "good";
        assert_eq!(ours != gits, cells.len() > 8, "{cells:?}");
    }
}

#[test]
fn every_file_of_keys_is_taken_or_refused_as_the_table_says() {
    let mut count = 0;
    for cells in table("keys.txt") {
        count += 1;
        let found = match GitKeys::parse(&file(&format!("keys/{}", cells[0]))) {
            Ok(_) => "taken".to_owned(),
            Err(error) => format!("{:?} {} {error}", error.class(), error.code()),
        };
        assert!(
            found.starts_with(&cells[1]) && found.contains(&cells[2]),
            "{cells:?}: {found}"
        );
    }
    assert!(count > 25, "{count}");
}

#[test]
fn an_object_that_is_not_what_was_asked_for_is_refused_whatever_its_signature() {
    let (policy, objects) = (policy("keys/alice.asc"), objects());
    let (_, _, bytes) = &objects["alice"];
    let (_, other, _) = &objects["alice-other"];
    let id = id_of("tag", bytes, gix_hash::Kind::Sha1);
    for id in [*other, id, gix_hash::Kind::Sha256.null()] {
        let tip = Tip {
            reference: None,
            commit: Object { id, bytes },
            tags: &[],
        };
        let verdict = policy.check(&tip, day("-"));
        let names: Vec<_> = verdict
            .requirements
            .iter()
            .map(|one| (one.name, one.satisfied))
            .collect();
        assert_eq!(names, [("object", false)]);
        let refusal = verdict.refusal().unwrap();
        assert!(refusal.contains("and not what was asked for"), "{refusal}");
    }
}

#[test]
fn a_verdict_lists_every_requirement_and_what_is_not_kept_is_an_error() {
    let objects = objects();
    let [commit, tag] = ["alice", "tag-bob"].map(|name| {
        let (_, id, bytes) = &objects[name];
        Object { id: *id, bytes }
    });
    let tags = [tag];
    let tip = Tip {
        reference: Some("refs/tags/v1-bob"),
        commit,
        tags: &tags,
    };
    let keys = GitKeys::parse(&file("keys/alice.asc")).unwrap();
    let committers = vec!["alice@example.com".to_owned()];
    let policy = GitPolicy::new(SignedObject::TagAndHead, keys, committers).unwrap();
    let verdict = policy.check(&tip, day("-"));
    let names: Vec<_> = verdict
        .requirements
        .iter()
        .map(|one| (one.name, one.satisfied))
        .collect();
    let expected = [
        ("object", true),
        ("tag", true),
        ("tag_signature", false),
        ("tagger", false),
        ("commit_signature", true),
        ("committer", true),
    ];
    assert_eq!(names, expected);
}

#[test]
fn keys_are_known_by_their_bytes() {
    let bytes = file("keys/alice.asc");
    let digest = ptah_contract::digest::Digest::of(&bytes);
    assert_eq!(GitKeys::parse(&bytes).unwrap().digest(), digest);
    let huge = [&bytes[..], &vec![b'\n'; MAX_KEYS_BYTES]].concat();
    assert_eq!(GitKeys::parse(&huge).unwrap_err(), Error::TooLarge);
}

#[test]
fn an_address_that_matches_nobody_makes_no_policy() {
    let keys = GitKeys::parse(&file("keys/alice.asc")).unwrap();
    for odd in [
        "",
        " ",
        "alice@example.com ",
        "Alice <alice@example.com>",
        "a\tb",
        "a@b\n",
    ] {
        let committers = vec!["alice@example.com".to_owned(), odd.to_owned()];
        let error = GitPolicy::new(SignedObject::Head, keys.clone(), committers).unwrap_err();
        assert_eq!(error, Error::Committer(odd.to_owned()));
    }
}
