//! Commits that are asked for by their ids.

use std::collections::BTreeMap;

use ptah_resolver::git::Request;
use ptah_sources_tests::git_http;
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::sshd::{self, Sshd};
use ptah_sources_tests::table::rows;

use crate::support::{Server, resolve, ssh_request, told};

/// A repository with a commit in each of the table's places.
pub fn fill(repo: &Repo) -> BTreeMap<&'static str, String> {
    let mut places = BTreeMap::new();
    let mut place = |name, text: &str| {
        let id = repo.commit(&[("db/a.sql", text)]);
        places.insert(name, id.clone());
        id
    };
    place("ancestor", "1");
    let light = place("lightweight-tag", "2");
    repo.git(&["tag", "light", &light]);
    let annotated = place("annotated-tag", "3");
    repo.git(&["tag", "-a", "-m", "x", "annotated", &annotated]);
    let pull = place("pull-request", "4");
    repo.git(&["update-ref", "refs/pull/1/merge", &pull]);
    repo.git(&["reset", "-q", "--hard", &annotated]);
    let dangling = place("dangling", "5");
    repo.git(&["reset", "-q", "--hard", &annotated]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    assert!(repo.git(&["cat-file", "-t", &dangling]) == "commit");
    let both = place("annotated-tag-and-branch", "6");
    repo.git(&["tag", "-a", "-m", "x", "both", &both]);
    repo.git(&["branch", "at-both", &both]);
    place("branch-tip", "7");
    places.insert("absent", "0123456789abcdef0123456789abcdef01234567".to_owned());
    places.insert("tag-object", repo.git(&["rev-parse", "annotated"]));
    places
}

pub async fn every_row(
    repo: &Repo,
    places: &BTreeMap<&str, String>,
    over: &str,
    request: impl Fn(&str) -> Request,
    sends_a_pack: impl Fn() -> bool,
) {
    for (line, [setting, at, expected]) in rows::<3>(include_str!("../../testdata/git/pinned.txt")) {
        // Not set to false: "any" that is false takes "reachable" back.
        if over.starts_with("JGit") && setting.contains("allowAny") {
            // It knows no such setting.
            continue;
        }
        repo.forget_section("uploadpack");
        if let Some((key, value)) = setting.split_once('=') {
            repo.config(key, value);
        }
        sends_a_pack();
        let id = &places[at];
        let found = match resolve(&request(id)).await {
            Ok(resolved) => {
                assert_eq!(resolved.resolution.commit.as_ref(), Some(id));
                assert_eq!(resolved.resolution.reference, None, "an id names no ref");
                "ok".to_owned()
            }
            Err(error) if error.code() == "commit_not_allowed" => {
                assert_eq!(
                    told(&error),
                    format!(
                        "refused commit_not_allowed: commit {id} is not at a branch or a lightweight tag, and the server \
                         does not allow asking for it: it would have to allow reachable or any SHA-1 in want \
                         (uploadpack.allowReachableSHA1InWant or allowAnySHA1InWant); naming the tag works everywhere"
                    )
                );
                assert!(!sends_a_pack(), "refused before anything is fetched");
                "refused".to_owned()
            }
            Err(error) => told(&error),
        };
        // JGit fails itself over an id that it does not have.
        let expected = match (over, at) {
            ("JGit, https", "absent") if expected != "refused" => "transient server_unavailable: ",
            ("JGit, ssh", "absent") if expected != "refused" => "transient remote_failed: ",
            _ => expected,
        };
        assert!(
            found.starts_with(&expected.replace("ID", id)),
            "line {line}, {over}: {setting}, {at}: {found}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p066_a_pinned_commit_is_asked_for_only_where_the_advertisement_allows_it() {
    for version_0 in [false, true] {
        let server = Server::with(git_http::Options {
            version_0,
            ..Default::default()
        })
        .await;
        let repo = server.repo("app.git");
        let places = fill(&repo);
        let sends = || server.site.take_seen().iter().any(|seen| seen.method == "POST");
        let over = format!("https, version 0: {version_0}");
        every_row(
            &repo,
            &places,
            &over,
            |id| server.request("app.git", id, "db"),
            sends,
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p066_the_same_over_ssh() {
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    let places = fill(&repo);
    for version_2 in [true, false] {
        let sshd = Sshd::start(&sshd::Options {
            version_2,
            ..Default::default()
        });
        let over = format!("ssh, version 2: {version_2}");
        let before = std::cell::Cell::new(0);
        // The advertisement is one connection; a pack is another.
        let more_than_one = || sshd.connections() - before.replace(sshd.connections()) > 1;
        every_row(
            &repo,
            &places,
            &over,
            |id| ssh_request(&sshd, &repo, id, "db"),
            more_than_one,
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p067_a_push_on_top_of_the_pinned_commit_refuses_the_next_resolution() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    let id = repo.commit(&[("db/a.sql", "1")]);
    assert!(resolve(&server.request("app.git", &id, "db")).await.is_ok());
    repo.commit(&[("db/a.sql", "2")]);
    let error = resolve(&server.request("app.git", &id, "db")).await.unwrap_err();
    assert_eq!(error.code(), "commit_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p069_naming_a_tag_works_on_every_server() {
    for version_0 in [false, true] {
        let server = Server::with(git_http::Options {
            version_0,
            ..Default::default()
        })
        .await;
        let repo = server.repo("app.git");
        let places = fill(&repo);
        let resolved = resolve(&server.request("app.git", "annotated", "db"))
            .await
            .unwrap();
        assert_eq!(
            resolved.resolution.commit.as_ref(),
            Some(&places["annotated-tag"])
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p060_a_pinned_commit_needs_no_branch_of_any_name() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let id = repo.commit(&[("db/a.sql", "1")]);
    let resolved = resolve(&server.request("app.git", &id.to_uppercase(), "db"))
        .await
        .unwrap();
    assert_eq!(resolved.resolution.revision, id);
    // One request for the advertisement of version 0, one for that of version 2, one for the pack; the path is
    // narrower than the tree and the server offers no filter.
    let asked: Vec<(String, Option<String>)> = server
        .site
        .seen()
        .into_iter()
        .map(|seen| (seen.method, seen.git_protocol))
        .collect();
    let v2 = || Some("version=2".to_owned());
    assert_eq!(
        asked,
        [("GET".into(), None), ("GET".into(), v2()), ("POST".into(), v2())]
    );
}
