//! What an installation puts on a cluster, and what it leaves alone.

use ptah_cluster_tests::shared;
use serde_json::{Value, json};

fn list(kind: &str) -> Vec<Value> {
    let text = shared().cluster.ask(&["get", kind, "-o", "json"]).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    list["items"].as_array().unwrap().clone()
}

fn ours(object: &Value) -> bool {
    object["metadata"]["name"]
        .as_str()
        .unwrap()
        .starts_with("ptah-operator")
}

#[test]
fn a_crd_is_small_enough_for_an_annotation_and_defaults_nothing_under_spec() {
    let crds: Vec<Value> = list("crd")
        .into_iter()
        .filter(|crd| crd["spec"]["group"] == "operator.ptah.run")
        .collect();
    assert_eq!(crds.len(), 4);
    for crd in crds {
        let name = &crd["metadata"]["name"];
        let size = crd.to_string().len();
        assert!(size < 256 * 1024, "{name} has {size} bytes");
        let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        assert!(
            spec.is_object() && defaults(spec).is_empty(),
            "{name}: {:?}",
            defaults(spec)
        );
    }
}

/// The values of every `default` below.
fn defaults(schema: &Value) -> Vec<&Value> {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| {
                let own =
                    (key == "default" && !value.get("type").is_some_and(Value::is_string)).then_some(value);
                own.into_iter().chain(defaults(value)).collect::<Vec<_>>()
            })
            .collect(),
        Value::Array(list) => list.iter().flat_map(defaults).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_webhook_matches_our_kind_alone_and_no_policy_holds_up_anybody_but_the_manager() {
    let webhooks: Vec<Value> = list("mutatingwebhookconfiguration")
        .into_iter()
        .filter(ours)
        .collect();
    assert_eq!(
        list("validatingwebhookconfiguration")
            .into_iter()
            .filter(ours)
            .count(),
        0
    );
    let rules: Vec<&Value> = webhooks
        .iter()
        .flat_map(|configuration| configuration["webhooks"].as_array().unwrap())
        .flat_map(|webhook| {
            assert_eq!(webhook["failurePolicy"], "Fail");
            webhook["rules"].as_array().unwrap()
        })
        .collect();
    assert_eq!(
        rules,
        [
            &json!({"apiGroups": ["operator.ptah.run"], "apiVersions": ["v1alpha1"], "operations": ["CREATE"],
            "resources": ["ptahschemaapprovals"], "scope": "Namespaced"})
        ]
    );
    let manager = format!("request.userInfo.username == \"{}\"", shared().manager);
    let policies: Vec<Value> = list("validatingadmissionpolicy")
        .into_iter()
        .filter(ours)
        .collect();
    assert_eq!(policies.len(), 7);
    for policy in policies {
        let name = &policy["metadata"]["name"];
        assert_eq!(policy["spec"]["failurePolicy"], "Fail", "{name}");
        let foreign = policy["spec"]["matchConstraints"]["resourceRules"]
            .as_array()
            .unwrap()
            .iter()
            .any(|rule| rule["apiGroups"] != json!(["operator.ptah.run"]));
        if foreign {
            let conditions: Vec<&Value> = policy["spec"]["matchConditions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|condition| &condition["expression"])
                .collect();
            assert_eq!(conditions, [&json!(manager)], "{name}");
        }
    }
}
