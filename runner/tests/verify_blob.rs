//! `ptah-runner verify blob` as a person uses it, with bundles of the public Sigstore conformance suite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

use ptah_contract::digest::Digest;
use ptah_sources_tests::oci::cosign;
use serde_json::{Value, json};
use tempfile::TempDir;

const IDENTITY: &str = "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

/// Exit status, standard output, standard error.
fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(["verify", "blob"])
        .args(arguments)
        .current_dir(home)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn suite(name: &str) -> PathBuf {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../verifier/testdata/conformance");
    Path::new(suite).join(name)
}

/// A folder with a case's `bundle.json`, and with what the case signed as `a.txt`.
fn home(case: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let copy = |from: PathBuf, to: &str| std::fs::copy(from, home.path().join(to)).map(drop);
    copy(suite(case).join("bundle.sigstore.json"), "bundle.json").unwrap();
    copy(suite("a.txt"), "a.txt").unwrap();
    home
}

fn write(home: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    let at = home.path().join(name);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, text).unwrap();
}

fn keyless(subject: &str, root: Option<Value>) -> String {
    let mut keyless = json!({"identities": [{"issuer": ISSUER, "subject": subject}]});
    if let Some(root) = root {
        keyless["trusted_root_from"] = root;
    }
    json!({"version": 1, "signatures": [{"name": "ci", "keyless": keyless}]}).to_string()
}

fn keyed(case: &str) -> String {
    let key = std::fs::read_to_string(suite(case).join("key.pub")).unwrap();
    json!({"version": 1, "signatures": [{"name": "release-key", "key": key}]}).to_string()
}

fn common(content: &str) -> [&str; 5] {
    [content, "--bundle", "bundle.json", "--policy", "policy.yaml"]
}

#[test]
fn a_bundle_is_held_to_the_file_and_to_its_digest_with_the_same_verdict() {
    let digest = Digest::of(&std::fs::read(suite("a.txt")).unwrap()).to_string();
    let other = Digest::of(b"other").to_string();
    for (case, policy, content, refusal) in [
        ("happy-path-v0.3", keyless(IDENTITY, None), "a.txt", None),
        ("happy-path-v0.3", keyless(IDENTITY, None), &*digest, None),
        (
            "managed-key-happy-path",
            keyed("managed-key-happy-path"),
            "a.txt",
            None,
        ),
        (
            "managed-key-happy-path",
            keyed("managed-key-happy-path"),
            &digest,
            None,
        ),
        (
            "happy-path-v0.3",
            keyless("https://github.com/team/app", None),
            "a.txt",
            Some("\"ci\" did not sign it: the bundle: signed by \"https://github.com/sigstore-conformance/"),
        ),
        (
            "happy-path-v0.3",
            keyless(IDENTITY, None),
            "other.txt",
            Some("the bundle: "),
        ),
        (
            "happy-path-v0.3",
            keyless(IDENTITY, None),
            &other,
            Some("the bundle: "),
        ),
        (
            "managed-key-happy-path",
            keyed("managed-key-happy-path"),
            "other.txt",
            Some("the bundle: about another artifact"),
        ),
        (
            "managed-key-happy-path",
            cosign::policy(&cosign::case("bundle", "none").1),
            "a.txt",
            Some("\"release-key\" did not sign it: the bundle: not made with this key"),
        ),
        (
            "happy-path-v0.3",
            keyed("managed-key-happy-path"),
            "a.txt",
            Some("the bundle: signed with a certificate and not with a key"),
        ),
        (
            "bundle-unknown-version_fail",
            keyless(IDENTITY, None),
            "a.txt",
            Some("the bundle: no Sigstore bundle that is known: "),
        ),
        (
            "bundle-malformed-json_fail",
            keyless(IDENTITY, None),
            "a.txt",
            Some("the bundle: no Sigstore bundle that is known: "),
        ),
        (
            "happy-path-intoto-in-dsse-v3",
            keyless(IDENTITY, None),
            "a.txt",
            Some("the bundle: a statement of "),
        ),
    ] {
        let home = home(case);
        write(&home, "policy.yaml", &policy);
        write(&home, "other.txt", "other");
        let (status, out, err) = run(home.path(), &common(content));
        let verdict: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{case}: {err}"));
        let requirement = &verdict["requirements"][0];
        let detail = requirement["detail"].as_str().unwrap();
        let satisfied = refusal.is_none();
        let word = if satisfied { "satisfied" } else { "refused" };
        let expected = json!({"verdict": word, "requirements": [
            {"name": "signatures", "satisfied": satisfied, "detail": detail},
        ]});
        assert_eq!(verdict, expected, "{case} of {content}");
        match refusal {
            None => assert_eq!((status, err.as_str()), (0, ""), "{case} of {content}"),
            Some(why) => {
                assert!(detail.contains(why), "{case} of {content}: {detail}");
                assert_eq!(
                    (status, err),
                    (77, format!("error: policy_refused: signatures: {detail}\n"))
                );
            }
        }
    }
}

