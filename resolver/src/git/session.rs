//! A conversation with `git-upload-pack`: its capabilities, its refs, its packs.
//!
//! Deviation from the protocol library's own fetch: on protocol version 0 that sends `deepen-relative` beside
//! `deepen 1`, which a server takes for "one more than nothing" and sends the whole history. Here the capability is
//! left out, so that depth means the same in every version, and with it thin packs, since nothing is here to be
//! completed with.

use std::io::{BufRead, Cursor, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix_hash::{Kind, ObjectId};
use gix_protocol::fetch::{Arguments, Response};
use gix_protocol::handshake::Ref;
use gix_protocol::ls_refs::RefPrefixes;
use gix_protocol::{Command, Handshake, LsRefsCommand};
use gix_transport::client::blocking_io::{ExtendedBufRead as _, Transport};
use gix_transport::{Protocol, Service};
use gix_utils::progress::Discard;

use super::store::Pack;
use super::wire::Wire;
use super::{Budget, Error};

const AGENT: &str = concat!("ptah/", env!("CARGO_PKG_VERSION"));

/// A session after its handshake.
pub(super) struct Session {
    transport: Box<dyn Transport>,
    handshake: Handshake,
    wire: Wire,
    /// Hash of the repository's objects.
    pub(super) hash: Kind,
}

/// What is asked for in one pack.
pub(super) struct Want<'a> {
    pub(super) ids: &'a [ObjectId],
    pub(super) depth: Option<u32>,
    /// Leave out file contents, where the server can.
    pub(super) without_blobs: bool,
}

/// What came.
pub(super) struct Received {
    pub(super) pack: Option<Pack>,
    /// Whether history goes on behind what came.
    pub(super) shallow: bool,
}

impl Session {
    /// Speaks first.
    pub(super) fn begin(mut transport: Box<dyn Transport>, wire: Wire) -> Result<Self, Error> {
        // Authentication is ours: a rejected credential does not come back here, and no helper is asked.
        let nobody = |_| Ok(None);
        let handshake =
            gix_protocol::handshake(&mut transport, Service::UploadPack, nobody, vec![], &mut Discard)
                .map_err(|error| failure(&wire, &error))?;
        let hash = match handshake
            .capabilities
            .capability("object-format")
            .and_then(|capability| capability.value().map(|value| value.to_vec()))
            .as_deref()
        {
            None | Some(b"sha1") => Kind::Sha1,
            Some(b"sha256") => Kind::Sha256,
            Some(_) => return Err(Error::UnknownHash),
        };
        Ok(Self {
            transport,
            handshake,
            wire,
            hash,
        })
    }

    /// Whether protocol version 2 is spoken.
    pub(super) fn is_v2(&self) -> bool {
        self.handshake.server_protocol_version == Protocol::V2
    }

    /// Whether the server leaves out file contents on request.
    pub(super) fn can_filter(&self) -> bool {
        self.is_v2() && self.features().iter().any(|(name, _)| *name == "filter")
    }

    /// Whether any object may be asked for. Only an advertisement of version 0 says so.
    pub(super) fn allows_any(&self) -> bool {
        self.handshake.capabilities.contains("allow-any-sha1-in-want")
    }

    /// Whether a commit may be asked for that a ref leads to.
    pub(super) fn allows_reachable(&self) -> bool {
        self.handshake
            .capabilities
            .contains("allow-reachable-sha1-in-want")
    }

    /// The refs of these prefixes, and more where the server does not narrow a listing.
    pub(super) fn refs(&mut self, prefixes: Vec<String>) -> Result<Vec<Ref>, Error> {
        if let Some(refs) = self.handshake.refs.take() {
            return Ok(refs);
        }
        let mut narrowed = RefPrefixes::new();
        narrowed.extend(prefixes.into_iter().map(Into::into));
        let agent = ("agent", Some(AGENT.to_owned()));
        LsRefsCommand::new(Some(narrowed), &self.handshake.capabilities, agent)
            .invoke_blocking(&mut self.transport, &mut Discard, false)
            .map_err(|error| failure(&self.wire, &error))
    }

    fn features(&self) -> Vec<gix_protocol::command::Feature> {
        let version = self.handshake.server_protocol_version;
        let capabilities = &self.handshake.capabilities;
        let mut features = Command::Fetch.default_features(version, capabilities);
        features.retain(|(name, _)| {
            !matches!(
                *name,
                "deepen-relative"
                    | "thin-pack"
                    | "include-tag"
                    | "no-done"
                    | "sideband-all"
                    | "packfile-uris"
            )
        });
        if capabilities.contains("agent") {
            features.push(("agent", Some(AGENT.to_owned())));
        }
        if version != Protocol::V2 {
            if capabilities.contains("object-format") {
                features.push(("object-format", Some(self.hash.to_string())));
            }
            if capabilities.contains("no-progress") {
                features.push(("no-progress", None));
            }
        }
        features
    }

