//! One resolution, on a thread that may block.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix_hash::ObjectId;
use gix_object::{CommitRefIter, TagRefIter};
use gix_transport::Protocol;
use gix_transport::client::blocking_io::Transport;
use gix_transport::client::blocking_io::http;
use gix_transport::client::git::ConnectMode;
use gix_transport::client::git::blocking_io::Connection;
use ptah_contract::manifest::Manifest;
use tempfile::TempDir;

use super::credential::{Credential, Kind};
use super::http::Backend;
use super::listing::{Tip, at, choose};
use super::repository::At;
use super::requested::{Meaning, Requested};
use super::session::{Session, Want};
use super::store::Store;
use super::tree::{self, Entry};
use super::wire::Wire;
use super::{Error, Known, Recorded, Request, ssh};
use crate::content::Limits;
use crate::net::{self, Client};

/// Tags that lead to tags are followed so far.
const MAX_TAGS: usize = 8;

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

/// What was fetched and checked, before anything is handed on.
pub(super) struct Found {
    pub(super) store: Store,
    pub(super) entries: Vec<Entry>,
    pub(super) manifest: Manifest,
    pub(super) limits: Limits,
    pub(super) tip: Tip,
    pub(super) peeled: Peeled,
}

/// The commit that a tip leads to, with the objects on the way as they are: what signatures are over.
pub(super) struct Peeled {
    pub(super) commit: ObjectId,
    pub(super) commit_object: Vec<u8>,
    pub(super) tag_objects: Vec<Vec<u8>>,
}

impl Worker {
    /// Resolves what the request names; nothing when that is known already.
    pub(super) fn resolve(&self, known: Option<&Known>) -> Result<Option<Found>, Error> {
        let (tip, session) = match self.request.requested.meaning() {
            Meaning::Commit(id) => self.pinned(*id)?,
            _ => {
                let mut session = self.open(true)?;
                let refs = session.refs(self.request.requested.prefixes())?;
                (choose(&self.request.requested, &refs)?, Some(session))
            }
        };
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
                    | Error::Net(net::Error::Budget { .. } | net::Error::Deadline { .. }),
                ) => return Err(out_of_budget()),
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

    fn fetch(&self, session: Option<Session>, tip: Tip) -> Result<Found, Error> {
        let received = self.receive(session, tip.object, 1, true);
        let (store, session, _) = received.map_err(|error| match error {
            Error::NotACommit { kind, .. } => Error::NotACommit {
                name: self.name(&tip),
                kind,
            },
            error => error,
        })?;
        let object = tip.object;
        self.read(store, session, tip, Some((object, 1)))
    }

    /// Receives an object and so much of its history; file contents only where all of them are selected, or the
    /// server cannot leave them out.
    fn receive(
        &self,
        session: Option<Session>,
        object: ObjectId,
        depth: u32,
        filtered: bool,
    ) -> Result<(Store, Session, bool), Error> {
        let mut session = session.map_or_else(|| self.open(true), Ok)?;
        let mut store = Store::new(self.wire.host.clone(), self.folder()?);
        let want = Want {
            ids: &[object],
            depth: Some(depth),
            without_blobs: filtered && !self.request.path.is_root() && session.can_filter(),
        };
        let received = session.fetch(&want, store.folder(), &self.request.budget, &self.stop)?;
        store.add(received.pack);
        Ok((store, session, received.shallow))
    }

