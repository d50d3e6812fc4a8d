//! Later fetches of a recorded commit, resolutions that find nothing new, and what goes over the network.

use std::process::Command;

use ptah_contract::digest::Digest;
use ptah_resolver::git::{self, Error, Known, Recorded, Request, Resolved};
use ptah_resolver::net::{Attempt, Limits};
use ptah_sources_tests::git_http;
use ptah_sources_tests::repo::{Repo, environment};
use ptah_sources_tests::sshd::{self, Sshd};
use tokio_util::sync::CancellationToken;

use crate::support::{Server, attempt, is_empty, resolve, ssh_request, told};

fn record(resolved: &Resolved) -> Recorded {
    Recorded {
        commit: resolved.resolution.revision.clone(),
        reference: resolved.resolution.reference.clone(),
        content_digest: resolved.resolution.content_digest,
    }
}

async fn again(request: &Request, recorded: &Recorded) -> Result<Resolved, Error> {
    let out = tempfile::tempdir().unwrap();
    let resolved = git::fetch_recorded(request, recorded, &attempt(), Some(out.path())).await;
    match &resolved {
        Ok(resolved) => {
            let manifest = ptah_resolver::folder::resolve(out.path()).unwrap();
            assert_eq!(manifest, *resolved.resolution.manifest.manifest());
            assert_eq!(manifest.content_digest(), recorded.content_digest);
            assert_eq!(resolved.resolution.revision, recorded.commit);
        }
        Err(_) => assert!(is_empty(out.path())),
    }
    resolved
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p063_the_recorded_commit_is_fetched_again_and_other_content_refused() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.commit(&[("db/a.sql", "1")]);
    for (reference, make) in [("main", None), ("v1", Some("v1"))] {
        if let Some(tag) = make {
            repo.git(&["tag", "-a", "-m", "x", tag]);
        }
        let request = server.request("app.git", reference, "db");
        let mut recorded = record(&resolve(&request).await.unwrap());
        assert!(again(&request, &recorded).await.is_ok());
        let found = recorded.content_digest;
        recorded.content_digest = Digest::of(b"other");
        let error = again(&request, &recorded).await.unwrap_err();
        assert_eq!(
            told(&error),
            format!(
                "refused content_digest_mismatch: the content has digest {found}, {} was asked for",
                Digest::of(b"other")
            )
        );
    }
}

