//! Without the manager, without its webhook, with another configuration or certificate of it. Nothing else runs
//! meanwhile: each test takes away what all need.

// A failed step of a test is a failed test.
#![allow(clippy::unwrap_used)]

mod looks;
mod rotation;

use std::sync::{Mutex, MutexGuard, PoisonError};

use ptah_cluster_tests::api::{Ask, Who, ask, collection};
use ptah_cluster_tests::{PATIENCE, World, condition, shared};
use serde_json::{Value, json};
use xtask::stage::NAMESPACE;

const WEBHOOK: &str = "ptah-operator-approvals";

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn waiting(name: &str) -> World {
    let world = World::new(name).unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY);"}))
        .unwrap();
    world.schema(&json!({})).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    world
}

/// The manager is away until this is dropped.
struct WithoutManager;

impl WithoutManager {
    fn new() -> Self {
        scale(0).unwrap();
        let gone = Self;
        shared()
            .cluster
            .wait("the manager to go", PATIENCE, || {
                let pods = shared()
                    .cluster
                    .ask(&["get", "pods", "-n", NAMESPACE, "-o", "name"])?;
                Ok(pods.is_empty().then_some(()))
            })
            .unwrap();
        gone
    }
}

impl Drop for WithoutManager {
    fn drop(&mut self) {
        scale(1).unwrap();
        let wait = [
            "rollout",
            "status",
            "deployment/ptah-operator",
            "-n",
            NAMESPACE,
            "--timeout=180s",
        ];
        shared().cluster.ask(&wait).unwrap();
    }
}

fn scale(replicas: u32) -> anyhow::Result<String> {
    let replicas = format!("--replicas={replicas}");
    shared()
        .cluster
        .ask(&["scale", "deployment/ptah-operator", "-n", NAMESPACE, &replicas])
}

#[test]
fn while_the_manager_is_away_nobody_can_approve_and_everything_else_can_be_edited() {
    let _alone = alone();
    let world = waiting("away");
    {
        let _away = WithoutManager::new();
        let refused = world.approve("a").unwrap_err().to_string();
        assert!(
            refused.contains("failed calling webhook \"approvals.operator.ptah.run\""),
            "{refused}"
        );
        assert_eq!(world.all("ptahschemaapproval").unwrap(), Vec::<Value>::new());
        world.schema(&json!({"interval": "11m"})).unwrap();
        world.schema_named("new", &json!({"suspend": true})).unwrap();
        // A resource that nobody answered yet does not look like one that is done.
        let new = world.object("ptahschema", "new").unwrap();
        assert_eq!(new["status"], json!({"observedGeneration": -1}));
        world.delete("ptahschema", "new").unwrap();
    }
    world.until_phase("AwaitingApproval").unwrap();
    world.approve("a").unwrap();
    world.until_phase("InSync").unwrap();
}

/// The webhook is not asked until this is dropped.
struct WithoutWebhook(Value);

impl WithoutWebhook {
    fn new() -> Self {
        let cluster = &shared().cluster;
        let webhook = cluster
            .get("", "mutatingwebhookconfiguration", WEBHOOK)
            .unwrap()
            .unwrap();
        cluster
            .ask(&["delete", "mutatingwebhookconfiguration", WEBHOOK])
            .unwrap();
        Self(ptah_cluster_tests::bare(&webhook))
    }
}

impl Drop for WithoutWebhook {
    fn drop(&mut self) {
        shared().cluster.apply(&self.0.to_string()).unwrap();
    }
}

#[test]
fn without_the_webhook_an_approval_in_another_name_is_refused_and_one_in_the_own_name_counts_for_that_person()
{
    let _alone = alone();
    let world = waiting("bypassed");
    let schema = world.read().unwrap();
    let plan = &schema["status"]["plan"];
    let stamped = |name: &str, approver: Value| {
        world.put(json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval", "metadata": {"name": name},
            "spec": {"schemaRef": {"name": "app", "uid": schema["metadata"]["uid"]},
                "planRef": {"name": plan["name"], "uid": plan["uid"]}, "planFingerprint": plan["fingerprint"],
                "approver": approver, "approvedAt": "2026-01-01T00:00:00Z", "mutationRequestUID": "none"}}))
    };
    {
        let _bypassed = WithoutWebhook::new();
        // The API server asks the webhook for a moment after its configuration is gone.
        let unstamped = json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval", "metadata": {"name": "unstamped"},
            "spec": {"schemaRef": {"name": "app", "uid": schema["metadata"]["uid"]},
                "planRef": {"name": plan["name"], "uid": plan["uid"]}, "planFingerprint": plan["fingerprint"]}});
        let there = collection(&world.namespace(), "ptahschemaapprovals");
        shared()
            .cluster
            .wait("the webhook not to be asked any more", PATIENCE, || {
                let answer = ask(&Who::Administrator, &there, Ask::Create(&unstamped), true)?;
                Ok(answer
                    .err()
                    .filter(|no| no.message.contains("spec.approver: Required")))
            })
            .unwrap();
        for (approver, words) in [
            (
                json!({"username": "mallory"}),
                "an approval is made in the name of whoever asks for it",
            ),
            (
                json!({"username": ""}),
                "an approval is made in the name of whoever asks for it",
            ),
            (
                json!({"username": "admin", "uid": "1"}),
                "spec.approver.uid is not the requester's",
            ),
            (
                json!({"username": "admin", "groups": ["auditors"]}),
                "spec.approver.groups names a group that the requester is not in",
            ),
        ] {
            let refused = stamped("forged", approver).unwrap_err().to_string();
            assert!(
                refused.contains(words) && refused.contains("ptah-operator-approver"),
                "{refused}"
            );
        }
        assert_eq!(world.all("ptahschemaapproval").unwrap(), Vec::<Value>::new());
        assert_eq!(world.tables().unwrap(), Vec::<String>::new());
        stamped("own", json!({"username": "admin"})).unwrap();
    }
    let done = world.until_phase("InSync").unwrap();
    assert_eq!(condition(&done, "Ready"), "True/InSync");
    let own = world.object("ptahschemaapproval", "own").unwrap();
    assert_eq!(own["spec"]["approver"], json!({"username": "admin"}));
    // The webhook is back: it stamps again.
    let refused = stamped("late", json!({"username": "admin"}))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("does not wait for an approval"), "{refused}");
}
