//! `ptah-runner resolve git` as a person uses it, against `git http-backend` and `sshd`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptah_contract::digest::Digest;
use ptah_contract::resolution::Resolution;
use ptah_sources_tests::git_http;
use ptah_sources_tests::https::{Handler, Site, handler, response};
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::sshd::Sshd;
use ptah_sources_tests::tls::{CA, Flaw};
use tempfile::TempDir;

struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Ran {
    fn resolution(&self) -> Resolution {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{}", self.err);
        serde_json::from_str(&self.out).unwrap()
    }

    /// Exit status and the last line of standard error; standard output is empty after a failure.
    fn failure(&self) -> (i32, &str) {
        assert_eq!(self.out, "");
        (self.status, self.err.lines().last().unwrap_or_default())
    }
}

fn run(arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(["resolve", "git"])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let ran = Ran {
        status: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    };
    assert!(
        !ran.out.contains("hunter2") && !ran.err.contains("hunter2"),
        "{}{}",
        ran.out,
        ran.err
    );
    ran
}

/// A repository on a server that demands a credential, the CA file and the Secret's folder.
struct Stage {
    root: TempDir,
    repo: Repo,
    site: Site,
    folder: TempDir,
}

impl Stage {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let repo = Repo::init(root.path(), "app.git");
        repo.commit(&[
            ("db/a.sql", "CREATE TABLE a ();"),
            ("db/sub/b.sql", "b"),
            ("c", "c"),
        ]);
        let options = git_http::Options {
            demands: Some("Bearer hunter2".to_owned()),
            ..Default::default()
        };
        let site = Site::start(
            Some(CA.server(Flaw::None)),
            git_http::handler(root.path(), options),
        )
        .await;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.crt"), CA.pem()).unwrap();
        let stage = Self {
            root,
            repo,
            site,
            folder,
        };
        let host = format!("127.0.0.1:{}", stage.site.port());
        let ca = Digest::of(CA.pem()).to_string();
        stage.secret(&[("host", &host), ("caSHA256", &ca), ("bearerToken", "hunter2\n")]);
        stage
    }

    fn secret(&self, keys: &[(&str, &str)]) {
        let auth = self.folder.path().join("auth");
        let _ = std::fs::remove_dir_all(&auth);
        // As the kubelet mounts it: files are links into a folder of the current version.
        std::fs::create_dir_all(auth.join("..version")).unwrap();
        for (key, value) in keys {
            std::fs::write(auth.join("..version").join(key), value).unwrap();
            std::os::unix::fs::symlink(Path::new("..version").join(key), auth.join(key)).unwrap();
        }
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, more: &[&str]) -> Ran {
        let (url, ca, auth) = (
            self.site.url("127.0.0.1", "/app.git"),
            self.at("ca.crt"),
            self.at("auth"),
        );
        run(&[&[url.as_str(), "--ca", &ca, "--auth-dir", &auth], more].concat())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_resolved_written_and_fetched_again() {
    let stage = Stage::new().await;
    let tip = stage.repo.git(&["rev-parse", "main"]);
    let out = stage.at("out");
    let found = stage
        .run(&["--ref", "main", "--path", "db", "--out", &out])
        .resolution();
    assert_eq!(found.commit.as_deref(), Some(tip.as_str()));
    assert_eq!(
        (found.revision.as_str(), found.requested.as_str()),
        (tip.as_str(), "main")
    );
    assert_eq!(found.reference.as_deref(), Some("refs/heads/main"));
    assert_eq!((found.files, found.bytes, found.attempts), (2, 19, 1));
    assert!(found.is_consistent() && found.received > 100);
    assert_eq!(
        std::fs::read(stage.folder.path().join("out/sub/b.sql")).unwrap(),
        b"b"
    );
    let files = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(["resolve", "files", &out])
        .output()
        .unwrap();
    let files: Resolution = serde_json::from_slice(&files.stdout).unwrap();
    assert_eq!(
        files.content_digest, found.content_digest,
        "promise P061: the same whatever held the files"
    );
    stage.repo.commit(&[("db/a.sql", "CREATE TABLE b ();")]);
    let digest = found.content_digest.to_string();
    let later = [
        "--ref",
        "main",
        "--path",
        "db",
        "--commit",
        &tip,
        "--content-digest",
    ];
    let again = stage.at("again");
    let found = stage
        .run(&[later.as_slice(), &[&digest, "--out", &again]].concat())
        .resolution();
    assert_eq!(found.revision, tip);
    assert_eq!(
        std::fs::read(stage.folder.path().join("again/a.sql")).unwrap(),
        b"CREATE TABLE a ();"
    );
    let other = Digest::of(b"").to_string();
    let ran = stage.run(&[later.as_slice(), &[&other, "--out", &stage.at("third")]].concat());
    assert_eq!(
        ran.failure(),
        (
            77,
            format!("error: content_digest_mismatch: the content has digest {digest}, {other} was asked for")
                .as_str()
        )
    );
    let full = stage.run(&["--ref", "main", "--path", "db", "--out", &out]);
    assert_eq!(full.failure().0, 65, "{}", full.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_failure_is_one_line_and_an_exit_status() {
    let stage = Stage::new().await;
    let (ca, auth, host) = (
        stage.at("ca.crt"),
        stage.at("auth"),
        format!("127.0.0.1:{}", stage.site.port()),
    );
    let url = stage.site.url("127.0.0.1", "/app.git");
    let main = ["--ref", "main", "--path", "db"];
    let with = |first: &[&str]| run(&[first, main.as_slice()].concat());
    let cases = [
        (with(&["http://git.example/app.git"]), 77, "scheme_refused"),
        (
            with(&["https://ada@git.example/app.git"]),
            77,
            "credentials_in_url",
        ),
        (with(&["/srv/app.git"]), 65, "invalid_repository"),
        (with(&[&url, "--ca", &ca]), 65, "authentication_required"),
        (with(&[&url, "--ca", "/nonexistent"]), 65, "invalid_ca"),
        (with(&[&url, "--auth-dir", "/nonexistent"]), 65, "invalid_secret"),
        (with(&[&url, "--ca", &stage.at("auth/host")]), 65, "invalid_ca"),
        (with(&[&url, "--auth-dir", &auth]), 65, "invalid_secret"),
        (with(&[&url]), 65, "certificate_not_trusted"),
        (with(&["https://127.0.0.1:1/app.git"]), 75, "connection_failed"),
        (with(&["ssh://git@127.0.0.1:1/app.git"]), 65, "identity_missing"),
        (
            stage.run(&["--ref", "nothing", "--path", "db"]),
            65,
            "ref_not_found",
        ),
        (stage.run(&["--ref", "a..b", "--path", "db"]), 65, "invalid_ref"),
        (
            stage.run(&["--ref", "main", "--path", "nothing"]),
            65,
            "path_not_found",
        ),
        (
            stage.run(&["--ref", "main", "--path", "../db"]),
            77,
            "invalid_path",
        ),
        (
            stage.run(&["--ref", &"0".repeat(40), "--path", "db"]),
            77,
            "commit_not_allowed",
        ),
        (
            stage.run(&[&main[..], &["--verification", "x"]].concat()),
            65,
            "verification_unreadable",
        ),
        (
            stage.run(&[&main[..], &["--source-policy", "x"]].concat()),
            65,
            "source_policy_unreadable",
        ),
    ];
    for (ran, status, code) in cases {
        let (found, line) = ran.failure();
        assert_eq!(found, status, "{code}: {}", ran.err);
        assert!(
            line.starts_with(&format!("error: {code}: ")),
            "{code}: {}",
            ran.err
        );
    }
    stage.secret(&[("host", &host), ("bearerToken", "hunter2")]);
    assert_eq!(
        stage.run(&main).failure(),
        (
            65,
            "error: invalid_secret: Secret key caSHA256: it is missing, and a CA bundle is given; no credential is sent"
        )
    );
    let wrong = Digest::of(CA.pem()).to_string();
    stage.secret(&[
        ("host", &host),
        ("caSHA256", &wrong),
        ("bearerToken", "hunter2-wrong"),
    ]);
    let rejected = format!("error: authentication_failed: {host} rejects the credential");
    assert_eq!(stage.run(&main).failure(), (65, rejected.as_str()));
    for usage in [
        vec![url.as_str()],
        vec![url.as_str(), "--ref", "main"],
        vec![url.as_str(), "--ref", "main", "--path", "db", "--commit", "x"],
        vec![url.as_str(), "--ref", "main", "--path", "db", "--deadline", "0"],
    ] {
        assert_eq!(run(&usage).status, 64, "{usage:?}");
    }
    assert_eq!(with(&["https://u:hunter2@git.example/app.git"]).status, 64);
    drop(stage.root);
}

/// A server that is unavailable at first, and then answers so.
async fn unavailable_once(then: Handler) -> Site {
    let asked = AtomicUsize::new(0);
    let answers: Handler = Arc::new(move |request| {
        if asked.fetch_add(1, Ordering::Relaxed) == 0 {
            Box::pin(async { response(503, &[], "hunter2") })
        } else {
            then(request)
        }
    });
    Site::start(Some(CA.server(Flaw::None)), answers).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_passes_is_tried_again_as_often_as_asked() {
    let root = tempfile::tempdir().unwrap();
    Repo::init(root.path(), "app.git").commit(&[("db/a.sql", "a")]);
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.crt").display().to_string();
    std::fs::write(&ca, CA.pem()).unwrap();
    let ask = |site: &Site, more: &[&str]| {
        let url = site.url("127.0.0.1", "/app.git");
        let common = [url.as_str(), "--ref", "main", "--path", "db", "--ca", &ca];
        run(&[&common[..], more].concat())
    };
    let git = || git_http::handler(root.path(), git_http::Options::default());
    let once = unavailable_once(git()).await;
    let ran = ask(&once, &["--retries", "1"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let found: Resolution = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(found.attempts, 2);
    assert!(found.elapsed_ms >= 1000, "there is a pause between two attempts");
    let once = unavailable_once(git()).await;
    assert_eq!(
        ask(&once, &[]).failure().0,
        75,
        "one attempt when nothing is said"
    );
    let lost = unavailable_once(handler(|_| response(404, &[], "hunter2"))).await;
    let ran = ask(&lost, &["--retries", "5"]);
    assert_eq!(ran.failure().0, 65);
    assert!(
        ran.err.starts_with("attempt 1: server_unavailable: "),
        "{}",
        ran.err
    );
    assert_eq!(lost.seen().len(), 2, "what does not pass is not tried again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ssh_repository_needs_no_other_program_and_reads_no_home_folder() {
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.commit(&[("db/a.sql", "a")]);
    let sshd = Sshd::start(&Default::default());
    let folder = tempfile::tempdir().unwrap();
    for (key, value) in [
        ("host", format!("127.0.0.1:{}", sshd.port())),
        ("identity", sshd.identity()),
        (
            "known_hosts",
            format!("[127.0.0.1]:{} {}", sshd.port(), sshd.host_key("ed25519")),
        ),
    ] {
        std::fs::write(folder.path().join(key), value).unwrap();
    }
    let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let url = format!(
        "ssh://{}@127.0.0.1:{}{}",
        user.trim(),
        sshd.port(),
        repo.path().display()
    );
    let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .env_clear()
        .args([
            "resolve",
            "git",
            &url,
            "--ref",
            "main",
            "--path",
            "db",
            "--auth-dir",
        ])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn help_shows_an_example() {
    let help = run(&["--help"]);
    assert_eq!(help.status, 0);
    assert!(
        help.out.contains("Example:\n  ptah-runner resolve git https://"),
        "{}",
        help.out
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p080_p081_a_source_policy_is_asked_before_the_repository_and_names_its_rule() {
    let stage = Stage::new().await;
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.yaml");
    let file = policy.display().to_string();
    let port = stage.site.port();
    for (document, status, expected) in [
        ("git: {hosts: [127.0.0.1]}", 0, ""),
        ("content: {maxFiles: 2, maxBytes: 1000}", 0, ""),
        (
            "git: {hosts: [git.example]}",
            77,
            "error: source_policy_refused: git.hosts of the source policy does not list \"127.0.0.1\" (port PORT)",
        ),
        (
            "git: {requireVerification: true}",
            77,
            "error: source_policy_refused: git.requireVerification of the source policy is set",
        ),
        (
            "content: {maxFiles: 1}",
            77,
            "error: source_policy_refused: files exceed 1, the bound that content.maxFiles of the source policy sets",
        ),
        (
            "content: {maxBytes: 10}",
            77,
            "error: source_policy_refused: bytes of all files exceed 10, the bound that content.maxBytes of the source policy sets",
        ),
        (
            "content: {}",
            65,
            "error: source_policy_requires_nothing: the source policy requires nothing",
        ),
        ("other: 1", 65, "error: source_policy_malformed:"),
    ] {
        std::fs::write(&policy, format!("version: 1\n{document}\n")).unwrap();
        let ran = stage.run(&["--ref", "main", "--path", "db", "--source-policy", &file]);
        assert_eq!(ran.status, status, "{document}: {}", ran.err);
        let line = ran.err.lines().last().unwrap_or_default();
        let expected = expected.replace("PORT", &port.to_string());
        assert!(line.starts_with(&expected), "{document}: {line}");
    }
}
