//! The node's processes: started in its namespace, recorded in files, ended by those records and by nothing else.
//!
//! A record is a process id with the moment it started and the boot it belongs to: an id that has been given to
//! another process since, or that was written before a reboot, is not ours and is not touched.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::wait;

/// One process, told apart from every other that ever had its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pid: i32,
    started: u64,
    boot: String,
}

impl Process {
    /// The process that has the id now.
    pub fn of(pid: i32) -> Option<Self> {
        let (_, started) = state_and_start(pid)?;
        Some(Self {
            pid,
            started,
            boot: boot()?,
        })
    }

    /// Whether it still runs. One that has ended and waits for its parent does not.
    pub fn runs(&self) -> bool {
        boot().is_some_and(|boot| boot == self.boot)
            && state_and_start(self.pid).is_some_and(|(state, start)| start == self.started && state != 'Z')
    }

    /// Asks it to end, waits for `patience`, then kills it.
    pub fn end(&self, patience: Duration) -> Result<()> {
        if !patience.is_zero() {
            self.signal(Signal::TERM);
            if wait::until("it has ended", patience, || !self.runs()).is_ok() {
                return Ok(());
            }
        }
        self.signal(Signal::KILL);
        wait::until(
            &format!("process {} has ended", self.pid),
            Duration::from_secs(20),
            || !self.runs(),
        )
    }

    /// Processes of this program in the containers of this Pod, found by the host name that a Pod's containers have.
    pub fn of_pod(pod: &str, program: &str) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").context("cannot read /proc")?.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // A process that ends while we look is none of those we look for.
            let host = fs::read_to_string(entry.path().join("root/etc/hostname")).unwrap_or_default();
            let runs_it = fs::read_link(entry.path().join("exe"))
                .is_ok_and(|exe| exe.file_name().is_some_and(|name| name == program));
            if runs_it && host.trim() == pod {
                found.extend(Self::of(pid));
            }
        }
        Ok(found)
    }

    /// Its id.
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Stops it from running, as if its machine had no time for it.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        // It may end between the look and the signal; that it ended is all that is wanted.
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.runs()) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// The records of the node's processes, and the logs they write.
#[derive(Debug)]
pub struct Processes {
    records: PathBuf,
    logs: PathBuf,
}

impl Processes {
    /// Records in the one folder, logs in the other.
    pub fn at(records: PathBuf, logs: PathBuf) -> Self {
        Self { records, logs }
    }

    /// Starts `command` as `name`, in a session of its own, with its output in the log of that name.
    ///
    /// The command must replace itself by the program (as `nsenter` and `setsid` do), so that the id stays.
    pub fn start(&self, name: &str, command: &mut Command) -> Result<()> {
        let path = self.logs.join(format!("{name}.log"));
        let log = fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("cannot share the log")?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let pid = i32::try_from(child.id()).context("a process id out of range")?;
        let process = Process::of(pid).with_context(|| format!("{name} ended at once"))?;
        let record = self.records.join(name);
        fs::write(&record, serde_json::to_vec(&process)?)
            .with_context(|| format!("cannot write {}", record.display()))
    }

    /// The recorded process called `name`.
    pub fn get(&self, name: &str) -> Option<Process> {
        serde_json::from_slice(&fs::read(self.records.join(name)).ok()?).ok()
    }

    /// Whether the process called `name` was started and still runs.
    pub fn runs(&self, name: &str) -> bool {
        self.get(name).is_some_and(|process| process.runs())
    }

    /// Ends the process called `name` if it runs, and forgets it.
    pub fn end(&self, name: &str, patience: Duration) -> Result<()> {
        if let Some(process) = self.get(name) {
            process
                .end(patience)
                .with_context(|| format!("cannot end {name}"))?;
            fs::remove_file(self.records.join(name)).with_context(|| format!("cannot forget {name}"))?;
        }
        Ok(())
    }

    /// Where the log of `name` is.
    pub fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }
}

fn boot() -> Option<String> {
    Some(
        fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .ok()?
            .trim()
            .to_owned(),
    )
}

// The program's name stands in parentheses and may hold anything; the fields are counted after the last one.
fn state_and_start(pid: i32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_recorded_ended_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let all = Processes::at(folder.path().to_owned(), folder.path().to_owned());
        all.start("sleeper", Command::new("sleep").arg("1000")).unwrap();
        assert!(all.runs("sleeper"));
        all.end("sleeper", Duration::from_secs(5)).unwrap();
        assert!(!all.runs("sleeper"));
        assert_eq!(all.get("sleeper"), None);
    }

    #[test]
    fn an_id_that_another_process_has_now_is_not_ours() {
        let own = Process::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own.runs());
        assert!(
            !Process {
                started: own.started + 1,
                ..own.clone()
            }
            .runs()
        );
        assert!(
            !Process {
                boot: "another".to_owned(),
                ..own
            }
            .runs()
        );
    }
}
