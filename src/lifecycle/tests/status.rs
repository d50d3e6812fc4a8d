//! Whole resources as the lifecycle writes them, for those who read them from outside: `tests/status/fixtures`.
//!
//! `PTAH_UPDATE=1` writes them anew; without it they are compared, so that they are never those of another version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kube::CustomResourceExt as _;
use ptah_api::conditions::{MAX_MESSAGE_BYTES, reasons, types};
use ptah_api::{Phase, PtahSchema};
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{ApplyReport, Operation, Step as OperationStep};
use serde_json::{Value, json};

use super::super::evidence::{Claimant, SourceEvidence};
use super::super::step::{Effect, Notice, Requeue};
use super::world::World;
use super::{signatures, sources};

/// A world, and what was told about it as Events.
struct Told {
    world: World,
    notices: Vec<Notice>,
}

impl Told {
    fn new(spec: Value) -> Self {
        let mut world = World::new(spec);
        // What the API server fills in at creation, and a reader sees until the first pass.
        world.schema.status = Some(serde_json::from_value(default_status()).unwrap());
        Self {
            world,
            notices: Vec::new(),
        }
    }

    fn pass(&mut self) -> Requeue {
        let step = self.world.pass();
        self.notices
            .extend(step.after.into_iter().filter_map(|effect| match effect {
                Effect::Emit(notice) => Some(notice),
                _ => None,
            }));
        step.requeue
    }

    fn settle(&mut self) {
        for _ in 0..200 {
            let before = self.world.schema.clone();
            let requeue = self.pass();
            let running = self.world.jobs.values().any(|job| !job.finished);
            self.world.run_jobs();
            if before == self.world.schema && requeue != Requeue::Now && !running {
                return;
            }
        }
        panic!("it does not come to rest");
    }

    fn until(&mut self, phase: Phase) {
        for _ in 0..200 {
            if self.world.phase() == phase {
                return;
            }
            self.pass();
            if self.world.phase() == phase {
                return;
            }
            self.world.run_jobs();
        }
        panic!("{phase:?} is not reached");
    }

    /// The object as the API server holds it.
    fn object(&self) -> Value {
        let mut object = serde_json::to_value(&self.world.schema).unwrap();
        object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        object
    }
}

/// The CRD's default of the whole status.
fn default_status() -> Value {
    let crd = serde_json::to_value(PtahSchema::crd()).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["default"].clone()
}

fn failure(code: &str, class: FailureClass, message: &str) -> Failure {
    Failure {
        message: message.into(),
        ..super::runner::failure(code, class)
    }
}

fn refused(reason: &'static str) -> SourceEvidence {
    SourceEvidence::Refused {
        failure: failure(
            "config_map_missing",
            FailureClass::Input,
            "there is no ConfigMap \"sql\" in namespace ns",
        ),
        reason,
    }
}

