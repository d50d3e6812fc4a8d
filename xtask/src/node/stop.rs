//! Ends the node and removes what it made, whatever state it is in.
//!
//! Only processes that are ours are ended: the recorded ones, and the containers under shims whose command line
//! names our containerd. The folder is removed only when nothing is mounted in it any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::network;
use super::paths::Paths;
use super::process::{Process, Processes};
use crate::{cache, run};

// The kubelet first, else it restarts what is ended; etcd last, else the API server waits for it.
const ORDER: &[&str] = &[
    "kubelet",
    "containerd",
    "coredns",
    "kube-proxy",
    "kube-scheduler",
    "kube-controller-manager",
    "kube-apiserver",
    "registry",
    "etcd",
];

/// Ends everything that runs, unmounts what is mounted, and removes the node's state and network.
pub fn everything(paths: &Paths, processes: &Processes) -> Result<()> {
    for name in ORDER {
        if *name == "containerd" {
            end_containers(&paths.containerd_socket())?;
        }
        processes.end(name, Duration::from_secs(4))?;
    }
    unmount_under(&paths.run())?;
    network::unmake().context("cannot remove the node's network")?;
    cache::remove(&paths.run())?;
    cache::remove(&paths.processes())
}

// A shim is the parent of its containers' first processes, and those take their namespaces with them.
fn end_containers(socket: &Path) -> Result<()> {
    let shims = shims(socket)?;
    for (pid, shim) in &shims {
        for child in children(*pid) {
            child.end(Duration::ZERO)?;
        }
        shim.end(Duration::ZERO)?;
    }
    Ok(())
}

fn shims(socket: &Path) -> Result<Vec<(i32, Process)>> {
    let mut shims = Vec::new();
    for entry in fs::read_dir("/proc").context("cannot read /proc")? {
        let Some(pid) = entry
            .ok()
            .and_then(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        else {
            continue;
        };
        // The process may have ended since the folder was read.
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let is_shim = words
            .first()
            .is_some_and(|program| program.ends_with(b"containerd-shim-runc-v2"));
        let is_ours = words
            .windows(2)
            .any(|pair| pair[0] == b"-address" && pair[1] == socket.as_os_str().as_encoded_bytes());
        if let Some(process) = Process::of(pid).filter(|_| is_shim && is_ours) {
            shims.push((pid, process));
        }
    }
    Ok(shims)
}

fn children(parent: i32) -> Vec<Process> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Vec::new();
    };
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<i32>>()
        })
        .filter_map(Process::of)
        .collect()
}

fn unmount_under(folder: &Path) -> Result<()> {
    // What is mounted last lies on top.
    for point in mounted_under(folder)?.iter().rev() {
        run::quiet(Command::new("umount").arg("-l").arg(point))?;
    }
    if let Some(point) = mounted_under(folder)?.first() {
        bail!("{} is still mounted", point.display());
    }
    Ok(())
}

fn mounted_under(folder: &Path) -> Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo").context("cannot read what is mounted")?;
    Ok(points_under(&table, folder))
}

fn points_under(table: &str, folder: &Path) -> Vec<PathBuf> {
    table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|point| PathBuf::from(point.replace("\\040", " ")))
        .filter(|point| point.starts_with(folder))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mounts_under_the_folder_are_ours() {
        let table = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
                     30 22 0:5 / /node/run/a rw - tmpfs tmpfs rw\n\
                     31 22 0:6 / /node/running rw - tmpfs tmpfs rw\n\
                     32 30 0:7 / /node/run/a/b rw - tmpfs tmpfs rw\n";
        let points = points_under(table, Path::new("/node/run"));
        assert_eq!(
            points,
            [PathBuf::from("/node/run/a"), PathBuf::from("/node/run/a/b")]
        );
    }
}
