//! The commit that was chosen: received, read, and checked, before anything is handed on.

use std::path::Path;

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
use super::listing::Tip;
use super::repository::At;
use super::session::{Session, Want};
use super::store::Store;
use super::tree::{self, Entry};
use super::worker::Worker;
use super::{Error, ssh};
use crate::content::Limits;
use crate::net;

/// Tags that lead to tags are followed so far.
const MAX_TAGS: usize = 8;

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
    /// Fetches a tip at depth 1 and reads it.
    pub(super) fn fetch(&self, session: Option<Session>, tip: Tip) -> Result<Found, Error> {
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
    pub(super) fn receive(
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
    pub(super) fn read(
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

    pub(super) fn peel(&self, store: &mut Store, tip: &Tip) -> Result<Peeled, Error> {
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
    pub(super) fn open(&self, version_2: bool) -> Result<Session, Error> {
        let version = if version_2 { Protocol::V2 } else { Protocol::V1 };
        let wire = self.wire.anew();
        let transport: Box<dyn Transport> = match self.request.repository.at() {
            At::Https { url, .. } => {
                let backend = Backend::new(wire.clone(), self.client.clone(), self.header.clone(), url);
                let url = gix_url::parse(url.as_str())
                    .map_err(|_| net::Error::InvalidUrl("its URL cannot be read"))?;
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
