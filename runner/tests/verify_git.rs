//! `ptah-runner verify git` and `resolve git --verification` as a person uses them, against `git http-backend` and with
//! signatures of git and ssh-keygen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use ptah_sources_tests::git_http;
use ptah_sources_tests::https::Site;
use ptah_sources_tests::repo::{Repo, environment};
use ptah_sources_tests::signing::{ADA, Signer};
use ptah_sources_tests::tls::{CA, Flaw};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Ran {
    /// Exit status and the last line of standard error.
    fn failure(&self) -> (i32, &str) {
        (self.status, self.err.lines().last().unwrap_or_default())
    }
}

/// A repository on a server: `main` is signed, `unsigned` is not; `v1` is a signed tag of the first, `v2` of the second.
struct Stage {
    _root: TempDir,
    repo: Repo,
    site: Site,
    home: TempDir,
    signer: Signer,
    signed: String,
    unsigned: String,
}

impl Stage {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let repo = Repo::init(root.path(), "app.git");
        let signer = Signer::new();
        signer.signs_in(&repo);
        let signed = repo.signed_commit(&[("db/a.sql", "1")]);
        repo.git(&["tag", "-s", "-m", "x", "v1"]);
        repo.git(&["branch", "signed"]);
        let unsigned = repo.commit(&[("db/a.sql", "2")]);
        repo.git(&["tag", "-s", "-m", "x", "v2"]);
        repo.git(&["branch", "unsigned"]);
        let handler = git_http::handler(root.path(), git_http::Options::default());
        let site = Site::start(Some(CA.server(Flaw::None)), handler).await;
        let home = tempfile::tempdir().unwrap();
        let stage = Self {
            _root: root,
            repo,
            site,
            home,
            signer,
            signed,
            unsigned,
        };
        stage.write("ca.crt", CA.pem());
        stage.write("team/allowed_signers", stage.signer.allowed(ADA));
        for mode in ["Head", "Tag", "TagAndHead"] {
            stage.write(&format!("{mode}.yaml"), verification(mode, ""));
        }
        stage
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let at = self.home.path().join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    fn run(&self, what: &str, more: &[&str]) -> Ran {
        let url = self.site.url("127.0.0.1", "/app.git");
        let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
            .args([what, "git", &url, "--ca", "ca.crt"])
            .args(more)
            .current_dir(self.home.path())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ran {
            status: output.status.code().unwrap(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    fn resolve(&self, reference: &str, more: &[&str]) -> Ran {
        self.run("resolve", &[&["--ref", reference, "--path", "db"], more].concat())
    }
}

fn verification(mode: &str, more: &str) -> String {
    format!("mode: {mode}\nkeysFrom: {{name: team, key: allowed_signers}}\n{more}")
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_says_of_each_requirement_what_it_found() {
    let stage = Stage::new().await;
    let (signed, unsigned) = (stage.signed.as_str(), stage.unsigned.as_str());
    stage.write(
        "a43.yaml",
        verification("TagAndHead", "committers: [grace@team.test]\n"),
    );
    stage.write(
        "ours.yaml",
        verification("TagAndHead", &format!("committers: [{ADA}]\n")),
    );
    for (commit, tag, file, expected) in [
        (signed, None, "Head", "object commit_signature"),
        (signed, Some("v1"), "Head", "object commit_signature"),
        (signed, Some("v1"), "Tag", "object tag tag_signature"),
        (
            signed,
            Some("refs/tags/v1"),
            "TagAndHead",
            "object tag tag_signature commit_signature",
        ),
        (unsigned, Some("v2"), "Tag", "object tag tag_signature"),
        (
            signed,
            Some("v1"),
            "ours",
            "object tag tag_signature tagger commit_signature committer",
        ),
        (unsigned, None, "Head", "object !commit_signature"),
        (
            unsigned,
            Some("v2"),
            "TagAndHead",
            "object tag tag_signature !commit_signature",
        ),
        (signed, None, "Tag", "object !tag !tag_signature"),
        // A43: the key is trusted, and Ada is not who is listed.
        (
            signed,
            Some("v1"),
            "a43",
            "object tag tag_signature !tagger commit_signature !committer",
        ),
    ] {
        let file = format!("{file}.yaml");
        let mut arguments = vec!["--commit", commit, "--verification", &file];
        arguments.extend(tag.map(|tag| ["--tag", tag]).iter().flatten());
        let ran = stage.run("verify", &arguments);
        let verdict: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{arguments:?}: {}", ran.err));
        let found = verdict["requirements"].as_array().unwrap().iter().map(|one| {
            let mark = if one["satisfied"] == true { "" } else { "!" };
            format!("{mark}{}", one["name"].as_str().unwrap())
        });
        assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{arguments:?}");
        let refused = expected.contains('!');
        let word = if refused { "refused" } else { "satisfied" };
        assert_eq!(verdict["verdict"], json!(word), "{arguments:?}");
        let (status, line) = ran.failure();
        match refused {
            true => assert!(
                status == 77 && line.starts_with("error: commit_signature_refused: "),
                "{}",
                ran.err
            ),
            false => assert_eq!((status, line), (0, ""), "{arguments:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_that_leads_elsewhere_is_refused_before_any_signature_is_looked_at() {
    let stage = Stage::new().await;
    let asked = [
        "--commit",
        &stage.signed,
        "--tag",
        "v2",
        "--verification",
        "Tag.yaml",
    ];
    let ran = stage.run("verify", &asked);
    let told = format!(
        "error: commit_differs: the tag leads to {}, and not to the commit that is named",
        stage.unsigned
    );
    assert_eq!((ran.failure(), ran.out.as_str()), ((77, told.as_str()), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_reached_is_no_verdict() {
    let stage = Stage::new().await;
    let unknown = "0".repeat(40);
    let (signed, head) = (stage.signed.as_str(), ["--verification", "Head.yaml"]);
    for (arguments, status, code) in [
        (vec!["--commit", signed, "--tag", "v9"], 65, "ref_not_found"),
        (vec!["--commit", signed, "--tag", "a..b"], 65, "invalid_ref"),
        (vec!["--commit", &unknown], 77, "commit_not_allowed"),
        (vec![], 64, ""),
    ] {
        let ran = stage.run("verify", &[&arguments[..], &head].concat());
        assert_eq!(
            (ran.status, ran.out.as_str()),
            (status, ""),
            "{arguments:?}: {}",
            ran.err
        );
        let begins = ran.err.starts_with(&format!("error: {code}: "));
        assert!(code.is_empty() || begins, "{arguments:?}: {}", ran.err);
    }
    let nobody = ["verify", "git", "https://127.0.0.1:1/app.git", "--commit", signed];
    let ran = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args([&nobody[..], &head].concat())
        .current_dir(stage.home.path())
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(75), &b""[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn resolve_hands_nothing_on_of_what_is_not_signed_as_it_is_asked_for() {
    let stage = Stage::new().await;
    for (reference, mode, refusal) in [
        ("signed", "Head", None),
        ("v1", "TagAndHead", None),
        ("v2", "Tag", None),
        (
            "unsigned",
            "Head",
            Some("commit_signature: the commit is not signed"),
        ),
        (
            "v2",
            "TagAndHead",
            Some("commit_signature: the commit is not signed"),
        ),
        ("signed", "Tag", Some("tag: the ref names no tag object")),
    ] {
        let out = format!("out-{reference}-{mode}");
        let file = format!("{mode}.yaml");
        let ran = stage.resolve(reference, &["--verification", &file, "--out", &out]);
        let written = stage.home.path().join(&out).join("a.sql").exists();
        let Some(why) = refusal else {
            assert_eq!(ran.failure(), (0, ""), "{reference}, {mode}");
            let found: Value = serde_json::from_str(&ran.out).unwrap();
            let commit = if reference == "v2" {
                &stage.unsigned
            } else {
                &stage.signed
            };
            assert_eq!(
                (&found["commit"], written),
                (&json!(commit), true),
                "{reference}, {mode}"
            );
            continue;
        };
        let (status, line) = ran.failure();
        assert_eq!(
            (status, ran.out.as_str(), written),
            (77, "", false),
            "{reference}, {mode}: {line}"
        );
        assert!(
            line.starts_with("error: commit_signature_refused: ") && line.contains(why),
            "{line}"
        );
    }
}

/// The same sentence and status from both, before anything is asked of a server.
#[tokio::test(flavor = "multi_thread")]
async fn a_verification_that_cannot_be_used_is_refused_with_what_is_wrong_in_it() {
    let stage = Stage::new().await;
    stage.write("team/empty", "# nobody\n");
    stage.write("team/private", "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    for (document, code, told) in [
        (
            verification("Head", "other: 1\n"),
            "verification_malformed",
            "unknown field `other`",
        ),
        (
            verification("Both", ""),
            "verification_malformed",
            "unknown variant `Both`",
        ),
        (
            "mode: Head\n".to_owned(),
            "verification_malformed",
            "missing field `keysFrom`",
        ),
        (
            verification("Head", "").replace("key: ", "more: 1, key: "),
            "verification_malformed",
            "unknown field `more`",
        ),
        (
            verification("Head", "").replace("name: team", "name: nobody"),
            "commit_keys_unreadable",
            "\"nobody/allowed_signers\" cannot be read",
        ),
        (
            verification("Head", "").replace("allowed_signers", "empty"),
            "",
            "nobody would be trusted",
        ),
        (
            verification("Head", "").replace("allowed_signers", "private"),
            "",
            "begins a secret key",
        ),
        (verification("Head", "committers: ['']\n"), "", "committers"),
        (
            verification("Head", "committers: []\n"),
            "verification_malformed",
            "committers names nobody",
        ),
    ] {
        stage.write("odd.yaml", &document);
        let resolved = stage.resolve("signed", &["--verification", "odd.yaml"]);
        let verified = stage.run(
            "verify",
            &["--commit", &stage.signed, "--verification", "odd.yaml"],
        );
        for ran in [&resolved, &verified] {
            let (status, line) = ran.failure();
            assert_eq!((status, ran.out.as_str()), (65, ""), "{document}: {}", ran.err);
            assert!(
                line.starts_with(&format!("error: {code}")) && line.contains(told),
                "{document}: {line}"
            );
        }
        assert_eq!(resolved.err, verified.err);
    }
    let ran = stage.resolve("signed", &["--verification", "nothing.yaml"]);
    let told = "error: verification_unreadable: the verification \"nothing.yaml\" cannot be read: ";
    assert!(ran.status == 65 && ran.err.starts_with(told), "{}", ran.err);
    assert_eq!(stage.site.seen().len(), 0, "nobody was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_policy_that_requires_verification_is_satisfied_by_one() {
    let stage = Stage::new().await;
    stage.write("policy.yaml", "version: 1\ngit: {requireVerification: true}\n");
    let policy = ["--source-policy", "policy.yaml"];
    let (with, out) = (["--verification", "Head.yaml"], ["--out", "out"]);
    let without = stage.resolve("signed", &policy);
    let told = "error: source_policy_refused: git.requireVerification of the source policy is set";
    assert!(
        without.status == 77 && without.failure().1.starts_with(told),
        "{}",
        without.err
    );
    assert_eq!(stage.site.seen().len(), 0, "nobody was asked");
    let refused = stage.resolve("unsigned", &[&policy[..], &with, &out].concat());
    assert!(
        refused
            .failure()
            .1
            .starts_with("error: commit_signature_refused: "),
        "{}",
        refused.err
    );
    assert_eq!(
        stage
            .resolve("signed", &[&policy[..], &with, &out].concat())
            .failure(),
        (0, "")
    );

    // A later fetch is of what was verified when it was recorded; asking for both is a misunderstanding.
    let digest = format!("sha256:{}", "0".repeat(64));
    let later = ["--commit", &stage.signed, "--content-digest", &digest];
    assert_eq!(stage.resolve("signed", &[&with[..], &later].concat()).status, 64);
}

#[tokio::test(flavor = "multi_thread")]
async fn help_of_verify_git_shows_an_example_that_works_as_it_stands() {
    let stage = Stage::new().await;
    let help = stage.run("verify", &["--help"]);
    assert_eq!(help.status, 0);
    let (_, example) = help.out.split_once("Example:\n").unwrap();
    // Whose home it is, and the server, are ours.
    let url = stage.site.url("127.0.0.1", "/app.git");
    let script = example
        .replace("https://git.example/team/application.git", &url)
        .replace(
            "ptah-runner verify git",
            &format!("{} verify git --ca ca.crt", env!("CARGO_BIN_EXE_ptah-runner")),
        )
        .replace("me@example.com", ADA);
    stage.write(".ssh/id_ed25519.pub", stage.signer.public());
    stage.repo.git(&["symbolic-ref", "HEAD", "refs/heads/signed"]);
    let ran = Command::new("sh")
        .args(["-ec", &script])
        .current_dir(stage.home.path())
        .env_clear()
        .envs(environment())
        .env("HOME", stage.home.path())
        .env("GIT_DIR", stage.repo.path() as &Path)
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{script}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(String::from_utf8(ran.stdout).unwrap().contains("\"satisfied\""));
}
