//! What resolving a source found: the document that `ptah-runner resolve` prints and that an init container hands to
//! the manager.
//!
//! Promises: a revision names immutable content, the content digest is that of the manifest beside it, and the counts
//! are the manifest's own. A reader refuses a key that it does not know.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::manifest::{self, File, Manifest};

/// Where content came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A commit of a Git repository.
    Git,
    /// An OCI artifact.
    Oci,
    /// A folder or a file.
    Files,
}

/// One resolved source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resolution {
    /// Where the content came from.
    pub kind: Kind,
    /// The commit, the digest of the artifact's manifest, or for files the content digest.
    pub revision: String,
    /// What was asked for: a ref, a reference, a path.
    pub requested: String,
    /// The commit, for Git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Digest of the artifact's manifest, for OCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_digest: Option<Digest>,
    /// Digest of the index that led to the manifest, where one was followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_digest: Option<Digest>,
    /// The full ref that answered; none when a commit was asked for by its id.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "ref")]
    pub reference: Option<String>,
    /// The annotated tag that led to the commit: separate evidence, never the revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_object: Option<String>,
    /// Identity of the files.
    pub content_digest: Digest,
    /// The files.
    pub manifest: Files,
    /// Bytes of all files.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
    /// Bytes that came over the network.
    pub received: u64,
    /// Attempts that it took, the successful one included.
    pub attempts: u32,
    /// Time that it took, all attempts together.
    pub elapsed_ms: u64,
}

/// A content manifest as a part of another document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Encoded", into = "Encoded")]
pub struct Files(Manifest);

impl Files {
    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.0
    }
}

impl From<Manifest> for Files {
    fn from(manifest: Manifest) -> Self {
        Self(manifest)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoded {
    files: Vec<File>,
    version: u32,
}

impl TryFrom<Encoded> for Files {
    type Error = manifest::Error;

    fn try_from(encoded: Encoded) -> Result<Self, manifest::Error> {
        if encoded.version != 1 {
            return Err(manifest::Error::Encoding(format!(
                "version {} is unknown",
                encoded.version
            )));
        }
        Ok(Self(Manifest::new(encoded.files)?))
    }
}

impl From<Files> for Encoded {
    fn from(files: Files) -> Self {
        Self {
            files: files.0.files().to_vec(),
            version: 1,
        }
    }
}

impl Resolution {
    /// A resolution with everything that follows from the manifest; the caller adds what its kind knows beside it.
    #[must_use]
    pub fn new(
        kind: Kind,
        revision: impl Into<String>,
        requested: impl Into<String>,
        manifest: Manifest,
    ) -> Self {
        Self {
            kind,
            revision: revision.into(),
            requested: requested.into(),
            commit: None,
            artifact_digest: None,
            index_digest: None,
            reference: None,
            tag_object: None,
            content_digest: manifest.content_digest(),
            bytes: manifest.total_bytes(),
            files: manifest.files().len() as u64,
            manifest: manifest.into(),
            received: 0,
            attempts: 1,
            elapsed_ms: 0,
        }
    }

    /// Whether digest and counts are those of the manifest: what a reader on the other side of a process boundary
    /// checks before it believes the rest.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let manifest = self.manifest.manifest();
        self.content_digest == manifest.content_digest()
            && self.bytes == manifest.total_bytes()
            && self.files == manifest.files().len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest::new(vec![File {
            path: "a.sql".parse().unwrap(),
            sha256: Digest::of(b"A"),
            size: 1,
        }])
        .unwrap()
    }

    #[test]
    fn it_is_encoded_as_the_command_line_prints_it() {
        let mut resolution = Resolution::new(Kind::Git, "c0ffee", "main", manifest());
        resolution.commit = Some("c0ffee".into());
        resolution.reference = Some("refs/heads/main".into());
        resolution.received = 7;
        let (content, hex) = (manifest().content_digest(), Digest::of(b"A").hex());
        let expected = serde_json::json!({
            "kind": "git", "revision": "c0ffee", "requested": "main", "commit": "c0ffee", "ref": "refs/heads/main",
            "contentDigest": content, "bytes": 1, "files": 1, "received": 7, "attempts": 1, "elapsedMs": 0,
            "manifest": {"files": [{"path": "a.sql", "sha256": hex, "size": 1}], "version": 1},
        });
        assert_eq!(serde_json::to_value(&resolution).unwrap(), expected);
        assert_eq!(
            serde_json::from_value::<Resolution>(expected.clone()).unwrap(),
            resolution
        );
        assert!(resolution.is_consistent());
        for (key, value) in [
            ("extra", serde_json::json!(1)),
            ("kind", serde_json::json!("svn")),
            ("manifest", serde_json::json!({"files": [], "version": 1})),
            ("manifest", serde_json::json!({"files": [], "version": 2})),
        ] {
            let mut wrong = expected.clone();
            wrong[key] = value;
            assert!(serde_json::from_value::<Resolution>(wrong).is_err(), "{key}");
        }
        let mut lying = expected;
        lying["bytes"] = serde_json::json!(2);
        assert!(
            !serde_json::from_value::<Resolution>(lying)
                .unwrap()
                .is_consistent()
        );
    }
}
