//! A server, and requests to it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::{Duration, Instant};

use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_resolver::git::{self, Credential, Error, Request, Resolved, SecretKeys};
use ptah_resolver::net::{Attempt, Limits, Network, Trust};
use ptah_sources_tests::git_http;
use ptah_sources_tests::https::{Handler, Site};
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::sshd::Sshd;
use ptah_sources_tests::tls::{CA, Flaw};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Repositories behind `git http-backend`.
pub struct Server {
    pub root: TempDir,
    pub site: Site,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(git_http::Options::default()).await
    }

    pub async fn with(options: git_http::Options) -> Self {
        let root = tempfile::tempdir().unwrap();
        let handler = git_http::handler(root.path(), options);
        let site = Site::start(Some(CA.server(Flaw::None)), handler).await;
        Self { root, site }
    }

    pub fn repo(&self, name: &str) -> Repo {
        Repo::init(self.root.path(), name)
    }

    pub fn request(&self, repo: &str, reference: &str, path: &str) -> Request {
        request(&self.site.url("git.test", &format!("/{repo}")), reference, path)
    }
}

pub fn network() -> Network {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    ["git.test", "api.git.test", "other.test"]
        .into_iter()
        .fold(Network::any(), |network, name| network.with_name(name, here))
}

pub fn request(url: &str, reference: &str, path: &str) -> Request {
    try_request(url, reference, path).unwrap()
}

pub fn try_request(url: &str, reference: &str, path: &str) -> Result<Request, Error> {
    let mut request = Request::new(url.parse()?, reference.parse()?, path.parse()?);
    request.trust = Trust::system().with_pem(CA.pem()).unwrap();
    request.network = network();
    Ok(request)
}

pub fn credential(request: &mut Request, keys: &[(&str, &str)]) {
    request.credential = Some(try_credential(request, keys, None).unwrap());
}

pub fn try_credential(
    request: &Request,
    keys: &[(&str, &str)],
    ca: Option<&[u8]>,
) -> Result<Credential, Error> {
    let keys = keys
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
    Credential::new(&SecretKeys::new(keys), &request.repository, ca)
}

pub fn attempt() -> Attempt {
    Attempt::new(Limits::default(), CancellationToken::new())
}

pub async fn resolve(request: &Request) -> Result<Resolved, Error> {
    git::resolve(request, &attempt(), None).await
}

/// Resolves into a folder, and holds what came to what git itself says of the commit.
pub async fn resolve_like_git(request: &Request, repo: &Repo) -> Resolved {
    let out = tempfile::tempdir().unwrap();
    let resolved = git::resolve(request, &attempt(), Some(out.path())).await.unwrap();
    let commit = resolved.resolution.commit.as_deref().unwrap();
    assert_eq!(
        resolved.commit_object,
        repo.bytes(&["cat-file", "commit", commit], b"")
    );
    assert_eq!(
        files(&resolved),
        listed_by_git(repo, commit, request.path.as_str()),
        "{}",
        request.path
    );
    assert!(resolved.resolution.is_consistent());
    assert_eq!(
        ptah_resolver::folder::resolve(out.path()).unwrap(),
        *resolved.resolution.manifest.manifest()
    );
    resolved
}

/// Path, size and SHA-256 of each file.
pub fn files(resolved: &Resolved) -> Vec<(String, u64, String)> {
    let manifest = resolved.resolution.manifest.manifest();
    manifest
        .files()
        .iter()
        .map(|file| (file.path.to_string(), file.size, file.sha256.to_string()))
        .collect()
}

/// The same as `git ls-tree` and `git cat-file` tell it.
pub fn listed_by_git(repo: &Repo, commit: &str, path: &str) -> Vec<(String, u64, String)> {
    let whole = path == ".";
    let at = if whole {
        format!("{commit}^{{tree}}")
    } else {
        format!("{commit}:{path}")
    };
    let single = repo.git(&["cat-file", "-t", &at]) == "blob";
    let blobs: Vec<(String, String)> = if single {
        vec![(
            path.rsplit('/').next().unwrap().to_owned(),
            repo.git(&["rev-parse", &at]),
        )]
    } else {
        let listed = repo.git(&["ls-tree", "-r", "-z", &at]);
        listed
            .split_terminator('\0')
            .map(|line| {
                let (entry, name) = line.split_once('\t').unwrap();
                (name.to_owned(), entry.rsplit(' ').next().unwrap().to_owned())
            })
            .collect()
    };
    let mut files: Vec<_> = blobs
        .into_iter()
        .map(|(name, id)| {
            let bytes = repo.bytes(&["cat-file", "blob", &id], b"");
            (name, bytes.len() as u64, Digest::of(&bytes).to_string())
        })
        .collect();
    files.sort();
    files
}

pub fn class_word(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Transient => "transient",
        FailureClass::Input => "input",
        FailureClass::Refused => "refused",
        FailureClass::Attention => "attention",
        FailureClass::Internal => "internal",
    }
}

/// `<class> <code>: <sentence>`: what a table expects of a refusal.
pub fn told(error: &Error) -> String {
    let text = error.to_string();
    assert!(!text.contains("hunter2") && !text.contains("https://"), "{text}");
    format!("{} {}: {text}", class_word(error.class()), error.code())
}

/// Nothing private is left behind.
pub fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// A request over SSH with the key that the server lets in and the host keys that it has.
pub fn ssh_request(sshd: &Sshd, repo: &Repo, reference: &str, path: &str) -> Request {
    let mut request = request(&ssh_url(sshd, repo), reference, path);
    let keys: Vec<String> = ["ed25519", "ecdsa", "rsa"]
        .iter()
        .filter(|kind| sshd.has(kind))
        .map(|kind| format!("[127.0.0.1]:{} {}", sshd.port(), sshd.host_key(kind)))
        .collect();
    let host = format!("127.0.0.1:{}", sshd.port());
    credential(
        &mut request,
        &[
            ("host", &host),
            ("identity", &sshd.identity()),
            ("known_hosts", &keys.join("\n")),
        ],
    );
    request
}

pub fn ssh_url(sshd: &Sshd, repo: &Repo) -> String {
    format!(
        "ssh://{}@127.0.0.1:{}{}",
        user(),
        sshd.port(),
        repo.path().display()
    )
}

/// Who runs the tests: the user whom sshd lets in.
fn user() -> String {
    let printed = std::process::Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(printed.stdout).unwrap().trim().to_owned()
}

/// A repository with something in it.
pub fn some_repo() -> (TempDir, Repo) {
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.commit(&[("db/a.sql", &"CREATE TABLE a ();\n".repeat(2000)), ("b", "b")]);
    (root, repo)
}

/// A trusted server that answers so.
pub async fn site(handler: Handler) -> Site {
    Site::start(Some(CA.server(Flaw::None)), handler).await
}

/// A request to its repository.
pub fn to(site: &Site) -> Request {
    request(&site.url("git.test", "/app.git"), "main", "db")
}

/// Resolves into a private place and a folder that must be as empty afterwards as before.
pub async fn failing(mut request: Request, attempt: &Attempt) -> String {
    let (scratch, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    request.scratch = Some(scratch.path().to_owned());
    let error = git::resolve(&request, attempt, Some(out.path()))
        .await
        .unwrap_err();
    assert!(is_empty(out.path()));
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_empty(scratch.path()) {
        assert!(Instant::now() < deadline, "the private folder is left behind");
        tokio::task::yield_now().await;
    }
    told(&error)
}

/// Names of what stands in a folder.
pub fn files_below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
