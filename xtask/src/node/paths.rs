//! The node's addresses, and where its files are.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The network namespace that the node lives in.
pub const NAMESPACE: &str = "ptah-node";
/// The node's address. Everything is in 198.18.0.0/15, the range set aside for tests.
pub const ADDRESS: &str = "198.18.0.1";
/// The addresses of Pods.
pub const PODS: &str = "198.18.1.0/24";
/// The addresses of Services.
pub const SERVICES: &str = "198.19.0.0/24";
/// The address of the Service `kubernetes`.
pub const API_SERVICE: &str = "198.19.0.1";
/// The address of the Service `kube-dns`.
pub const DNS_SERVICE: &str = "198.19.0.10";
/// The two ends of the link between the machine and the namespace.
pub const HOST_END: &str = "198.18.255.1";
/// See [`HOST_END`].
pub const NODE_END: &str = "198.18.255.2";
/// The registry that the node pulls from.
pub const REGISTRY: &str = "198.18.0.1:5000";
/// The name of the one node.
pub const NODE_NAME: &str = "node1";

/// The node's folder, and the files in it that more than one part needs.
#[derive(Debug, Clone)]
pub struct Paths {
    root: PathBuf,
}

impl Paths {
    /// `$PTAH_NODE_DIR`, else `ptah-node` beside the cache.
    pub fn of_environment(cache: &Path) -> Result<Self> {
        let root = std::env::var_os("PTAH_NODE_DIR")
            .map_or_else(|| cache.with_file_name("ptah-node"), PathBuf::from);
        // The containers' sockets are Unix sockets, whose paths may have 107 bytes.
        if !root.is_absolute() || root.as_os_str().len() > 60 {
            bail!(
                "the node's folder must be absolute and at most 60 bytes long: {}",
                root.display()
            );
        }
        Ok(Self { root })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the folder.
    pub fn join(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What lives as long as the node runs; wiped by `down`.
    pub fn run(&self) -> PathBuf {
        self.join("run")
    }

    /// A path in [`Self::run`].
    pub fn run_join(&self, name: &str) -> PathBuf {
        self.run().join(name)
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_of("admin")
    }

    /// The kubeconfig of one of the node's own clients.
    pub fn kubeconfig_of(&self, client: &str) -> PathBuf {
        self.run_join(&format!("{client}.kubeconfig"))
    }

    /// The API server's audit log: one JSON document a line for every request that was answered.
    pub fn audit_log(&self) -> PathBuf {
        self.logs().join("audit.log")
    }

    /// The logs of the node's processes. They outlive the node, until the next `up`.
    pub fn logs(&self) -> PathBuf {
        self.join("logs")
    }

    /// The registry's content. It outlives the node.
    pub fn registry(&self) -> PathBuf {
        self.join("registry")
    }

    /// The record of the images that were pushed last.
    pub fn images(&self) -> PathBuf {
        self.join("images.json")
    }

    /// The socket of containerd.
    pub fn containerd_socket(&self) -> PathBuf {
        self.run_join("containerd.sock")
    }

    /// The records of the processes that were started.
    pub fn processes(&self) -> PathBuf {
        self.join("processes")
    }
}