    /// Reads what was received; asks for the file contents that are still missing, or, where the server does not give
    /// them by their ids, for everything again (`again` says what).
    fn read(
        &self,
        mut store: Store,
        mut session: Session,
        tip: Tip,
        again: Option<(ObjectId, u32)>,
    ) -> Result<Found, Error> {
        let peeled = self.peel(&mut store, &tip)?;
        let tree = CommitRefIter::from_bytes(&peeled.commit_object, peeled.commit.kind())
            .tree_id()
            .map_err(|_| Error::Protocol {
                host: store.host().to_owned(),
            })?;
        let (path, attempt) = (&self.request.path, &self.wire.attempt);
        let entries = tree::select(&mut store, tree, path, attempt)?;
        let mut missing: Vec<ObjectId> = entries
            .iter()
            .map(|entry| entry.id)
            .filter(|id| !store.has(id))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let want = Want {
                ids: &missing,
                depth: None,
                without_blobs: false,
            };
            match session.fetch(&want, store.folder(), &self.request.budget, &self.stop) {
                Ok(received) => store.add(received.pack),
                Err(error) => {
                    let (Error::NotOurs { .. }, Some((object, depth))) = (&error, again) else {
                        return Err(error);
                    };
                    drop((store, session));
                    let (store, session, _) = self.receive(None, object, depth, false)?;
                    return self.read(store, session, tip, None);
                }
            }
        }
        session.end();
        let manifest = tree::manifest(&mut store, &entries, path, &self.request.limits, attempt)?;
        Ok(Found {
            store,
            entries,
            manifest,
            limits: self.request.limits.clone(),
            tip,
            peeled,
        })
    }

    fn peel(&self, store: &mut Store, tip: &Tip) -> Result<Peeled, Error> {
        let protocol = |store: &Store| Error::Protocol {
            host: store.host().to_owned(),
        };
        let (mut id, mut tags) = (tip.object, Vec::new());
        loop {
            let mut bytes = Vec::new();
            match store.read(&id, &mut bytes)? {
                gix_object::Kind::Commit => {
                    if tip.peeled.is_some_and(|peeled| peeled != id) {
                        return Err(protocol(store));
                    }
                    return Ok(Peeled {
                        commit: id,
                        commit_object: bytes,
                        tag_objects: tags,
                    });
                }
                // An id is that of the commit itself.
                gix_object::Kind::Tag if tip.reference.is_some() && tags.len() < MAX_TAGS => {
                    let target = TagRefIter::from_bytes(&bytes, id.kind()).target_id();
                    id = target.map_err(|_| protocol(store))?;
                    tags.push(bytes);
                }
                other => {
                    let kind = match other {
                        gix_object::Kind::Tree => "tree",
                        gix_object::Kind::Blob => "blob",
                        _ if tags.is_empty() => "tag",
                        _ => "long chain of tags",
                    };
                    return Err(Error::NotACommit {
                        name: self.name(tip),
                        kind,
                    });
                }
            }
        }
    }

    /// A tip as it is named to people.
    fn name(&self, tip: &Tip) -> String {
        let requested = self.request.requested.to_string();
        tip.reference.clone().unwrap_or(requested)
    }

    fn folder(&self) -> Result<TempDir, Error> {
        let parent = self.request.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let folder = tempfile::Builder::new().prefix("ptah-git-").tempdir_in(&parent);
        Ok(folder.map_err(crate::Error::io("creating a folder in", Path::new(&parent)))?)
    }

    /// A new session, in protocol version 2 if the server speaks it, or in version 0.
    fn open(&self, version_2: bool) -> Result<Session, Error> {
        let version = if version_2 { Protocol::V2 } else { Protocol::V1 };
        let wire = self.wire.anew();
        let transport: Box<dyn Transport> = match self.request.repository.at() {
            At::Https { url, .. } => {
                let backend = Backend::new(wire.clone(), self.client.clone(), self.header.clone(), url);
                let url = gix_url::parse(url.as_str()).map_err(|_| net::Error::InvalidUrl("it is no URL"))?;
                Box::new(http::Transport::new_http(backend, url, version, false))
            }
            At::Ssh {
                user,
                authority,
                path,
            } => {
                let Some(Credential(Kind::Ssh {
                    identity,
                    known_hosts,
                })) = &self.request.credential
                else {
                    return Err(Error::IdentityMissing);
                };
                let target = ssh::Target {
                    user,
                    authority,
                    path,
                    identity,
                    known_hosts,
                    network: &self.request.network,
                };
                let (reader, writer) = wire
                    .block(ssh::open(&target, &wire, version_2))
                    .map_err(|_| wire.failure(|| Error::Panicked))?;
                let host = None::<(String, Option<u16>)>;
                let mode = ConnectMode::Process;
                Box::new(Connection::new(
                    reader,
                    writer,
                    version,
                    path.as_str(),
                    host,
                    mode,
                    false,
                ))
            }
        };
        Session::begin(transport, wire)
    }
}
