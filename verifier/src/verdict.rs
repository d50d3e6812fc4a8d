//! An artifact against a policy.

use ptah_contract::artifact::{ArtifactDescription, Attached, Attachments, Found, Verification};
use ptah_contract::digest::Digest;
use serde::Serialize;

use crate::candidate::{self, Artifact};
use crate::policy::{Plain, Policy, is_bundle};
use crate::signatures;
use crate::statement::SIGNATURE_PREDICATE;

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

impl Requirement {
    fn sentence(&self) -> String {
        format!("{}: {}", self.name, self.detail)
    }
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
        let findings: Vec<String> = self.findings().map(Requirement::sentence).collect();
        (!findings.is_empty()).then(|| findings.join("; "))
    }

    /// What was found of each requirement, in a sentence each.
    ///
    /// # Errors
    /// The refusal.
    pub fn sentences(&self) -> Result<Vec<String>, String> {
        match self.refusal() {
            Some(why) => Err(why),
            None => Ok(self.requirements.iter().map(Requirement::sentence).collect()),
        }
    }

    /// What the artifact lacks.
    pub fn findings(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.iter().filter(|one| !one.satisfied)
    }
}

/// Which annotation of an attached bundle says what it states (cosign, BUNDLE_SPEC.md).
const PREDICATE_TYPE: &str = "dev.sigstore.bundle.predicateType";

impl Policy {
    /// Checks every requirement.
    #[must_use]
    pub fn check(&self, artifact: &ArtifactDescription) -> Verdict {
        let mut requirements = self.plain.check(artifact);
        let candidates = candidate::of(artifact);
        let by_digest = Artifact {
            digest: artifact.digest,
            bytes: None,
        };
        requirements.extend(self.signed(&candidates, by_digest, &signatures::looked(artifact)));
        Verdict { requirements }
    }

    /// Checks a bundle about content that lies in no registry: by its digest, or with its bytes as well. What a policy
    /// asks of a manifest such content cannot satisfy.
    #[must_use]
    pub fn check_blob(&self, digest: Digest, bytes: Option<&[u8]>, bundle: &[u8]) -> Verdict {
        let mut requirements = self.plain.of_no_manifest();
        let artifact = Artifact { digest, bytes };
        let candidates = [candidate::bundle("the bundle".to_owned(), bundle, artifact)];
        requirements.extend(self.signed(&candidates, artifact, ""));
        Verdict { requirements }
    }
}

impl Plain {
    /// Every requirement that is made of a manifest, as content without one answers it.
    fn of_no_manifest(&self) -> Vec<Requirement> {
        let asked = [
            ("require_digest_pin", self.digest_pin),
            ("artifact_types", !self.artifact_types.is_empty()),
            ("require_annotations", !self.annotations.is_empty()),
            ("require_signature", self.signature),
        ];
        let asked = asked.into_iter().filter(|(_, asked)| *asked);
        asked
            .map(|(name, _)| Requirement {
                name,
                satisfied: false,
                detail: "this is asked of an artifact in a registry, and there is none".to_owned(),
            })
            .collect()
    }

    fn check(&self, artifact: &ArtifactDescription) -> Vec<Requirement> {
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
        requirements
    }

    /// Presence alone: of an attachment whose type counts, or of cosign's own tag.
    fn signature(&self, artifact: &ArtifactDescription) -> (bool, String) {
        let signed = artifact.attached.iter().find(|one| self.counts(one));
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

impl Plain {
    fn counts(&self, attached: &Attached) -> bool {
        if attached.found == Found::SignatureTag {
            return true;
        }
        let kind = &attached.artifact_type;
        // An attestation is a bundle too, and is no signature.
        let states = attached.annotations.get(PREDICATE_TYPE);
        let attests = is_bundle(kind) && states.is_some_and(|predicate| predicate != SIGNATURE_PREDICATE);
        self.signature_types.contains(kind) && !attests
    }
}

impl Verification for Policy {
    fn digest(&self) -> Digest {
        self.digest()
    }

    fn attachments(&self) -> Attachments {
        self.attachments()
    }

    fn judge(&self, artifact: &ArtifactDescription) -> Result<Vec<String>, String> {
        self.check(artifact).sentences()
    }
}
