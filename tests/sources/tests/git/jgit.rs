//! The same promises against JGit, which is what Gerrit and others serve with.

use ptah_resolver::git::{self, Recorded, Request};
use ptah_sources_tests::https::Site;
use ptah_sources_tests::jgit::Jgit;
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::sshd::Sshd;
use ptah_sources_tests::tls::{CA, Flaw};
use tempfile::TempDir;

use crate::support::{attempt, credential, request, resolve, resolve_like_git, told};
use crate::{pinned, refs};

struct Stage {
    root: TempDir,
    jgit: Jgit,
    site: Site,
    identity: String,
}

impl Stage {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let jgit = Jgit::start(root.path());
        let site = Site::start(Some(CA.server(Flaw::None)), jgit.handler()).await;
        // Any key is let in, of a kind that this server knows.
        let identity = Sshd::start(&Default::default()).other_identity("ecdsa", "", &[]);
        Self {
            root,
            jgit,
            site,
            identity,
        }
    }

    fn repo(&self) -> Repo {
        Repo::init(self.root.path(), "app.git")
    }

    fn https(&self, reference: &str, path: &str) -> Request {
        request(&self.site.url("git.test", "/app.git"), reference, path)
    }

    fn ssh(&self, reference: &str, path: &str) -> Request {
        let port = self.jgit.ssh_port();
        let mut request = request(&format!("ssh://git@127.0.0.1:{port}/app.git"), reference, path);
        let (host, known) = (
            format!("127.0.0.1:{port}"),
            format!("[127.0.0.1]:{port} {}", self.jgit.host_key()),
        );
        credential(
            &mut request,
            &[
                ("host", &host),
                ("identity", &self.identity),
                ("known_hosts", &known),
            ],
        );
        request
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p060_a_ref_means_the_same_on_jgit() {
    let stage = Stage::new().await;
    let repo = stage.repo();
    refs::fill(&repo);
    refs::every_row(&repo, "JGit, https", |name| stage.https(name, "db")).await;
    refs::every_row(&repo, "JGit, ssh", |name| stage.ssh(name, "db")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p066_a_pinned_commit_is_allowed_and_refused_by_jgit_as_by_git() {
    let stage = Stage::new().await;
    let repo = stage.repo();
    let places = pinned::fill(&repo);
    pinned::every_row(
        &repo,
        &places,
        "JGit, https",
        |id| stage.https(id, "db"),
        || false,
    )
    .await;
    pinned::every_row(&repo, &places, "JGit, ssh", |id| stage.ssh(id, "db"), || false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p061_content_is_what_git_says_on_jgit_with_and_without_its_filter() {
    let stage = Stage::new().await;
    let repo = stage.repo();
    repo.commit(&[("db/a.sql", "a"), ("db/sub/b.sql", "b"), ("other", "c")]);
    repo.commit(&[("db/a.sql", "A")]);
    for filter in ["false", "true"] {
        repo.config("uploadpack.allowFilter", filter);
        for path in [".", "db", "db/sub", "db/a.sql"] {
            resolve_like_git(&stage.https("main", path), &repo).await;
            resolve_like_git(&stage.ssh("main", path), &repo).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p064_a_recorded_commit_is_found_along_the_history_on_jgit() {
    let stage = Stage::new().await;
    let repo = stage.repo();
    repo.commit(&[("db/a.sql", "0")]);
    for filter in ["false", "true"] {
        repo.config("uploadpack.allowFilter", filter);
        let before = resolve(&stage.https("main", "db")).await.unwrap().resolution;
        let recorded = Recorded {
            commit: before.revision.clone(),
            reference: before.reference.clone(),
            content_digest: before.content_digest,
        };
        for number in 0..12 {
            repo.commit(&[("db/a.sql", &format!("{filter} {number}"))]);
        }
        for request in [stage.https("main", "db"), stage.ssh("main", "db")] {
            let found = git::fetch_recorded(&request, &recorded, &attempt(), None).await;
            assert_eq!(
                found.map_err(|error| told(&error)).unwrap().resolution.revision,
                before.revision
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_not_there_is_told_as_such_by_jgit() {
    let stage = Stage::new().await;
    let error = resolve(&stage.https("main", "db")).await.unwrap_err();
    assert_eq!(error.code(), "repository_not_found", "{error}");
    // Over SSH it says nothing but that it failed.
    let error = resolve(&stage.ssh("main", "db")).await.unwrap_err();
    let host = stage.ssh("main", "db").repository.authority();
    assert_eq!(
        told(&error),
        format!("transient remote_failed: the Git program of {host} ended with an error")
    );
}
