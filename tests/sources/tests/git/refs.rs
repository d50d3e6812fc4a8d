//! What `ref` means, over both transports and both versions of the protocol.

use ptah_resolver::git::{Error, Request, Resolved};
use ptah_sources_tests::git_http;
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::sshd::{self, Sshd};
use ptah_sources_tests::table::rows;

use crate::support::{Server, resolve, ssh_request, told};

/// Branches, tags of every kind, refs of neither kind, and names that look like something else.
pub fn fill(repo: &Repo) {
    let branch = |name: &str| {
        let id = repo.commit(&[("db/a.sql", name)]);
        repo.git(&["update-ref", &format!("refs/heads/{name}"), &id]);
    };
    let annotated = |name: &str, of: &str| {
        repo.git(&["tag", "-a", "-m", name, name, of]);
    };
    for name in [
        "main",
        "feature/login",
        "both",
        "1.x",
        "Straße",
        "heads/odd",
        "deadbeef",
        "trunk",
    ] {
        branch(name);
    }
    let other = repo.commit(&[("db/a.sql", "a branch that is called HEAD")]);
    for name in ["refs/heads/HEAD", "refs/pull/1/merge", "refs/notes/x"] {
        repo.git(&["update-ref", name, &other]);
        repo.commit(&[("db/a.sql", name)]);
    }
    annotated("v1.0.0", "main");
    annotated("both", "trunk");
    annotated("1", "main");
    annotated("2024-09-22-test", "refs/heads/HEAD");
    annotated("2024-09-23", "refs/heads/trunk");
    annotated("nested", "refs/tags/v1.0.0");
    repo.git(&["tag", "light", "trunk"]);
    annotated("tree-tag", "main^{tree}");
    annotated("blob-tag", "main:db/a.sql");
    repo.git(&[
        "update-ref",
        "refs/tags/light-tree",
        &repo.git(&["rev-parse", "main^{tree}"]),
    ]);
    repo.git(&[
        "update-ref",
        "refs/tags/light-blob",
        &repo.git(&["rev-parse", "main:db/a.sql"]),
    ]);
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
}

fn found(result: Result<Resolved, Error>) -> Result<(String, String, Option<String>), String> {
    match result {
        Ok(resolved) => {
            let resolution = resolved.resolution;
            let commit = resolution.commit.unwrap();
            assert_eq!(resolution.revision, commit);
            Ok((resolution.reference.unwrap(), commit, resolution.tag_object))
        }
        Err(error) => Err(told(&error)),
    }
}

pub async fn every_row(repo: &Repo, over: &str, request: impl Fn(&str) -> Request) {
    for (line, [name, expected]) in rows::<2>(include_str!("../../testdata/git/refs.txt")) {
        let found = found(resolve(&request(name)).await);
        let expected = match expected.strip_prefix("ok ") {
            Some(expected) => {
                let (full, oracle) = expected.split_once(' ').unwrap();
                let object = repo.git(&["rev-parse", full]);
                let commit = repo.git(&["rev-parse", oracle]);
                let tag = (object != commit).then_some(object);
                Ok((full.to_owned(), commit, tag))
            }
            // It does not say which of both.
            None if over.starts_with("JGit") => Err(expected
                .replace("leads to a tree,", "leads to a tree or a blob,")
                .replace("leads to a blob,", "leads to a tree or a blob,")),
            None => Err(expected.to_owned()),
        };
        assert_eq!(found, expected, "line {line}, {over}: {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p060_a_ref_means_what_the_table_says_over_https() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    fill(&repo);
    every_row(&repo, "https", |name| server.request("app.git", name, "db")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p060_a_ref_means_the_same_on_a_server_of_protocol_version_0() {
    let server = Server::with(git_http::Options {
        version_0: true,
        ..Default::default()
    })
    .await;
    let repo = server.repo("app.git");
    fill(&repo);
    every_row(&repo, "https, version 0", |name| {
        server.request("app.git", name, "db")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p060_a_ref_means_the_same_over_ssh() {
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    fill(&repo);
    for version_2 in [true, false] {
        let sshd = Sshd::start(&sshd::Options {
            version_2,
            ..Default::default()
        });
        let over = format!("ssh, version 2: {version_2}");
        every_row(&repo, &over, |name| ssh_request(&sshd, &repo, name, "db")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p060_tag_objects_are_handed_out_byte_for_byte_the_outermost_first() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    fill(&repo);
    let resolved = resolve(&server.request("app.git", "nested", "db")).await.unwrap();
    let objects: Vec<Vec<u8>> = ["nested", "v1.0.0"]
        .iter()
        .map(|tag| repo.bytes(&["cat-file", "tag", &format!("refs/tags/{tag}")], b""))
        .collect();
    assert_eq!(resolved.tag_objects, objects);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_without_a_commit_and_a_head_that_leads_nowhere_are_refused() {
    for version_0 in [false, true] {
        let server = Server::with(git_http::Options {
            version_0,
            ..Default::default()
        })
        .await;
        let repo = server.repo("app.git");
        for (name, expected) in [
            (
                "HEAD",
                "input head_unborn: HEAD of the repository names no commit",
            ),
            (
                "main",
                "input ref_not_found: ref \"main\" does not exist in the repository",
            ),
        ] {
            let error = resolve(&server.request("app.git", name, ".")).await.unwrap_err();
            assert_eq!(told(&error), expected, "version 0: {version_0}");
        }
        repo.commit(&[("a", "a")]);
        repo.git(&["symbolic-ref", "HEAD", "refs/heads/nowhere"]);
        let error = resolve(&server.request("app.git", "HEAD", "."))
            .await
            .unwrap_err();
        assert_eq!(error.code(), "head_unborn", "version 0: {version_0}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_head_answers_as_head() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    let id = repo.commit(&[("a", "a")]);
    repo.commit(&[("a", "b")]);
    repo.git(&["update-ref", "--no-deref", "HEAD", &id]);
    let resolved = resolve(&server.request("app.git", "HEAD", ".")).await.unwrap();
    assert_eq!(resolved.resolution.reference.as_deref(), Some("HEAD"));
    assert_eq!(resolved.resolution.commit, Some(id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_of_sha_256_objects_works_like_another() {
    for version_0 in [false, true] {
        let server = Server::with(git_http::Options {
            version_0,
            ..Default::default()
        })
        .await;
        let repo = Repo::with_format(server.root.path(), "app.git", "sha256");
        let id = repo.commit(&[("db/a.sql", "a")]);
        for reference in ["main", &id] {
            let request = server.request("app.git", reference, "db");
            let resolved = crate::support::resolve_like_git(&request, &repo).await;
            assert_eq!(
                resolved.resolution.commit.as_deref(),
                Some(id.as_str()),
                "version 0: {version_0}"
            );
        }
        let request = server.request("app.git", &"a".repeat(40), "db");
        let error = resolve(&request).await.unwrap_err();
        assert_eq!(
            told(&error),
            format!(
                "input object_format: commit {} is not an object id of the kind that the repository uses",
                "a".repeat(40)
            )
        );
    }
}