/// One resource each: where a life can stand when somebody looks.
fn all() -> BTreeMap<&'static str, Told> {
    let mut all = BTreeMap::new();
    let mut add = |name: &'static str, spec: Value, script: &dyn Fn(&mut Told)| {
        let mut told = Told::new(spec);
        script(&mut told);
        assert!(all.insert(name, told).is_none(), "{name} is there twice");
    };
    let always = || json!({"policy": {"apply": "Always"}});
    let edit = |told: &mut Told| told.world.edit_spec(json!({"interval": "20m"}));

    // From creation on.
    add("created", json!({}), &|_| {});
    add("first-reading", json!({}), &|told| told.until(Phase::Observing));
    add("first-planning", json!({}), &|told| told.until(Phase::Planning));
    add("awaiting-approval", json!({}), &|told| told.settle());
    add("ready-to-apply", json!({}), &|told| {
        told.settle();
        told.world.approve();
        told.until(Phase::ReadyToApply);
    });
    add("applying", json!({}), &|told| {
        told.settle();
        told.world.approve();
        told.until(Phase::Applying);
    });
    add("proving", always(), &|told| {
        told.until(Phase::VerifyingConvergence)
    });
    add("in-sync", always(), &|told| told.settle());

    // An edit, before and after the manager saw it.
    add("in-sync-edited", always(), &|told| {
        told.settle();
        edit(told);
    });
    add("in-sync-edited-reading", always(), &|told| {
        told.settle();
        edit(told);
        told.until(Phase::Observing);
    });
    add("in-sync-source-edited-reading", always(), &|told| {
        told.settle();
        told.world.edit_source("two");
        told.until(Phase::Observing);
    });
    add("in-sync-refreshing", always(), &|told| {
        told.settle();
        told.world.advance(601);
        told.until(Phase::Observing);
    });
    add("awaiting-approval-edited", json!({}), &|told| {
        told.settle();
        edit(told);
    });
    add("failed-edited", json!({}), &|told| {
        told.world.source = refused("ResolveFailed");
        told.settle();
        edit(told);
    });
    add("suspended-edited", json!({"suspend": true}), &|told| {
        told.settle();
        edit(told);
    });

    // Waiting for a person.
    add("awaiting-approval-of-privileges", always(), &|told| {
        told.world.privileged = true;
        told.settle();
    });
    add("approval-withdrawn", json!({}), &|told| {
        told.settle();
        told.world.approve();
        told.until(Phase::Applying);
        told.world.approvals.clear();
        told.pass();
    });
    add("never", json!({"policy": {"apply": "Never"}}), &|told| {
        told.settle()
    });
    add("suspended", json!({"suspend": true}), &|told| told.settle());

    // Blocked: only an edit helps.
    add("blocked-destructive", always(), &|told| {
        told.world.destructive = true;
        told.settle();
    });
    add(
        "blocked-protected",
        json!({"policy": {"protectedTables": ["t"]}}),
        &|told| {
            let why = failure(
                "protected_table",
                FailureClass::Refused,
                "the plan touches a protected table: public.t",
            );
            told.world.fail_next = Some((Operation::Plan, why));
            told.settle();
        },
    );
    add("blocked-realm", json!({}), &|told| {
        told.world.claimants = vec![Claimant {
            name: "PtahSchema ns/other".into(),
            shared: false,
        }];
        told.settle();
    });
    add(
        "blocked-realm-ref",
        json!({"target": {"engine": "PostgreSQL", "realmRef": {"name": "r"}}}),
        &|told| {
            told.settle();
        },
    );
    add(
        "blocked-engine",
        json!({"target": {"engine": "SQLite", "coordinationKey": "k"}}),
        &|told| {
            told.settle();
        },
    );
    add(
        "failed-configuration",
        json!({"target": {"engine": "PostgreSQL"}}),
        &|told| {
            told.settle();
        },
    );
    add("blocked-version", json!({}), &|told| {
        let why = failure(
            "unsupported_engine",
            FailureClass::Refused,
            "PostgreSQL 13 is not supported; 14 to 18 are",
        );
        told.world.fail_next = Some((Operation::Observe, why));
        told.settle();
    });

    // Failed: tried again, with and without somebody who has to do something.
    add("failed-transient", json!({}), &|told| {
        let why = failure(
            "connection_refused",
            FailureClass::Transient,
            "nothing listens at the target's address",
        );
        told.world.fail_next = Some((Operation::Observe, why));
        told.settle();
    });
    add("failed-input", json!({}), &|told| {
        let why = failure(
            "desired_syntax",
            FailureClass::Input,
            "a.sql:2 does not parse: missing comma",
        );
        told.world.fail_next = Some((Operation::Observe, why));
        told.settle();
    });
    add("failed-plan", json!({}), &|told| {
        let why = failure(
            "unproven_plan",
            FailureClass::Refused,
            "the plan's result differs at table public.t",
        );
        told.world.fail_next = Some((Operation::Plan, why));
        told.settle();
    });
    add("failed-source", json!({}), &|told| {
        told.world.source = refused("ResolveFailed");
        told.settle();
    });
    add("failed-source-refresh", always(), &|told| {
        told.settle();
        told.world.source = refused("ResolveFailed");
        told.world.advance(601);
        told.settle();
    });
    add("failed-run", json!({}), &|told| {
        told.settle();
        told.world.approve();
        told.world.apply_report = Some(ApplyReport::NothingCommitted {
            failure: failure(
                "statement_failed",
                FailureClass::Attention,
                "statement 1 of 1 failed (SQLSTATE 23505)",
            ),
        });
        told.settle();
    });

    // A run whose outcome nobody knows, and its proof.
    let uncertain = |told: &mut Told| {
        told.world.apply_report = Some(ApplyReport::Uncertain {
            failure: failure(
                "outcome_unknown",
                FailureClass::Attention,
                "the connection broke while the server was committing",
            ),
            statements: 0,
        });
        told.until(Phase::VerifyingConvergence);
    };
    add("proving-unknown", always(), &|told| uncertain(told));
    add("proving-fails", always(), &|told| {
        told.until(Phase::VerifyingConvergence);
        let why = failure(
            "connection_refused",
            FailureClass::Transient,
            "nothing listens at the target's address",
        );
        told.world.fail_next = Some((Operation::Plan, why));
        for _ in 0..3 {
            told.pass();
            told.world.run_jobs();
        }
    });
    add("proving-fails-for-good", always(), &|told| {
        told.until(Phase::VerifyingConvergence);
        let why = failure(
            "query_failed",
            FailureClass::Attention,
            "a reading of the catalog failed (SQLSTATE XX000)",
        );
        told.world.fail_next = Some((Operation::Plan, why));
        for _ in 0..3 {
            told.pass();
            told.world.run_jobs();
        }
    });
    add("in-sync-after-unknown", always(), &|told| {
        uncertain(told);
        told.world.database = Digest::of(b"one");
        told.settle();
    });
    add("deleted-while-proving", always(), &|told| {
        told.until(Phase::VerifyingConvergence);
        told.world.delete();
    });

    // Sources that the reading's own Pod resolves.
    let git = || {
        let mut spec = always();
        spec["desired"] = sources::git("https://git.example/app.git", "main", "db");
        spec
    };
    add("git-first-resolving", git(), &|told| {
        told.world.push("one");
        told.until(Phase::Resolving);
    });
    add("git-in-sync", git(), &|told| {
        told.world.push("one");
        told.settle();
    });
    add("git-refreshing", git(), &|told| {
        told.world.push("one");
        told.settle();
        told.world.advance(601);
        told.until(Phase::Resolving);
    });
    add("failed-pull", git(), &|told| {
        told.world.push("one");
        let why = failure(
            "ref_not_found",
            FailureClass::Input,
            "there is no branch or tag \"main\" in https://git.example/app.git",
        );
        told.world.refuse_next = Some((OperationStep::Resolve, why));
        told.settle();
    });
    add("failed-source-policy", git(), &|told| {
        told.world.source = SourceEvidence::Refused {
            failure: failure(
                "source_policy_refused",
                FailureClass::Refused,
                "spec.desired.sourcePolicyFrom: git.hosts of the source policy does not list \"git.example\"",
            ),
            reason: "SourcePolicyRefused",
        };
        told.settle();
    });
    add("git-signed-in-sync", always(), &|told| {
        told.world = signatures::signed_world(always());
        told.settle();
    });
    add("failed-commit-signature", always(), &|told| {
        told.world = signatures::signed_world(always());
        let why = failure(
            "commit_signature_refused",
            FailureClass::Refused,
            "verification: commit_signature: the commit is not signed",
        );
        told.world.refuse_next = Some((OperationStep::Resolve, why));
        told.settle();
    });
    add("oci-in-sync", always(), &|told| {
        told.world = sources::oci_world(always());
        told.settle();
    });
    add("blocked-artifact", always(), &|told| {
        told.world = sources::oci_world(always());
        let why = failure(
            "policy_refused",
            FailureClass::Refused,
            "require_annotations: the annotation org.opencontainers.image.source is missing",
        );
        told.world.refuse_next = Some((OperationStep::Verify, why));
        told.settle();
    });
    all
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Compares a folder with what it should hold, or writes it.
fn held(folder: &Path, files: &BTreeMap<String, String>) {
    if std::env::var_os("PTAH_UPDATE").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        for entry in std::fs::read_dir(folder).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        found.insert(name, std::fs::read_to_string(path).unwrap());
    }
    let stale: Vec<&String> = files
        .keys()
        .chain(found.keys())
        .filter(|name| files.get(*name) != found.get(*name))
        .collect();
    assert!(
        stale.is_empty(),
        "stale in {}: {stale:?}; PTAH_UPDATE=1 writes them anew",
        folder.display()
    );
}

