//! `ptah-runner resolve oci` as a person uses it, against distribution.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use ptah_contract::digest::Digest;
use ptah_contract::resolution::Resolution;
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::tls::Tls;
use ptah_sources_tests::oci::{run as tool, token};
use tempfile::TempDir;

const PASSWORDS: &str = "robot:$2a$04$Dgw8mgVd7xKoA3dAoFV36ujs2hFmg3.iiK2cmk7hxy2kwH68aDauO\n";

/// Exit status, standard output, and the last line of standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(["resolve", "oci"])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    for secret in [token::PASSWORD, "hunter2"] {
        assert!(!out.contains(secret) && !err.contains(secret), "{out}{err}");
    }
    let last = err.lines().last().unwrap_or_default().to_owned();
    (output.status.code().unwrap(), out, last)
}

/// A folder as a mounted Secret.
fn secret(values: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (key, value) in values {
        std::fs::write(folder.path().join(key), value).unwrap();
    }
    folder
}

fn path(folder: &Path) -> String {
    folder.display().to_string()
}

#[test]
fn it_prints_one_document_and_writes_the_files() {
    let registry = Registry::distribution(None, &Access::All);
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.sql"), "A").unwrap();
    let reference = format!("{}/app:v1", registry.authority);
    tool(
        "oras",
        &["push", "--plain-http", &reference, "a.sql"],
        home.path(),
    );
    let digest = tool("crane", &["digest", "--insecure", &reference], home.path());
    let out = tempfile::tempdir().unwrap();
    let (status, text, err) = run(&[&reference, "--plain-http", "--out", &path(out.path())]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(std::fs::read(out.path().join("a.sql")).unwrap(), b"A");
    let resolution: Resolution = serde_json::from_str(&text).unwrap();
    assert!(resolution.is_consistent());
    let mut shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (received, elapsed) = (shown["received"].take(), shown["elapsedMs"].take());
    assert!(received.as_u64().unwrap() > 1 && elapsed.is_u64());
    let expected = serde_json::json!({
        "kind": "oci", "revision": digest.trim(), "artifactDigest": digest.trim(), "requested": reference,
        "contentDigest": resolution.content_digest, "bytes": 1, "files": 1, "attempts": 1,
        "manifest": {"files": [{"path": "a.sql", "sha256": Digest::of(b"A").hex(), "size": 1}], "version": 1},
        "received": null, "elapsedMs": null,
    });
    assert_eq!(shown, expected);

    let again = run(&[&reference, "--plain-http", "--out", &path(out.path())]);
    assert_eq!(again.0, 65);
    assert!(
        again.2.starts_with("error: output_not_empty: the output folder "),
        "{}",
        again.2
    );

    let content = resolution.content_digest.to_string();
    let pinned = format!("oci://{}@{}", reference, digest.trim());
    assert_eq!(run(&[&pinned, "--plain-http", "--content-digest", &content]).0, 0);
    let other = Digest::of(b"other").to_string();
    let (status, out, err) = run(&[&pinned, "--plain-http", "--content-digest", &other]);
    assert_eq!((status, out.as_str()), (77, ""));
    assert_eq!(
        err,
        format!("error: content_digest_mismatch: the content has digest {content}, {other} was asked for")
    );
}

#[test]
fn a_private_registry_takes_the_credential_that_a_folder_holds() {
    let tls = Tls::new();
    let registry = Registry::distribution(Some(&tls), &Access::Passwords(PASSWORDS));
    let home = tempfile::tempdir().unwrap();
    tls.write(home.path());
    std::fs::write(home.path().join("a.sql"), "A").unwrap();
    let reference = format!("{}/team/app:v1", registry.authority);
    let (user, password) = (token::USER, token::PASSWORD);
    let push = [
        "push",
        "--ca-file",
        "cert.pem",
        "-u",
        user,
        "-p",
        password,
        &reference,
        "a.sql",
    ];
    tool("oras", &push, home.path());
    let ca = path(&home.path().join("cert.pem"));
    let granted = Digest::of(tls.certificate.as_bytes()).to_string();
    let whole = [
        ("registry", registry.authority.as_str()),
        ("caSHA256", granted.as_str()),
        ("username", user),
        ("password", password),
    ];
    let folder = secret(&whole);
    let (status, _, err) = run(&[&reference, "--ca", &ca, "--auth-dir", &path(folder.path())]);
    assert_eq!((status, err.as_str()), (0, ""));

    for (values, with_ca, status, expected) in [
        (
            whole[1..].to_vec(),
            true,
            77,
            "error: grant_missing: the Secret has no key registry",
        ),
        (
            [&whole[..1], &whole[2..]].concat(),
            true,
            77,
            "error: grant_missing: the Secret has no key caSHA256",
        ),
        (
            whole[..3].to_vec(),
            true,
            65,
            "error: auth_incomplete: the Secret holds username and no password",
        ),
        (
            [&whole[..], &[("token", "hunter2")]].concat(),
            true,
            65,
            "error: auth_ambiguous: the Secret holds both",
        ),
        (
            [&whole[..3], &[("password", "hunter2")]].concat(),
            true,
            65,
            "error: authentication_failed: 127.0.0.1:",
        ),
        (
            whole.to_vec(),
            false,
            77,
            "error: grant_unused: the Secret grants caSHA256, and the source uses no CA",
        ),
    ] {
        let folder = secret(&values);
        let folder = path(folder.path());
        let mut arguments = vec![reference.as_str(), "--auth-dir", &folder];
        if with_ca {
            arguments.extend(["--ca", &ca]);
        }
        let (found, out, err) = run(&arguments);
        assert_eq!((found, out.as_str()), (status, ""), "{err}");
        assert!(err.starts_with(expected), "{err}");
    }
}

#[test]
fn what_is_wrong_is_one_line_and_an_exit_status() {
    for (arguments, status, expected) in [
        (
            &["registry.example"][..],
            65,
            "error: invalid_reference: the reference is unusable: it has no repository",
        ),
        (
            &["https://registry.example/app"],
            65,
            "error: invalid_reference: the reference is unusable: its scheme is not oci",
        ),
        (
            &["oci://u:hunter2@registry.example/app"],
            64,
            "error: secret_in_arguments:",
        ),
        (
            &["127.0.0.1:1/app:v1"],
            75,
            "error: connection_failed: the connection to 127.0.0.1:1 was refused or broke",
        ),
        (
            &["127.0.0.1:1/app:v1", "--ca", "/nowhere"],
            65,
            "error: invalid_ca: the CA bundle is unusable: it cannot be read",
        ),
        (
            &["127.0.0.1:1/app:v1", "--auth-dir", "/nowhere"],
            65,
            "error: auth_unreadable:",
        ),
        (&["127.0.0.1:1/app:v1", "--content-digest", "sha256:0"], 64, ""),
    ] {
        let (found, out, err) = run(arguments);
        assert_eq!((found, out.as_str()), (status, ""), "{arguments:?}: {err}");
        assert!(err.starts_with(expected), "{arguments:?}: {err}");
    }
}
