//! Who may create, edit, approve and forge what: the table in `testdata/access.toml`, with the API server as the judge.

use std::collections::BTreeMap;

use ptah_cluster_tests::api::{Ask, No, Who, ask, collection};
use ptah_cluster_tests::{World, bare, shared};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rules: BTreeMap<String, String>,
    #[serde(rename = "action")]
    actions: Vec<Action>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    #[serde(rename = "do")]
    what: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    cells: BTreeMap<String, String>,
}

/// An object that the table speaks of: where its like are, and itself as it is.
struct Known {
    plural: &'static str,
    object: Value,
}

impl Known {
    fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap()
    }
}

fn people(world: &World) -> BTreeMap<&'static str, Who> {
    let user = |name: &str| Who::User(name.to_owned());
    let namespace = world.namespace();
    for (name, role) in [
        ("approver", "ptah-operator-approver"),
        ("editor", "ptah-operator-editor"),
        ("viewer", "view"),
        ("namespace-admin", "admin"),
        ("cluster-admin", "cluster-admin"),
    ] {
        world.bind(&format!("access-{name}"), role).unwrap();
    }
    [
        ("manager", user(&shared().manager)),
        ("approver", user("access-approver")),
        ("editor", user("access-editor")),
        ("viewer", user("access-viewer")),
        ("namespace-admin", user("access-namespace-admin")),
        ("cluster-admin", user("access-cluster-admin")),
        ("masters", Who::Administrator),
        (
            "account",
            user(&format!("system:serviceaccount:{namespace}:another")),
        ),
        (
            "runner",
            user(&format!("system:serviceaccount:{namespace}:default")),
        ),
    ]
    .into()
}

/// A schema that ran once and waits for its second approval, with everything that the manager made on the way.
fn known(world: &World) -> BTreeMap<&'static str, Known> {
    world.source(&json!({"t.sql": TABLE})).unwrap();
    world.schema(&json!({})).unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    world.approve("spent").unwrap();
    world.until_phase("InSync").unwrap();
    world
        .source(&json!({"t.sql": "CREATE TABLE t (id bigint PRIMARY KEY, note text);"}))
        .unwrap();
    let schema = world
        .until("the second plan", |schema| {
            schema["status"]["phase"] == "AwaitingApproval" && schema["status"]["plan"]["uid"].is_string()
        })
        .unwrap();
    let plan = world
        .object(
            "ptahschemaplan",
            schema["status"]["plan"]["name"].as_str().unwrap(),
        )
        .unwrap();
    let jobs = world.jobs().unwrap();
    let job = world.object("job", jobs.last().unwrap()).unwrap();
    let snapshot = schema["status"]["source"]["snapshot"]
        .as_str()
        .unwrap()
        .to_owned();
    let results = world.all("ptahresultrecord").unwrap();
    let pods = world.all("pods").unwrap();
    let get = |kind: &str, name: &str| world.object(kind, name).unwrap();
    [
        (
            "approval",
            "ptahschemaapprovals",
            get("ptahschemaapproval", "spent"),
        ),
        ("result", "ptahresultrecords", results.first().unwrap().clone()),
        ("snapshot", "configmaps", get("configmap", &snapshot)),
        ("chunk", "configmaps", get("configmap", &world.chunk().unwrap())),
        ("source", "configmaps", get("configmap", "sql")),
        ("secret", "secrets", get("secret", "db")),
        ("pod", "pods", pods.first().unwrap().clone()),
        ("plan", "ptahschemaplans", plan),
        ("job", "jobs", job),
        ("schema", "ptahschemas", schema),
    ]
    .into_iter()
    .map(|(name, plural, object)| (name, Known { plural, object }))
    .collect()
}

/// The object as somebody would create another of its kind.
fn fresh(kind: &str, known: &BTreeMap<&'static str, Known>) -> Value {
    let mut object = bare(&known[kind].object);
    let name = &mut object["metadata"]["name"];
    match kind {
        "snapshot" => *name = format!("ptah-src-{}", "0".repeat(32)).into(),
        "chunk" => *name = format!("ptah-plan-{}-000", "0".repeat(24)).into(),
        "approval" => {
            *name = "second".into();
            let (schema, plan) = (&known["schema"].object, &known["plan"].object);
            object["spec"] = json!({
                "schemaRef": {"name": "app", "uid": schema["metadata"]["uid"]},
                "planRef": {"name": plan["metadata"]["name"], "uid": plan["metadata"]["uid"]},
                "planFingerprint": plan["spec"]["fingerprint"],
            });
        }
        "job" => {
            *name = "another".into();
            let spec = object["spec"].as_object_mut().unwrap();
            spec.remove("selector");
            let labels = spec["template"]["metadata"]["labels"].as_object_mut().unwrap();
            labels.retain(|key, _| !key.ends_with("controller-uid") && !key.ends_with("job-name"));
        }
        "pod" => {
            *name = "another".into();
            object["spec"].as_object_mut().unwrap().remove("nodeName");
        }
        _ => *name = "another".into(),
    }
    object
}