#[test]
fn the_fixtures_are_what_the_lifecycle_writes_now() {
    let (mut fixtures, mut argo) = (BTreeMap::new(), BTreeMap::new());
    for (name, told) in all() {
        let object = told.object();
        fixtures.insert(
            format!("{name}.json"),
            serde_json::to_string_pretty(&object).unwrap() + "\n",
        );
        argo.insert(format!("{name}.yaml"), serde_yaml_ng::to_string(&object).unwrap());
    }
    held(&root().join("tests/status/fixtures"), &fixtures);
    held(
        &root().join("integrations/argocd/operator.ptah.run/PtahSchema/testdata"),
        &argo,
    );
}

#[test]
fn every_phase_of_a_schema_has_a_fixture() {
    let phases: std::collections::BTreeSet<Phase> = all().values().map(|told| told.world.phase()).collect();
    // An artifact is verified by the Pod that resolved it, within the pass that reads its result.
    let passed_through = [Phase::Verifying];
    for phase in [
        Phase::Pending,
        Phase::Resolving,
        Phase::Observing,
        Phase::Planning,
        Phase::AwaitingApproval,
        Phase::ReadyToApply,
        Phase::Applying,
        Phase::VerifyingConvergence,
        Phase::InSync,
        Phase::Blocked,
        Phase::Failed,
        Phase::Suspended,
    ] {
        assert!(phases.contains(&phase), "{phase:?}");
    }
    assert!(passed_through.iter().all(|phase| !phases.contains(phase)));
}

