//! The serving certificate is replaced while people approve: nobody is turned away.
//!
//! No operation runs meanwhile: between announcement and replacement the test lets a moment pass and not the day in which
//! every operation that knew only the old authority has ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ptah_cluster_tests::api::{Ask, Who, ask, collection};
use ptah_cluster_tests::{World, shared};
use serde_json::{Value, json};
use xtask::stage::{NAMESPACE, RELEASE};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

fn serving() -> Value {
    let name = format!("{RELEASE}-serving");
    shared().cluster.get(NAMESPACE, "secret", &name).unwrap().unwrap()
}

fn text(secret: &Value, key: &str) -> String {
    let bytes = BASE64_STANDARD
        .decode(secret["data"][key].as_str().unwrap_or_default())
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Turns a clock of the Secret: the leader takes the instant from there.
fn set(key: &str, hours: i64) {
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours);
    let patch = json!({"stringData": {key: at.to_string()}}).to_string();
    let name = format!("secret/{RELEASE}-serving");
    shared()
        .cluster
        .ask(&["patch", "-n", NAMESPACE, &name, "--type=merge", "-p", &patch])
        .unwrap();
}

/// The webhook's trust, as the API server has it.
fn trust() -> String {
    let name = format!("{RELEASE}-approvals");
    let found = shared()
        .cluster
        .get("", "mutatingwebhookconfiguration", &name)
        .unwrap()
        .unwrap();
    let bundle = found["webhooks"][0]["clientConfig"]["caBundle"]
        .as_str()
        .unwrap()
        .to_owned();
    String::from_utf8(BASE64_STANDARD.decode(bundle).unwrap()).unwrap()
}

fn wait(what: &str, met: impl Fn() -> bool) {
    shared()
        .cluster
        .wait(what, ptah_cluster_tests::PATIENCE, || Ok(met().then_some(())))
        .unwrap();
}

#[test]
fn a_certificate_is_announced_and_replaced_under_load_and_no_request_is_refused() {
    let _alone = super::alone();
    let world = World::new("rotation").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(&json!({})).unwrap();
    let waiting = world.until_phase("AwaitingApproval").unwrap();
    let approval = world.approval("load", &waiting);
    let approvals = collection(&world.namespace(), "ptahschemaapprovals");
    let before = serving();
    let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let load = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // Admission runs in full; nothing is stored.
                let admitted = ask(&Who::Administrator, &approvals, Ask::Create(&approval), true);
                admitted.unwrap().unwrap();
                asked.fetch_add(1, Ordering::Relaxed);
            }
        });
        let rotated = thread::Builder::new().spawn_scoped(scope, || {
            // Less than a third of its life is left: the next one is announced, and trusted, before it is served.
            set("not-after", 24 * 20);
            wait("the next certificate to be announced", || {
                !text(&serving(), "next.crt").is_empty()
            });
            let next = text(&serving(), "next.crt");
            wait("both authorities to be trusted", || {
                trust().matches("BEGIN CERTIFICATE").count() == 2
            });
            assert_eq!(
                text(&serving(), "tls.crt"),
                text(&before, "tls.crt"),
                "it is not served yet"
            );
            // It was announced longer ago than any operation runs.
            set("next-announced-at", -26);
            wait("the next certificate to be served", || {
                text(&serving(), "tls.crt") == next
            });
            wait("the old authority to be trusted still", || {
                trust().matches("BEGIN CERTIFICATE").count() == 2
                    && trust().contains(text(&before, "ca.crt").trim())
            });
            let served = asked.load(Ordering::Relaxed);
            wait("requests after the change", || {
                asked.load(Ordering::Relaxed) > served + 5
            });
        });
        let rotated = rotated.unwrap().join();
        stop.store(true, Ordering::Relaxed);
        let load = load.join();
        rotated.unwrap();
        load.unwrap();
    });
    // The receiver serves it too: a run delivers what came of it.
    world.approve("real").unwrap();
    world.until_phase("InSync").unwrap();
}
