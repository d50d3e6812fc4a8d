//! Which ref is meant, among those that are listed.

use gix_hash::ObjectId;
use gix_protocol::handshake::Ref;

use super::Error;
use super::requested::{Meaning, Requested};

/// A ref and what is at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tip {
    /// Its full name; none for a commit that was asked for by its id and is at no ref.
    pub(super) reference: Option<String>,
    /// The object at it: a commit, or an annotated tag.
    pub(super) object: ObjectId,
    /// What the listing says that the tag leads to.
    pub(super) peeled: Option<ObjectId>,
}

impl Tip {
    /// The commit, as far as the listing tells.
    pub(super) fn commit(&self) -> ObjectId {
        self.peeled.unwrap_or(self.object)
    }

    fn of(listed: &Ref) -> Option<Self> {
        let (name, object, peeled) = listed.unpack();
        Some(Self {
            reference: Some(name.to_string()),
            object: object?.to_owned(),
            peeled: peeled.map(ToOwned::to_owned),
        })
    }
}

/// The tip that a ref means. A commit id means itself and is not looked for here.
pub(super) fn choose(requested: &Requested, refs: &[Ref]) -> Result<Tip, Error> {
    let named = |name: &str| {
        refs.iter()
            .find(|listed| listed.unpack().0 == name)
            .and_then(Tip::of)
    };
    let missing = || Error::RefNotFound(requested.to_string());
    match requested.meaning() {
        Meaning::Commit(id) => Ok(Tip {
            reference: None,
            object: *id,
            peeled: None,
        }),
        Meaning::Full => named(requested.as_str()).ok_or_else(missing),
        Meaning::Short => match (named(&requested.branch()), named(&requested.tag())) {
            (Some(_), Some(_)) => Err(Error::RefAmbiguous {
                name: requested.to_string(),
                branch: requested.branch(),
                tag: requested.tag(),
            }),
            (branch, tag) => branch.or(tag).ok_or_else(missing),
        },
        Meaning::Head => {
            let mut tip = named("HEAD").ok_or(Error::HeadUnborn)?;
            let target = refs.iter().find_map(|listed| match listed {
                Ref::Symbolic {
                    full_ref_name,
                    target,
                    ..
                } if full_ref_name == "HEAD" => Some(target.to_string()),
                _ => None,
            });
            tip.reference = target.or(tip.reference);
            Ok(tip)
        }
    }
}

/// The branch or the lightweight tag at exactly this commit. Other refs and annotated tags do not count: the one is
/// somebody's bookkeeping, the other advertises the tag and not the commit.
pub(super) fn at(commit: ObjectId, refs: &[Ref]) -> Option<Tip> {
    refs.iter().filter_map(Tip::of).find(|tip| {
        let counts = |name: &String| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
        tip.object == commit && tip.peeled.is_none() && tip.reference.as_ref().is_some_and(counts)
    })
}
