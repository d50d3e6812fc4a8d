//! What a Secret grants, and where a credential goes.

use base64::Engine as _;
use ptah_contract::digest::Digest;
use ptah_sources_tests::git_http;
use ptah_sources_tests::https::{Site, handler, response};
use ptah_sources_tests::sshd::{self, Sshd};
use ptah_sources_tests::table::rows;
use ptah_sources_tests::tls::{CA, Flaw};

use crate::support::{Server, attempt, credential, request, resolve, told, try_credential};

fn rsa_key() -> String {
    rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256)
        .unwrap()
        .serialize_pem()
}

#[test]
fn every_secret_of_the_table_is_a_credential_or_refused_by_the_key_that_is_wrong() {
    let sshd = Sshd::start(&sshd::Options::default());
    let (identity, rsa) = (sshd.identity(), rsa_key());
    let locked = sshd.other_identity("ed25519", "hunter2", &[]);
    let known = format!("git.test {}", sshd.host_key("ed25519"));
    for (line, [repository, ca, keys, expected]) in
        rows::<4>(include_str!("../../testdata/git/credentials.txt"))
    {
        let request = request(repository, "main", "db");
        let ca = (ca == "ca").then(|| CA.pem());
        let keys: std::collections::BTreeMap<String, String> = serde_json::from_str(keys).unwrap();
        let keys: Vec<(String, String)> = keys
            .into_iter()
            .map(|(key, value)| {
                let value = match value.as_str() {
                    "IDENTITY" => identity.clone(),
                    "LOCKED" => locked.clone(),
                    "KNOWN" => known.clone(),
                    "RSA" => rsa.clone(),
                    "CASHA" => Digest::of(CA.pem()).to_string(),
                    _ => value,
                };
                (key, value)
            })
            .collect();
        let keys: Vec<(&str, &str)> = keys
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let found = match try_credential(&request, &keys, ca) {
            Ok(credential) => {
                let request = ptah_resolver::git::Request {
                    credential: Some(credential),
                    ..request
                };
                let shown = format!("{request:?}");
                assert!(
                    !shown.contains("hunter2") && !shown.contains("PRIVATE KEY"),
                    "{shown}"
                );
                "ok".to_owned()
            }
            Err(error) => {
                let told = told(&error);
                assert!(!told.contains("PRIVATE KEY"), "{told}");
                told
            }
        };
        assert_eq!(found, expected, "line {line}");
    }
}

#[test]
fn a_ca_that_the_owner_did_not_grant_is_refused_with_both_digests() {
    let request = request("https://git.test/app.git", "main", "db");
    let granted = Digest::of(b"another bundle");
    let keys = [
        ("host", "git.test"),
        ("caSHA256", &granted.to_string()),
        ("bearerToken", "hunter2"),
    ];
    let error = try_credential(&request, &keys, Some(CA.pem())).unwrap_err();
    let found = Digest::of(CA.pem());
    assert_eq!(
        told(&error),
        format!(
            "refused ca_not_granted: Secret key caSHA256 grants {granted}, the CA bundle has {found}; no credential is sent"
        )
    );
}

fn basic(user: &str, password: &str) -> String {
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    format!("Basic {pair}")
}

