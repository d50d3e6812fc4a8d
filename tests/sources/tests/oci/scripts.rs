//! The table of a registry's lies, `testdata/oci-scripts.txt`: what the servers do, what comes of it, and every
//! request with the proof that went along.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ptah_resolver::net::{Attempt, Limits, Network};
use ptah_resolver::oci::{Credentials, Family, Request};
use ptah_sources_tests::oci::lying::{Log, Lying, Rule, Script, listener};
use ptah_sources_tests::oci::store::{INDEX, MANIFEST, Store};
use ptah_sources_tests::oci::tls::Tls;
use serde_json::Value;

use crate::support::resolve_in;

/// One block of the table.
struct Case<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
    outcome: &'a str,
    asked: Vec<&'a str>,
}

fn cases() -> Vec<Case<'static>> {
    let table = include_str!("../../testdata/oci-scripts.txt");
    let blocks = table.split("\n=== ").skip(1);
    blocks
        .map(|block| {
            let (head, tail) = block.split_once("\n--- ").unwrap_or_else(|| panic!("{block}"));
            let mut lines = head.lines();
            let mut tail = tail.split("\n--- ");
            Case {
                name: lines.next().unwrap(),
                lines: lines.collect(),
                // What follows an answer's line is the heading of the next part.
                outcome: tail.next().and_then(|text| text.lines().next()).unwrap(),
                asked: tail.filter_map(|text| text.lines().next()).collect(),
            }
        })
        .collect()
}

/// What the lines of a block set up.
struct Setting {
    request: Request,
    limits: Limits,
    script: Script,
    tls: Option<Tls>,
    secrets: Vec<String>,
}

impl Setting {
    fn of(case: &Case<'_>, this: &str, other: &str) -> Self {
        let tls = case.lines.contains(&"tls").then(Tls::new);
        let mut store = Store::default();
        let files = |line: &str| -> Vec<(String, Vec<u8>)> {
            let pairs = line.split(' ').filter_map(|pair| pair.split_once('='));
            pairs
                .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let artifact = case.lines.iter().find_map(|line| line.strip_prefix("artifact "));
        let files = files(artifact.unwrap_or("a.sql=A"));
        let described = store.files(
            "v1",
            files
                .iter()
                .map(|(path, bytes)| (path.as_str(), bytes.as_slice())),
        );
        let digest = described["digest"].as_str().unwrap().to_owned();
        let manifest = String::from_utf8(store.manifests["v1"].0.clone()).unwrap();
        let first = serde_json::from_str::<Value>(&manifest).unwrap()["layers"][0]["digest"].clone();
        let ca = tls
            .as_ref()
            .map(|tls| tls.certificate.clone())
            .unwrap_or_default();
        let inner = format!(
            r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"{MANIFEST}","digest":"{digest}","size":1}}]}}"#
        );
        let index = store.manifest("inner", INDEX, inner.as_bytes());
        let names: Vec<(String, String)> = [
            ("index", index["digest"].as_str().unwrap_or_default().to_owned()),
            ("index-size", inner.len().to_string()),
            ("self", this.to_owned()),
            ("other", other.to_owned()),
            ("digest", digest),
            ("size", manifest.len().to_string()),
            ("blob", first.as_str().unwrap_or_default().to_owned()),
            ("ca", ptah_contract::digest::Digest::of(ca.as_bytes()).to_string()),
            ("manifest", manifest),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let mut setting = Self {
            request: Request::new(format!("oci://{this}/app:v1").parse().unwrap()),
            limits: Limits::default(),
            script: Script {
                rules: Vec::new(),
                store,
                names,
                log: Log::default(),
            },
            tls,
            secrets: Vec::new(),
        };
        setting.request.plain_http = setting.tls.is_none();
        setting.request.ca = setting
            .tls
            .as_ref()
            .map(|tls| tls.certificate.clone().into_bytes());
        for line in &case.lines {
            setting.line(line);
        }
        setting
    }

    fn fill(&self, text: &str) -> String {
        let names = self.script.names.iter();
        names.fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }

    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "artifact" | "tls" => {}
            "on" => self.script.rules.push(Rule::parse(rest)),
            "secret" => {
                let values: BTreeMap<String, String> = serde_json::from_str(&self.fill(rest)).unwrap();
                let secret = |key: &str| matches!(key, "password" | "token");
                let secrets = values.iter().filter(|(key, _)| secret(key));
                self.secrets.extend(secrets.map(|(_, value)| value.clone()));
                let values = values
                    .into_iter()
                    .map(|(key, value)| (key, value.into_bytes()))
                    .collect();
                self.request.credentials = Some(Credentials::from_values(&values).unwrap());
            }
            "reference" => self.request.reference = self.fill(rest).parse().unwrap(),
            "manifest" => {
                let text = self.fill(rest);
                self.script.store.manifest("v1", MANIFEST, text.as_bytes());
            }
            "no-ca" => self.request.ca = None,
            "ca" => self.request.ca = Some(rest.as_bytes().to_vec()),
            "https" => self.request.plain_http = false,
            "family" => {
                self.request.family = Some(match rest {
                    "schema" => Family::Schema,
                    _ => Family::Migrations,
                })
            }
            "content" => self.request.content_digest = Some(rest.parse().unwrap()),
            "public" => {
                let allowed = rest.split(' ').filter(|net| !net.is_empty());
                self.request.network = Network::public_and(allowed.map(|net| net.parse().unwrap()));
            }
            "bound" => {
                let limit = rest.parse().unwrap();
                self.request.limits = self.request.limits.clone().max_files(Some(limit), "the test");
            }
            "budget" => self.limits.bytes = rest.parse().unwrap(),
            "idle" => self.limits.idle = Duration::from_millis(rest.parse().unwrap()),
            "total" => self.limits.total = Duration::from_millis(rest.parse().unwrap()),
            other => panic!("the table says {other:?}"),
        }
    }
}

