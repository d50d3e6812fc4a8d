//! What the Ptah command line pushes is read as its own pull reads it, and what it would refuse is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ptah_contract::digest::Digest;
use ptah_resolver::oci::Family;
use ptah_sources_tests::oci::lying::{Log, Lying, Script, listener};
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::run;
use ptah_sources_tests::oci::store::{MANIFEST, Store};
use serde_json::Value;

use crate::support::{request, resolve};

fn lines(file: &str) -> Vec<Value> {
    let path = format!(
        "{}/../../resolver/testdata/oci/ptah/{file}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// The blobs of a line, its manifest under the tag `v1`.
fn store(line: &Value) -> Store {
    let mut store = Store::default();
    for (digest, blob) in line["blobs"].as_object().unwrap() {
        let bytes = match blob["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => STANDARD.decode(text(blob, "base64")).unwrap(),
        };
        if bytes.starts_with(b"{\"schemaVersion\"") {
            store.manifest("", MANIFEST, &bytes);
        }
        store.blobs.insert(digest.clone(), bytes);
    }
    let digest = text(line, "digest");
    let manifest = store.blobs[digest].clone();
    let media_type = line["mediaType"].as_str().unwrap_or(MANIFEST);
    store.manifest("v1", media_type, &manifest);
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_p019_p022_what_ptah_pushed_has_the_files_digests_and_types_that_were_pushed() {
    let registry = Registry::distribution(None, &Access::All);
    let cases = lines("pushed.jsonl");
    assert!(cases.len() > 30, "{}", cases.len());
    for case in cases {
        let (name, digest) = (text(&case, "case"), text(&case, "digest"));
        let folder = tempfile::tempdir().unwrap();
        store(&case).layout("v1", folder.path());
        let target = format!("{}/fx/{name}:v1", registry.authority);
        run(
            "oras",
            &["cp", "--from-oci-layout", "--to-plain-http", ".:v1", &target],
            folder.path(),
        );
        let told = run("crane", &["digest", "--insecure", &target], folder.path());
        assert_eq!(told.trim(), digest, "{name}");

        let (own, other) = match text(&case, "kind") {
            "schema" => (Family::Schema, Family::Migrations),
            _ => (Family::Migrations, Family::Schema),
        };
        let mut wanted = request(&target);
        wanted.family = Some(own);
        let (resolution, files) = resolve(&wanted)
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(resolution.revision, digest, "{name}");
        assert_eq!(
            resolution
                .artifact_digest
                .map(|digest| digest.to_string())
                .as_deref(),
            Some(digest)
        );
        assert_eq!(resolution.index_digest, None);
        let found: BTreeMap<String, (u64, String)> = files
            .iter()
            .map(|(path, bytes)| (path.clone(), (bytes.len() as u64, Digest::of(bytes).hex())))
            .collect();
        let pulled = case["pulled"].as_array().unwrap().iter();
        let pulled: BTreeMap<String, (u64, String)> = pulled
            .map(|file| {
                let about = (file[1].as_u64().unwrap(), file[2].as_str().unwrap().to_owned());
                (file[0].as_str().unwrap().to_owned(), about)
            })
            .collect();
        assert_eq!(found, pulled, "{name}");

        wanted.family = Some(other);
        let error = resolve(&wanted).await.unwrap_err();
        assert_eq!(error.code(), "artifact_type", "{name}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_broken_artifact_is_refused_or_read_as_the_table_says() {
    let table = std::fs::read_to_string(format!(
        "{}/../../resolver/testdata/oci/ptah/broken.txt",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap();
    let mut expected: BTreeMap<&str, &str> = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with(' '))
        .map(|line| line.split_once(": ").unwrap())
        .collect();
    let mut wrong = Vec::new();
    for case in lines("broken.jsonl") {
        let name = text(&case, "case");
        let wanted = expected.remove(name).unwrap_or("not in the table");
        let found = serve(store(&case)).await;
        if !found.starts_with(wanted) {
            wrong.push(format!(
                "{name}: {found}\n  # {}; wanted: {wanted}",
                text(&case, "what")
            ));
        }
    }
    let many = |count: usize| {
        let mut store = Store::default();
        let names: Vec<String> = (0..count).map(|n| format!("{n}.sql")).collect();
        store.files("v1", names.iter().map(|name| (name.as_str(), &b"A"[..])));
        store
    };
    let wanted = expected
        .remove("ten-thousand-and-one")
        .unwrap_or("not in the table");
    let found = serve(many(10_001)).await;
    if !found.starts_with(wanted) {
        wrong.push(format!("ten-thousand-and-one: {found}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no such cases: {expected:?}");
}

async fn serve(store: Store) -> String {
    let (port, authority) = listener();
    let script = Script {
        rules: Vec::new(),
        store,
        names: Vec::new(),
        log: Log::default(),
    };
    let _server = Lying::start("self", port, None, Arc::new(script)).await;
    match resolve(&request(&format!("oci://{authority}/app:v1"))).await {
        Ok((_, files)) => format!("ok {}", files.into_keys().collect::<Vec<_>>().join(" ")),
        Err(error) => format!("{:?} {} {error}", error.class(), error.code()).replace(&authority, "REGISTRY"),
    }
}
