//! A Git server over SSH that Pods of the test node reach: OpenSSH's own `sshd`, one process a connection, on a listener
//! of ours, with bare repositories that real `git` makes.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::cache::debian;
use crate::node::network;
use crate::run;

const SSHD: &str = "/usr/sbin/sshd";
/// Who makes every commit.
const COMMITTER: &str = "ada@team.example";

/// A running server; its processes end when it is dropped.
#[derive(Debug)]
pub struct GitServer {
    folder: TempDir,
    address: std::net::SocketAddr,
    stop: Arc<AtomicBool>,
    children: Arc<Mutex<Vec<Child>>>,
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        for child in children.iter_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl GitServer {
    /// Starts one in the test node's network. It lets in the key of [`Self::identity`].
    pub fn start() -> Result<Self> {
        debian::ensure(debian::GIT)?;
        let folder = tempfile::tempdir()?;
        // Where it separates privileges.
        fs::create_dir_all("/run/sshd").context("cannot make /run/sshd")?;
        let at = |name: &str| folder.path().join(name);
        for key in ["host", "identity"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
                .arg(at(key));
            run::quiet(&mut keygen)?;
        }
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\nPidFile none\n\
             UseDNS no\nPermitUserRC no\nLogLevel ERROR\n",
            at("host").display(),
            at("identity.pub").display(),
        );
        fs::write(at("sshd_config"), config).context("cannot write sshd_config")?;
        let listener = network::listen()?;
        let address = listener.local_addr()?;
        let (stop, children) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let server = Self {
            address,
            stop: Arc::clone(&stop),
            children: Arc::clone(&children),
            folder,
        };
        let (config, log) = (server.file("sshd_config"), server.file("log"));
        thread::spawn(move || accept(&listener, &config, &log, &stop, &children));
        Ok(server)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the server complained about.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.file("log")).unwrap_or_default()
    }

    /// The private key that is let in.
    pub fn identity(&self) -> Result<String> {
        fs::read_to_string(self.file("identity")).context("the key is gone")
    }

    /// The host's line of a `known_hosts` file.
    pub fn known_hosts(&self) -> Result<String> {
        let key = fs::read_to_string(self.file("host.pub")).context("the host key is gone")?;
        Ok(format!("[{}]:{} {key}", self.address.ip(), self.address.port()))
    }

    /// How a Pod names a repository of this server.
    #[must_use]
    pub fn url(&self, repository: &str) -> String {
        let path = self.file(repository);
        format!("ssh://root@{}{}", self.address, path.display())
    }

    /// The authority of [`Self::url`], as a Secret grants it.
    #[must_use]
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Makes an empty repository whose branch is `main`.
    pub fn create(&self, repository: &str) -> Result<()> {
        let path = self.file(repository);
        self.git(&["init", "-q", "--bare", "-b", "main", &path.display().to_string()])
            .map(drop)
    }

    /// Commits files to `main`, as a push would; the commit's id.
    pub fn commit(&self, repository: &str, message: &str, files: &[(&str, &str)]) -> Result<String> {
        self.commit_with(&[], repository, message, files)
    }

    /// As [`Self::commit`], signed with the key of [`Self::identity`].
    pub fn commit_signed(&self, repository: &str, message: &str, files: &[(&str, &str)]) -> Result<String> {
        let key = format!("user.signingKey={}", self.file("identity").display());
        let options = ["-c", "gpg.format=ssh", "-c", &key, "-c", "commit.gpgSign=true"];
        self.commit_with(&options, repository, message, files)
    }

    /// The line of an `allowed_signers` file that lets the committer sign with the key of [`Self::identity`].
    pub fn allowed_signer(&self) -> Result<String> {
        let key = fs::read_to_string(self.file("identity.pub")).context("the key is gone")?;
        Ok(format!("{COMMITTER} {key}"))
    }

    fn commit_with(
        &self,
        options: &[&str],
        repository: &str,
        message: &str,
        files: &[(&str, &str)],
    ) -> Result<String> {
        let work = tempfile::tempdir()?;
        let (from, to) = (self.file(repository), work.path().join("work"));
        let to_text = to.display().to_string();
        self.git(&["clone", "-q", &from.display().to_string(), &to_text])?;
        for (path, text) in files {
            let file = to.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&to))?;
            fs::write(&file, text).with_context(|| format!("cannot write {path}"))?;
        }
        self.git(&["-C", &to_text, "add", "--all"])?;
        let commit = ["-C", &to_text, "commit", "-q", "-m", message];
        self.git(&[options, &commit].concat())?;
        self.git(&["-C", &to_text, "push", "-q", "origin", "HEAD:main"])?;
        self.git(&["-C", &to_text, "rev-parse", "HEAD"])
    }

    /// Real `git`, with nothing of this machine's configuration.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        git.args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Ada")
                .env(format!("GIT_{who}_EMAIL"), COMMITTER);
        }
        run::output(&mut git)
    }

    /// The folder that the repositories are in, for another server of the same.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of a repository, for [`Self::git`].
    #[must_use]
    pub fn path(&self, repository: &str) -> PathBuf {
        self.file(repository)
    }
}

fn accept(
    listener: &TcpListener,
    config: &Path,
    log: &Path,
    stop: &AtomicBool,
    children: &Mutex<Vec<Child>>,
) {
    while let Ok((stream, _)) = listener.accept() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        // A connection that cannot be served is closed: the client says so.
        if let Ok(child) = serve(stream, config, log) {
            children
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(child);
        }
    }
}

fn serve(stream: TcpStream, config: &Path, log: &Path) -> std::io::Result<Child> {
    let log = fs::File::options().create(true).append(true).open(log)?;
    let input = OwnedFd::from(stream);
    let output = input.try_clone()?;
    Command::new(SSHD)
        .args(["-i", "-e", "-f"])
        .arg(config)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(log)
        .spawn()
}
