//! A whole conversation with a server that says whatever the bytes say.

use std::cell::Cell;
use std::io::{Cursor, sink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gix_transport::Protocol;
use gix_transport::client::git::ConnectMode;
use gix_transport::client::git::blocking_io::Connection;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::listing::{self, Tip};
use super::requested::{Meaning, Requested};
use super::session::{Session, Want};
use super::store::Store;
use super::wire::Wire;
use super::{Budget, Error};
use crate::net::{Attempt, Limits};
use crate::{bounded, first_line, text};

thread_local! {
    static LIBRARY_PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// A ref in the first line, behind a 2 for version 2 of the protocol, and then everything that the server sends. The
/// ref that is chosen is one that the request means, and an object that is handed on has the hash that it is asked
/// for by.
pub fn git_session(data: &[u8]) {
    let (requested, server) = first_line(data);
    let Some(requested) = text(requested) else { return };
    let (version, requested) = match requested.strip_prefix('2') {
        Some(rest) => (Protocol::V2, rest),
        None => (Protocol::V1, requested),
    };
    let Ok(requested) = requested.parse::<Requested>() else {
        return;
    };
    if let Some(Err(error)) = forgiving(|| converse(&requested, version, server)) {
        bounded(&error);
    }
}

fn converse(requested: &Requested, version: Protocol, server: &[u8]) -> Result<(), Error> {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let _inside = runtime.enter();
    let limits = Limits {
        total: Duration::from_secs(60),
        ..Limits::default()
    };
    let attempt = Attempt::new(limits, CancellationToken::new());
    let wire = Wire::new(attempt, "git.example".to_owned());
    let reader = Cursor::new(server.to_vec());
    let host = None::<(String, Option<u16>)>;
    let transport = Connection::new(
        reader,
        sink(),
        version,
        "/app.git",
        host,
        ConnectMode::Process,
        false,
    );
    let mut session = Session::begin(Box::new(transport), wire)?;
    let refs = session.refs(requested.prefixes())?;
    let tip = listing::choose(requested, &refs)?;
    is_meant(requested, &tip);
    if let Some(at) = listing::at(tip.commit(), &refs) {
        assert_eq!((at.object, at.peeled), (tip.commit(), None));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::new("git.example".to_owned(), folder);
    let want = Want {
        ids: &[tip.object],
        depth: Some(1),
        without_blobs: true,
    };
    let budget = Budget {
        unpacked_bytes: Some(16 << 20),
        objects: 100,
        object_bytes: 1 << 20,
    };
    let received = session.fetch(&want, store.folder(), &budget, &AtomicBool::new(false))?;
    store.add(received.pack);
    let mut object = Vec::new();
    let kind = store.read(&tip.object, &mut object)?;
    assert!(object.len() as u64 <= budget.object_bytes);
    let hash = gix_object::compute_hash(tip.object.kind(), kind, &object).expect("a hash");
    assert_eq!(hash, tip.object);
    session.end();
    Ok(())
}

fn is_meant(requested: &Requested, tip: &Tip) {
    let name = tip.reference.as_deref();
    match requested.meaning() {
        Meaning::Full => assert_eq!(name, Some(requested.as_str())),
        Meaning::Short => assert!(
            [requested.branch(), requested.tag()]
                .iter()
                .any(|one| name == Some(one))
        ),
        Meaning::Commit(id) => assert_eq!((name, tip.object, tip.peeled), (None, *id, None)),
        Meaning::Head => assert!(name.is_some()),
    }
}

/// `None` where the protocol library panicked: for the product that is one failed attempt and no fault of its own.
fn forgiving<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.location().is_some_and(|at| at.file().contains("/gix-")) {
                LIBRARY_PANICKED.set(true);
            } else {
                before(info);
            }
        }));
    });
    LIBRARY_PANICKED.set(false);
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(_) if LIBRARY_PANICKED.get() => None,
        Err(panic) => resume_unwind(panic),
    }
}