    /// Receives a pack into a folder and indexes it.
    pub(super) fn fetch(
        &mut self,
        want: &Want<'_>,
        folder: &Path,
        budget: &Budget,
        stop: &AtomicBool,
    ) -> Result<Received, Error> {
        let version = self.handshake.server_protocol_version;
        let features = self.features();
        Response::check_required_features(version, &features).map_err(|_| Error::TooOld {
            host: self.wire.host.clone(),
        })?;
        let mut arguments = Arguments::new(version, features, false);
        if want.ids.is_empty() {
            return Ok(Received {
                pack: None,
                shallow: false,
            });
        }
        for id in want.ids {
            arguments.want(id);
        }
        if version == Protocol::V2 {
            arguments.add_feature("no-progress");
        }
        if let Some(depth) = want.depth
            && arguments.can_use_deepen()
        {
            arguments.deepen(depth as usize);
        }
        if want.without_blobs && arguments.can_use_filter() {
            arguments.filter("blob:none");
        }
        let wire = self.wire.clone();
        let mut reader = arguments
            .send(&mut self.transport, true)
            .map_err(|error| failure(&wire, &error))?;
        let response = Response::from_line_reader(version, &mut reader, true, false)
            .map_err(|error| failure(&wire, &error))?;
        let shallow = !response.shallow_updates().is_empty();
        if !response.has_pack() {
            let host = wire.host.clone();
            return Err(wire.failure(|| crate::net::Error::CutShort { host }.into()));
        }
        // In version 0 the library takes the server's last word for the beginning of a pack.
        if let Some(Ok(Ok(line))) = reader.peek_data_line()
            && line.starts_with(b"ERR ")
        {
            let words = String::from_utf8_lossy(line).into_owned();
            return Err(wire.failure(|| said(&words, &wire.host)));
        }
        // Progress is for people at a terminal; an error of the other side ends the pack, which is noticed anyway.
        reader.set_progress_handler(Some(Box::new(|_, _| std::ops::ControlFlow::Continue(()))));
        let mut reader = within_budget(reader, budget, &wire)?;
        let pack = Pack::receive(&mut reader, folder, self.hash, budget, stop, &wire)?;
        // What is left is the end of the last packet; without it the session could not go on.
        std::io::copy(&mut reader, &mut std::io::sink()).map_err(|_| {
            wire.failure(|| Error::PackDamaged {
                host: wire.host.clone(),
            })
        })?;
        Ok(Received { pack, shallow })
    }

    /// Says goodbye, so that the other side does not report a broken connection.
    pub(super) fn end(mut self) {
        // The answer, if any, is no longer of interest.
        let _ = gix_protocol::indicate_end_of_interaction(&mut self.transport, false);
    }
}

/// The pack says in its first twelve bytes how many objects it has: too many are refused before any is read.
fn within_budget<R: BufRead>(mut reader: R, budget: &Budget, wire: &Wire) -> Result<impl BufRead, Error> {
    let mut header = [0; 12];
    let damaged = || Error::PackDamaged {
        host: wire.host.clone(),
    };
    reader
        .read_exact(&mut header)
        .map_err(|_| wire.failure(damaged))?;
    let [b'P', b'A', b'C', b'K', _, _, _, _, count @ ..] = header else {
        return Err(Error::Protocol {
            host: wire.host.clone(),
        });
    };
    let found = u64::from(u32::from_be_bytes(count));
    if found > budget.objects {
        return Err(Error::ObjectBudget {
            found,
            limit: budget.objects,
        });
    }
    Ok(Cursor::new(header).chain(reader))
}

/// What a failure of the library means, when the network has none of its own. The text is the other side's: it is
/// compared, never shown.
fn failure(wire: &Wire, error: &dyn std::error::Error) -> Error {
    wire.failure(|| {
        let mut words = wire.first_words().unwrap_or_default();
        words.push_str(&error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            words.push(' ');
            words.push_str(&error.to_string());
            cause = error.source();
        }
        said(&words, &wire.host)
    })
}

fn said(words: &str, host: &str) -> Error {
    let words = words.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|part| words.contains(part));
    let host = host.to_owned();
    if says(&["not our ref", "unadvertised", "not valid"]) {
        Error::NotOurs { host }
    } else if says(&["no commits selected for shallow"]) {
        // JGit, asked for a tag of something else at a depth. Whoever asked knows the name.
        Error::NotACommit {
            name: String::new(),
            kind: "tree or a blob",
        }
    } else if says(&["not found", "does not exist", "not appear to be a git repo"]) {
        Error::RepositoryNotFound { host }
    } else if says(&["denied", "forbidden", "unauthorized"]) {
        Error::AccessDenied { host }
    } else if says(&["internal server error"]) {
        Error::Remote { host }
    } else if says(&["unexpected eof", "end of file", "failed to fill whole buffer"]) {
        Error::Net(crate::net::Error::CutShort { host })
    } else {
        Error::Protocol { host }
    }
}
