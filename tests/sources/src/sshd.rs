//! OpenSSH's `sshd`: one process a connection, on a listener of ours.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Kinds of host keys, as `ssh-keygen -t` names them.
    pub host_keys: &'a [&'a str],
    /// Whether it hands `GIT_PROTOCOL` on; as OpenSSH comes, it does not.
    pub version_2: bool,
    /// More lines of its configuration.
    pub more: &'a str,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            host_keys: &["ed25519"],
            version_2: true,
            more: "",
        }
    }
}

/// A running server; its processes end when it is dropped.
pub struct Sshd {
    address: SocketAddr,
    folder: TempDir,
    stop: Arc<AtomicBool>,
    children: Arc<Mutex<Vec<Child>>>,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        for child in self.children.lock().unwrap().iter_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Sshd {
    /// Starts one that lets in the key of [`Sshd::identity`] as the user who runs the test.
    pub fn start(options: &Options<'_>) -> Self {
        assert!(
            Path::new(SSHD).exists(),
            "{SSHD}: install the Debian package openssh-server"
        );
        // Where it separates privileges; only root does.
        let _ = std::fs::create_dir_all("/run/sshd");
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut config = String::from(
            "UsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\nLogLevel ERROR\nPidFile none\nUseDNS no\nPermitUserRC no\n",
        );
        config.push_str(&format!(
            "AuthorizedKeysFile {}\n",
            at("authorized_keys").display()
        ));
        if options.version_2 {
            config.push_str("AcceptEnv GIT_PROTOCOL\n");
        }
        for kind in options.host_keys {
            keygen(&at(&format!("host_{kind}")), kind, "");
            config.push_str(&format!("HostKey {}\n", at(&format!("host_{kind}")).display()));
        }
        config.push_str(options.more);
        std::fs::write(at("sshd_config"), config).unwrap();
        keygen(&at("identity"), "ed25519", "");
        std::fs::copy(at("identity.pub"), at("authorized_keys")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self {
            address,
            stop: Arc::default(),
            children: Arc::default(),
            folder,
        };
        let (stop, children) = (Arc::clone(&server.stop), Arc::clone(&server.children));
        let (config, log) = (
            server.folder.path().join("sshd_config"),
            server.folder.path().join("log"),
        );
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let log = std::fs::File::options()
                    .create(true)
                    .append(true)
                    .open(&log)
                    .unwrap();
                let input = OwnedFd::from(stream);
                let output = input.try_clone().unwrap();
                let child = Command::new(SSHD)
                    .args(["-i", "-e", "-f"])
                    .arg(&config)
                    .env("GIT_CONFIG_NOSYSTEM", "1")
                    .stdin(Stdio::from(input))
                    .stdout(Stdio::from(output))
                    .stderr(log)
                    .spawn()
                    .unwrap();
                children.lock().unwrap().push(child);
            }
        });
        server
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.children.lock().unwrap().len()
    }

    /// How many of them are still there.
    pub fn running(&self) -> usize {
        let mut children = self.children.lock().unwrap();
        let states = children.iter_mut().map(|child| child.try_wait().unwrap());
        states.filter(Option::is_none).count()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the server complained about.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.file("log")).unwrap_or_default()
    }

    /// A private key that is let in.
    pub fn identity(&self) -> String {
        std::fs::read_to_string(self.file("identity")).unwrap()
    }

    /// Makes another key and lets it in: the private half, as `ssh-keygen` writes it with these arguments.
    pub fn other_identity(&self, kind: &str, passphrase: &str, format: &[&str]) -> String {
        let file = self.file(&format!("other-{kind}"));
        for name in [&file, &file.with_extension("pub")] {
            let _ = std::fs::remove_file(name);
        }
        keygen(&file, kind, passphrase);
        let public = std::fs::read(file.with_extension("pub")).unwrap();
        std::fs::write(self.file("authorized_keys"), public).unwrap();
        if !format.is_empty() {
            let done = Command::new("ssh-keygen")
                .args(["-q", "-p", "-P", passphrase, "-N", passphrase])
                .args(format)
                .arg("-f")
                .arg(&file)
                .stdout(Stdio::null())
                .status()
                .unwrap();
            assert!(done.success());
        }
        std::fs::read_to_string(&file).unwrap()
    }

    /// A private key that is not let in.
    pub fn stranger(&self) -> String {
        let file = self.file("stranger");
        if !file.exists() {
            keygen(&file, "ed25519", "");
        }
        std::fs::read_to_string(file).unwrap()
    }

    pub fn has(&self, kind: &str) -> bool {
        self.file(&format!("host_{kind}")).exists()
    }

    /// The public host key of this kind: `<algorithm> <base64>`.
    pub fn host_key(&self, kind: &str) -> String {
        let text = std::fs::read_to_string(self.file(&format!("host_{kind}.pub"))).unwrap();
        text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    }

    /// What `ssh-keygen -l` shows of a host key.
    pub fn fingerprint(&self, kind: &str) -> String {
        let output = Command::new("ssh-keygen")
            .arg("-lf")
            .arg(self.file(&format!("host_{kind}.pub")))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split(' ').nth(1).unwrap().to_owned()
    }

    /// `[host]:port` as `ssh-keygen -H` hashes it, with this key.
    pub fn hashed(&self, host: &str, key: &str) -> String {
        let file = self.file("to_hash");
        std::fs::write(&file, format!("{host} {key}\n")).unwrap();
        let done = Command::new("ssh-keygen")
            .args(["-q", "-H", "-f"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(done.status.success());
        std::fs::read_to_string(file).unwrap()
    }
}

fn keygen(file: &Path, kind: &str, passphrase: &str) {
    let done = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", passphrase, "-C", "", "-f"])
        .arg(file)
        .status()
        .expect("ssh-keygen: install the Debian package openssh-client");
    assert!(done.success());
}
