//! Signatures and attestations: cryptography, never presence.
//!
//! Promises: one good signature of an authority satisfies, whatever lies beside it; a refusal says of every authority
//! what was found in its stead, and where was looked.

use ptah_contract::artifact::{ArtifactDescription, Attached, Found};
use ptah_contract::failure::quoted;

use crate::authority::Authority;
use crate::candidate::{Artifact, Candidate};
use crate::policy::Policy;
use crate::statement::Claim;
use crate::verdict::Requirement;

/// Signatures of which a refusal says what is wrong with each.
const MAX_TOLD: usize = 4;

impl Policy {
    /// The requirements `signatures` and `attestations`, as far as the policy has them.
    pub(crate) fn signed(
        &self,
        candidates: &[Candidate<'_>],
        artifact: Artifact<'_>,
        looked: &str,
    ) -> Vec<Requirement> {
        let mut requirements = Vec::new();
        if !self.signatures.is_empty() {
            requirements.push(self.signature_of_any(candidates, artifact, looked));
        }
        for attestation in &self.attestations {
            let predicate_type = &attestation.predicate_type;
            let wanted =
                |claim: &Claim| matches!(claim, Claim::Attestation(found) if found == predicate_type);
            let mut satisfied = true;
            let mut details = Vec::new();
            for name in &attestation.authorities {
                // Names were looked up when the policy was read.
                let known = self.signatures.iter().chain(&self.authorities);
                let found = known.clone().find(|authority| authority.name == *name);
                let answer = found
                    .ok_or_else(|| "is not known".to_owned())
                    .and_then(|authority| first(authority, candidates, artifact, wanted, looked));
                satisfied &= answer.is_ok();
                details.push(match answer {
                    Ok(how) => format!("{name:?} states it {how}"),
                    Err(why) => format!("{name:?} does not state it: {why}"),
                });
            }
            requirements.push(Requirement {
                name: "attestations",
                satisfied,
                detail: format!("{predicate_type:?}: {}", details.join(", ")),
            });
        }
        requirements
    }

    fn signature_of_any(
        &self,
        candidates: &[Candidate<'_>],
        artifact: Artifact<'_>,
        looked: &str,
    ) -> Requirement {
        let wanted = |claim: &Claim| matches!(claim, Claim::Signature { .. });
        let mut good = Vec::new();
        let mut bad = Vec::new();
        for authority in &self.signatures {
            match first(authority, candidates, artifact, wanted, looked) {
                Ok(how) => good.push(format!("{:?} signed it {how}", authority.name)),
                Err(why) => bad.push(format!("{:?} did not sign it: {why}", authority.name)),
            }
        }
        // Last, since a message has room for the beginning.
        let mend = "sign it as one of them, or declare a policy that names its signer";
        Requirement {
            name: "signatures",
            satisfied: !good.is_empty(),
            detail: match good.is_empty() {
                true => format!("{}; {mend}", bad.join("; ")),
                false => good.join("; "),
            },
        }
    }
}

/// How an authority made one of the candidates with the wanted claim; otherwise why none of them counts.
fn first(
    authority: &Authority,
    candidates: &[Candidate<'_>],
    artifact: Artifact<'_>,
    wanted: impl Fn(&Claim) -> bool,
    looked: &str,
) -> Result<String, String> {
    let mut told = Vec::new();
    for candidate in candidates {
        let why = match &candidate.claim {
            Ok(claim) if wanted(claim) => match authority.made(candidate, artifact) {
                Ok(how) => {
                    let repository = match claim {
                        Claim::Signature {
                            repository: Some(text),
                        } => format!(", as {text:?}"),
                        _ => String::new(),
                    };
                    return Ok(format!("{how} ({}{repository})", candidate.name));
                }
                Err(why) => why,
            },
            Ok(Claim::Signature { .. }) => "a signature and no such statement".to_owned(),
            Ok(Claim::Attestation(predicate_type)) => format!("a statement of {predicate_type:?}"),
            Err(why) => why.clone(),
        };
        // Some of it is the attacker's own words, and a message has room for a part of them.
        told.push((
            candidate.is_unread(),
            format!("{}: {}", candidate.name, quoted(&why)),
        ));
    }
    if told.is_empty() {
        return Err(looked.to_owned());
    }
    // What was not read could be the good one, and is never among those that there is no room for.
    told.sort_by_key(|(unread, _)| !unread);
    let mut told: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    let rest = told.len().saturating_sub(MAX_TOLD);
    told.truncate(MAX_TOLD);
    if rest > 0 {
        told.push(format!("and {rest} more"));
    }
    Err(told.join(", "))
}

/// Where signatures were looked for, when there was none.
pub(crate) fn looked(artifact: &ArtifactDescription) -> String {
    let tagged = |attached: &&Attached| attached.found == Found::SignatureTag;
    let others = artifact
        .attached
        .iter()
        .filter(|attached| !tagged(attached))
        .count();
    let attached = match others {
        0 => "nothing is attached".to_owned(),
        1 => "the one attachment holds no Sigstore bundle".to_owned(),
        others => format!("none of {others} attachments holds a Sigstore bundle"),
    };
    let tag = match artifact.attached.iter().find(tagged) {
        Some(_) => "the tag that cosign uses holds no signature",
        None => "the tag that cosign uses is not there",
    };
    format!("{attached}, and {tag}")
}
