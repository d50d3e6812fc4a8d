//! Signatures of Git, and the keys that they are held to.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gix_hash::{Kind, ObjectId};
use ptah_contract::commit::SignedObject;
use ptah_verifier::git::{GitKeys, GitPolicy, Object, Tip};

use crate::{bounded, first_line};

/// A commit without a signature; `@` is where one would stand.
const PLAIN: &str = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\
    author Alice <alice@example.com> 1704110400 +0000\n\
    committer Alice <alice@example.com> 1704110400 +0000\n@\nA change\n";

static OPENPGP: LazyLock<GitPolicy> = LazyLock::new(|| {
    let keys = include_bytes!("../../verifier/testdata/git/keys/several.asc");
    policy(GitKeys::parse(keys).expect("keys of the tests"))
});
static SSH: LazyLock<GitPolicy> = LazyLock::new(|| {
    let keys = include_bytes!("../../verifier/testdata/git/keys/several.signers");
    policy(GitKeys::parse(keys).expect("keys of the tests"))
});

fn policy(keys: GitKeys) -> GitPolicy {
    let committers = vec!["alice@example.com".to_owned()];
    GitPolicy::new(SignedObject::TagAndHead, keys, committers).expect("an address")
}

fn id(kind: &str, bytes: &[u8]) -> ObjectId {
    let mut hasher = gix_hash::hasher(Kind::Sha1);
    hasher.update(format!("{kind} {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    hasher.try_finalize().expect("no collision")
}

/// Checks a tip, whose verdict and refusal agree and are bounded.
fn check(policy: &GitPolicy, commit: &[u8], tag: Option<&[u8]>) -> bool {
    let tag = tag.map(|bytes| Object {
        id: id("tag", bytes),
        bytes,
    });
    let tip = Tip {
        reference: Some("refs/tags/v1"),
        commit: Object {
            id: id("commit", commit),
            bytes: commit,
        },
        tags: tag.as_slice(),
    };
    let verdict = policy.check(&tip, "2024-06-01T00:00:00Z".parse().expect("a time"));
    assert!(!verdict.requirements.is_empty());
    assert_eq!(verdict.is_satisfied(), verdict.refusal().is_none());
    verdict.refusal().iter().for_each(|refusal| bounded(refusal));
    verdict
        .requirements
        .iter()
        .any(|one| one.name.ends_with("_signature") && one.satisfied)
}

/// Keys that are read never take a commit that nobody signed.
pub fn git_keys(data: &[u8]) {
    match GitKeys::parse(data) {
        Ok(keys) => assert!(!check(&policy(keys), PLAIN.replace('@', "").as_bytes(), None)),
        Err(error) => bounded(&error),
    }
}

/// A commit, or a tag behind a line `tag`, is judged without a fault.
pub fn git_object(data: &[u8]) {
    let (commit, tag) = match first_line(data) {
        (b"tag", tag) => (PLAIN.replace('@', "").into_bytes(), Some(tag)),
        _ => (data.to_vec(), None),
    };
    for policy in [&*OPENPGP, &*SSH] {
        let _ = check(policy, &commit, tag);
    }
}

/// No bytes are a signature of a commit that nobody signed, by OpenPGP or by SSH.
pub fn git_signature(data: &[u8]) {
    let base64 = STANDARD.encode(data);
    for (policy, label, blank) in [(&*OPENPGP, "PGP", " \n"), (&*SSH, "SSH", "")] {
        let armor = format!(
            "gpgsig -----BEGIN {label} SIGNATURE-----\n{blank} {base64}\n -----END {label} SIGNATURE-----\n"
        );
        assert!(!check(policy, PLAIN.replace('@', &armor).as_bytes(), None));
    }
}
