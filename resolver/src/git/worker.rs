//! One resolution, on a thread that may block: which commit is meant, and how a recorded one is found again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix_hash::ObjectId;

use super::fetch::{Found, Peeled};
use super::listing::{Tip, at, choose};
use super::requested::{Meaning, Requested};
use super::session::Session;
use super::wire::Wire;
use super::{Error, Known, Recorded, Request};
use crate::net::{self, Client};

/// What the deepening of a history multiplies its depth with, and where it ends.
const DEEPER: u32 = 10;
const DEEPEST: u32 = 1_000_000;

pub(super) struct Worker {
    pub(super) request: Request,
    pub(super) wire: Wire,
    pub(super) client: Client,
    /// The header to send, minted already for a GitHub App.
    pub(super) header: Option<net::Credential>,
    pub(super) stop: Arc<AtomicBool>,
}

impl Worker {
    /// Resolves what the request names; nothing when that is known already.
    pub(super) fn resolve(&self, known: Option<&Known>) -> Result<Option<Found>, Error> {
        let (tip, session) = self.named()?;
        if known.is_some_and(|known| known.is(&tip)) {
            session.into_iter().for_each(Session::end);
            return Ok(None);
        }
        let object = tip.object.to_string();
        match self.fetch(session, tip) {
            Err(Error::NotOurs { .. }) if matches!(self.request.requested.meaning(), Meaning::Commit(_)) => {
                Err(Error::CommitNotFound(object))
            }
            found => found.map(Some),
        }
    }

    /// The commit that the request names and the tags on the way, without any content.
    pub(super) fn tip(&self) -> Result<(Tip, Peeled), Error> {
        let (tip, session) = self.named()?;
        let (mut store, session, _) = self.receive(session, tip.object, 1, true)?;
        session.end();
        let peeled = self.peel(&mut store, &tip)?;
        Ok((tip, peeled))
    }

    /// What the request names now.
    fn named(&self) -> Result<(Tip, Option<Session>), Error> {
        if let Meaning::Commit(id) = self.request.requested.meaning() {
            return self.pinned(*id);
        }
        let mut session = self.open(true)?;
        let refs = session.refs(self.request.requested.prefixes())?;
        Ok((choose(&self.request.requested, &refs)?, Some(session)))
    }

    /// A commit may be asked for when the advertisement says so, and only then.
    ///
    /// Where reachable ones are allowed and no others, the session of version 0 goes on: there the server looks whether
    /// it is reachable, which in version 2 it does not.
    fn pinned(&self, id: ObjectId) -> Result<(Tip, Option<Session>), Error> {
        let mut session = self.open(false)?;
        let refs = session.refs(vec![])?;
        let tip = Tip {
            reference: None,
            object: id,
            peeled: None,
        };
        if id.kind() != session.hash {
            return Err(Error::ObjectFormat(id.to_string()));
        }
        let is_at_ref = at(id, &refs).is_some();
        if !is_at_ref && !session.allows_any() && session.allows_reachable() {
            return Ok((tip, Some(session)));
        }
        let allowed = is_at_ref || session.allows_any();
        session.end();
        if allowed {
            Ok((tip, None))
        } else {
            Err(Error::CommitNotAllowed(id.to_string()))
        }
    }

    /// Fetches the commit that was recorded: by its ref, by its id, along the history of its ref.
    pub(super) fn recorded(&self, recorded: &Recorded) -> Result<Found, Error> {
        let commit = match recorded.commit.parse::<Requested>()?.meaning() {
            Meaning::Commit(id) => *id,
            _ => return Err(Error::Ref("the recorded commit is no object id")),
        };
        let found = if matches!(self.request.requested.meaning(), Meaning::Commit(_)) {
            let (tip, session) = self.pinned(commit)?;
            self.fetch(session, tip).map_err(|error| match error {
                Error::NotOurs { .. } => Error::CommitGone {
                    commit: commit.to_string(),
                    from: "any ref of the repository".to_owned(),
                },
                error => error,
            })?
        } else {
            self.recorded_at_ref(commit, recorded.reference.as_deref())?
        };
        let digest = found.manifest.content_digest();
        if digest == recorded.content_digest {
            Ok(found)
        } else {
            Err(crate::Error::OtherContent {
                found: digest,
                wanted: recorded.content_digest,
            }
            .into())
        }
    }

    fn recorded_at_ref(&self, commit: ObjectId, reference: Option<&str>) -> Result<Found, Error> {
        let named = match reference {
            Some(name) => name.parse()?,
            None => self.request.requested.clone(),
        };
        let mut session = self.open(true)?;
        let refs = session.refs(named.prefixes())?;
        let tip = match choose(&named, &refs) {
            Ok(tip) => Some(tip),
            // The commit may still be there when its ref is not.
            Err(Error::RefNotFound(_) | Error::HeadUnborn | Error::RefAmbiguous { .. }) => None,
            Err(error) => return Err(error),
        };
        if let Some(tip) = tip.as_ref().filter(|tip| tip.commit() == commit) {
            return self.fetch(Some(session), tip.clone());
        }
        session.end();
        match self.pinned(commit) {
            Ok((by_id, session)) => match self.fetch(session, by_id) {
                // Reachable ones are allowed, and this one is not.
                Err(Error::NotOurs { .. }) => {}
                other => return other,
            },
            Err(Error::CommitNotAllowed(_)) => {}
            Err(error) => return Err(error),
        }
        match tip {
            Some(tip) => self.along(commit, &tip),
            None => Err(Error::CommitGone {
                commit: commit.to_string(),
                from: format!("{named}, which is gone"),
            }),
        }
    }

    /// Looks for a commit along the history of a ref, deeper each time.
    fn along(&self, commit: ObjectId, tip: &Tip) -> Result<Found, Error> {
        let reference = tip.reference.clone().unwrap_or_default();
        let mut depth = DEEPER;
        loop {
            let out_of_budget = || Error::HistoryBudget {
                commit: commit.to_string(),
                reference: reference.clone(),
                depth: depth / DEEPER,
            };
            if depth > DEEPEST {
                return Err(out_of_budget());
            }
            let (store, session, shallow) = match self.receive(None, tip.object, depth, true) {
                Ok(received) => received,
                Err(
                    Error::ObjectBudget { .. }
                    | Error::UnpackedBudget { .. }
                    | Error::Net(net::Error::Budget { .. }),
                ) => {
                    return Err(out_of_budget());
                }
                Err(error) => return Err(error),
            };
            if store.has(&commit) {
                let named = Tip {
                    reference: tip.reference.clone(),
                    object: commit,
                    peeled: None,
                };
                return self.read(store, session, named, Some((tip.object, depth)));
            }
            if !shallow {
                return Err(Error::CommitGone {
                    commit: commit.to_string(),
                    from: reference,
                });
            }
            depth = depth.saturating_mul(DEEPER);
        }
    }
}
