//! An artifact against a policy.

use ptah_contract::artifact::{ArtifactDescription, Found, Verification};
use ptah_contract::digest::Digest;
use serde::Serialize;

use crate::policy::Policy;

/// One requirement, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// The key of the policy.
    pub name: &'static str,
    /// Whether the artifact satisfies it.
    pub satisfied: bool,
    /// One sentence for people.
    pub detail: String,
}

/// Every requirement of a policy, in the policy's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// At least one.
    pub requirements: Vec<Requirement>,
}

impl Verdict {
    /// Whether the artifact may be used.
    #[must_use]
    pub fn is_satisfied(&self) -> bool {
        !self.requirements.is_empty() && self.requirements.iter().all(|one| one.satisfied)
    }

    /// Every finding in one sentence; `None` when the artifact may be used.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        if self.requirements.is_empty() {
            return Some("nothing was checked".to_owned());
        }
        let findings: Vec<String> = self
            .findings()
            .map(|finding| format!("{}: {}", finding.name, finding.detail))
            .collect();
        (!findings.is_empty()).then(|| findings.join("; "))
    }

    /// What the artifact lacks.
    pub fn findings(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.iter().filter(|one| !one.satisfied)
    }
}

impl Policy {
    /// Checks every requirement.
    #[must_use]
    pub fn check(&self, artifact: &ArtifactDescription) -> Verdict {
        let mut requirements = Vec::new();
        let mut say = |name, satisfied, detail: String| {
            requirements.push(Requirement {
                name,
                satisfied,
                detail,
            });
        };
        if self.digest_pin {
            let detail = match artifact.pinned {
                true => format!("the reference names {}", artifact.digest),
                false => format!("the reference {:?} names no digest", artifact.reference),
            };
            say("require_digest_pin", artifact.pinned, detail);
        }
        if !self.artifact_types.is_empty() {
            let found = &artifact.artifact_type;
            let satisfied = self.artifact_types.contains(found);
            let detail = match satisfied {
                true => format!("the artifact is {found:?}"),
                false => format!("the artifact is {found:?}, allowed are {:?}", self.artifact_types),
            };
            say("artifact_types", satisfied, detail);
        }
        if !self.annotations.is_empty() {
            let value = |name: &String| artifact.annotations.get(name).map_or("", |value| value.trim());
            let missing = self.annotations.iter().filter(|name| value(name).is_empty());
            let missing: Vec<&String> = missing.collect();
            let detail = match missing.is_empty() {
                true => format!("the manifest has {:?}", self.annotations),
                false => format!("the manifest lacks {missing:?}, or they are blank"),
            };
            say("require_annotations", missing.is_empty(), detail);
        }
        if self.signature {
            let (satisfied, detail) = self.signature(artifact);
            say("require_signature", satisfied, detail);
        }
        Verdict { requirements }
    }

    /// Presence alone: of an attachment whose type counts, or of cosign's own tag.
    fn signature(&self, artifact: &ArtifactDescription) -> (bool, String) {
        let counts = |kind: &String| self.signature_types.contains(kind);
        let signed = artifact
            .attached
            .iter()
            .find(|attached| attached.found == Found::SignatureTag || counts(&attached.artifact_type));
        let attached = artifact.attached.iter();
        let mut kinds: Vec<&str> = attached.map(|one| one.artifact_type.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match signed {
            Some(one) if one.found == Found::SignatureTag => (
                true,
                format!("{} is signed by the tag that cosign uses", artifact.digest),
            ),
            Some(one) => (
                true,
                format!("{:?} is attached to {}", one.artifact_type, artifact.digest),
            ),
            None if kinds.is_empty() => (
                false,
                format!(
                    "nothing is attached to {}: neither a referrer nor cosign's tag",
                    artifact.digest
                ),
            ),
            None => (
                false,
                format!("no signature is attached to {}, only {kinds:?}", artifact.digest),
            ),
        }
    }
}

impl Verification for Policy {
    fn digest(&self) -> Digest {
        self.digest()
    }

    fn looks_at_attachments(&self) -> bool {
        self.looks_at_attachments()
    }

    fn refusal(&self, artifact: &ArtifactDescription) -> Option<String> {
        self.check(artifact).refusal()
    }
}
