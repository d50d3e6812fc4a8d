//! JGit's servers: HTTP behind our TLS, and SSH.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};

use xtask::cache::{Cache, Key};

use crate::https::{Handler, full};

/// The folder of the tool.
const TOOL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/jgit");

/// A running server; it ends when it is dropped.
pub struct Jgit {
    child: Child,
    http: u16,
    ssh: u16,
    host_key: String,
}

impl Drop for Jgit {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The libraries, fetched once.
static LIBRARIES: LazyLock<PathBuf> = LazyLock::new(|| {
    let pom = Path::new(TOOL).join("pom.xml");
    let key = Key::new("jgit 1").file(&pom).unwrap();
    let cache = Cache::open().unwrap();
    cache
        .entry("jgit", &key, |into| {
            let done = Command::new("mvn")
                .args(["-q", "-B", "-f"])
                .arg(&pom)
                .args([
                    "dependency:copy-dependencies".to_owned(),
                    format!("-DoutputDirectory={}", into.display()),
                ])
                .stdout(Stdio::null())
                .status()
                .expect("mvn: install the Debian packages maven and default-jdk-headless");
            assert!(done.success(), "mvn cannot fetch JGit's libraries");
            Ok(())
        })
        .unwrap()
});

impl Jgit {
    /// Serves the repositories below a folder.
    pub fn start(root: &Path) -> Self {
        let mut child = Command::new("java")
            .args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(LIBRARIES.join("*"))
            .arg(Path::new(TOOL).join("Server.java"))
            .arg(root)
            .env("HOME", root)
            .env("XDG_CONFIG_HOME", root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("java: install the Debian package default-jdk-headless");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["listening", http, ssh, kind, key] = words.as_slice() else {
            panic!("JGit's servers did not start");
        };
        Self {
            child,
            http: http.parse().unwrap(),
            ssh: ssh.parse().unwrap(),
            host_key: format!("{kind} {key}"),
        }
    }

    pub fn ssh_port(&self) -> u16 {
        self.ssh
    }

    pub fn host_key(&self) -> &str {
        &self.host_key
    }

    /// Hands requests on to its HTTP server.
    pub fn handler(&self) -> Handler {
        let (port, client) = (self.http, reqwest::Client::builder().no_proxy().build().unwrap());
        Arc::new(move |request| {
            let target = request.uri().path_and_query().unwrap().to_string();
            let mut asked = client.request(
                request.method().clone(),
                format!("http://127.0.0.1:{port}{target}"),
            );
            for name in ["content-type", "accept", "git-protocol"] {
                if let Some(value) = request.headers().get(name) {
                    asked = asked.header(name, value);
                }
            }
            let asked = asked.body(request.into_body());
            Box::pin(async move {
                let answer = asked.send().await.unwrap();
                let mut response = hyper::Response::builder().status(answer.status());
                if let Some(kind) = answer.headers().get("content-type") {
                    response = response.header("content-type", kind);
                }
                let body = answer.bytes().await.unwrap_or_default();
                response.body(full(body)).unwrap()
            })
        })
    }
}