/// `Kind reason | words that say what to do`, one a line. What is not in the table may not be said.
fn vocabulary() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root().join("tests/status/messages.txt")).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (pair, words) = line.split_once('|').unwrap_or((line, ""));
            let words = words.split('&').map(|word| word.trim().to_owned());
            (
                pair.trim().to_owned(),
                words.filter(|word| !word.is_empty()).collect(),
            )
        })
        .collect()
}

/// What is wrong with a message, if anything.
fn fault(pair: &str, message: &str, vocabulary: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let Some(words) = vocabulary.get(pair) else {
        return Some("is not in tests/status/messages.txt".to_owned());
    };
    let reason = pair.rsplit(' ').next().unwrap_or_default();
    let declared = include_str!("../../../api/src/conditions.rs");
    if !declared.contains(&format!("\"{reason}\"")) {
        return Some("has a reason that api/src/conditions.rs does not name".to_owned());
    }
    if message.trim().is_empty() || message.len() > MAX_MESSAGE_BYTES {
        return Some(format!("has a message of {} bytes", message.len()));
    }
    // The world's plans make one table; what plans say is for those who may read plans.
    let upper = message.to_uppercase();
    if let Some(sql) = ["CREATE TABLE", "ALTER TABLE", "DROP TABLE", "SELECT ", "INSERT "]
        .iter()
        .find(|sql| upper.contains(**sql))
    {
        return Some(format!("holds SQL ({sql})"));
    }
    words
        .iter()
        .find(|word| !message.contains(word.as_str()))
        .map(|word| format!("does not say {word:?}: {message}"))
}

#[test]
fn every_condition_and_every_event_says_what_is_and_what_to_do_with_no_sql_and_a_known_reason() {
    let vocabulary = vocabulary();
    let (mut faults, mut said) = (Vec::new(), std::collections::BTreeSet::new());
    for (name, told) in all() {
        let status = told.world.status();
        for condition in &status.conditions {
            let pair = format!("{} {}", condition.type_, condition.reason);
            if let Some(fault) = fault(&pair, &condition.message, &vocabulary) {
                faults.push(format!("{name}: {pair} {fault}"));
            }
            if condition.observed_generation.is_none() {
                faults.push(format!("{name}: {pair} has no observedGeneration"));
            }
            if condition.observed_generation > told.world.schema.metadata.generation {
                faults.push(format!("{name}: {pair} is ahead of the resource"));
            }
            said.insert(pair);
        }
        for notice in &told.notices {
            let pair = format!("Event {}", notice.reason);
            if let Some(fault) = fault(&pair, &notice.note, &vocabulary) {
                faults.push(format!("{name}: {pair} {fault}"));
            }
            said.insert(pair);
        }
    }
    let unsaid = vocabulary.keys().filter(|pair| !said.contains(*pair));
    faults.extend(unsaid.map(|pair| format!("{pair} is said by no fixture")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn e1_a_resource_that_nobody_looked_at_says_so_from_its_creation() {
    let created = all().remove("created").unwrap().object();
    assert_eq!(created["status"], json!({"observedGeneration": -1}));
}

#[test]
fn e2_after_an_edit_the_generation_is_ahead_until_reconciling_is_true_and_ready_is_not() {
    let all = all();
    let edited = &all["in-sync-edited"].world;
    assert_eq!(
        edited.condition(types::READY).0,
        "True",
        "nobody saw the edit yet"
    );
    assert_ne!(
        edited.status().observed_generation,
        edited.schema.metadata.generation
    );
    for name in ["in-sync-edited-reading", "in-sync-source-edited-reading"] {
        let world = &all[name].world;
        assert_eq!(world.condition(types::READY).0, "Unknown", "{name}");
        assert_eq!(world.condition(types::RECONCILING).0, "True", "{name}");
    }
}

#[test]
fn e4_every_pass_that_ends_somewhere_good_or_bad_answers_the_generation() {
    let resting = [
        Phase::AwaitingApproval,
        Phase::Blocked,
        Phase::Failed,
        Phase::InSync,
        Phase::Suspended,
    ];
    for (name, told) in all() {
        let world = told.world;
        if resting.contains(&world.phase()) && !name.ends_with("-edited") {
            assert_eq!(
                world.status().observed_generation,
                world.schema.metadata.generation,
                "{name}"
            );
        }
    }
}

#[test]
fn e5_ready_is_unknown_while_a_state_is_worked_on_for_the_first_time_and_false_only_for_a_reason() {
    let working = [
        Phase::Observing,
        Phase::Planning,
        Phase::Applying,
        Phase::VerifyingConvergence,
    ];
    for (name, told) in all() {
        let world = told.world;
        if working.contains(&world.phase()) && name != "in-sync-refreshing" {
            assert_eq!(world.condition(types::READY).0, "Unknown", "{name}");
        }
        let (status, reason) = world.condition(types::READY);
        if status == "False" {
            assert_ne!(reason, reasons::OPERATION_IN_PROGRESS, "{name}");
        }
    }
}
