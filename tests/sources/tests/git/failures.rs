//! Servers that fail, stall and lie.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use ptah_resolver::net::{Attempt, Limits, Network, Trust};
use ptah_sources_tests::git_http;
use ptah_sources_tests::https::{Handler, Response, Site, full, handler, response};
use ptah_sources_tests::table::rows;
use ptah_sources_tests::tls::{CA, Flaw, STRANGER};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::{attempt, failing, network, request, resolve, site, some_repo, to};

const ADVERTISEMENT: (&str, &str) = ("content-type", "application/x-git-upload-pack-advertisement");
const RESULT: (&str, &str) = ("content-type", "application/x-git-upload-pack-result");

#[tokio::test(flavor = "multi_thread")]
async fn every_status_of_the_table_has_its_code_and_class() {
    for (line, [status, expected]) in rows::<2>(include_str!("../../testdata/git/answers.txt")) {
        let status: u16 = status.parse().unwrap();
        let answers =
            handler(move |_| response(status, &[("content-type", "text/html")], "<html>hunter2</html>"));
        let site = site(answers).await;
        let host = format!("git.test:{}", site.port());
        let found = failing(to(&site), &attempt()).await;
        assert_eq!(found, expected.replace("HOST", &host), "line {line}");
    }
}

fn packets(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("p(") {
            let (line, after) = after.split_once(')').unwrap();
            let line = line.replace("\\0", "\0");
            bytes.extend(format!("{:04x}{line}\n", line.len() + 5).bytes());
            rest = after;
        } else {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "." => bytes.extend(b"0000"),
                ";" => bytes.extend(b"0001"),
                word => bytes.extend(word.bytes()),
            }
            rest = after;
        }
        rest = rest.trim_start();
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn every_lie_of_the_table_has_its_code_and_class() {
    let (root, _repo) = some_repo();
    let mut wrong = Vec::new();
    for (line, [first, second, expected]) in rows::<3>(include_str!("../../testdata/git/lies.txt")) {
        let (root, first, second) = (root.path().to_owned(), first.to_owned(), second.to_owned());
        let answers: Handler = Arc::new(move |request| {
            let (kind, lie) = match request.method().as_str() {
                "GET" => (ADVERTISEMENT, first.clone()),
                _ if request.body().windows(15).any(|part| part == b"command=ls-refs") => {
                    (RESULT, second.clone())
                }
                _ => (RESULT, "git".to_owned()),
            };
            let root = root.clone();
            Box::pin(async move {
                match lie.as_str() {
                    "git" => git_http::serve(root, request, false).await,
                    lie => response(200, &[kind], packets(lie)),
                }
            })
        });
        let site = site(answers).await;
        let host = format!("git.test:{}", site.port());
        let found = failing(to(&site), &attempt()).await;
        if found != expected.replace("HOST", &host) {
            wrong.push(format!("line {line}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Git, with what it answers to the request for a pack changed.
fn changed_pack(root: &TempDir, change: impl Fn(Vec<u8>) -> Response + Send + Sync + 'static) -> Handler {
    let (root, change) = (root.path().to_owned(), Arc::new(change));
    Arc::new(move |request| {
        let pack = request.body().windows(13).any(|part| part == b"command=fetch");
        let (root, change) = (root.clone(), Arc::clone(&change));
        Box::pin(async move {
            let answer = git_http::serve(root, request, false).await;
            if !pack {
                return answer;
            }
            change(answer.into_body().collect().await.unwrap().to_bytes().to_vec())
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_that_is_cut_short_or_fails_its_checksum_is_a_failure_that_passes() {
    let (root, _repo) = some_repo();
    let damaged = "transient pack_damaged: the pack of HOST is damaged or incomplete";
    let cut = "transient cut_short: the answer of HOST was cut short";
    type Change = fn(Vec<u8>) -> Response;
    let cases: [(&str, Change, &str); 6] = [
        (
            "cut to its half",
            |body| response(200, &[RESULT], body[..body.len() / 2].to_vec()),
            damaged,
        ),
        (
            "without its end",
            |body| response(200, &[RESULT], body[..body.len() - 12].to_vec()),
            damaged,
        ),
        (
            "a byte of the checksum",
            |mut body| {
                let at = body.len() - 10;
                body[at] ^= 1;
                response(200, &[RESULT], body)
            },
            damaged,
        ),
        (
            "a byte of an object",
            |mut body| {
                let at = body.len() - 60;
                body[at] ^= 0x10;
                response(200, &[RESULT], body)
            },
            damaged,
        ),
        (
            "fewer bytes than announced",
            |body| {
                let half = body[..body.len() / 2].to_vec();
                let begin = futures::stream::iter([Ok(hyper::body::Frame::data(half.into()))]);
                // Only after the beginning is on its way.
                let end = futures::stream::once(async {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    Err(std::io::Error::other("gone"))
                });
                let stream = futures::StreamExt::chain(begin, Box::pin(end));
                let body = http_body_util::StreamBody::new(stream).boxed();
                hyper::Response::builder()
                    .header(RESULT.0, RESULT.1)
                    .body(body)
                    .unwrap()
            },
            cut,
        ),
        ("nothing", |_| response(200, &[RESULT], ""), cut),
    ];
    for (name, change, expected) in cases {
        let site = site(changed_pack(&root, change)).await;
        let host = format!("git.test:{}", site.port());
        let found = failing(to(&site), &attempt()).await;
        assert_eq!(found, expected.replace("HOST", &host), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_bytes_than_those_that_were_asked_for_are_noticed_by_their_hash() {
    let (root, repo) = some_repo();
    let real = repo.git(&["rev-parse", "main"]);
    let fake = "0123456789012345678901234567890123456789";
    let root_path = root.path().to_owned();
    let swap = |bytes: &[u8], from: &str, to: &str| {
        let text: Vec<u8> = bytes.to_vec();
        let mut out = text.clone();
        for at in 0..text.len().saturating_sub(39) {
            if &text[at..at + 40] == from.as_bytes() {
                out[at..at + 40].copy_from_slice(to.as_bytes());
            }
        }
        out
    };
    let id = real.clone();
    let answers: Handler = Arc::new(move |request| {
        let (root, real) = (root_path.clone(), id.clone());
        Box::pin(async move {
            let listing = request.body().windows(15).any(|part| part == b"command=ls-refs");
            let (parts, body) = request.into_parts();
            let asked = swap(&body, fake, &real);
            let answer = git_http::serve(root, hyper::Request::from_parts(parts, asked.into()), false).await;
            let (parts, body) = answer.into_parts();
            let mut body = body.collect().await.unwrap().to_bytes().to_vec();
            if listing {
                body = swap(&body, &real, fake);
            }
            Response::from_parts(parts, full(body))
        })
    });
    let site = site(answers).await;
    let found = failing(to(&site), &attempt()).await;
    let host = format!("git.test:{}", site.port());
    assert_eq!(
        found,
        format!(
            "attention object_missing: {host} did not send object {fake}: nothing in its pack has that hash"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_over_budget_is_refused_by_what_it_has_too_much_of() {
    let (root, repo) = some_repo();
    let site = site(git_http::handler(root.path(), git_http::Options::default())).await;
    let mut small = to(&site);
    small.budget.objects = 3;
    assert_eq!(
        failing(small, &attempt()).await,
        "refused object_budget: the pack has 5 objects, the fetch budget is 3"
    );
    let limits = Limits {
        bytes: 600,
        ..Limits::default()
    };
    let few_bytes = Attempt::new(limits, CancellationToken::new());
    assert_eq!(
        failing(to(&site), &few_bytes).await,
        "refused receive_budget: more than 600 bytes were received"
    );
    // A few hundred kilobytes on the wire, two hundred megabytes when unpacked.
    let bomb = tempfile::tempdir().unwrap();
    let file = bomb.path().join("zeros");
    std::fs::File::create(&file).unwrap().set_len(200 << 20).unwrap();
    let blob = repo.git(&["hash-object", "-w", file.to_str().unwrap()]);
    let entry = ptah_sources_tests::repo::Entry::Link("100644", blob);
    repo.commit_tree(
        &repo.tree(&[(vec!["db".into(), "a.sql".into()], entry)]),
        "refs/heads/main",
    );
    assert_eq!(
        failing(to(&site), &attempt()).await,
        "refused object_too_large: the pack has an object of more than 67109888 bytes"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_that_the_trust_does_not_cover_are_refused_with_the_reason() {
    let (root, _repo) = some_repo();
    let answers = || git_http::handler(root.path(), git_http::Options::default());
    for (authority, flaw, reason) in [
        (&*STRANGER, Flaw::None, "no given root signed it"),
        (&*CA, Flaw::Expired, "it has expired"),
        (&*CA, Flaw::NotYet, "it is not valid yet"),
        (&*CA, Flaw::OtherName, "it is for another name"),
    ] {
        let site = Site::start(Some(authority.server(flaw)), answers()).await;
        let host = format!("git.test:{}", site.port());
        assert_eq!(
            failing(to(&site), &attempt()).await,
            format!("input certificate_not_trusted: the certificate of {host} is not trusted: {reason}")
        );
        assert_eq!(site.take_seen(), []);
    }
    let site = Site::start(Some(CA.server(Flaw::None)), answers()).await;
    let mut system = to(&site);
    system.trust = Trust::system();
    let found = failing(system, &attempt()).await;
    assert!(found.starts_with("input certificate_not_trusted: "), "{found}");
    let plain = Site::start(None, answers()).await;
    let host = format!("git.test:{}", plain.port());
    assert_eq!(
        failing(to(&plain), &attempt()).await,
        format!("attention tls_failed: host {host} does not answer with TLS")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_not_there_is_a_failure_that_passes() {
    let mut nobody = request("https://127.0.0.1:1/app.git", "main", "db");
    assert_eq!(
        failing(nobody.clone(), &attempt()).await,
        "transient connection_failed: the connection to 127.0.0.1:1 was refused or broke"
    );
    nobody.repository = "https://no-such-host.invalid/app.git".parse().unwrap();
    nobody.network = Network::any();
    assert_eq!(
        failing(nobody, &attempt()).await,
        "transient name_not_resolved: the name no-such-host.invalid is not resolved to an address"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_without_an_end_stops_at_the_byte_budget() {
    let (root, _repo) = some_repo();
    let root_path = root.path().to_owned();
    let answers: Handler = Arc::new(move |request| {
        let root = root_path.clone();
        Box::pin(async move {
            if request.method() == "GET" {
                return git_http::serve(root, request, false).await;
            }
            let line = packets(&format!("p({} refs/heads/{})", "1".repeat(40), "x".repeat(900))).repeat(16);
            let stream =
                futures::stream::repeat_with(move || Ok(hyper::body::Frame::data(line.clone().into())));
            let body = http_body_util::StreamBody::new(stream).boxed();
            hyper::Response::builder()
                .header(RESULT.0, RESULT.1)
                .body(body)
                .unwrap()
        })
    });
    let site = site(answers).await;
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let found = failing(to(&site), &Attempt::new(limits, CancellationToken::new())).await;
    assert_eq!(
        found,
        "refused receive_budget: more than 1048576 bytes were received"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_for_a_pack_is_not_redirected() {
    let (root, _repo) = some_repo();
    let root_path = root.path().to_owned();
    let answers: Handler = Arc::new(move |request| {
        let root = root_path.clone();
        Box::pin(async move {
            match request.method().as_str() {
                "GET" => git_http::serve(root, request, false).await,
                _ => response(
                    307,
                    &[("location", "https://other.test/app.git/git-upload-pack")],
                    "",
                ),
            }
        })
    });
    let site = site(answers).await;
    let host = format!("git.test:{}", site.port());
    assert_eq!(
        failing(to(&site), &attempt()).await,
        format!("attention redirect_target: {host} redirects to something that is not the same repository")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_or_the_environment_configured_for_git_changes_nothing() {
    if let Ok(url) = std::env::var("PTAH_TEST_URL") {
        return in_that_environment(&url).await;
    }
    // `GIT_CONFIG_*`, proxies and the home folder would redirect, verify less, or send a credential if they were read.
    let (root, _repo) = some_repo();
    let site = site(git_http::handler(root.path(), git_http::Options::default())).await;
    let home = tempfile::tempdir().unwrap();
    let config = "[http]\nsslVerify = false\nproxy = http://127.0.0.1:1\n[url \"https://other.test/\"]\ninsteadOf = \
                  https://git.test\n[credential]\nhelper = \"!echo password=hunter2; touch helper-ran\"\n";
    std::fs::write(home.path().join(".gitconfig"), config).unwrap();
    let program = std::env::current_exe().unwrap();
    let run = tokio::process::Command::new(program)
        .args([
            "failures::what_a_person_or_the_environment_configured_for_git_changes_nothing",
            "--exact",
        ])
        .env("HOME", home.path())
        .env("HTTPS_PROXY", "http://127.0.0.1:1")
        .env("https_proxy", "http://127.0.0.1:1")
        .env("ALL_PROXY", "http://127.0.0.1:1")
        .env("GIT_CONFIG_GLOBAL", home.path().join(".gitconfig"))
        .env("GIT_SSL_NO_VERIFY", "1")
        .env("GIT_DIR", "/nonexistent")
        .env("SSL_CERT_FILE", "/dev/null")
        .env("PTAH_TEST_URL", site.url("127.0.0.1", "/app.git"))
        .env("PTAH_TEST_CA", String::from_utf8(CA.pem().to_vec()).unwrap())
        .output()
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success() && text.contains("1 passed"), "{text}");
    assert!(site.take_seen().iter().all(|seen| seen.authorization.is_none()));
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        1,
        "nothing was written to the home folder"
    );
}

/// The other half of the test above, in its environment.
async fn in_that_environment(url: &str) {
    let mut request = request(url, "main", "db");
    let ca = std::env::var("PTAH_TEST_CA").unwrap();
    request.trust = Trust::system().with_pem(ca.as_bytes()).unwrap();
    request.network = network();
    resolve(&request).await.unwrap();
}
