//! Policies that somebody else writes.

use std::collections::BTreeMap;

use ptah_contract::artifact::{ArtifactDescription, Attached, Found};
use ptah_contract::digest::Digest;
use ptah_contract::manifest::{File, Manifest};
use ptah_contract::source_policy::SourcePolicy;
use ptah_verifier::Policy;

use crate::bounded;

const HOSTS: [&str; 5] = [
    "git.example",
    "a.corp.example",
    "corp.example",
    "[::1]",
    "127.0.0.1",
];
const NAMES: [&str; 4] = ["app-schema", "team-a", "team-", "a.b"];

/// A policy that is read answers alike whatever the spelling of a host, and allows no content beyond the bounds that it
/// names.
pub fn source_policy(data: &[u8]) {
    let policy = match SourcePolicy::parse(data) {
        Ok(policy) => policy,
        Err(error) => return bounded(&error),
    };
    assert_eq!(policy.digest(), Digest::of(data));
    for host in HOSTS {
        for port in [22, 443, 8443] {
            let found = policy.check_git_host(host, port).is_ok();
            let other = match host {
                "[::1]" => "[0:0:0:0:0:0:0:1]".to_owned(),
                name => name.to_ascii_uppercase(),
            };
            assert_eq!(policy.check_git_host(&other, port).is_ok(), found);
        }
    }
    for name in NAMES {
        // A larger ConfigMap is never allowed where a smaller one is not.
        let allowed = |bytes| policy.check_config_map(name, bytes).is_ok();
        assert!(allowed(0) || !allowed(u64::MAX));
    }
    let file = |name: &str, size| File {
        path: name.parse().expect("a plain name"),
        sha256: Digest::of(name.as_bytes()),
        size,
    };
    let content = Manifest::new(vec![file("a", 1000), file("b", 24)]).expect("two small files");
    if policy.check_content(&content).is_ok() {
        assert!(policy.max_bytes().is_none_or(|limit| limit >= 1024));
        assert!(policy.max_files().is_none_or(|limit| limit >= 2));
    }
}

/// A policy that is read refuses an artifact that has nothing, and gives its verdict and its refusal alike.
pub fn verification_policy(data: &[u8]) {
    let policy = match Policy::parse(data) {
        Ok(policy) => policy,
        Err(error) => return bounded(&error),
    };
    assert_eq!(policy.digest(), Digest::of(data));
    let bare = ArtifactDescription {
        reference: "oci://registry.example/app:v1".to_owned(),
        pinned: false,
        digest: Digest::of(b"manifest"),
        artifact_type: String::new(),
        annotations: BTreeMap::new(),
        attached: Vec::new(),
    };
    let rich = ArtifactDescription {
        pinned: true,
        artifact_type: "application/vnd.stokaro.ptah.schema.v1".to_owned(),
        annotations: [("org.opencontainers.image.source".to_owned(), "x".to_owned())].into(),
        attached: vec![Attached {
            found: Found::SignatureTag,
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            digest: Digest::of(b"signature"),
            size: 1,
            artifact_type: "application/vnd.dev.cosign.artifact.sig.v1+json".to_owned(),
            annotations: BTreeMap::new(),
            evidence: Vec::new(),
        }],
        ..bare.clone()
    };
    for artifact in [&bare, &rich] {
        let verdict = policy.check(artifact);
        assert!(!verdict.requirements.is_empty());
        assert_eq!(verdict.is_satisfied(), verdict.refusal().is_none());
        assert_eq!(verdict.is_satisfied(), verdict.findings().next().is_none());
    }
    assert!(!policy.check(&bare).is_satisfied(), "nothing satisfies it");
}
