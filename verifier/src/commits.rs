//! Commit verification as a source declares it: mode, keys and committers, with the digest that a plan is bound to.

use jiff::Timestamp;
use ptah_contract::commit::{CommitTerms, CommitVerification, SignedObject, SignedTip};
use ptah_contract::digest::Digest;

use crate::git::{Error, GitKeys, GitPolicy, Object, ObjectId, Tip};
use crate::verdict::Verdict;

/// Whose signatures a commit is held to.
#[derive(Clone, Debug)]
pub struct CommitPolicy {
    policy: GitPolicy,
    terms: CommitTerms,
}

impl CommitPolicy {
    /// Reads the keys. `keys_uid` is that of the object that holds them; empty where there is no API server.
    ///
    /// # Errors
    /// Keys that are not understood whole, and committers that could be nobody.
    pub fn new(
        mode: SignedObject,
        committers: Vec<String>,
        keys: &[u8],
        keys_uid: String,
    ) -> Result<Self, Error> {
        let keys = GitKeys::parse(keys)?;
        let terms = CommitTerms {
            mode,
            committers: committers.clone(),
            keys_uid,
            keys_digest: keys.digest(),
        };
        Ok(Self {
            policy: GitPolicy::new(mode, keys, committers)?,
            terms,
        })
    }

    /// What is asked, with the digest of the keys.
    #[must_use]
    pub fn terms(&self) -> &CommitTerms {
        &self.terms
    }

    /// Checks every requirement; `now` is what no signature may be later than.
    ///
    /// # Errors
    /// When the tip is none: an id that is no id, or a tag object that was made to collide.
    pub fn check(&self, tip: &SignedTip<'_>, now: Timestamp) -> Result<Verdict, String> {
        let id = |text: &str| {
            ObjectId::from_hex(text.as_bytes()).map_err(|_| format!("{text:?} is no id of an object"))
        };
        let commit = Object {
            id: id(tip.commit)?,
            bytes: tip.commit_object,
        };
        let mut tags = Vec::new();
        for (at, bytes) in tip.tag_objects.iter().enumerate() {
            let tag = match (at, tip.tag) {
                (0, Some(outermost)) => Some(Object {
                    id: id(outermost)?,
                    bytes,
                }),
                _ => Object::inner_tag(bytes, commit.id.kind()),
            };
            tags.push(tag.ok_or("a tag object was made to collide with another")?);
        }
        let tip = Tip {
            reference: tip.reference,
            commit,
            tags: &tags,
        };
        Ok(self.policy.check(&tip, now))
    }
}

impl CommitVerification for CommitPolicy {
    fn digest(&self) -> Digest {
        self.terms.digest()
    }

    fn judge(&self, tip: &SignedTip<'_>) -> Result<Vec<String>, String> {
        self.check(tip, Timestamp::now())?.sentences()
    }
}
