//! Which source a plan was made from: the identity that a plan binds beside the content digest.

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;

/// The source as a plan fingerprint binds it (plan contract version 2).
///
/// Another ConfigMap of the same name, another repository or another path is another source even when the files
/// are the same; a new commit with the same files is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum SourceBinding {
    /// An OCI artifact by the digest of its manifest.
    Oci {
        /// Digest of the artifact's manifest.
        artifact_digest: Digest,
    },
    /// A ConfigMap by its UID.
    ConfigMap {
        /// UID that the API server gave the ConfigMap.
        uid: String,
    },
    /// A Git repository and path by the digest of both.
    Git {
        /// As [`git_locator_digest`] computes it.
        locator_digest: Digest,
    },
}

/// SHA-256 over the canonical JSON `{"path":…,"repository":…}`.
#[must_use]
pub fn git_locator_digest(repository: &str, path: &str) -> Digest {
    let locator = serde_json::json!({ "path": path, "repository": repository });
    Digest::of(&canonical::to_bytes(&locator).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_is_encoded_as_the_contract_says() {
        let digest = Digest::of(b"");
        let hex = digest.to_string();
        for (source, text) in [
            (
                SourceBinding::Oci {
                    artifact_digest: digest,
                },
                format!(r#"{{"artifactDigest":"{hex}","kind":"oci"}}"#),
            ),
            (
                SourceBinding::ConfigMap { uid: "u-1".into() },
                r#"{"kind":"configMap","uid":"u-1"}"#.to_owned(),
            ),
            (
                SourceBinding::Git {
                    locator_digest: digest,
                },
                format!(r#"{{"kind":"git","locatorDigest":"{hex}"}}"#),
            ),
        ] {
            let bytes = canonical::to_bytes(&source).unwrap();
            assert_eq!(String::from_utf8(bytes.clone()).unwrap(), text);
            assert_eq!(serde_json::from_slice::<SourceBinding>(&bytes).unwrap(), source);
        }
        assert_ne!(
            git_locator_digest("https://a/b", "c"),
            git_locator_digest("https://a", "b/c")
        );
    }
}
