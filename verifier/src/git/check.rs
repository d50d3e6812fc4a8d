//! A tip against a policy.

use jiff::Timestamp;

use super::content::{Commit, Person, Signed, Tag};
use super::object::identify;
use super::text::shown;
use super::{GitPolicy, Keys, Object, Tip};
use crate::verdict::{Requirement, Verdict};

impl GitPolicy {
    /// Checks every requirement; `now` is what no signature may be later than.
    ///
    /// The requirements are `object` (the objects are what was asked for, and can be read), and by the mode
    /// `commit_signature`, `committer`, `tag`, `tag_signature` and `tagger`. The commit's object is read in every mode,
    /// since it is what will be used.
    #[must_use]
    pub fn check(&self, tip: &Tip<'_>, now: Timestamp) -> Verdict {
        let mut verdict = Verdict {
            requirements: Vec::new(),
        };
        let (commit, tags) = match self.read(tip) {
            Ok(read) => read,
            Err(detail) => {
                verdict.say("object", Err(detail));
                return verdict;
            }
        };
        verdict.say(
            "object",
            Ok(format!("the commit is {}, by its bytes", tip.commit.id)),
        );
        if self.mode.wants_tag() {
            let outermost = tags.first();
            verdict.say("tag", names(tip, &tags));
            let tagger = outermost.and_then(|tag| tag.tagger.as_ref());
            let signed = outermost.and_then(|tag| tag.signed.as_ref());
            let signature = match outermost {
                Some(_) => self.signature("tag", signed, tagger, now),
                None => Err("there is no tag object that could be signed".to_owned()),
            };
            verdict.say("tag_signature", signature);
            if !self.committers.is_empty() {
                verdict.say("tagger", self.listed("tagger", tagger));
            }
        }
        if self.mode.wants_commit() {
            let committer = Some(&commit.committer);
            verdict.say(
                "commit_signature",
                self.signature("commit", commit.signed.as_ref(), committer, now),
            );
            if !self.committers.is_empty() {
                verdict.say("committer", self.listed("committer", committer));
            }
        }
        verdict
    }

    /// The commit, by its bytes, and the tags where they count.
    fn read<'a>(&self, tip: &Tip<'a>) -> Result<(Commit<'a>, Vec<Tag<'a>>), String> {
        let id = tip.commit.id;
        let problem = |what: &str, problem| format!("the {what} cannot be used: {problem}");
        identify("commit", tip.commit.bytes, &id).map_err(|found| problem("commit", found))?;
        let commit = Commit::read(tip.commit.bytes, &id).map_err(|found| problem("commit", found))?;
        let mut tags = Vec::new();
        let counted = if self.mode.wants_tag() { tip.tags } else { &[] };
        for Object { id: tag, bytes } in counted {
            if tag.kind() != id.kind() {
                return Err("the tag and the commit are of repositories of different hashes".to_owned());
            }
            identify("tag", bytes, tag).map_err(|found| problem("tag", found))?;
            tags.push(Tag::read(bytes, tag).map_err(|found| problem("tag", found))?);
        }
        Ok((commit, tags))
    }

    fn signature(
        &self,
        what: &str,
        signed: Option<&Signed>,
        person: Option<&Person<'_>>,
        now: Timestamp,
    ) -> Result<String, String> {
        let Some(Signed { armor, payload }) = signed else {
            return Err(format!("the {what} is not signed"));
        };
        // Git refuses it as well: it takes the time of the signature from there.
        let Some(person) = person else {
            return Err(format!(
                "the {what} does not say who made it and when, so its signature does not count"
            ));
        };
        let begins = |mark: &str| armor.starts_with(mark.as_bytes());
        let (openpgp, ssh) = (
            begins("-----BEGIN PGP SIGNATURE-----"),
            begins("-----BEGIN SSH SIGNATURE-----"),
        );
        let signer = match &self.keys.keys {
            _ if begins("-----BEGIN SIGNED MESSAGE-----") => {
                Err("its signature is of X.509 (gpgsm or gitsign), which is not supported".to_owned())
            }
            Keys::OpenPgp(keys) if openpgp => keys
                .verify(armor, payload, now.as_second())
                .map_err(|refusal| refusal.to_string()),
            Keys::Ssh(keys) if ssh => {
                let principal = (!self.committers.is_empty()).then_some(person.address);
                keys.verify(armor, payload, person, principal)
                    .map_err(|refusal| refusal.to_string())
            }
            Keys::OpenPgp(_) if ssh => Err("its signature is of SSH, and the keys are of OpenPGP".to_owned()),
            Keys::Ssh(_) if openpgp => Err("its signature is of OpenPGP, and the keys are of SSH".to_owned()),
            _ => Err("its signature is of an unknown kind".to_owned()),
        };
        match signer {
            Ok(signer) => Ok(format!("the {what} is signed by {signer}")),
            Err(refusal) => Err(format!("the {what} is not signed by somebody trusted: {refusal}")),
        }
    }

    fn listed(&self, what: &str, person: Option<&Person<'_>>) -> Result<String, String> {
        let Some(person) = person else {
            return Err(format!("there is no {what}"));
        };
        let address = shown(person.address);
        match self
            .committers
            .iter()
            .any(|listed| listed.as_bytes() == person.address)
        {
            true => Ok(format!("the {what} is {address}")),
            false => Err(format!("the {what} is {address}, who is not among the listed")),
        }
    }
}

impl Verdict {
    fn say(&mut self, name: &'static str, found: Result<String, String>) {
        let (satisfied, detail) = match found {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        self.requirements.push(Requirement {
            name,
            satisfied,
            detail,
        });
    }
}

/// Whether the tags are those of the ref, and lead to the commit.
fn names(tip: &Tip<'_>, tags: &[Tag<'_>]) -> Result<String, String> {
    let Some(outermost) = tags.first() else {
        return Err("the ref names no tag object".to_owned());
    };
    let asked = tip
        .reference
        .ok_or("a commit was asked for by its id, and no tag")?;
    let name = asked
        .strip_prefix("refs/tags/")
        .ok_or_else(|| format!("{asked:?} is no tag"))?;
    if outermost.name != name.as_bytes() {
        return Err(format!(
            "{asked:?} was asked for, and the tag calls itself {}",
            shown(outermost.name)
        ));
    }
    let mut inner = tip.tags.iter().skip(1).map(|tag| (tag.id, &b"tag"[..]));
    for tag in tags {
        let (id, kind) = inner.next().unwrap_or((tip.commit.id, b"commit"));
        if (tag.target, tag.kind) != (id, kind) {
            return Err(format!(
                "the tag {} leads to {}, and not to {id}",
                shown(tag.name),
                tag.target
            ));
        }
    }
    Ok(format!("the tag {name:?} leads to the commit"))
}
