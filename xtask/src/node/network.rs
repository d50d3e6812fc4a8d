//! The node's network namespace, and the one link between it and the machine.
//!
//! The namespace has a bridge that carries the node's address and a default route that leads nowhere, so nothing
//! outside the machine is ever reached from it. The machine has a link into it with routes to the node, its Pods
//! and its Services, so that a test or a person needs no special command to talk to the cluster.

use std::fs::File;
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result, bail};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::paths::{ADDRESS, HOST_END, NAMESPACE, NODE_END, PODS, SERVICES};
use crate::run;

const HOST_LINK: &str = "ptah-host";
const NODE_LINK: &str = "ptah-node";

/// Where the namespace is mounted.
pub fn mounted() -> PathBuf {
    Path::new("/run/netns").join(NAMESPACE)
}

/// A command that runs `program` inside the namespace, in place of itself.
pub fn enter(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new("nsenter");
    // `ip netns exec` would give each process mounts of its own, and the kubelet's would be hidden from containerd.
    command
        .arg(format!("--net={}", mounted().display()))
        .arg("--")
        .arg(program.as_ref());
    command
}

/// A listener inside the namespace, on the node's own address and a port that the system chooses: servers under test
/// stand where Pods reach them, and nothing else does.
pub fn listen() -> Result<TcpListener> {
    let namespace =
        File::open(mounted()).context("the node is not up: its network namespace is not there")?;
    // A thread of its own moves, and ends; a socket stays where it was made.
    let bound = thread::spawn(move || -> Result<TcpListener> {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .context("cannot enter the node's network namespace")?;
        TcpListener::bind((ADDRESS, 0)).context("cannot listen on the node's address")
    });
    bound
        .join()
        .unwrap_or_else(|_| bail!("the thread that listens is gone"))
}

/// Makes the namespace with its addresses and routes. Nothing of an earlier one may be left.
pub fn make() -> Result<()> {
    ip(&format!("netns add {NAMESPACE}"))?;
    for line in [
        "link set lo up",
        // Not every kernel has dummy devices: one pair of ends in a bridge keeps it up as well.
        "link add node0 type bridge",
        &format!("addr add {ADDRESS}/32 dev node0"),
        "link set node0 up",
        "link add keep0 type veth peer name keep1",
        "link set keep0 master node0 up",
        "link set keep1 up",
        "route add default dev node0",
        &format!(
            "link add {NODE_LINK} type veth peer name {HOST_LINK} netns {}",
            std::process::id()
        ),
        &format!("addr add {NODE_END}/30 dev {NODE_LINK}"),
        &format!("link set {NODE_LINK} up"),
    ] {
        ip(&format!("-netns {NAMESPACE} {line}"))?;
    }
    run::quiet(enter("sysctl").args(["-qw", "net.ipv4.ip_forward=1"]))?;
    ip(&format!("addr add {HOST_END}/30 dev {HOST_LINK}"))?;
    ip(&format!("link set {HOST_LINK} up"))?;
    for range in [ADDRESS, PODS, SERVICES] {
        ip(&format!("route add {range} via {NODE_END}"))?;
    }
    Ok(())
}

/// Removes the namespace and the link, if they are there.
pub fn unmake() -> Result<()> {
    // The link goes with the namespace, but not before the last process in it has gone.
    if Path::new("/sys/class/net").join(HOST_LINK).exists() {
        ip(&format!("link delete {HOST_LINK}"))?;
    }
    if mounted().exists() {
        ip(&format!("netns delete {NAMESPACE}"))?;
    }
    Ok(())
}

fn ip(line: &str) -> Result<()> {
    run::quiet(Command::new("ip").args(line.split(' ')))
}
