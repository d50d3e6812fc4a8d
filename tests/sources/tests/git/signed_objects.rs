//! Objects that git, gpg and ssh-keygen signed (`verifier/testdata/git`), served by a real server in repositories of either
//! hash: what is fetched for a verifier is what was signed, byte for byte.

use ptah_contract::commit::{CommitVerification as _, SignedObject};
use ptah_resolver::git;
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::table::rows;
use ptah_verifier::CommitPolicy;

use crate::support::{Server, attempt};

/// Repository, the objects from the commit to the outermost tag, the ref, keys, mode, and what the verdict says.
const TABLE: &str = "\
sha1 | alice | refs/heads/main | alice.asc | Head | of \"Alice <alice@example.com>\"
sha1 | bob | refs/heads/main | several.asc | Head | of \"Bob <bob@example.com>\"
sha1 | carol | refs/heads/main | carol.asc | Head | of \"Carol <carol@example.com>\"
sha1 | alice | refs/heads/main | bob.asc | Head | ! which is not among the trusted keys
sha1 | altered-message | refs/heads/main | alice.asc | Head | ! does not match what it is on
sha1 | dora-after | refs/heads/main | dora.asc | Head | ! expired at 2023-01-01T
sha1 | alice | refs/heads/main | ed25519.signers | Head | ! its signature is of OpenPGP, and the keys are of SSH
sha1 | ssh-rsa | refs/heads/main | rsa.signers | Head | the commit is signed by
sha1 | ssh-ecdsa256 | refs/heads/main | ecdsa256.signers | Head | the commit is signed by
sha1 | ssh-ed25519 ssh-tag | refs/tags/v-ssh | ed25519.signers | TagAndHead | the tag is signed by
sha1 | ssh-ed25519 ssh-tag | refs/tags/v-other | ed25519.signers | TagAndHead | ! the tag calls itself \"v-ssh\"
sha256 | sha256-alice | refs/heads/main | alice.asc | Head | of \"Alice <alice@example.com>\"
sha256 | sha256-ssh | refs/heads/main | ed25519.signers | Head | the commit is signed by
sha256 | sha256-altered | refs/heads/main | alice.asc | Head | ! does not match what it is on
sha256 | sha256-alice sha256-tag | refs/tags/v1 | alice.asc | TagAndHead | the tag is signed by
";

fn stored(folder: &str, name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../verifier/testdata/git");
    std::fs::read(format!("{root}/{folder}/{name}")).unwrap()
}

/// Puts the objects in and points the ref at the last of them. Their tree is the empty one.
fn fill(repo: &Repo, objects: &str, reference: &str) {
    repo.hash("tree", b"");
    let mut last = String::new();
    for (number, name) in objects.split(' ').enumerate() {
        let kind = if number == 0 { "commit" } else { "tag" };
        last = repo.hash(kind, &stored("objects", name));
    }
    repo.git(&["update-ref", reference, &last]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_signed_is_what_is_fetched_whoever_signed_it_and_in_either_hash() {
    let server = Server::start().await;
    for (line, [format, objects, reference, keys, mode, expected]) in rows(TABLE) {
        let name = format!("{line}.git");
        let repo = Repo::with_format(server.root.path(), &name, format);
        fill(&repo, objects, reference);
        let mode = match mode {
            "Head" => SignedObject::Head,
            _ => SignedObject::TagAndHead,
        };
        let policy = CommitPolicy::new(mode, Vec::new(), &stored("keys", keys), String::new()).unwrap();
        let tip = git::fetch_tip(&server.request(&name, reference, "."), &attempt()).await;
        let verdict = policy.judge(&tip.unwrap().tip()).map(|said| said.join("; "));
        let (found, expected) = match expected.strip_prefix("! ") {
            Some(why) => (verdict.as_ref().err(), why),
            None => (verdict.as_ref().ok(), expected),
        };
        assert!(
            found.is_some_and(|found| found.contains(expected)),
            "line {line}: {verdict:?}"
        );
    }
}
