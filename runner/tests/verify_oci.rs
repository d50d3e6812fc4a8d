//! `ptah-runner verify oci` as a person uses it, against a registry that serves referrers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;

use ptah_sources_tests::oci::cosign::{Listing, Signed, policy};
use ptah_sources_tests::oci::push::Pusher;
use ptah_sources_tests::oci::registry::{Access, Registry};
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

/// B14, B20: the registry is the same, over plain HTTP, whatever is asked of it; both layouts of cosign are found.
#[tokio::test(flavor = "multi_thread")]
async fn whose_signature_it_is_decides_the_exit_status_and_what_is_said() {
    let home = tempfile::tempdir().unwrap();
    let registries = [
        (Registry::distribution(None, &Access::All), Listing::Tag),
        (Registry::with_referrers(), Listing::Api),
    ];
    for (registry, listing) in &registries {
        for (number, (layout, fault, expected)) in [
            ("bundle", "none", "attached)"),
            ("tag", "none", "under cosign's tag, as "),
            ("both", "none", "under cosign's tag, as "),
            ("bundle", "the wrong key", "not made with this key"),
            ("tag", "the wrong key", "not made with this key"),
            (
                "bundle",
                "a statement and no signature",
                "a statement of \"https://slsa.dev/provenance/v1\"",
            ),
            (
                "bundle",
                "no signature",
                "nothing is attached, and the tag that cosign uses is not there",
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let (signed, key) = Signed::case(layout, fault);
            let repository = format!("case{number}");
            let pusher = Pusher::new(&registry.authority, &repository);
            pusher.push(&signed.store(*listing)).await;
            let file = home.path().join("policy.yaml");
            std::fs::write(&file, policy(&key)).unwrap();
            let reference = format!("{}/{repository}@{}", registry.authority, signed.digest);
            let (status, out, err) = run(&[
                &reference,
                "--plain-http",
                "--policy",
                &file.display().to_string(),
            ]);
            let verdict: Value =
                serde_json::from_str(&out).unwrap_or_else(|_| panic!("{layout}, {fault}: {err}"));
            let detail = verdict["requirements"][0]["detail"].as_str().unwrap();
            let satisfied = fault == "none";
            let word = if satisfied { "satisfied" } else { "refused" };
            let whole = json!({"verdict": word, "requirements": [
                {"name": "signatures", "satisfied": satisfied, "detail": detail},
            ]});
            assert_eq!(verdict, whole, "{layout}, {fault}");
            assert!(detail.contains(expected), "{layout}, {fault}: {detail}");
            match satisfied {
                true => assert_eq!((status, err.as_str()), (0, ""), "{layout}, {fault}"),
                false => assert_eq!(
                    (status, err),
                    (77, format!("error: policy_refused: signatures: {detail}\n")),
                    "{layout}, {fault}"
                ),
            }
        }
    }
    // Nobody answers: no verdict, and no word about signatures.
    let authority = registries[0].0.authority.clone();
    drop(registries);
    let (signed, _) = Signed::case("both", "none");
    let file = home.path().join("policy.yaml").display().to_string();
    let reference = format!("{authority}/case2@{}", signed.digest);
    let (status, out, err) = run(&[&reference, "--plain-http", "--policy", &file]);
    assert_eq!((status, out.as_str()), (75, ""));
    assert!(err.starts_with("error: connection_failed: "), "{err}");
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
