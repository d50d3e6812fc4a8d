//! kstatus, Argo CD and `kubectl get`, by the real libraries, over what the lifecycle really writes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use kube::CustomResourceExt as _;
use ptah_api::PtahSchema;
use ptah_status_tests::{Verdict, argo, fixtures, folder, read};
use serde_json::{Value, json};

/// The columns of `kubectl get` that read the status, by name.
fn columns() -> Value {
    let crd = serde_json::to_value(PtahSchema::crd()).unwrap();
    let all = crd["spec"]["versions"][0]["additionalPrinterColumns"]
        .as_array()
        .unwrap()
        .clone();
    let plain = all
        .iter()
        .filter(|column| column["type"] == "string" && column["priority"].as_i64().unwrap_or(0) == 0);
    plain
        .map(|column| {
            (
                column["name"].as_str().unwrap().to_owned(),
                column["jsonPath"].clone(),
            )
        })
        .collect()
}

fn script() -> String {
    std::fs::read_to_string(argo().join("health.lua")).unwrap()
}

fn verdicts() -> &'static BTreeMap<String, Verdict> {
    static VERDICTS: OnceLock<BTreeMap<String, Verdict>> = OnceLock::new();
    VERDICTS.get_or_init(|| read(&script(), &columns(), &fixtures().unwrap()).unwrap())
}

/// The table, by fixture: kstatus, Argo CD, then the columns in the heading's order.
fn expected() -> (Vec<String>, BTreeMap<String, Vec<String>>) {
    let text = std::fs::read_to_string(folder().join("expected.txt")).unwrap();
    let cells = |line: &str| -> Vec<String> { line.split('|').map(|cell| cell.trim().to_owned()).collect() };
    let heading = cells(text.lines().next().unwrap());
    let rows = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = rows.map(|line| {
        let mut row = cells(line);
        let name = row.remove(0);
        (name, row)
    });
    (heading[1..].to_vec(), rows.collect())
}

#[test]
fn e1_e2_e5_e7_f11_each_reader_says_of_each_resource_what_the_table_says() {
    let (heading, expected) = expected();
    assert_eq!(heading[..2], ["kstatus", "Argo CD"]);
    let found: BTreeMap<String, Vec<String>> = verdicts()
        .iter()
        .map(|(name, verdict)| {
            let mut row = vec![verdict.kstatus.clone(), verdict.health.status.clone()];
            row.extend(heading[2..].iter().map(|column| verdict.columns[column].clone()));
            (name.clone(), row)
        })
        .collect();
    let names = expected.keys().chain(found.keys());
    let wrong: Vec<String> = names
        .filter(|name| expected.get(*name) != found.get(*name))
        .map(|name| {
            format!(
                "{name}: {:?}, and the table says {:?}",
                found.get(name),
                expected.get(name)
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_column_is_one_of_the_tables() {
    let (heading, _) = expected();
    let mut named: Vec<&String> = heading[2..].iter().collect();
    named.sort();
    assert_eq!(columns().as_object().unwrap().keys().collect::<Vec<_>>(), named);
}

#[test]
fn e7_the_health_scripts_own_test_file_says_what_the_script_says_with_its_message() {
    let cases: Vec<Value> = verdicts()
        .iter()
        .map(|(name, verdict)| {
            json!({
                "healthStatus": {"status": verdict.health.status, "message": verdict.health.message},
                "inputPath": format!("testdata/{name}.yaml"),
            })
        })
        .collect();
    let text = serde_yaml_ng::to_string(&json!({"tests": cases})).unwrap();
    let file = argo().join("health_test.yaml");
    if std::env::var_os("PTAH_UPDATE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        text,
        "PTAH_UPDATE=1 writes it anew"
    );
}

#[test]
fn f11_e8_no_wait_for_a_person_is_degraded_and_every_message_of_argo_cd_says_something() {
    for (name, verdict) in verdicts() {
        assert!(!verdict.health.message.is_empty(), "{name}");
        let object = &fixtures().unwrap()[name];
        let ready = object["status"]["conditions"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|condition| condition["type"] == "Ready");
        let reason = ready
            .and_then(|ready| ready["reason"].as_str())
            .unwrap_or_default();
        if ["AwaitingApproval", "Suspended", "ApplyDisabled"].contains(&reason) {
            assert_ne!(verdict.health.status, "Degraded", "{name}");
        }
    }
}

#[test]
fn e4_f11_whatever_was_said_of_an_older_generation_is_progress_to_every_reader() {
    let mut edited = fixtures().unwrap();
    edited.retain(|_, object| object["metadata"]["deletionTimestamp"].is_null());
    for object in edited.values_mut() {
        let generation = object["metadata"]["generation"].as_i64().unwrap();
        object["metadata"]["generation"] = json!(generation + 1);
    }
    for (name, verdict) in read(&script(), &columns(), &edited).unwrap() {
        assert_eq!(
            (verdict.kstatus.as_str(), verdict.health.status.as_str()),
            ("InProgress", "Progressing"),
            "{name}"
        );
    }
}
