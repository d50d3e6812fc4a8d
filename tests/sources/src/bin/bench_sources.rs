//! What resolving a Git source costs beside git itself, in a table: `cargo xtask bench` runs this.
//!
//! One server, `git http-backend` behind TLS, and two clients in turn; the bytes are those that the server sent.
//! Nothing here is a test: figures are of one machine on one day. Ratios are what to compare.

// A failed step ends the measurement; its text is all that anybody needs.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::BodyExt as _;
use ptah_sources_tests::https::{Handler, Site};
use ptah_sources_tests::repo::environment;
use ptah_sources_tests::tls::{CA, Flaw};
use ptah_sources_tests::{git_http, measure};

const FILES: usize = 20_000;
/// Folders of equally many files; one of them is resolved.
const FOLDERS: usize = 200;
const FOLDER: &str = "folder7";
const HISTORIES: [usize; 2] = [1, 5_000];
/// The middle of so many runs is shown.
const RUNS: usize = 5;

#[derive(Clone, Copy, Debug)]
enum Client {
    Git,
    Runner,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    seconds: f64,
    bytes: u64,
    memory: u64,
}

#[tokio::main]
async fn main() {
    println!("## Git sources\n");
    println!(
        "One folder of {} files of about 1 KiB, out of {FILES}, over HTTPS on one machine; the middle of {RUNS} runs.\n",
        FILES / FOLDERS
    );
    println!("| Commits | Server's filters | Client | Seconds | Bytes received | Peak memory |");
    println!("| ---: | --- | --- | ---: | ---: | ---: |");
    let folder = tempfile::tempdir().unwrap();
    let (ca, sent) = (folder.path().join("ca.pem"), Arc::new(AtomicU64::new(0)));
    std::fs::write(&ca, CA.pem()).unwrap();
    let served = git_http::handler(folder.path(), git_http::Options::default());
    let site = Site::start(Some(CA.server(Flaw::None)), counted(served, &sent)).await;
    for commits in HISTORIES {
        let at = folder.path().join(format!("{commits}.git"));
        make(&at, commits);
        let url = site.url("localhost", &format!("/{commits}.git"));
        for filters in [true, false] {
            git(&at, &["config", "uploadpack.allowFilter", &filters.to_string()]);
            for client in [Client::Git, Client::Runner] {
                let mut costs = Vec::new();
                for _ in 0..RUNS {
                    let (url, ca, before) = (url.clone(), ca.clone(), sent.load(Ordering::Relaxed));
                    let run = move || match client {
                        Client::Git => with_git(&url, &ca, filters),
                        Client::Runner => with_runner(&url, &ca),
                    };
                    let (seconds, memory) = tokio::task::spawn_blocking(run).await.unwrap();
                    costs.push(Cost {
                        seconds,
                        bytes: sent.load(Ordering::Relaxed) - before,
                        memory,
                    });
                }
                println!("{}", row(commits, filters, client, &mut costs));
            }
        }
    }
}

fn row(commits: usize, filters: bool, client: Client, costs: &mut [Cost]) -> String {
    costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let Cost {
        seconds,
        bytes,
        memory,
    } = costs[costs.len() / 2];
    let filters = if filters { "yes" } else { "no" };
    let client = match client {
        Client::Git => "git",
        Client::Runner => "ptah-runner",
    };
    let memory = memory / 1024;
    format!("| {commits} | {filters} | {client} | {seconds:.2} | {bytes} | {memory} MiB |")
}

/// Counts what is sent.
fn counted(inner: Handler, sent: &Arc<AtomicU64>) -> Handler {
    let sent = Arc::clone(sent);
    Arc::new(move |request| {
        let (answer, sent) = (inner(request), Arc::clone(&sent));
        Box::pin(async move {
            answer.await.map(|body| {
                body.map_frame(move |frame| {
                    let size = frame.data_ref().map_or(0, bytes_of);
                    sent.fetch_add(size, Ordering::Relaxed);
                    frame
                })
                .boxed()
            })
        })
    })
}

