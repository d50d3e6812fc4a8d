//! `ptah-runner verify oci` as a person uses it, against a registry that serves referrers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;

use ptah_sources_tests::oci::registry::Registry;
use ptah_sources_tests::oci::run as tool;
use serde_json::{Value, json};

/// Exit status, standard output, standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptah-runner"))
        .args(["verify", "oci"])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn promise_p023_a_verdict_lists_every_requirement_and_a_refusal_names_what_is_missing() {
    let registry = Registry::with_referrers();
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.sql"), "A").unwrap();
    let tag = format!("{}/app:v1", registry.authority);
    let push = [
        "push",
        "--plain-http",
        "--artifact-type",
        "application/sql",
        "-a",
        "who=me",
        &tag,
        "a.sql",
    ];
    tool("oras", &push, home.path());
    let digest = tool("crane", &["digest", "--insecure", &tag], home.path());
    let pinned = format!("oci://{}/app@{}", registry.authority, digest.trim());
    let at = home.path().join("policy.yaml");
    let policy = at.display().to_string();
    let judge = |document: &str, reference: &str| {
        std::fs::write(&at, document).unwrap();
        run(&[reference, "--plain-http", "--policy", &policy])
    };

    let whole = "version: 1\nrequire_digest_pin: true\nartifact_types: [application/sql]\nrequire_annotations: [who]\n";
    let (status, out, err) = judge(whole, &pinned);
    assert_eq!((status, err.as_str()), (0, ""));
    let verdict: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verdict["verdict"], "satisfied");
    let names: Vec<&str> = verdict["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["require_digest_pin", "artifact_types", "require_annotations"]
    );

    let signed = "version: 1\nartifact_types: [application/sql]\nrequire_signature: true\n";
    let (status, out, err) = judge(signed, &pinned);
    assert_eq!(status, 77);
    let detail = format!(
        "nothing is attached to {}: neither a referrer nor cosign's tag",
        digest.trim()
    );
    assert_eq!(
        err,
        format!("error: policy_refused: require_signature: {detail}\n")
    );
    let expected = json!({"verdict": "refused", "requirements": [
        {"name": "artifact_types", "satisfied": true, "detail": "the artifact is \"application/sql\""},
        {"name": "require_signature", "satisfied": false, "detail": detail},
    ]});
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), expected);
    let kind = "application/vnd.dev.cosign.artifact.sig.v1+json";
    tool(
        "oras",
        &["attach", "--plain-http", "--artifact-type", kind, &tag, "a.sql"],
        home.path(),
    );
    assert_eq!(judge(signed, &pinned).0, 0);

    for (document, reference, status, expected) in [
        (
            whole,
            tag.as_str(),
            65,
            "error: reference_not_pinned: only an artifact named by its digest",
        ),
        (
            "version: 1\n",
            &pinned,
            65,
            "error: verification_policy_requires_nothing:",
        ),
        (
            "version: 1\nartifact_types: [a]\nsignatures: []\n",
            &pinned,
            65,
            "error: verification_policy_empty:",
        ),
        (
            "version: 1\nother: 1\n",
            &pinned,
            65,
            "error: verification_policy_malformed:",
        ),
    ] {
        let (found, out, err) = judge(document, reference);
        assert_eq!((found, out.as_str()), (status, ""), "{err}");
        assert!(err.starts_with(expected), "{err}");
    }
    let (status, _, err) = run(&[&pinned, "--plain-http", "--policy", "/nowhere"]);
    assert_eq!(status, 65);
    assert!(err.starts_with("error: verification_policy_unreadable:"), "{err}");
}

#[test]
fn help_shows_an_example_that_works_as_it_stands() {
    let (status, help, _) = run(&["--help"]);
    assert_eq!(status, 0);
    let (_, example) = help.split_once("Example:\n").unwrap();
    let registry = Registry::with_referrers();
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.sql"), "A").unwrap();
    let target = format!("{}/stefanprodan/manifests/podinfo:latest", registry.authority);
    tool("oras", &["push", "--plain-http", &target, "a.sql"], home.path());
    // The public registry is played by one on loopback, which speaks plain http.
    let script = example
        .replace("ghcr.io", &registry.authority)
        .replace(
            "ptah-runner resolve oci",
            &format!("{} resolve oci --plain-http", env!("CARGO_BIN_EXE_ptah-runner")),
        )
        .replace(
            "ptah-runner verify oci",
            &format!("{} verify oci --plain-http", env!("CARGO_BIN_EXE_ptah-runner")),
        );
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
