//! The manager's arguments. The chart passes every one of them.

use std::net::SocketAddr;

use clap::Parser;
use ptah_contract::source_policy::HostPattern;

use crate::source::Settings;

/// Brings databases to the state that PtahSchema resources declare.
#[derive(Clone, Debug, Parser)]
#[command(name = "ptah-operator", version)]
pub struct Arguments {
    /// Namespace of this release: the serving Secret and the Services stand here.
    #[arg(long, env = "POD_NAMESPACE")]
    pub namespace: String,
    /// Name of this replica's Pod, under which it leads; a random name when absent.
    #[arg(long, env = "POD_NAME")]
    pub pod_name: Option<String>,
    /// Namespace of the realm Leases and of the leader election; the release's own when absent.
    #[arg(long)]
    pub coordination_namespace: Option<String>,
    /// Digest-pinned image of this manager, recorded on what it makes.
    #[arg(long, value_parser = pinned)]
    pub controller_image: String,
    /// Revision of this manager, recorded on what it makes.
    #[arg(long)]
    pub controller_revision: String,
    /// Digest-pinned image that runs operations on PostgreSQL.
    #[arg(long, value_parser = pinned)]
    pub runner_image_postgresql: String,
    /// Digest-pinned image that runs operations on MySQL and MariaDB.
    #[arg(long, value_parser = pinned)]
    pub runner_image_mysql: Option<String>,
    /// Name of the MutatingWebhookConfiguration whose caBundle the leader keeps.
    #[arg(long)]
    pub webhook_configuration: String,
    /// Name of the Secret that holds the serving certificate.
    #[arg(long)]
    pub serving_secret: String,
    /// Name of the webhook's Service.
    #[arg(long)]
    pub webhook_service: String,
    /// Name of the result receiver's Service.
    #[arg(long)]
    pub results_service: String,
    /// Name of this manager as the API server authenticates it.
    #[arg(long)]
    pub service_account_username: String,
    /// Where the approval webhook listens.
    #[arg(long, default_value = "0.0.0.0:9443")]
    pub webhook_bind: SocketAddr,
    /// Where the result receiver listens.
    #[arg(long, default_value = "0.0.0.0:9444")]
    pub results_bind: SocketAddr,
    /// Where /healthz and /readyz are served.
    #[arg(long, default_value = "0.0.0.0:8081")]
    pub health_bind: SocketAddr,
    /// Where /metrics is served.
    #[arg(long, default_value = "0.0.0.0:8080")]
    pub metrics_bind: SocketAddr,
    /// Whether to take part in leader election; without it this must be the only replica.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    pub leader_elect: bool,
    /// A host whose repositories and registries the manager looks at itself, where no credential is needed: `host`,
    /// `host:port` or `*.domain`; once for each.
    #[arg(long = "in-process-host", value_name = "HOST")]
    pub in_process_hosts: Vec<HostPattern>,
    /// A network beside the public ones that it may connect to for that, as in 10.1.0.0/16; once for each.
    #[arg(long = "in-process-network", value_name = "CIDR")]
    pub in_process_networks: Vec<ipnet::IpNet>,
    /// Log level, or directives of the form `target=level`.
    #[arg(long, default_value = "info")]
    pub log_level: String,
}

impl Arguments {
    /// Where the manager looks at sources itself.
    #[must_use]
    pub fn in_process(&self) -> Settings {
        Settings {
            hosts: self.in_process_hosts.clone(),
            networks: self.in_process_networks.clone(),
        }
    }

    /// Namespace of realm Leases.
    #[must_use]
    pub fn coordination_namespace(&self) -> &str {
        self.coordination_namespace
            .as_deref()
            .filter(|name| !name.is_empty())
            .unwrap_or(&self.namespace)
    }
}

/// An image by digest: a plan binds what will run it, and a tag can be moved.
fn pinned(text: &str) -> Result<String, String> {
    let digest = text
        .split_once('@')
        .map(|(_, digest)| digest.parse::<ptah_contract::digest::Digest>());
    match digest {
        Some(Ok(_)) if !text.starts_with('@') => Ok(text.to_owned()),
        _ => Err("name the image by digest, as in registry.example/ptah/runner@sha256:…".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_image_without_a_digest_is_refused() {
        let digest = ptah_contract::digest::Digest::of(b"");
        assert!(super::pinned(&format!("r.example/a@{digest}")).is_ok());
        for wrong in ["r.example/a:1", "r.example/a", "@sha256:0", &format!("@{digest}")] {
            assert!(super::pinned(wrong).is_err(), "{wrong}");
        }
    }
}
