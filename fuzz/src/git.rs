//! What a Git server says, and how a repository, a ref and a path are named.

mod sessions;
mod trees;

#[allow(dead_code)]
#[path = "../../resolver/src/git/ssh/known_hosts.rs"]
mod known_hosts;
#[allow(dead_code)]
#[path = "../../resolver/src/git/listing.rs"]
mod listing;
#[allow(dead_code)]
#[path = "../../resolver/src/git/repository.rs"]
mod repository;
#[allow(dead_code)]
#[path = "../../resolver/src/git/requested.rs"]
mod requested;
#[allow(dead_code)]
#[path = "../../resolver/src/git/session.rs"]
mod session;
#[allow(dead_code)]
#[path = "../../resolver/src/git/store.rs"]
mod store;
#[allow(dead_code)]
#[path = "../../resolver/src/git/unpacked.rs"]
mod unpacked;
#[allow(dead_code)]
#[path = "../../resolver/src/git/wire.rs"]
mod wire;

// Where the modules above look for them.
use ptah_resolver::git::{Budget, Error};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::source_policy::SourcePolicy;

use self::known_hosts::{KnownHosts, Verdict};
use self::repository::{At, Repository};
use self::requested::{Requested, TreePath};
use crate::net::Authority;
use crate::{SECRET, bounded, first_line, text};

pub use sessions::git_session;
pub use trees::git_tree;

/// A ref in the first line, a path after it. Both read back as themselves; a ref asks for refs that are names, and a
/// path stays below the tree.
pub fn git_requested(data: &[u8]) {
    let (requested, path) = first_line(data);
    if let Some(Ok(requested)) = text(requested).map(str::parse::<Requested>) {
        assert_eq!(
            requested.to_string().parse::<Requested>().ok(),
            Some(requested.clone())
        );
        for name in requested.prefixes() {
            let plain = |c: char| {
                !c.is_ascii_control() && !matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
            };
            assert!(
                name.chars().all(plain) && !name.contains("..") && !name.contains("@{"),
                "{name}"
            );
        }
    }
    match text(path).map(str::parse::<TreePath>) {
        Some(Ok(path)) => {
            assert_eq!(path.as_str().parse::<TreePath>().ok(), Some(path.clone()));
            assert!(
                path.parts()
                    .all(|part| !matches!(part, "" | "." | "..") && !part.contains(['\0', '/']))
            );
            assert_eq!(path.is_root(), path.as_str() == ".");
        }
        Some(Err(error)) => bounded(&error),
        None => {}
    }
}

/// A repository that is taken has no secret in it, a host that a policy can list, and nothing in its path that a shell
/// or an option parser would read.
pub fn git_repository(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let repository: Repository = match text.parse() {
        Ok(repository) => repository,
        Err(error) => return assert!(!error.to_string().contains(SECRET), "{error}"),
    };
    assert_eq!(repository.as_str(), text);
    let authority = repository.authority();
    assert_eq!(
        authority.to_string().parse::<Authority>().ok().as_ref(),
        Some(&authority)
    );
    match repository.at() {
        At::Https { url, .. } => {
            assert!(url.username().is_empty() && url.password().is_none() && url.query().is_none());
            assert_eq!(Authority::of(url).ok().as_ref(), Some(&authority));
        }
        At::Ssh { user, path, .. } => {
            assert!(!user.starts_with('-') && !path.starts_with('-') && !path.contains(['\'', '\0', '\n']));
        }
    }
    let policy =
        |host: &str| SourcePolicy::parse(format!("version: 1\ngit: {{hosts: ['{host}']}}").as_bytes());
    if let Ok(policy) = policy(authority.host()) {
        assert!(repository.admitted_by(&policy, false).is_ok(), "{authority}");
    }
    let elsewhere = policy("elsewhere.example").expect("a policy");
    assert!(authority.host() == "elsewhere.example" || repository.admitted_by(&elsewhere, false).is_err());
}

/// Lines of a file. A key that a line revokes for a host is never known for it; the order of lines says nothing, and
/// neither does a comment.
pub fn known_hosts(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let known = match KnownHosts::parse(text) {
        Ok(known) => known,
        Err(error) => return bounded(&error),
    };
    let turned: Vec<&str> = text.lines().rev().collect();
    let turned = KnownHosts::parse(&format!("# turned\n{}\n", turned.join("\n"))).expect("the same lines");
    let mut blobs = vec![Vec::new()];
    blobs.extend(
        text.split_ascii_whitespace()
            .filter_map(|word| STANDARD.decode(word).ok()),
    );
    for (host, port) in [
        ("git.example", 22),
        ("git.example", 2222),
        ("::1", 22),
        ("10.0.0.1", 22),
    ] {
        let (keys, other) = match (known.of(host, port), turned.of(host, port)) {
            (Ok(keys), Ok(other)) => (keys, other),
            (Err(error), Err(_)) => {
                bounded(&error);
                continue;
            }
            _ => panic!("the order of the lines decides"),
        };
        assert_eq!(
            (keys.kinds(), keys.algorithms()),
            (other.kinds(), other.algorithms())
        );
        let names = text.lines().any(|line| line.trim_start().starts_with("@revoked"));
        for blob in &blobs {
            let verdict = keys.judge(blob);
            assert_eq!(verdict, other.judge(blob));
            assert!(verdict != Verdict::Revoked || names);
            assert!(!blob.is_empty() || verdict == Verdict::Unknown);
        }
    }
}
