//! What a program costs, for benches: its time, and the most memory that it had.

use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How often a process's memory is looked at. The kernel keeps the peak, so that only what begins and ends within this
/// time is missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What it cost.
pub struct Cost {
    pub seconds: f64,
    /// KiB.
    pub memory: u64,
    pub status: ExitStatus,
}

/// Runs a program to its end; `high_water` is [`own`] or [`with_children`].
pub fn run(command: &mut Command, high_water: impl Fn(u32) -> u64) -> std::io::Result<Cost> {
    let since = Instant::now();
    let mut child = command.spawn()?;
    let mut memory = 0;
    loop {
        memory = memory.max(high_water(child.id()));
        if let Some(status) = child.try_wait()? {
            let seconds = since.elapsed().as_secs_f64();
            return Ok(Cost {
                seconds,
                memory,
                status,
            });
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Most memory that a process had so far, in KiB; nothing when it is gone.
pub fn own(pid: u32) -> u64 {
    let status = read(pid, "status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

/// The same of the process or one of its children, whichever had more.
pub fn with_children(pid: u32) -> u64 {
    let children = read(pid, &format!("task/{pid}/children"));
    let of_children = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .map(with_children);
    own(pid).max(of_children.max().unwrap_or(0))
}

fn read(pid: u32, file: &str) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default()
}
