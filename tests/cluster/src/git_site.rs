//! A Git server over HTTPS that Pods and the manager reach: git's own HTTP program behind TLS.

use anyhow::Result;
use ptah_sources_tests::git_http::{self, Options};
use ptah_sources_tests::https::{Seen, Site};
use ptah_sources_tests::tls::{CA, Flaw};
use tokio::runtime::Runtime;
use xtask::node::network;
use xtask::node::paths::ADDRESS;
use xtask::stage::GitServer;

/// A running server; it ends when it is dropped.
pub struct GitSite {
    /// The repositories, which real `git` makes.
    pub repositories: GitServer,
    /// `host:port`.
    pub host: String,
    site: Site,
    _runtime: Runtime,
}

impl GitSite {
    /// Starts one in the test node's network. It demands this value of `Authorization`, where there is one.
    pub fn start(demands: Option<String>) -> Result<Self> {
        let repositories = GitServer::start()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let options = Options {
            demands,
            ..Options::default()
        };
        let handler = git_http::handler(repositories.root(), options);
        let site = {
            let _entered = runtime.enter();
            Site::on(network::listen()?, Some(CA.server(Flaw::None)), handler)
        };
        Ok(Self {
            host: format!("{ADDRESS}:{}", site.port()),
            repositories,
            site,
            _runtime: runtime,
        })
    }

    /// The authority that its certificate chains to, PEM.
    #[must_use]
    pub fn ca(&self) -> String {
        String::from_utf8_lossy(CA.pem()).into_owned()
    }

    /// What was asked since the last call.
    pub fn take_seen(&self) -> Vec<Seen> {
        self.site.take_seen()
    }
}
