//! Starts the node's processes in their order, each when what it needs is there.

use std::ffi::OsString;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::paths::{ADDRESS, API_SERVICE, DNS_SERVICE, NODE_NAME, Paths, REGISTRY, SERVICES};
use super::process::Processes;
use super::{PROCESSES, config, network, pki, wait};
use crate::cache::{self, programs::Programs};
use crate::run;

const SOON: Duration = Duration::from_secs(30);
const PATIENT: Duration = Duration::from_secs(120);

/// Starts everything, from nothing.
pub fn everything(paths: &Paths, processes: &Processes, programs: &Programs) -> Result<()> {
    // A test that counts requests must not find those of an earlier node.
    cache::remove(&paths.logs())?;
    for folder in [
        paths.logs(),
        paths.processes(),
        paths.registry(),
        paths.run_join("pki"),
    ] {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    pki::make(&paths.run_join("pki")).context("cannot make the node's certificates")?;
    config::write(paths)?;
    network::make().context("cannot make the node's network")?;
    let node = Start {
        paths,
        processes,
        programs,
    };
    node.control_plane()?;
    node.workers()?;
    node.cluster_dns()?;
    node.settled()
}

struct Start<'a> {
    paths: &'a Paths,
    processes: &'a Processes,
    programs: &'a Programs,
}

