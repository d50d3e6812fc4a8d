//! The files that the node's programs are configured with.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::paths::{ADDRESS, DNS_SERVICE, NODE_NAME, PODS, Paths, REGISTRY};

/// The image of every Pod's sandbox, in the node's own registry.
pub const PAUSE: &str = "198.18.0.1:5000/pause:1";

/// Writes every file. The certificates must be there.
pub fn write(paths: &Paths) -> Result<()> {
    for client in ["admin", "controller-manager", "scheduler", "kubelet", "proxy"] {
        put(&paths.kubeconfig_of(client), &kubeconfig(paths, client)?)?;
    }
    // YAML's writers are not needed here: JSON is YAML.
    put(&paths.run_join("audit.yaml"), &audit_policy().to_string())?;
    put(&paths.run_join("kubelet.yaml"), &kubelet(paths).to_string())?;
    put(&paths.run_join("proxy.yaml"), &proxy(paths).to_string())?;
    put(&paths.run_join("registry.yaml"), &registry(paths).to_string())?;
    put(
        &paths.run_join("cni/10-pods.conflist"),
        &pod_network(paths).to_string(),
    )?;
    put(&paths.run_join("containerd.toml"), &containerd(paths))?;
    put(
        &paths.run_join(&format!("registries/{REGISTRY}/hosts.toml")),
        &hosts(),
    )?;
    put(&paths.run_join("Corefile"), &corefile(paths))
}

fn put(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

// The certificates are in the file, so that it works wherever it is copied to.
fn kubeconfig(paths: &Paths, client: &str) -> Result<String> {
    let read = |name: &str| -> Result<String> {
        let path = paths.run_join("pki").join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let document = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "ptah-node", "cluster": {
            "server": format!("https://{ADDRESS}:6443"),
            "certificate-authority-data": base64(&read("ca.crt")?),
        }}],
        "users": [{"name": client, "user": {
            "client-certificate-data": base64(&read(&format!("{client}.crt"))?),
            "client-key-data": base64(&read(&format!("{client}.key"))?),
        }}],
        "contexts": [{"name": "ptah-node", "context": {"cluster": "ptah-node", "user": client}}],
        "current-context": "ptah-node",
    });
    Ok(document.to_string())
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

// Tests count the requests that the product makes; one line for each, when it is answered.
fn audit_policy() -> serde_json::Value {
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata"}],
    })
}

fn kubelet(paths: &Paths) -> serde_json::Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": format!("unix://{}", paths.containerd_socket().display()),
        "cgroupDriver": "cgroupfs",
        // Machines with the older control groups are welcome.
        "failCgroupV1": false,
        "failSwapOn": false,
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true},
            "x509": {"clientCAFile": paths.run_join("pki/ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "podLogsDir": paths.logs().join("pods"),
        "clusterDNS": [DNS_SERVICE],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "tlsCertFile": paths.run_join("pki/kubelet.crt"),
        "tlsPrivateKeyFile": paths.run_join("pki/kubelet.key"),
        "serializeImagePulls": false,
        "registryPullQPS": 0,
        // The machine's disk and memory are shared with builds and other users, and a node that turns Pods away because
        // of them looks like a defect of the product: 0% turns each threshold off.
        "evictionHard": {
            "memory.available": "0%",
            "nodefs.available": "0%",
            "nodefs.inodesFree": "0%",
            "imagefs.available": "0%",
            "imagefs.inodesFree": "0%",
        },
        "imageGCHighThresholdPercent": 100,
    })
}

fn proxy(paths: &Paths) -> serde_json::Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clusterCIDR": PODS,
        "clientConnection": {"kubeconfig": paths.kubeconfig_of("proxy")},
        "hostnameOverride": NODE_NAME,
        "nodeIPOverride": [ADDRESS],
        // Where the machine's settings cannot be written, setting them is fatal.
        "conntrack": {"maxPerCore": 0},
    })
}

fn registry(paths: &Paths) -> serde_json::Value {
    json!({
        "version": "0.1",
        "log": {"accesslog": {"disabled": true}},
        "storage": {"filesystem": {"rootdirectory": paths.registry()}, "delete": {"enabled": true}},
        "http": {"addr": REGISTRY},
    })
}

fn pod_network(paths: &Paths) -> serde_json::Value {
    json!({
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                "ipMasq": true,
                "hairpinMode": true,
                "ipam": {
                    "type": "host-local",
                    // Its default folder would remember addresses of an earlier node.
                    "dataDir": paths.run_join("cni-addresses"),
                    "ranges": [[{"subnet": PODS}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": true}},
        ],
    })
}

fn containerd(paths: &Paths) -> String {
    format!(
        r#"version = 3
root = "{run}/containerd/root"
state = "{run}/containerd/state"
[grpc]
  address = "{socket}"
# Nothing outside the folder is shared with a containerd that the machine may have.
[plugins."io.containerd.nri.v1.nri"]
  disable = true
[plugins."io.containerd.internal.v1.opt"]
  path = "{run}/containerd/opt"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = "{run}/registries"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  # Where the machine may not lower it, every sandbox dies without a word.
  restrict_oom_score_adj = true
  # Under the state folder they can be told from those of others, and are cleaned up with it.
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "{run}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"#,
        run = paths.run().display(),
        socket = paths.containerd_socket().display(),
    )
}

fn hosts() -> String {
    format!(
        "server = \"http://{REGISTRY}\"\n[host.\"http://{REGISTRY}\"]\n  capabilities = [\"pull\", \"resolve\"]\n"
    )
}

// It runs beside the node and not as a Pod, so that nothing has to be pulled for it. Names
// outside the cluster do not exist here: a clear answer, and at once.
fn corefile(paths: &Paths) -> String {
    format!(
        "\
cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {{
  bind {ADDRESS}
  kubernetes cluster.local in-addr.arpa ip6.arpa {{
    kubeconfig {kubeconfig}
  }}
  cache 5
}}
.:53 {{
  bind {ADDRESS}
  template IN ANY . {{
    rcode NXDOMAIN
  }}
}}
",
        kubeconfig = paths.kubeconfig().display(),
    )
}