/// Plays one block; what went otherwise than it says, if anything.
async fn play(case: &Case<'_>) -> Option<String> {
    let ((this, at), (other, beside)) = (listener(), listener());
    let setting = Setting::of(case, &at, &beside);
    let (tls, log) = (setting.tls.as_ref(), setting.script.log.clone());
    let (request, limits, secrets) = (setting.request.clone(), setting.limits, setting.secrets.clone());
    let outcome = setting.fill(case.outcome);
    let asked: Vec<String> = case.asked.iter().map(|line| setting.fill(line)).collect();
    let script = Arc::new(setting.script);
    let _servers = (
        Lying::start("self", this, tls, Arc::clone(&script)).await,
        Lying::start("other", other, tls, Arc::clone(&script)).await,
    );
    let attempt = Attempt::new(limits, Default::default());
    let resolved = tokio::time::timeout(Duration::from_secs(60), resolve_in(&request, &attempt)).await;
    let found = match resolved.unwrap_or_else(|_| panic!("{}: it goes on for ever", case.name)) {
        Ok((_, files)) => {
            let files = files
                .iter()
                .map(|(path, bytes)| format!(" {path}={}", String::from_utf8_lossy(bytes)));
            format!("ok{}", files.collect::<String>())
        }
        Err(error) => {
            let shown = format!("{:?} {} {error}", error.class(), error.code());
            let debug = format!("{error:?}");
            for secret in secrets.iter().map(String::as_str).chain(["hunter2"]) {
                assert!(
                    !shown.contains(secret) && !debug.contains(secret),
                    "{}: {shown}",
                    case.name
                );
            }
            shown
        }
    };
    let came = log.lines();
    let as_asked = match asked.as_slice() {
        [] => true,
        [one] if one == "nothing" => came.is_empty(),
        all => came == all,
    };
    let right = found.starts_with(&outcome) && as_asked;
    (!right).then(|| {
        let came = came.join("\n  ");
        format!(
            "{}\n wanted: {outcome}\n found:  {found}\n asked:\n  {came}\n",
            case.name
        )
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_script_of_the_table_ends_as_the_table_says() {
    let only = std::env::var("PTAH_ONLY_CASE").ok();
    let cases = cases();
    assert!(cases.len() > 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        if only.as_ref().is_none_or(|only| case.name.contains(only.as_str())) {
            wrong.extend(play(&case).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