impl Start<'_> {
    fn control_plane(&self) -> Result<()> {
        let run = |name: &str| self.paths.run_join(name).into_os_string();
        let pki = |name: &str| self.paths.run_join("pki").join(name).into_os_string();
        self.start(
            "etcd",
            &[
                ("--data-dir", run("etcd")),
                ("--listen-client-urls", "http://127.0.0.1:2379".into()),
                ("--advertise-client-urls", "http://127.0.0.1:2379".into()),
                ("--listen-peer-urls", "http://127.0.0.1:2380".into()),
                // The state is thrown away with the node; a disk's pace is nothing to wait for.
                ("--unsafe-no-fsync", "true".into()),
            ],
        )?;
        self.start_words("registry", &["serve".into(), run("registry.yaml")])?;
        self.start(
            "kube-apiserver",
            &[
                ("--etcd-servers", "http://127.0.0.1:2379".into()),
                ("--secure-port", "6443".into()),
                ("--bind-address", "0.0.0.0".into()),
                ("--advertise-address", ADDRESS.into()),
                ("--service-cluster-ip-range", SERVICES.into()),
                ("--tls-cert-file", pki("apiserver.crt")),
                ("--tls-private-key-file", pki("apiserver.key")),
                ("--client-ca-file", pki("ca.crt")),
                ("--service-account-key-file", pki("sa.pub")),
                ("--service-account-signing-key-file", pki("sa.key")),
                (
                    "--service-account-issuer",
                    "https://kubernetes.default.svc.cluster.local".into(),
                ),
                ("--authorization-mode", "Node,RBAC".into()),
                ("--enable-admission-plugins", "NodeRestriction".into()),
                ("--allow-privileged", "true".into()),
                ("--kubelet-client-certificate", pki("admin.crt")),
                ("--kubelet-client-key", pki("admin.key")),
                // Else a Pod's log is asked for by the node's name, which no DNS knows.
                ("--kubelet-preferred-address-types", "InternalIP".into()),
                ("--kubelet-certificate-authority", pki("ca.crt")),
                ("--audit-policy-file", run("audit.yaml")),
                ("--audit-log-path", self.paths.audit_log().into_os_string()),
                // Rotation in the middle of a test would lose the lines that it counts.
                ("--audit-log-maxsize", "4096".into()),
            ],
        )?;
        self.start_words("containerd", &["-c".into(), run("containerd.toml")])?;
        self.until("the API server is ready", PATIENT, || {
            self.kubectl(&["get", "--raw", "/readyz"])
        })?;
        self.start(
            "kube-controller-manager",
            &[
                ("--kubeconfig", self.kubeconfig("controller-manager")),
                ("--service-account-private-key-file", pki("sa.key")),
                ("--root-ca-file", pki("ca.crt")),
                ("--use-service-account-credentials", "true".into()),
                ("--cluster-signing-cert-file", pki("ca.crt")),
                ("--cluster-signing-key-file", pki("ca.key")),
                ("--leader-elect", "false".into()),
            ],
        )?;
        self.start(
            "kube-scheduler",
            &[
                ("--kubeconfig", self.kubeconfig("scheduler")),
                ("--leader-elect", "false".into()),
            ],
        )
    }

    fn workers(&self) -> Result<()> {
        let run = |name: &str| self.paths.run_join(name).into_os_string();
        self.until("the registry answers", SOON, registry_answers)?;
        self.push_pause()
            .context("cannot make the image of the sandboxes")?;
        self.until("containerd answers", SOON, || self.containerd_answers())?;
        self.start(
            "kubelet",
            &[
                ("--config", run("kubelet.yaml")),
                ("--kubeconfig", self.kubeconfig("kubelet")),
                ("--hostname-override", NODE_NAME.into()),
                ("--node-ip", ADDRESS.into()),
                ("--root-dir", run("kubelet")),
                ("--cert-dir", run("kubelet-pki")),
            ],
        )?;
        self.start("kube-proxy", &[("--config", run("proxy.yaml"))])?;
        self.start("coredns", &[("-conf", run("Corefile"))])
    }

    // CoreDNS is no Pod, so its Service has no selector and its endpoint is written down.
    fn cluster_dns(&self) -> Result<()> {
        let ports = |extra: &str| json!([{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": extra, "port": 53, "protocol": "TCP"}]);
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "kube-dns", "namespace": "kube-system"},
                "spec": {"clusterIP": DNS_SERVICE, "ports": ports("dns-tcp")},
            },
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": {
                    "name": "kube-dns",
                    "namespace": "kube-system",
                    "labels": {"kubernetes.io/service-name": "kube-dns"},
                },
                "addressType": "IPv4",
                "ports": ports("dns-tcp"),
                "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": true}}],
            },
        ]});
        let file = self.paths.run_join("dns.yaml");
        fs::write(&file, list.to_string()).context("cannot write the DNS Service")?;
        run::quiet(self.kubectl_command().args(["apply", "-f"]).arg(file))
    }

    fn settled(&self) -> Result<()> {
        self.until("the node is ready", PATIENT, || {
            self.kubectl(&["wait", "--for=condition=Ready", "node/node1", "--timeout=1s"])
        })?;
        // A Pod is refused as long as its namespace has no account to run under.
        self.until("Pods may be created", SOON, || {
            self.kubectl(&["-n", "default", "get", "serviceaccount", "default"])
        })?;
        self.until("the machine reaches the API server", SOON, || {
            reachable(&format!("{ADDRESS}:6443"))
        })?;
        self.until("Services are reachable", SOON, || {
            reachable(&format!("{API_SERVICE}:443"))
        })
    }

    fn push_pause(&self) -> Result<()> {
        let layer = self.paths.run_join("pause.tar");
        let program = fs::canonicalize(self.programs.path("pause")).context("there is no pause program")?;
        let folder = program.parent().context("a program without a folder")?;
        run::quiet(
            Command::new("tar")
                .args(["--owner=0", "--group=0", "--mtime=@0", "-cf"])
                .arg(&layer)
                .arg("-C")
                .arg(folder)
                .arg("pause"),
        )?;
        let crane = || network::enter(self.programs.path("crane"));
        run::quiet(
            crane()
                .args([
                    "append",
                    "--insecure",
                    "--oci-empty-base",
                    "-t",
                    config::PAUSE,
                    "-f",
                ])
                .arg(&layer),
        )?;
        run::quiet(
            crane()
                .args(["mutate", "--insecure", config::PAUSE, "-t", config::PAUSE])
                .args([
                    "--entrypoint=/pause",
                    "--set-platform=linux/amd64",
                    "--user=65535:65535",
                ]),
        )
    }

    fn start(&self, name: &str, flags: &[(&str, OsString)]) -> Result<()> {
        let mut words = Vec::with_capacity(flags.len());
        for (flag, value) in flags {
            let mut word = OsString::from(flag);
            word.push("=");
            word.push(value);
            words.push(word);
        }
        self.start_words(name, &words)
    }

    fn start_words(&self, name: &str, words: &[OsString]) -> Result<()> {
        debug_assert!(PROCESSES.contains(&name), "a process that would not be stopped");
        let mut command = network::enter("setsid");
        command
            .arg(self.programs.path(name))
            .args(words)
            .current_dir(self.paths.run())
            // Network plug-ins call programs of the administrator.
            .env("PATH", format!("{}:/usr/sbin:/sbin", self.programs.search_path()))
            .env_remove("KUBECONFIG");
        self.processes.start(name, &mut command)
    }

    // A process that has died never becomes ready: waiting for the deadline would only hide its last words.
    fn until(&self, what: &str, limit: Duration, met: impl Fn() -> bool) -> Result<()> {
        let mut dead = None;
        wait::until(what, limit, || {
            let died = |name: &&&str| self.processes.get(name).is_some_and(|process| !process.runs());
            dead = PROCESSES.iter().find(died);
            dead.is_some() || met()
        })?;
        let Some(name) = dead else { return Ok(()) };
        let log = fs::read_to_string(self.processes.log(name)).unwrap_or_default();
        let last: Vec<&str> = log.lines().rev().take(5).collect();
        bail!(
            "{name} ended by itself, while we waited until {what}: {}",
            last.join("\n")
        )
    }

    fn containerd_answers(&self) -> bool {
        let mut ctr = Command::new(self.programs.path("ctr"));
        run::succeeds(
            ctr.arg("--address")
                .arg(self.paths.containerd_socket())
                .arg("version"),
        )
    }

    fn kubectl(&self, words: &[&str]) -> bool {
        run::succeeds(self.kubectl_command().args(words).stdin(Stdio::null()))
    }

    fn kubectl_command(&self) -> Command {
        let mut command = network::enter(self.programs.path("kubectl"));
        command.arg("--kubeconfig").arg(self.paths.kubeconfig());
        command
    }

    fn kubeconfig(&self, client: &str) -> OsString {
        self.paths.kubeconfig_of(client).into_os_string()
    }
}

fn registry_answers() -> bool {
    reachable(REGISTRY)
}

fn reachable(address: &str) -> bool {
    address
        .parse::<SocketAddr>()
        .is_ok_and(|address| TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok())
}
