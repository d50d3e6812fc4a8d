//! Says on standard error what is being done, and how long it took.
//!
//! A step that takes minutes says once a minute that it is still at work, so that a quiet compiler is not taken
//! for a hang. Standard output is left to results.

use std::fmt::Display;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

const STILL_AT_WORK: Duration = Duration::from_secs(60);

/// One line about something that is so.
pub fn note(text: impl Display) {
    eprintln!("    {text}");
}

/// The heading of a group of steps.
pub fn heading(text: impl Display) {
    eprintln!("==> {text}");
}

/// Does `work`, with a line before it and one after it that gives the seconds.
pub fn step<T>(name: impl Display, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let name = name.to_string();
    let started = Instant::now();
    eprintln!("  > {name}");
    let result = thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        let ticker = &name;
        scope.spawn(move || {
            while wait.recv_timeout(STILL_AT_WORK) == Err(RecvTimeoutError::Timeout) {
                eprintln!("  . {ticker}: {} s so far", started.elapsed().as_secs());
            }
        });
        let result = work();
        drop(done);
        result
    });
    let seconds = started.elapsed().as_secs_f64();
    match &result {
        Ok(_) => eprintln!("  < {name}: {seconds:.1} s"),
        Err(_) => eprintln!("  ! {name}: failed after {seconds:.1} s"),
    }
    result
}