fn bytes_of(data: &impl AsRef<[u8]>) -> u64 {
    data.as_ref().len() as u64
}

/// A repository of so many commits, each of which changes one file after the first.
fn make(at: &Path, commits: usize) {
    let mut init = Command::new("git");
    init.env_clear().envs(environment());
    let made = init.args(["init", "-q", "--bare", "-b", "main"]).arg(at).status();
    assert!(made.unwrap().success());
    let mut import = Command::new("git")
        .env_clear()
        .envs(environment())
        .arg("-C")
        .arg(at)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = std::io::BufWriter::new(import.stdin.take().unwrap());
    for number in 0..commits {
        let second = 1_760_000_000 + number;
        writeln!(
            input,
            "commit refs/heads/main\ncommitter Ada <ada@team.test> {second} +0000\ndata 1\nx"
        )
        .unwrap();
        let one = number % FILES;
        let changed = if number == 0 { 0..FILES } else { one..one + 1 };
        for file in changed {
            let (folder, text) = (file % FOLDERS, text(file, number));
            let size = text.len();
            writeln!(
                input,
                "M 100644 inline folder{folder}/table{file}.sql\ndata {size}\n{text}"
            )
            .unwrap();
        }
    }
    writeln!(input, "done").unwrap();
    drop(input);
    assert!(import.wait().unwrap().success());
}

/// About a KiB that does not compress to nothing.
fn text(file: usize, version: usize) -> String {
    let mut state = (file * 7919 + version) as u64 | 1;
    let mut text = format!("CREATE TABLE t{file} (id bigint PRIMARY KEY);\n-- ");
    while text.len() < 1024 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push(char::from(b'a' + (state >> 59) as u8 % 26));
    }
    text
}

fn git(at: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.env_clear().envs(environment()).current_dir(at);
    assert!(
        git.args(arguments).status().unwrap().success(),
        "git {arguments:?}"
    );
}

/// What git does for one folder: a shallow fetch, without blobs where that is offered, and the folder's files.
fn with_git(url: &str, ca: &Path, filters: bool) -> (f64, u64) {
    let into = tempfile::tempdir().unwrap();
    let filter = if filters { "--filter=blob:none" } else { "" };
    let script = format!(
        "git init -q . && git remote add origin \"$1\" && git sparse-checkout set {FOLDER} \
         && git fetch -q --depth 1 --no-tags {filter} origin main && git checkout -q FETCH_HEAD"
    );
    let mut shell = Command::new("sh");
    shell
        .env_clear()
        .envs(environment())
        .env("GIT_SSL_CAINFO", ca)
        .current_dir(into.path())
        .args(["-c", &script, "sh", url]);
    let cost = measured(&mut shell);
    let found = std::fs::read_dir(into.path().join(FOLDER)).unwrap().count();
    assert_eq!(found, FILES / FOLDERS);
    cost
}

fn with_runner(url: &str, ca: &Path) -> (f64, u64) {
    let into = tempfile::tempdir().unwrap();
    let runner = std::env::var_os("PTAH_RUNNER").expect("PTAH_RUNNER names the runner's binary");
    let mut command = Command::new(runner);
    command
        .args(["resolve", "git", url, "--ref", "main", "--path", FOLDER, "--ca"])
        .arg(ca)
        .arg("--out")
        .arg(into.path().join("out"))
        .stdout(Stdio::null());
    let cost = measured(&mut command);
    let found = std::fs::read_dir(into.path().join("out")).unwrap().count();
    assert_eq!(found, FILES / FOLDERS);
    cost
}

/// Seconds, and the most memory in KiB that the process or one of its children had.
fn measured(command: &mut Command) -> (f64, u64) {
    let cost = measure::run(command, measure::with_children).unwrap();
    assert!(cost.status.success(), "{command:?} ended with {}", cost.status);
    (cost.seconds, cost.memory)
}
