//! Host keys and the user's keys, against `sshd`.

use ptah_resolver::git::{Credential, Error, Request};
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::sshd::{self, Sshd};
use ptah_sources_tests::table::rows;
use tempfile::TempDir;

use crate::support::{credential, request, resolve, ssh_request, ssh_url, told, try_credential};

const STRANGE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHeGldc1XrDGs4JDHZjYTtRUxr+ZYfLbO6tJcHwqRdMI";

fn repo() -> (TempDir, Repo) {
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.commit(&[("db/a.sql", "a")]);
    (root, repo)
}

fn keys_for(sshd: &Sshd, request: &Request, identity: &str, known: &str) -> Result<Credential, Error> {
    let host = format!("127.0.0.1:{}", sshd.port());
    let keys = [
        ("host", host.as_str()),
        ("identity", identity),
        ("known_hosts", known),
    ];
    try_credential(request, &keys, None)
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p070_a_host_is_known_by_the_keys_of_its_lines_and_by_no_other() {
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.commit(&[("db/a.sql", "a")]);
    for (line, [kinds, lines, expected]) in rows::<3>(include_str!("../../testdata/git/host_keys.txt")) {
        let kinds: Vec<&str> = kinds.split(' ').collect();
        let sshd = Sshd::start(&sshd::Options {
            host_keys: &kinds,
            ..Default::default()
        });
        let name = format!("[127.0.0.1]:{}", sshd.port());
        let mut known = String::new();
        for text in lines.split("; ").filter(|text| *text != "EMPTY") {
            let mut text = text
                .replace("rsa-strange", "RSA-STRANGE")
                .replace(" strange", &format!(" {STRANGE}"));
            for kind in &kinds {
                text = text.replace(&format!(" {kind}"), &format!(" {}", sshd.host_key(kind)));
            }
            if text.starts_with("HASHED ") {
                text = sshd
                    .hashed(&name, text.trim_start_matches("HASHED "))
                    .trim()
                    .to_owned();
            }
            let rsa = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAwABAg==";
            let text = text
                .replace("RSA-STRANGE", rsa)
                .replace("HOST", &name)
                .replace("BARE", "127.0.0.1");
            known.push_str(&text);
            known.push('\n');
        }
        let mut request = request(&ssh_url(&sshd, &repo), "main", "db");
        let found = match keys_for(&sshd, &request, &sshd.identity(), &known) {
            Err(error) => told(&error),
            Ok(credential) => {
                request.credential = Some(credential);
                resolve(&request)
                    .await
                    .map_or_else(|error| told(&error), |_| "ok".to_owned())
            }
        };
        let port = sshd.port().to_string();
        let expected = expected
            .replace("HOST", &name)
            .replace("BARE", "127.0.0.1")
            .replace("PORT", &port)
            .replace("FP", &sshd.fingerprint(kinds[0]));
        assert_eq!(found, expected, "line {line}: {known}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_key_that_changes_between_two_fetches_is_refused_the_second_time() {
    let (_root, repo) = repo();
    let first = Sshd::start(&sshd::Options::default());
    let mut request = ssh_request(&first, &repo, "main", "db");
    assert!(resolve(&request).await.is_ok());
    let second = Sshd::start(&sshd::Options::default());
    let known = format!("[127.0.0.1]:{} {}", second.port(), first.host_key("ed25519"));
    request.repository = ssh_url(&second, &repo).parse().unwrap();
    request.credential = Some(keys_for(&second, &request, &second.identity(), &known).unwrap());
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(error.code(), "host_key_mismatch");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_every_kind_and_form_are_let_in() {
    let (_root, repo) = self::repo();
    let sshd = Sshd::start(&sshd::Options::default());
    for (kind, passphrase, form) in [
        ("ed25519", "", [].as_slice()),
        ("ed25519", "hunter2", &[]),
        ("ecdsa", "", &[]),
        ("ecdsa", "", &["-m", "PKCS8"]),
        ("rsa", "", &[]),
        ("rsa", "hunter2", &[]),
        ("rsa", "", &["-m", "PEM"]),
        ("rsa", "", &["-m", "PKCS8"]),
        ("rsa", "hunter2", &["-m", "PKCS8"]),
        ("rsa", "hunter2", &["-m", "PEM"]),
    ] {
        let identity = sshd.other_identity(kind, passphrase, form);
        for end in ["", "\n"] {
            let mut request = ssh_request(&sshd, &repo, "main", "db");
            let host = format!("127.0.0.1:{}", sshd.port());
            let known = format!("[127.0.0.1]:{} {}", sshd.port(), sshd.host_key("ed25519"));
            let identity = format!("{}{end}", identity.trim_end());
            let mut keys = vec![
                ("host", host.as_str()),
                ("identity", identity.as_str()),
                ("known_hosts", known.as_str()),
            ];
            let password = format!("{passphrase}{end}");
            if !passphrase.is_empty() {
                keys.push(("password", password.as_str()));
            }
            credential(&mut request, &keys);
            let found = resolve(&request).await.map_err(|error| told(&error)).map(|_| ());
            assert_eq!(found, Ok(()), "{kind} {passphrase} {form:?}: {}", sshd.log());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_let_in_is_told_as_such_and_shown_once() {
    let (_root, repo) = self::repo();
    let sshd = Sshd::start(&sshd::Options::default());
    let mut request = ssh_request(&sshd, &repo, "main", "db");
    let known = format!("[127.0.0.1]:{} {}", sshd.port(), sshd.host_key("ed25519"));
    request.credential = Some(keys_for(&sshd, &request, &sshd.stranger(), &known).unwrap());
    let before = sshd.connections();
    let error = resolve(&request).await.unwrap_err();
    let name = format!("[127.0.0.1]:{}", sshd.port());
    assert_eq!(
        told(&error),
        format!("input authentication_failed: {name} rejects the credential")
    );
    assert_eq!(sshd.connections() - before, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_not_there_is_told_as_such_over_ssh() {
    let (_root, repo) = self::repo();
    let sshd = Sshd::start(&sshd::Options::default());
    let mut request = ssh_request(&sshd, &repo, "main", "db");
    let text = format!("{}x", request.repository);
    request.repository = text.parse().unwrap();
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(error.code(), "repository_not_found", "{error}");
    assert_eq!(error.to_failure().class.exit_status(), 65);
}

#[tokio::test(flavor = "multi_thread")]
async fn ssh_without_a_credential_and_a_host_that_does_not_answer_are_refused() {
    let mut request = request("ssh://git@127.0.0.1:1/app.git", "main", "db");
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(
        told(&error),
        "input identity_missing: an SSH repository needs a Secret with identity and known_hosts"
    );
    let sshd = Sshd::start(&sshd::Options::default());
    let known = format!("[127.0.0.1]:1 {STRANGE}");
    let (host, identity) = ("127.0.0.1:1", sshd.identity());
    credential(
        &mut request,
        &[("host", host), ("identity", &identity), ("known_hosts", &known)],
    );
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(
        told(&error),
        "transient connection_failed: the connection to [127.0.0.1]:1 was refused or broke"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_old_algorithms_alone_is_refused_by_what_it_lacks() {
    let (_root, repo) = self::repo();
    for (line, what) in [
        ("Ciphers aes128-cbc\n", "cipher"),
        ("KexAlgorithms diffie-hellman-group1-sha1\n", "key exchange"),
        ("Ciphers aes128-ctr\nMACs hmac-md5\n", "message authentication"),
    ] {
        let sshd = Sshd::start(&sshd::Options {
            more: line,
            ..Default::default()
        });
        let error = resolve(&ssh_request(&sshd, &repo, "main", "db"))
            .await
            .unwrap_err();
        let name = format!("[127.0.0.1]:{}", sshd.port());
        assert_eq!(
            told(&error),
            format!("input ssh_algorithms: host {name} offers no {what} for SSH that is spoken here")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_lets_in_and_opens_no_session_is_told_with_where_to_look() {
    let (_root, repo) = self::repo();
    let sshd = Sshd::start(&sshd::Options {
        more: "MaxSessions 0\n",
        ..Default::default()
    });
    let error = resolve(&ssh_request(&sshd, &repo, "main", "db"))
        .await
        .unwrap_err();
    let name = format!("[127.0.0.1]:{}", sshd.port());
    assert_eq!(
        told(&error),
        format!(
            "transient ssh_failed: the SSH connection to {name} could not be set up; the log of its SSH server says why"
        )
    );
}
