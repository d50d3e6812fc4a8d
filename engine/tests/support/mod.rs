//! A real PostgreSQL server for the length of one test binary, and new databases in it.
//!
//! Promises: its data folder and port are its own, it runs as nobody when we are root, and it ends with the test
//! process even when that is killed: a shell holds its process id and waits for our end of a pipe to close.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::NoTls;

const NOBODY: u32 = 65_534;
/// Planted everywhere a secret can stand; nothing that leaves the engine may contain it.
pub const PASSWORD: &str = "hunter2-%25@:/?#[]!";

pub struct TestServer {
    pub major: u32,
    pub port: u16,
    /// `<pg_home>/<major>/{bin,template}`, for the scratch server.
    pub pg_home: PathBuf,
    _supervisor: Child,
    _folder: tempfile::TempDir,
}

pub struct TestDatabase {
    pub name: String,
    pub port: u16,
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .current_dir("/");
    if is_root() {
        command.gid(NOBODY).uid(NOBODY);
    }
    command
}

fn give(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

fn initdb(home: &Path, data: &Path, user: &str, password: &Path) {
    let output = program(&home.join("bin/initdb"))
        .arg("-D")
        .arg(data)
        .args([
            "-U",
            user,
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
            "--pwfile",
        ])
        .arg(password)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "initdb: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

impl TestServer {
    fn start() -> Self {
        let home =
            std::env::var("PTAH_PG_HOME").expect("PTAH_PG_HOME names a folder of <major>/{bin,lib,share}");
        let major = std::env::var("PTAH_PG_MAJOR").map_or_else(
            |_| {
                let names = std::fs::read_dir(&home)
                    .unwrap()
                    .filter_map(|e| e.unwrap().file_name().into_string().ok());
                names
                    .filter_map(|name| name.parse().ok())
                    .max()
                    .expect("no server in PTAH_PG_HOME")
            },
            |text| text.parse().unwrap(),
        );
        let home = Path::new(&home).join(u32::to_string(&major));
        let folder = tempfile::Builder::new().prefix("ptah-test-").tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        give(folder.path());
        std::fs::write(at("password"), PASSWORD).unwrap();
        give(&at("password"));
        initdb(&home, &at("data"), "root_of_tests", &at("password"));
        // The scratch server's layout, as an image has it: the same programs and a template.
        let scratch = at("pg").join(major.to_string());
        std::fs::create_dir_all(&scratch).unwrap();
        for part in ["bin", "lib", "share"] {
            symlink(home.join(part), scratch.join(part)).unwrap();
        }
        give(&at("pg"));
        give(&scratch);
        initdb(
            &home,
            &scratch.join("template"),
            "ptah_scratch_admin",
            &at("password"),
        );
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let script = r#"
            "$1" -D "$2" -p "$3" -k "$4" -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=60 \
              -c shared_buffers=32MB -c deadlock_timeout=200ms </dev/null >"$4/log" 2>&1 &
            pid=$!
            cat >/dev/null
            kill -QUIT $pid
            wait $pid
            rm -rf "$4""#;
        let supervisor = program(Path::new("/bin/bash"))
            .arg("-c")
            .arg(script)
            .arg("postgres")
            .arg(home.join("bin/postgres"))
            .arg(at("data"))
            .arg(port.to_string())
            .arg(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                Instant::now() < until,
                "the test server does not answer: {:?}",
                std::fs::read_to_string(at("log"))
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            major,
            port,
            pg_home: at("pg"),
            _supervisor: supervisor,
            _folder: folder,
        }
    }

    /// A new database, owned by a role that is no superuser.
    pub async fn database(&self) -> TestDatabase {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "shop_{}_{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let root = self.client("root_of_tests", "postgres").await;
        let role = "DO $$ BEGIN CREATE ROLE app LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
             DO $$ BEGIN CREATE ROLE reader; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$";
        root.batch_execute(role).await.unwrap();
        // Tests run side by side and set the same password; the loser of that race tries again.
        while root
            .batch_execute(&format!("ALTER ROLE app PASSWORD '{PASSWORD}'"))
            .await
            .is_err()
        {}
        root.batch_execute(&format!("CREATE DATABASE {name} OWNER app"))
            .await
            .unwrap();
        TestDatabase {
            name,
            port: self.port,
        }
    }

    pub async fn client(&self, user: &str, database: &str) -> tokio_postgres::Client {
        client(self.port, user, database).await
    }
}

async fn client(port: u16, user: &str, database: &str) -> tokio_postgres::Client {
    let mut config = tokio_postgres::Config::new();
    config
        .host("127.0.0.1")
        .port(port)
        .user(user)
        .dbname(database)
        .password(PASSWORD);
    let mut last = None;
    for _ in 0..200 {
        match config.connect(NoTls).await {
            Ok((client, connection)) => {
                tokio::spawn(connection);
                return client;
            }
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no connection to the test server: {last:?}");
}

impl TestDatabase {
    pub fn url(&self) -> String {
        let password: String = PASSWORD.bytes().map(|b| format!("%{b:02X}")).collect();
        format!(
            "postgres://app:{password}@127.0.0.1:{}/{}?sslmode=disable",
            self.port, self.name
        )
    }

    pub async fn client(&self) -> tokio_postgres::Client {
        client(self.port, "app", &self.name).await
    }

    pub async fn execute(&self, sql: &str) {
        if let Err(error) = self.client().await.batch_execute(sql).await {
            panic!("{sql}: {:?}", error.as_db_error());
        }
    }

    /// The first column of the first row, as text.
    pub async fn text(&self, sql: &str) -> String {
        use tokio_postgres::SimpleQueryMessage::Row;
        let messages = self.client().await.simple_query(sql).await.unwrap();
        messages
            .iter()
            .find_map(|m| {
                if let Row(row) = m {
                    Some(row.get(0).unwrap_or("NULL").to_owned())
                } else {
                    None
                }
            })
            .unwrap_or_default()
    }
}

/// The server of this test binary.
pub fn server() -> &'static TestServer {
    static SERVER: OnceLock<TestServer> = OnceLock::new();
    SERVER.get_or_init(TestServer::start)
}

/// A folder with one declared file.
pub fn declared(sql: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(folder.path().join("schema.sql")).unwrap();
    file.write_all(sql.as_bytes()).unwrap();
    folder
}