/// A server and what it allows; how the recorded commit is found on it after the branch went on by so many commits.
#[tokio::test(flavor = "multi_thread")]
async fn promise_p064_a_commit_that_its_ref_left_is_fetched_by_id_or_along_the_history() {
    for version_0 in [false, true] {
        for (allows, filter, ahead, depths) in [
            ("", false, 1, vec![10]),
            ("", true, 1, vec![10]),
            ("", false, 9, vec![10]),
            ("", false, 10, vec![10, 100]),
            ("", true, 30, vec![10, 100]),
            ("allowReachableSHA1InWant", true, 30, vec![]),
            ("allowAnySHA1InWant", false, 30, vec![]),
        ] {
            let server = Server::with(git_http::Options {
                version_0,
                ..Default::default()
            })
            .await;
            let repo = server.repo("app.git");
            repo.config("uploadpack.allowFilter", &filter.to_string());
            if !allows.is_empty() {
                repo.config(&format!("uploadpack.{allows}"), "true");
            }
            repo.commit(&[("db/a.sql", "0"), ("other", "0")]);
            let request = server.request("app.git", "main", "db");
            let recorded = record(&resolve(&request).await.unwrap());
            for number in 1..=ahead {
                repo.commit(&[("db/a.sql", &number.to_string())]);
            }
            server.site.take_seen();
            let case = format!("version 0: {version_0}, {allows}, filter: {filter}, {ahead} ahead");
            let found = again(&request, &recorded)
                .await
                .map_err(|error| told(&error))
                .map(|_| ());
            assert_eq!(found, Ok(()), "{case}");
            let asked: Vec<u32> = server
                .site
                .take_seen()
                .iter()
                .filter_map(|seen| {
                    let text = String::from_utf8_lossy(&seen.body).into_owned();
                    let (_, depth) = text.split_once("deepen ")?;
                    depth.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
                })
                .filter(|depth| *depth > 1)
                .collect();
            assert_eq!(asked, depths, "{case}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p064_the_same_over_ssh() {
    let root = tempfile::tempdir().unwrap();
    for version_2 in [true, false] {
        let repo = Repo::init(root.path(), &format!("{version_2}.git"));
        let sshd = Sshd::start(&sshd::Options {
            version_2,
            ..Default::default()
        });
        repo.commit(&[("db/a.sql", "0")]);
        let request = ssh_request(&sshd, &repo, "main", "db");
        let recorded = record(&resolve(&request).await.unwrap());
        for number in 1..=12 {
            repo.commit(&[("db/a.sql", &number.to_string())]);
        }
        let found = again(&request, &recorded)
            .await
            .map_err(|error| told(&error))
            .map(|_| ());
        assert_eq!(found, Ok(()), "version 2: {version_2}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p065_a_commit_that_was_forced_away_is_refused_and_the_ref_is_read_again() {
    for version_0 in [false, true] {
        let server = Server::with(git_http::Options {
            version_0,
            ..Default::default()
        })
        .await;
        let repo = server.repo("app.git");
        let base = repo.commit(&[("db/a.sql", "0")]);
        repo.commit(&[("db/a.sql", "1")]);
        let request = server.request("app.git", "main", "db");
        let recorded = record(&resolve(&request).await.unwrap());
        repo.git(&["reset", "-q", "--hard", &base]);
        repo.commit(&[("db/a.sql", "2")]);
        for allows in ["", "allowReachableSHA1InWant"] {
            if !allows.is_empty() {
                repo.config(&format!("uploadpack.{allows}"), "true");
            }
            let error = again(&request, &recorded).await.unwrap_err();
            assert_eq!(
                told(&error),
                format!(
                    "refused commit_gone: commit {} is no longer reachable from refs/heads/main",
                    recorded.commit
                ),
                "{allows}, version 0: {version_0}"
            );
        }
        let new = resolve(&request).await.unwrap();
        assert_eq!(new.resolution.revision, repo.git(&["rev-parse", "main"]));
        // The branch itself goes, and another one has the commit: still nothing leads to it from here.
        repo.git(&["update-ref", "-d", "refs/heads/main"]);
        let error = again(&request, &recorded).await.unwrap_err();
        assert_eq!(
            told(&error),
            format!(
                "refused commit_gone: commit {} is no longer reachable from refs/heads/main, which is gone",
                recorded.commit
            )
        );
        repo.git(&["update-ref", "refs/heads/saved", &recorded.commit]);
        assert!(
            again(&request, &recorded).await.is_ok(),
            "by its id, since another branch is at it"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p063_a_pinned_commit_that_is_gone_is_refused() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    let base = repo.commit(&[("db/a.sql", "0")]);
    let id = repo.commit(&[("db/a.sql", "1")]);
    let request = server.request("app.git", &id, "db");
    let recorded = record(&resolve(&request).await.unwrap());
    assert!(again(&request, &recorded).await.is_ok());
    repo.git(&["reset", "-q", "--hard", &base]);
    let error = again(&request, &recorded).await.unwrap_err();
    assert_eq!(error.code(), "commit_not_allowed");
    repo.config("uploadpack.allowReachableSHA1InWant", "true");
    let error = again(&request, &recorded).await.unwrap_err();
    assert_eq!(
        told(&error),
        format!("refused commit_gone: commit {id} is no longer reachable from any ref of the repository")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p064_the_history_is_followed_within_the_budget_and_no_further() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.commit(&[("db/a.sql", "0")]);
    let mut request = server.request("app.git", "main", "db");
    let recorded = record(&resolve(&request).await.unwrap());
    for number in 1..=40 {
        repo.commit(&[("db/a.sql", &number.to_string())]);
    }
    request.budget.objects = 60;
    let error = again(&request, &recorded).await.unwrap_err();
    assert_eq!(
        told(&error),
        format!(
            "refused history_budget: commit {} was not found within 10 commits of refs/heads/main, where the fetch budget \
             ends",
            recorded.commit
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p071_an_unchanged_ref_costs_one_listing_and_fetches_nothing() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.commit(&[("db/a.sql", "0")]);
    repo.git(&["tag", "-a", "-m", "x", "v1"]);
    for reference in ["main", "v1", "HEAD"] {
        let request = server.request("app.git", reference, "db");
        let resolution = resolve(&request).await.unwrap().resolution;
        let known = Known {
            commit: resolution.revision.clone(),
            reference: resolution.reference.clone(),
            tag_object: resolution.tag_object.clone(),
        };
        server.site.take_seen();
        let unchanged = git::resolve_if_changed(&request, &known, &attempt(), None)
            .await
            .unwrap();
        assert_eq!(unchanged, None);
        let asked: Vec<String> = server
            .site
            .take_seen()
            .into_iter()
            .map(|seen| seen.method)
            .collect();
        assert_eq!(asked, ["GET", "POST"], "the capabilities, then the listing");
        for other in [
            Known {
                commit: "0".repeat(40),
                ..known.clone()
            },
            Known {
                reference: Some("refs/heads/other".into()),
                ..known.clone()
            },
            Known {
                tag_object: Some("0".repeat(40)),
                ..known.clone()
            },
        ] {
            let found = git::resolve_if_changed(&request, &other, &attempt(), None)
                .await
                .unwrap();
            assert_eq!(
                found.unwrap().resolution.content_digest,
                resolution.content_digest
            );
        }
    }
    // Another commit with the same files is another revision with the same content.
    let request = server.request("app.git", "main", "db");
    let before = resolve(&request).await.unwrap().resolution;
    repo.commit(&[("other", "x")]);
    let after = resolve(&request).await.unwrap().resolution;
    assert_ne!(after.revision, before.revision);
    assert_eq!(after.content_digest, before.content_digest);
}

/// What git itself receives for a shallow fetch, by its own count of the pack's bytes.
fn bytes_of_git(url: &str) -> u64 {
    let into = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new("git")
            .env_clear()
            .envs(environment())
            .current_dir(into.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run(&["init", "-q"]);
    run(&[
        "-c",
        "fetch.unpackLimit=1",
        "fetch",
        "-q",
        "--depth",
        "1",
        "--no-tags",
        url,
        "refs/heads/main",
    ]);
    let packs = std::fs::read_dir(into.path().join(".git/objects/pack")).unwrap();
    packs
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "pack"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum::<u64>()
}

#[tokio::test(flavor = "multi_thread")]
async fn depth_one_is_one_commit_in_every_version_and_a_filter_leaves_other_files_out() {
    let noise = |seed: u32| {
        let mut state = seed;
        let mut text = String::new();
        for _ in 0..40_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push(char::from(b' ' + (state >> 24) as u8 % 90));
        }
        text
    };
    for version_0 in [false, true] {
        for filter in [false, true] {
            let server = Server::with(git_http::Options {
                version_0,
                ..Default::default()
            })
            .await;
            let repo = server.repo("app.git");
            repo.config("uploadpack.allowFilter", &filter.to_string());
            repo.config("uploadpack.allowAnySHA1InWant", "true");
            for number in 0..5 {
                repo.commit(&[
                    ("db/a.sql", &format!("-- {number}")),
                    (&format!("big/{number}"), &noise(number)),
                    ("big/changing", &noise(number + 100)),
                ]);
            }
            let resolution = resolve(&server.request("app.git", "main", "db"))
                .await
                .unwrap()
                .resolution;
            let whole = bytes_of_git(&format!("file://{}", repo.path().display()));
            let case = format!(
                "version 0: {version_0}, filter: {filter}: {} of {whole}",
                resolution.received
            );
            if filter && !version_0 {
                assert!(resolution.received < 4096, "{case}");
            } else {
                // Packet lines and the advertisement come on top of the pack.
                assert!(resolution.received < whole + whole / 50 + 2048, "{case}");
                assert!(resolution.received > whole / 2, "{case}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_filters_but_does_not_give_blobs_by_id_is_asked_for_everything() {
    use std::sync::Arc;
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.config("uploadpack.allowFilter", "true");
    repo.commit(&[("db/a.sql", "a"), ("b", "b")]);
    let blob = repo.git(&["rev-parse", "main:db/a.sql"]);
    let at = root.path().to_owned();
    let answers: ptah_sources_tests::https::Handler = Arc::new(move |request| {
        let (root, wants) = (at.clone(), format!("want {blob}"));
        Box::pin(async move {
            if request
                .body()
                .windows(wants.len())
                .any(|part| part == wants.as_bytes())
            {
                let error = format!("ERR want {} not valid", &wants[5..]);
                let body = format!("{:04x}{error}", error.len() + 4);
                let kind = ("content-type", "application/x-git-upload-pack-result");
                return ptah_sources_tests::https::response(200, &[kind], body);
            }
            git_http::serve(root, request, false).await
        })
    });
    let tls = ptah_sources_tests::tls::CA.server(ptah_sources_tests::tls::Flaw::None);
    let site = ptah_sources_tests::https::Site::start(Some(tls), answers).await;
    let request = crate::support::request(&site.url("git.test", "/app.git"), "main", "db");
    crate::support::resolve_like_git(&request, &repo).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn received_bytes_are_those_of_the_whole_attempt() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.commit(&[("db/a.sql", "0")]);
    let attempt = Attempt::new(Limits::default(), CancellationToken::new());
    let resolved = git::resolve(&server.request("app.git", "main", "db"), &attempt, None)
        .await
        .unwrap();
    assert_eq!(resolved.resolution.received, attempt.received());
    assert!(attempt.received() > 200);
    assert_eq!((resolved.resolution.bytes, resolved.resolution.files), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_is_spoken_where_the_server_does() {
    use ptah_sources_tests::{https::Site, tls::CA};
    let root = tempfile::tempdir().unwrap();
    let repo = Repo::init(root.path(), "app.git");
    repo.commit(&[("db/a.sql", "a")]);
    let answers = git_http::handler(root.path(), git_http::Options::default());
    let site = Site::start(Some(CA.http2_server()), answers).await;
    let request = crate::support::request(&site.url("git.test", "/app.git"), "main", "db");
    crate::support::resolve_like_git(&request, &repo).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p067_an_unchanged_pinned_commit_is_still_held_to_the_advertisement() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    let id = repo.commit(&[("db/a.sql", "0")]);
    let request = server.request("app.git", &id, "db");
    let known = Known {
        commit: id,
        reference: None,
        tag_object: None,
    };
    let found = git::resolve_if_changed(&request, &known, &attempt(), None)
        .await
        .unwrap();
    assert_eq!(found, None);
    assert_eq!(server.site.take_seen().len(), 1);
    repo.commit(&[("db/a.sql", "1")]);
    let error = git::resolve_if_changed(&request, &known, &attempt(), None)
        .await
        .unwrap_err();
    assert_eq!(error.code(), "commit_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_files_are_asked_for_by_their_ids_in_one_request() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.config("uploadpack.allowFilter", "true");
    let files: Vec<(String, String)> = (0..3000)
        .map(|number| {
            (
                format!("db/{:02}/{number}.sql", number % 50),
                format!("-- {number}"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    repo.commit(&[&files[..], &[("other", "x")]].concat());
    let request = server.request("app.git", "main", "db");
    let resolved = resolve(&request).await.unwrap();
    assert_eq!(resolved.resolution.files, 3000);
    let seen = server.site.take_seen();
    let wants =
        |seen: &ptah_sources_tests::https::Seen| String::from_utf8_lossy(&seen.body).matches("want ").count();
    assert_eq!(seen.iter().map(wants).collect::<Vec<_>>(), [0, 0, 1, 3000]);
    let sshd = Sshd::start(&sshd::Options::default());
    let over_ssh = resolve(&ssh_request(&sshd, &repo, "main", "db")).await.unwrap();
    assert_eq!(
        over_ssh.resolution.content_digest,
        resolved.resolution.content_digest
    );
}