#[tokio::test(flavor = "multi_thread")]
async fn user_and_password_and_a_bearer_token_are_taken_by_a_server_that_demands_them() {
    for (demands, keys) in [
        (
            basic("ada", "hunter2"),
            [("username", "ada"), ("password", "hunter2")].as_slice(),
        ),
        ("Bearer hunter2".to_owned(), &[("bearerToken", "hunter2\n")]),
    ] {
        let server = Server::with(git_http::Options {
            demands: Some(demands.clone()),
            ..Default::default()
        })
        .await;
        server.repo("app.git").commit(&[("db/a.sql", "a")]);
        let mut request = server.request("app.git", "main", "db");
        let host = format!("git.test:{}", server.site.port());
        let error = resolve(&request).await.unwrap_err();
        assert_eq!(
            told(&error),
            format!(
                "input authentication_required: {host} asks for a credential; a repository that does not exist may be \
                 hidden the same way"
            )
        );
        let mut all = vec![("host", host.as_str())];
        all.extend_from_slice(keys);
        credential(&mut request, &all);
        server.site.take_seen();
        assert!(resolve(&request).await.is_ok());
        let seen = server.site.take_seen();
        assert!(
            seen.iter()
                .all(|seen| seen.authorization.as_ref() == Some(&demands)),
            "{seen:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_was_answered_401_is_not_sent_again_in_that_attempt() {
    let server = Server::with(git_http::Options {
        demands: Some(basic("ada", "right")),
        ..Default::default()
    })
    .await;
    server.repo("app.git").commit(&[("db/a.sql", "a")]);
    let host = format!("git.test:{}", server.site.port());
    let id = "0".repeat(40);
    for reference in ["main", &id] {
        let mut request = server.request("app.git", reference, "db");
        credential(
            &mut request,
            &[("host", &host), ("username", "ada"), ("password", "hunter2")],
        );
        let error = resolve(&request).await.unwrap_err();
        assert_eq!(
            told(&error),
            format!("input authentication_failed: {host} rejects the credential")
        );
        assert_eq!(server.site.take_seen().len(), 1, "{reference}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_leaves_only_for_the_authority_that_it_was_granted_for() {
    let root = tempfile::tempdir().unwrap();
    ptah_sources_tests::repo::Repo::init(root.path(), "app.git").commit(&[("db/a.sql", "a")]);
    for (line, [hops, expected, credentialed]) in rows::<3>(include_str!("../../testdata/git/redirects.txt"))
    {
        let (root, hops) = (root.path().to_owned(), hops.to_owned());
        let port = std::sync::Arc::new(std::sync::atomic::AtomicU16::new(0));
        let own_port = std::sync::Arc::clone(&port);
        let answers: ptah_sources_tests::https::Handler = std::sync::Arc::new(move |request| {
            let (root, hops) = (root.clone(), hops.clone());
            let port = own_port.load(std::sync::atomic::Ordering::Relaxed);
            Box::pin(async move {
                let path = request.uri().path().to_owned();
                if path.starts_with("/private.git/") {
                    return response(401, &[("www-authenticate", "Basic realm=x")], "");
                }
                if path.starts_with("/app.git/") {
                    return git_http::serve(root, request, false).await;
                }
                let hops: Vec<&str> = hops.split(' ').collect();
                let at: usize = path[1..2].parse().unwrap();
                let place = |text: &str| {
                    text.replace("SAME", &format!("git.test:{port}"))
                        .replace("OTHER", &format!("other.test:{port}"))
                };
                let location = match hops[at] {
                    "EMPTY" => return response(302, &[], ""),
                    plain if plain.starts_with("PLAIN") => plain.replace("PLAIN", "http://git.test"),
                    whole if whole.contains("://") => whole.to_owned(),
                    odd if odd.contains('?') || odd.ends_with("login") => format!("https://{}", place(odd)),
                    hop => format!("https://{}/info/refs?service=git-upload-pack", place(hop)),
                };
                response(302, &[("location", &location)], "")
            })
        });
        let site = Site::start(Some(CA.server(Flaw::None)), answers).await;
        port.store(site.port(), std::sync::atomic::Ordering::Relaxed);
        let mut request = request(&site.url("git.test", "/0"), "main", "db");
        let own = format!("git.test:{}", site.port());
        credential(
            &mut request,
            &[("host", &own), ("username", "ada"), ("password", "hunter2")],
        );
        let found = resolve(&request)
            .await
            .map_or_else(|error| told(&error), |_| "ok".into());
        let other = format!("other.test:{}", site.port());
        let expected = expected.replace("SAME", &own).replace("OTHER", &other);
        assert_eq!(found, expected, "line {line}");
        let seen = site.take_seen();
        let saw: Vec<String> = seen
            .iter()
            .filter(|seen| seen.authorization.is_some())
            .map(|seen| seen.host.split(':').next().unwrap().to_owned())
            .collect();
        assert_eq!(saw.join(" "), credentialed, "line {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_into_a_private_network_is_refused_where_only_public_addresses_are_allowed() {
    let answers = handler(|_| {
        let to = "https://10.0.0.1/app.git/info/refs?service=git-upload-pack";
        response(302, &[("location", to)], "")
    });
    let site = Site::start(Some(CA.server(Flaw::None)), answers).await;
    let mut request = request(&site.url("127.0.0.1", "/app.git"), "main", "db");
    request.network = ptah_resolver::net::Network::public_and(["127.0.0.0/8".parse().unwrap()]);
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(
        told(&error),
        "refused address_not_allowed: host 10.0.0.1 has the address 10.0.0.1, which is not public and not in an allowed \
         network"
    );
    request.network = ptah_resolver::net::Network::public_and([]);
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(error.code(), "address_not_allowed");
    // A name is judged by what it resolves to.
    request.repository = site.url("git.test", "/app.git").parse().unwrap();
    request.network = request
        .network
        .with_name("git.test", "127.0.0.1".parse().unwrap());
    let error = resolve(&request).await.unwrap_err();
    assert_eq!(
        told(&error),
        "refused address_not_allowed: host git.test has the address 127.0.0.1, which is not public and not in an allowed \
         network"
    );
    assert_eq!(site.take_seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_github_app_mints_a_token_for_each_fetch_and_the_repository_gets_that_alone() {
    let root = tempfile::tempdir().unwrap();
    ptah_sources_tests::repo::Repo::init(root.path(), "app.git").commit(&[("db/a.sql", "a")]);
    let demands = basic("x-access-token", "minted-hunter2");
    let git = git_http::handler(
        root.path(),
        git_http::Options {
            demands: Some(demands.clone()),
            ..Default::default()
        },
    );
    let answers: ptah_sources_tests::https::Handler = std::sync::Arc::new(move |request| {
        let api = request
            .headers()
            .get("host")
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("api.");
        if api {
            let path = request.uri().path().to_owned();
            return Box::pin(async move {
                match path.as_str() {
                    "/app/installations/2/access_tokens" => response(
                        201,
                        &[],
                        r#"{"token": "minted-hunter2", "expires_at": "2026-01-01T00:00:00Z"}"#,
                    ),
                    "/app/installations/3/access_tokens" => response(401, &[], "{}"),
                    "/app/installations/4/access_tokens" => response(403, &[], "{}"),
                    "/app/installations/5/access_tokens" => response(201, &[], "{}"),
                    "/app/installations/6/access_tokens" => response(503, &[], "{}"),
                    _ => response(404, &[], "{}"),
                }
            });
        }
        git(request)
    });
    let site = Site::start(Some(CA.server(Flaw::None)), answers).await;
    let host = format!("git.test:{}", site.port());
    let key = rsa_key();
    for (installation, expected) in [
        ("2", "ok".to_owned()),
        ("3", "input app_token_failed: no token was given for the GitHub App installation: the App or its key is rejected".into()),
        ("4", "input app_token_failed: no token was given for the GitHub App installation: the App may not use this installation".into()),
        ("5", "input app_token_failed: no token was given for the GitHub App installation: the API answered without a token".into()),
        ("6", format!("transient server_unavailable: host api.{host} answered with status 503")),
        ("7", "input app_token_failed: no token was given for the GitHub App installation: there is no such installation".into()),
    ] {
        let mut request = request(&site.url("git.test", "/app.git"), "main", "db");
        credential(
            &mut request,
            &[
                ("host", &host),
                ("githubAppID", "12345"),
                ("githubAppInstallationID", installation),
                ("githubAppPrivateKey", &key),
            ],
        );
        let found = resolve(&request).await.map_or_else(|error| told(&error), |_| "ok".into());
        assert_eq!(found, expected, "installation {installation}");
    }
    let seen = site.take_seen();
    let (api, git): (Vec<_>, Vec<_>) = seen.into_iter().partition(|seen| seen.host.starts_with("api."));
    assert!(
        git.iter()
            .all(|seen| seen.authorization.as_ref() == Some(&demands))
    );
    let token = api[0]
        .authorization
        .as_ref()
        .unwrap()
        .strip_prefix("Bearer ")
        .unwrap();
    assert!(says_who_it_is(token, &key), "{token}");
    let _ = attempt();
}

/// Verifies the token of the App by its public key.
fn says_who_it_is(token: &str, key: &str) -> bool {
    let url = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let json =
        |text: &str| -> serde_json::Value { serde_json::from_slice(&url.decode(text).unwrap()).unwrap() };
    assert_eq!(json(header), serde_json::json!({"alg": "RS256", "typ": "JWT"}));
    let claims = json(claims);
    assert_eq!(claims["iss"], "12345");
    assert!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap() <= 600);
    // openssl is the oracle.
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("key"), key).unwrap();
    std::fs::write(at("signed"), signed).unwrap();
    std::fs::write(at("signature"), url.decode(signature).unwrap()).unwrap();
    let run = |arguments: &[&str]| {
        let done = std::process::Command::new("openssl").args(arguments).output();
        done.expect("openssl: install the Debian package openssl")
            .status
            .success()
    };
    run(&["pkey", "-in", &at("key"), "-pubout", "-out", &at("public")])
        && run(&[
            "dgst",
            "-sha256",
            "-verify",
            &at("public"),
            "-signature",
            &at("signature"),
            &at("signed"),
        ])
}
