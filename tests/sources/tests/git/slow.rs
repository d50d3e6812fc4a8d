//! Servers that stall and trickle: deadlines, silence, cancellation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use ptah_resolver::net::{Attempt, Limits};
use ptah_sources_tests::git_http;
use ptah_sources_tests::https::{Handler, Response};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::{failing, site, some_repo, to};

/// Git that stops somewhere: before it answers, within the advertisement, within the pack; or that goes on by a byte a
/// moment.
fn slow(root: &TempDir, stage: &'static str, trickle: bool) -> Handler {
    let root = root.path().to_owned();
    Arc::new(move |request| {
        let now = match request.method().as_str() {
            "GET" => "advertisement",
            _ if request.body().windows(13).any(|part| part == b"command=fetch") => "pack",
            _ => "listing",
        };
        let root = root.clone();
        Box::pin(async move {
            if stage == "headers" {
                std::future::pending::<()>().await;
            }
            let answer = git_http::serve(root, request, false).await;
            if now != stage {
                return answer;
            }
            let (parts, body) = answer.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let half = body.len() / 2;
            let begin = futures::stream::iter([Ok(hyper::body::Frame::data(body.slice(..half)))]);
            let rest = futures::stream::unfold(body.slice(half..), move |mut rest| async move {
                if !trickle {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
                let byte = if rest.is_empty() {
                    return None;
                } else {
                    rest.split_to(1)
                };
                Some((Ok(hyper::body::Frame::data(byte)), rest))
            });
            let stream = futures::StreamExt::chain(begin, rest);
            Response::from_parts(parts, http_body_util::StreamBody::new(stream).boxed())
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn one_deadline_covers_a_server_that_stalls_or_trickles_anywhere() {
    let (root, _repo) = some_repo();
    for (stage, trickle) in [
        ("headers", false),
        ("advertisement", false),
        ("advertisement", true),
        ("listing", false),
        ("listing", true),
        ("pack", false),
        ("pack", true),
    ] {
        let site = site(slow(&root, stage, trickle)).await;
        let limits = Limits {
            total: Duration::from_secs(1),
            ..Limits::default()
        };
        let began = Instant::now();
        let found = failing(to(&site), &Attempt::new(limits, CancellationToken::new())).await;
        assert_eq!(
            found, "transient deadline_exceeded: the attempt took longer than 1 s",
            "{stage}, trickle: {trickle}"
        );
        assert!(
            began.elapsed() < Duration::from_secs(4),
            "{stage}: {:?}",
            began.elapsed()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_ends_an_attempt_before_its_deadline() {
    let (root, _repo) = some_repo();
    for stage in ["headers", "pack"] {
        let site = site(slow(&root, stage, false)).await;
        let limits = Limits {
            idle: Duration::from_secs(1),
            ..Limits::default()
        };
        let found = failing(to(&site), &Attempt::new(limits, CancellationToken::new())).await;
        assert_eq!(
            found, "transient stalled: no byte was received for 1 s",
            "{stage}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_attempt_ends_at_once_wherever_it_is() {
    let (root, _repo) = some_repo();
    for (stage, requests, trickle) in [
        ("headers", 1, false),
        ("listing", 2, false),
        ("pack", 3, false),
        ("pack", 3, true),
    ] {
        let site = site(slow(&root, stage, trickle)).await;
        let cancel = CancellationToken::new();
        let attempt = Attempt::new(Limits::default(), cancel.clone());
        let failing = failing(to(&site), &attempt);
        let cancelling = async {
            while site.seen().len() < requests {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
            Instant::now()
        };
        let (found, cancelled) = tokio::join!(failing, cancelling);
        assert_eq!(found, "transient cancelled: the attempt was cancelled", "{stage}");
        // The promise is 100 ms, on a machine that does nothing else.
        assert!(
            cancelled.elapsed() < Duration::from_secs(1),
            "{stage}: {:?}",
            cancelled.elapsed()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ssh_server_that_stalls_or_trickles_or_is_none_ends_with_the_attempt() {
    use tokio::io::AsyncWriteExt as _;
    let (_root, repo) = some_repo();
    let sshd = ptah_sources_tests::sshd::Sshd::start(&Default::default());
    for (greeting, expected) in [
        (
            "",
            "transient deadline_exceeded: the attempt took longer than 1 s".to_owned(),
        ),
        (
            "SSH-2.0-slow\r\n",
            "transient deadline_exceeded: the attempt took longer than 1 s".to_owned(),
        ),
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "transient".to_owned()),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let closes = greeting.starts_with("HTTP");
        let serving = tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.write_all(greeting.as_bytes()).await;
                if !closes {
                    held.push(stream);
                }
            }
        });
        let mut request = crate::support::ssh_request(&sshd, &repo, "main", "db");
        let text = request
            .repository
            .to_string()
            .replace(&sshd.port().to_string(), &port.to_string());
        request.repository = text.parse().unwrap();
        let host = format!("127.0.0.1:{port}");
        let known = format!("[127.0.0.1]:{port} {}", sshd.host_key("ed25519"));
        crate::support::credential(
            &mut request,
            &[
                ("host", &host),
                ("identity", &sshd.identity()),
                ("known_hosts", &known),
            ],
        );
        let limits = Limits {
            total: Duration::from_secs(1),
            ..Limits::default()
        };
        let found = failing(request, &Attempt::new(limits, CancellationToken::new())).await;
        assert!(found.starts_with(&expected), "{greeting:?}: {found}");
        serving.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_behind_ssh_that_says_nothing_ends_with_the_attempt_and_is_hung_up_on() {
    use ptah_sources_tests::sshd::{self, Sshd};
    let (_root, repo) = some_repo();
    let sshd = Sshd::start(&sshd::Options {
        more: "ForceCommand exec cat\n",
        ..Default::default()
    });
    let request = crate::support::ssh_request(&sshd, &repo, "main", "db");
    let limits = Limits {
        idle: Duration::from_secs(1),
        ..Limits::default()
    };
    let silent = Attempt::new(limits, CancellationToken::new());
    assert_eq!(
        failing(request.clone(), &silent).await,
        "transient stalled: no byte was received for 1 s"
    );
    let cancel = CancellationToken::new();
    let attempt = Attempt::new(Limits::default(), cancel.clone());
    let cancelling = async {
        while sshd.connections() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        Instant::now()
    };
    let (found, cancelled) = tokio::join!(failing(request, &attempt), cancelling);
    assert_eq!(found, "transient cancelled: the attempt was cancelled");
    assert!(
        cancelled.elapsed() < Duration::from_secs(1),
        "{:?}",
        cancelled.elapsed()
    );
    // The server's processes see the end of their connections, and end as well.
    let deadline = Instant::now() + Duration::from_secs(10);
    while sshd.running() > 0 {
        assert!(Instant::now() < deadline, "a connection is left open");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_whose_future_is_dropped_leaves_nothing_behind() {
    let (root, _repo) = some_repo();
    let site = site(slow(&root, "pack", false)).await;
    let (scratch, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut request = to(&site);
    request.scratch = Some(scratch.path().to_owned());
    let attempt = Attempt::new(Limits::default(), CancellationToken::new());
    tokio::select! {
        _ = ptah_resolver::git::resolve(&request, &attempt, Some(out.path())) => panic!("it stalls"),
        () = async {
            while site.seen().len() < 3 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while !crate::support::is_empty(scratch.path()) {
        assert!(Instant::now() < deadline, "the private folder is left behind");
        tokio::task::yield_now().await;
    }
    assert!(crate::support::is_empty(out.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_to_connect_covers_the_set_up_of_tls_and_of_ssh() {
    // It listens, and nobody accepts: the system completes the connection, and then nothing comes.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let limits = Limits {
        connect: Duration::from_secs(1),
        ..Limits::default()
    };
    let attempt = || Attempt::new(limits, CancellationToken::new());
    let https = crate::support::request(&format!("https://git.test:{port}/app.git"), "main", "db");
    assert_eq!(
        failing(https, &attempt()).await,
        format!("transient connect_timeout: host git.test:{port} was not reached within 1 s")
    );
    let (_root, repo) = some_repo();
    let sshd = ptah_sources_tests::sshd::Sshd::start(&Default::default());
    let mut ssh = crate::support::ssh_request(&sshd, &repo, "main", "db");
    let url = ssh
        .repository
        .to_string()
        .replace(&sshd.port().to_string(), &port.to_string());
    ssh.repository = url.parse().unwrap();
    let (host, known) = (
        format!("127.0.0.1:{port}"),
        format!("[127.0.0.1]:{port} {}", sshd.host_key("ed25519")),
    );
    let keys = [
        ("host", host.as_str()),
        ("identity", &sshd.identity()),
        ("known_hosts", &known),
    ];
    crate::support::credential(&mut ssh, &keys);
    assert_eq!(
        failing(ssh, &attempt()).await,
        "transient connect_timeout: host 127.0.0.1 was not reached within 1 s"
    );
    drop(listener);
}