#[test]
fn a_trusted_root_is_the_one_that_is_given_else_the_one_beside_the_policy() {
    let case = "rekor2-happy-path";
    let root = std::fs::read(suite(case).join("trusted_root.json")).unwrap();
    let foreign = std::fs::read(suite("intoto-with-custom-trust-root").join("trusted_root.json")).unwrap();
    let home = home(case);
    let named = json!({"name": "sigstore-root", "key": "trusted_root.json"});
    // Not in the working folder: the root is looked for beside the policy.
    write(&home, "policies/signed.yaml", keyless(IDENTITY, Some(named)));
    let beside = "policies/sigstore-root/trusted_root.json";
    let judge = |more: &[&str]| {
        let common = [
            "a.txt",
            "--bundle",
            "bundle.json",
            "--policy",
            "policies/signed.yaml",
        ];
        run(home.path(), &[&common[..], more].concat())
    };
    let (status, out, err) = judge(&[]);
    assert_eq!((status, out.as_str()), (65, ""));
    let expected = format!("error: trusted_root_unreadable: the trusted root \"{beside}\" cannot be read: ");
    assert!(err.starts_with(&expected), "{err}");

    write(&home, beside, &root);
    assert_eq!(judge(&[]).0, 0);
    write(&home, "root.json", &root);
    write(&home, "foreign.json", &foreign);
    write(&home, "no-root.json", "{}");
    assert_eq!(judge(&["--trusted-root", "foreign.json"]).0, 77);
    std::fs::remove_file(home.path().join(beside)).unwrap();
    assert_eq!(judge(&["--trusted-root", "root.json"]).0, 0);
    for (given, code) in [
        ("no-root.json", "trusted_root_invalid"),
        ("nowhere.json", "trusted_root_unreadable"),
    ] {
        let (status, out, err) = judge(&["--trusted-root", given]);
        assert_eq!((status, out.as_str()), (65, ""), "{err}");
        assert!(err.starts_with(&format!("error: {code}: ")), "{err}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_one_whose_name_is_a_digest_is_a_file() {
    let home = home("managed-key-happy-path");
    write(&home, "policy.yaml", keyed("managed-key-happy-path"));
    for (arguments, what, file) in [
        (
            [
                "nothing.sql",
                "--bundle",
                "bundle.json",
                "--policy",
                "policy.yaml",
            ],
            "content",
            "nothing.sql",
        ),
        (
            ["sha256:xyz", "--bundle", "bundle.json", "--policy", "policy.yaml"],
            "content",
            "sha256:xyz",
        ),
        (
            ["a.txt", "--bundle", "nothing.json", "--policy", "policy.yaml"],
            "bundle",
            "nothing.json",
        ),
        (
            ["a.txt", "--bundle", "bundle.json", "--policy", "nothing.yaml"],
            "verification policy",
            "nothing.yaml",
        ),
    ] {
        let (status, out, err) = run(home.path(), &arguments);
        assert_eq!((status, out.as_str()), (65, ""), "{err}");
        let code = what.replace(' ', "_");
        let expected = format!("error: {code}_unreadable: the {what} {file:?} cannot be read: ");
        assert!(err.starts_with(&expected), "{err}");
    }
    assert_eq!(run(home.path(), &["a.txt", "--policy", "policy.yaml"]).0, 64);
    assert_eq!(run(home.path(), &["a.txt", "--bundle", "bundle.json"]).0, 64);

    let name = Digest::of(b"something else").to_string();
    assert_eq!(run(home.path(), &common(&name)).0, 77);
    write(&home, &name, std::fs::read(suite("a.txt")).unwrap());
    assert_eq!(run(home.path(), &common(&name)).0, 0);
}

#[test]
fn a_statement_counts_for_what_it_states_and_by_whom_it_is_made() {
    const PROVENANCE: &str = "https://slsa.dev/provenance/v1";
    let home = home("happy-path-intoto-in-dsse-v3");
    let judge = |predicate_type: &str, subject: &str, content: &str| {
        let identities = json!([{"issuer": ISSUER, "subject": subject}]);
        let policy = json!({
            "version": 1,
            "authorities": [{"name": "builder", "keyless": {"identities": identities}}],
            "attestations": [{"predicate_type": predicate_type, "authorities": ["builder"]}],
        });
        write(&home, "policy.yaml", policy.to_string());
        let (status, out, _) = run(home.path(), &common(content));
        let verdict: Value = serde_json::from_str(&out).unwrap();
        (
            status,
            verdict["requirements"][0]["detail"].as_str().unwrap().to_owned(),
        )
    };
    let (status, detail) = judge(PROVENANCE, IDENTITY, "a.txt");
    assert!(
        status == 0 && detail.contains("\"builder\" states it as "),
        "{detail}"
    );
    write(&home, "other.txt", "other");
    for (predicate_type, subject, content, why) in [
        (
            "https://spdx.dev/Document",
            IDENTITY,
            "a.txt",
            "the bundle: a statement of \"https://slsa.dev/provenance/v1\"",
        ),
        (
            PROVENANCE,
            "https://github.com/team/app",
            "a.txt",
            "whom this authority does not name",
        ),
        (
            PROVENANCE,
            IDENTITY,
            "other.txt",
            "the bundle: its statement is about something else",
        ),
    ] {
        let (status, detail) = judge(predicate_type, subject, content);
        assert!(status == 77 && detail.contains(why), "{detail}");
    }
}

/// What is asked of a manifest has no answer here, and is not passed over.
#[test]
fn a_policy_that_asks_about_a_manifest_refuses_a_file() {
    let home = home("managed-key-happy-path");
    let mut policy: Value = serde_json::from_str(&keyed("managed-key-happy-path")).unwrap();
    policy["artifact_types"] = json!(["application/sql"]);
    policy["require_digest_pin"] = json!(true);
    write(&home, "policy.yaml", policy.to_string());
    let (status, out, _) = run(home.path(), &common("a.txt"));
    assert_eq!(status, 77);
    let verdict: Value = serde_json::from_str(&out).unwrap();
    let found: Vec<_> = verdict["requirements"].as_array().unwrap().iter().collect();
    let found: Vec<_> = found
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["satisfied"] == true))
        .collect();
    assert_eq!(
        found,
        [
            ("require_digest_pin", false),
            ("artifact_types", false),
            ("signatures", true)
        ]
    );
}

#[test]
fn help_shows_an_example_whose_lines_of_ours_work_as_they_stand() {
    let home = home("managed-key-happy-path");
    let (status, help, _) = run(home.path(), &["--help"]);
    assert_eq!(status, 0);
    let (_, example) = help.split_once("Example:\n").unwrap();
    // cosign is not here: what its lines would have made is of the suite.
    std::fs::rename(home.path().join("a.txt"), home.path().join("schema.sql")).unwrap();
    std::fs::rename(
        home.path().join("bundle.json"),
        home.path().join("schema.sigstore.json"),
    )
    .unwrap();
    std::fs::copy(
        suite("managed-key-happy-path").join("key.pub"),
        home.path().join("cosign.pub"),
    )
    .unwrap();
    let (made, ours): (Vec<&str>, Vec<&str>) = example
        .lines()
        .partition(|line| line.trim().starts_with("cosign "));
    assert_eq!((made.len(), ours.len()), (2, 2), "{example}");
    let script = ours
        .join("\n")
        .replace("ptah-runner", env!("CARGO_BIN_EXE_ptah-runner"));
    let output = Command::new("sh")
        .args(["-ec", &script])
        .current_dir(home.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{script}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("\"satisfied\"")
    );
}