/// Sets what a JSON pointer names; folders on the way are made, and `-` is a list's next place.
fn set(object: &mut Value, pointer: &str, value: &Value) {
    let mut at = object;
    for part in pointer.split('/').skip(1) {
        at = match at {
            Value::Array(list) => {
                let index = part.parse().unwrap_or(list.len());
                if index == list.len() {
                    list.push(Value::Null);
                }
                &mut list[index]
            }
            folder => {
                if !folder.is_object() {
                    *folder = Value::Object(Map::new());
                }
                &mut folder[part]
            }
        };
    }
    *at = value.clone();
}

fn attempt(
    who: &Who,
    action: &Action,
    known: &BTreeMap<&'static str, Known>,
    namespace: &str,
) -> Result<Value, No> {
    let (verb, object) = action.what.split_once(' ').unwrap();
    let (kind, part) = object.split_once('/').unwrap_or((object, ""));
    let it = &known[kind];
    let mut body = match verb {
        "create" => fresh(kind, known),
        _ => json!({}),
    };
    for (pointer, value) in &action.set {
        set(&mut body, pointer, value);
    }
    let asked = match verb {
        "create" => Ask::Create(&body),
        "patch" => Ask::Patch(it.name(), part, &body),
        "delete" => Ask::Delete(it.name()),
        "get" => Ask::Get(it.name()),
        "list" => Ask::List,
        _ => unreachable!("{verb} is no verb of the table"),
    };
    ask(who, &collection(namespace, it.plural), asked, true).unwrap()
}

/// Whether the answer is what the cell says; if not, what is wrong.
fn judge(
    table: &Table,
    cell: &str,
    action: &Action,
    who: &Who,
    answer: &Result<Value, No>,
) -> Result<(), String> {
    let no = match (cell, answer) {
        ("yes", Ok(object)) if action.what == "create approval" => {
            let name = match who {
                Who::Administrator => "admin",
                Who::User(name) => name,
            };
            let spec = &object["spec"];
            let stamped = spec["approver"]["username"] == name
                && spec["approvedAt"] != "2020-01-01T00:00:00Z"
                && spec["mutationRequestUID"] != "forged";
            return stamped.then_some(()).ok_or_else(|| format!("stamped {spec}"));
        }
        ("yes", Ok(_)) => return Ok(()),
        ("yes", Err(no)) => return Err(format!("refused: {} {}", no.code, no.message)),
        (_, Ok(_)) => return Err("it was allowed".to_owned()),
        (_, Err(no)) => no,
    };
    let said = |words: &str| no.message.contains(words);
    let right = match (cell, who) {
        ("rbac", Who::User(name)) => {
            let (verb, _) = action.what.split_once(' ').unwrap();
            no.code == 403 && said(&format!("User \"{name}\" cannot {verb} resource"))
        }
        _ => cell.split('|').any(|rule| {
            let words = table
                .rules
                .get(rule)
                .unwrap_or_else(|| unreachable!("there is no rule {rule}"));
            matches!(no.code, 403 | 422) && said(words)
        }),
    };
    right
        .then_some(())
        .ok_or_else(|| format!("refused otherwise: {} {}", no.code, no.message))
}

#[test]
fn who_may_create_edit_approve_and_forge_what_is_what_the_table_says() {
    let text = include_str!("../testdata/access.toml");
    let table: Table = toml::from_str(text).unwrap();
    let world = World::new("access").unwrap();
    let people = people(&world);
    let known = known(&world);
    let before = world.read().unwrap();
    let mut wrong = Vec::new();
    for action in &table.actions {
        let columns: Vec<&str> = action.cells.keys().map(String::as_str).collect();
        assert_eq!(
            columns,
            people.keys().copied().collect::<Vec<_>>(),
            "{}",
            action.what
        );
        for (name, cell) in &action.cells {
            let who = &people[name.as_str()];
            let answer = attempt(who, action, &known, &world.namespace());
            if let Err(why) = judge(&table, cell, action, who, &answer) {
                let set: Vec<&String> = action.set.keys().collect();
                wrong.push(format!(
                    "{name} / {} {set:?}: {cell} expected, {why}",
                    action.what
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cells:\n{}", wrong.len(), wrong.join("\n"));
    // Dry runs alone: nothing of all that is left.
    let after = world.read().unwrap();
    assert_eq!(
        (
            &after["spec"],
            &after["status"]["plan"],
            &after["metadata"]["generation"]
        ),
        (
            &before["spec"],
            &before["status"]["plan"],
            &before["metadata"]["generation"]
        )
    );
    assert_eq!(world.all("ptahschemaapproval").unwrap().len(), 1);
}
