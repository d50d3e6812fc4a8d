//! How much a pack unpacks to, counted while it is indexed, so that it can be stopped.
//!
//! The protocol library tells its progress and asks for no leave: what it counts is watched from beside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gix_pack::index::write::ProgressId;
use gix_utils::progress::{
    Count, Id, MessageLevel, NestedProgress, Progress, Step, StepShared, UNKNOWN, Unit,
};

/// How often the count is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Runs work that counts, and stops it once it has unpacked more than the limit; whether it has is the second part.
pub(super) fn within<T>(limit: u64, stop: &AtomicBool, work: impl FnOnce(&mut Unpacked) -> T) -> (T, bool) {
    let mut unpacked = Unpacked {
        bytes: StepShared::default(),
        counts: false,
    };
    let (bytes, ended) = (Arc::clone(&unpacked.bytes), AtomicBool::new(false));
    let exceeds = || bytes.load(Ordering::Relaxed) as u64 > limit;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                if exceeds() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
                thread::sleep(LOOK_EVERY);
            }
        });
        let done = work(&mut unpacked);
        ended.store(true, Ordering::Relaxed);
        (done, exceeds())
    })
}

/// Progress of which only the bytes of unpacked objects are kept.
#[derive(Debug)]
pub(super) struct Unpacked {
    bytes: StepShared,
    /// This part of the progress is about those bytes.
    counts: bool,
}

impl Count for Unpacked {
    /// Bytes are only ever added.
    fn set(&self, _: Step) {}

    fn step(&self) -> Step {
        0
    }

    fn inc_by(&self, step: Step) {
        if self.counts {
            self.bytes.fetch_add(step, Ordering::Relaxed);
        }
    }

    fn counter(&self) -> StepShared {
        match self.counts {
            true => Arc::clone(&self.bytes),
            false => StepShared::default(),
        }
    }
}

impl Progress for Unpacked {
    fn init(&mut self, _: Option<Step>, _: Option<Unit>) {}

    fn set_name(&mut self, _: String) {}

    fn name(&self) -> Option<String> {
        None
    }

    fn id(&self) -> Id {
        UNKNOWN
    }

    fn message(&self, _: MessageLevel, _: String) {}
}

impl NestedProgress for Unpacked {
    type SubProgress = Self;

    fn add_child(&mut self, _: impl Into<String>) -> Self {
        self.part(false)
    }

    fn add_child_with_id(&mut self, _: impl Into<String>, id: Id) -> Self {
        self.part(id == Id::from(ProgressId::DecodedBytes))
    }
}

impl Unpacked {
    fn part(&self, counts: bool) -> Self {
        let bytes = Arc::clone(&self.bytes);
        Self { bytes, counts }
    }
}
