//! A PostgreSQL server of our own: one folder, one Unix socket, no TCP, no fsync, gone when this is dropped.
//!
//! Promises: nobody connects without the password that is made here, at start, and never written but into a
//! file that only the server's user may read. Assumes `<home>/bin/{initdb,postgres}`. Never touches another
//! server: what is ended is the process that was started here.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::connect::{Guard, Secret, Session, Target};
use crate::error::{Code, Error, Result};

/// The scratch superuser: a name that no target has.
pub(super) const ADMIN: &str = "ptah_scratch_admin";
/// PostgreSQL refuses to run as root; a child then runs as `nobody`.
const NOBODY: u32 = 65_534;
const START_PATIENCE: Duration = Duration::from_secs(60);
/// The most private memory that each server process may have. What wants more gets an error; without this the kernel
/// would end the server, and nobody would learn why.
const PROCESS_MEMORY: u64 = 512 << 20;

/// A running server.
pub(super) struct Server {
    process: Child,
    pub(super) admin: Target,
}

/// Where the parts of a server lie.
pub(super) struct Layout<'a> {
    /// `bin`, `lib`, `share`.
    pub(super) home: &'a Path,
    /// A data folder to copy; made by `initdb` when there is none.
    pub(super) template: Option<&'a Path>,
    /// A folder that is ours alone.
    pub(super) work: &'a Path,
    /// Where the socket goes.
    pub(super) socket: &'a Path,
    /// Whether others of our group may use the socket.
    pub(super) shared: bool,
}

