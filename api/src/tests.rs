//! What the CRDs promise, without an API server: sizes, rules, columns.

use serde_json::json;

use crate::*;

#[path = "../examples/crds.rs"]
#[allow(dead_code)] // Its `main` is the example's.
mod generator;

fn schema(spec: serde_json::Value) -> PtahSchema {
    serde_json::from_value(json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
        "metadata": {"name": "application", "namespace": "ns", "generation": 1}, "spec": spec,
    }))
    .unwrap()
}

fn minimal() -> serde_json::Value {
    json!({
        "target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "db", "key": "url"}},
        "desired": {"configMap": {"name": "sql"}},
    })
}

#[test]
fn each_crd_is_under_256_kib() {
    for crd in crds() {
        let size = serde_json::to_vec(&crd).unwrap().len();
        assert!(size < 256 * 1024, "{:?}: {size}", crd.metadata.name);
    }
}

#[test]
fn a_manifest_read_back_is_the_manifest_that_was_applied() {
    let object = schema(minimal());
    assert_eq!(serde_json::to_value(&object.spec).unwrap(), minimal());
    for crd in crds() {
        let text = serde_json::to_value(&crd).unwrap();
        let spec = &text["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        assert!(
            !spec.to_string().contains("\"default\":"),
            "{:?}",
            crd.metadata.name
        );
    }
}

#[test]
fn rules_of_the_schema_refuse_what_the_table_says() {
    let table = include_str!("../testdata/schema-rules.yaml");
    for case in serde_yaml_ng::Deserializer::from_str(table) {
        let case: serde_json::Value = serde::Deserialize::deserialize(case).unwrap();
        let mut spec = minimal();
        merge(&mut spec, &case["spec"]);
        let verdict = schema(spec).validate_cel();
        match case["refused"].as_str() {
            None => assert!(verdict.is_ok(), "{case}: {verdict:?}"),
            Some(part) => {
                let text = format!("{:?}", verdict.expect_err(&case.to_string()));
                assert!(text.contains(part), "{case}: {text}");
            }
        }
    }
}

#[test]
fn the_chart_s_crds_are_what_the_types_make() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../charts/ptah-operator/templates/crds");
    let mut made: Vec<String> = Vec::new();
    for (name, text) in generator::files().unwrap() {
        let stored = std::fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(
            stored == text,
            "{name} is not what the types make; run: cargo xtask crds"
        );
        made.push(name);
    }
    let stored = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let orphans: Vec<String> = stored.filter(|name| !made.contains(name)).collect();
    assert!(orphans.is_empty(), "made by nothing: {orphans:?}");
}

#[test]
fn a_plan_and_an_approval_cannot_be_changed() {
    let approval = |fingerprint: &str| -> PtahSchemaApproval {
        serde_json::from_value(json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaApproval", "metadata": {"name": "a"},
            "spec": {"schemaRef": {"name": "s", "uid": "1"}, "planRef": {"name": "p", "uid": "2"},
                "planFingerprint": fingerprint, "approver": {"username": "u"},
                "approvedAt": "2026-01-01T00:00:00Z", "mutationRequestUID": "m"},
        }))
        .unwrap()
    };
    let (one, two) = (approval("sha256:1"), approval("sha256:2"));
    assert!(one.validate_cel_update(&one).is_ok());
    assert!(one.validate_cel_update(&two).is_err());
}

fn merge(into: &mut serde_json::Value, from: &serde_json::Value) {
    match (into, from) {
        (serde_json::Value::Object(into), serde_json::Value::Object(from)) => {
            for (key, value) in from {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge(into.entry(key).or_insert(serde_json::Value::Null), value);
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}

#[test]
fn promise_p009_a_client_certificate_for_a_registry_is_refused_with_its_reason() {
    let mut spec = minimal();
    spec["desired"] = json!({"ociRef": "oci://registry.example/app:v1",
        "verificationPolicyFrom": {"name": "policy", "key": "policy.yaml"},
        "transport": {"clientCertificateFrom": {"name": "certificate"}}});
    let refused = format!("{:?}", schema(spec).validate_cel().unwrap_err());
    assert!(
        refused.contains(
            "clientCertificateFrom is not supported: a registry is asked with a password or a token"
        ),
        "{refused}"
    );
}