impl Server {
    pub(super) async fn start(layout: Layout<'_>, guard: &Guard) -> Result<Self> {
        let password = Secret::new(random_password()?);
        let data = layout.work.join("data");
        for folder in [layout.work, layout.socket] {
            give_away(folder)?;
        }
        match layout.template {
            Some(template) => {
                copy_tree(template, &data)
                    .map_err(|e| failed(format!("the template cannot be copied: {}", e.kind())))?;
                set_password(&layout, &data, &password)?;
            }
            None => initdb(&layout, &data, &password)?,
        }
        let log = std::fs::File::create(layout.work.join("log"))
            .map_err(|e| failed(format!("no log file: {}", e.kind())))?;
        let mut command = program(layout.home, "postgres");
        command.arg("-D").arg(&data).arg("-k").arg(layout.socket);
        for setting in [
            "listen_addresses=",
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
            "shared_buffers=32MB",
            "max_connections=24",
            "max_wal_senders=0",
            "wal_level=minimal",
            "autovacuum=off",
            // No process but one for each session, so that one limit of memory counts for a statement.
            "max_worker_processes=0",
            "max_replication_slots=0",
            "jit=off",
            // Settings that only a superuser may change: what is declared cannot fill the volume.
            "temp_file_limit=1GB",
            "min_wal_size=32MB",
            "max_wal_size=64MB",
            "max_locks_per_transaction=1024",
            "log_min_messages=fatal",
            "log_statement=none",
            "log_min_error_statement=panic",
            if layout.shared {
                "unix_socket_permissions=0770"
            } else {
                "unix_socket_permissions=0700"
            },
        ] {
            command.arg("-c").arg(setting);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let process = spawn_bounded(&mut command)
            .map_err(|e| failed(format!("postgres does not start: {}", e.kind())))?;
        let socket = layout.socket.to_string_lossy().into_owned();
        let admin = Target::bare(socket, 5432, ADMIN.into(), Some(password), "postgres".into());
        let mut server = Self { process, admin };
        server.wait(guard).await?;
        Ok(server)
    }

    async fn wait(&mut self, guard: &Guard) -> Result<()> {
        let until = tokio::time::Instant::now() + START_PATIENCE;
        loop {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(failed(format!(
                    "the scratch server ended while starting ({status})"
                )));
            }
            match Session::open(&self.admin, guard).await {
                Ok(_) => return Ok(()),
                Err(error) if matches!(error.kind(), Code::Canceled | Code::DeadlineExceeded) => {
                    return Err(error);
                }
                Err(error) if tokio::time::Instant::now() >= until => {
                    return Err(failed(format!(
                        "the scratch server does not answer ({})",
                        error.code()
                    )));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

/// Starts it with bounded memory, which each of its own processes inherits: the limit is ours for as long as that
/// takes. (To limit the other process afterwards would take a capability where we are root and it is nobody.)
fn spawn_bounded(command: &mut Command) -> std::io::Result<Child> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = getrlimit(Resource::Data);
    let bounded = Rlimit {
        current: Some(
            before
                .maximum
                .map_or(PROCESS_MEMORY, |most| most.min(PROCESS_MEMORY)),
        ),
        maximum: before.maximum,
    };
    setrlimit(Resource::Data, bounded)?;
    let child = command.spawn();
    setrlimit(Resource::Data, before)?;
    child
}

impl Drop for Server {
    fn drop(&mut self) {
        // An immediate shutdown still removes the server's shared memory, which a kill would leave behind.
        if let Some(pid) = i32::try_from(self.process.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        }
        for _ in 0..500 {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether we are root and therefore must run the server as somebody else.
fn as_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn give_away(path: &Path) -> Result<()> {
    if as_root() {
        chown(path, Some(NOBODY), Some(NOBODY))
            .map_err(|e| failed(format!("a folder cannot be handed over: {}", e.kind())))?;
    }
    Ok(())
}

fn program(home: &Path, name: &str) -> Command {
    let mut command = Command::new(home.join("bin").join(name));
    command
        .env_clear()
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .current_dir("/");
    if as_root() {
        command.gid(NOBODY).uid(NOBODY);
    }
    command
}

fn initdb(layout: &Layout<'_>, data: &Path, password: &Secret) -> Result<()> {
    let file = layout.work.join("password");
    write_private(&file, password.reveal())?;
    let status = program(layout.home, "initdb")
        .arg("-D")
        .arg(data)
        .args([
            "-U",
            ADMIN,
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
            "--no-instructions",
        ])
        .arg("--pwfile")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = std::fs::remove_file(&file);
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("initdb failed ({status})"))),
        Err(error) => Err(failed(format!("initdb does not start: {}", error.kind()))),
    }
}

/// Replaces the template's throw-away password before anybody can connect: single-user mode asks for none.
fn set_password(layout: &Layout<'_>, data: &Path, password: &Secret) -> Result<()> {
    let mut child = program(layout.home, "postgres")
        .args(["--single", "-c", "fsync=off", "-c", "log_statement=none", "-D"])
        .arg(data)
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(format!("postgres does not start: {}", e.kind())))?;
    let written = child
        .stdin
        .take()
        .map(|mut stdin| writeln!(stdin, "ALTER ROLE {ADMIN} PASSWORD '{}'", password.reveal()));
    match (written, child.wait()) {
        (Some(Ok(())), Ok(status)) if status.success() => Ok(()),
        _ => Err(failed("the scratch server's password cannot be set")),
    }
}

/// 32 hex digits: no quoting is ever needed.
pub(super) fn random_password() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| failed("the system has no randomness"))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

pub(super) fn write_private(file: &Path, text: &str) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut out = options.write(true).create_new(true).open(file)?;
        out.write_all(text.as_bytes())
    };
    write().map_err(|e| failed(format!("a private file cannot be written: {}", e.kind())))?;
    give_away(file)
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir(to)?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700))?;
    if as_root() {
        chown(to, Some(NOBODY), Some(NOBODY))?;
    }
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target: PathBuf = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
            std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600))?;
            if as_root() {
                chown(&target, Some(NOBODY), Some(NOBODY))?;
            }
        }
    }
    Ok(())
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(Code::ScratchFailed, message)
}
