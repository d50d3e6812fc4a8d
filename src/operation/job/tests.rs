//! What a Job may hold, whatever the resource says.

use k8s_openapi::api::core::v1::{Container, PodSpec};
use ptah_contract::digest::Digest;
use ptah_contract::protocol::{Request, ResultDelivery};
use serde_json::{Value, json};

use super::*;

fn schema(kind: &str) -> PtahSchema {
    let digest = Digest::of(b"").to_string();
    let time = "2026-01-01T00:00:00Z";
    let plan = json!({"name": "ptah-plan-1", "uid": "p", "fingerprint": digest, "planDigest": digest,
        "contentDigest": digest, "coordinationDigest": digest, "targetIdentityDigest": digest,
        "policyFingerprint": digest, "executionBindingID": "v1-0", "destructive": false, "statementCount": 1,
        "size": 10, "chunks": 2, "createdAt": time});
    serde_json::from_value(json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
        "metadata": {"name": "app", "namespace": "ns", "uid": "u-1", "generation": 3},
        "spec": {
            "target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "db", "key": "dsn"}},
            "desired": {"configMap": {"name": "sql"}},
            "execution": {"podMetadata": {"labels": {"team.example/owner": "a"}}},
        },
        "status": {
            "source": {"configMap": {"name": "sql", "uid": "cm"}, "contentDigest": digest, "files": 1, "bytes": 1,
                "resolvedAt": time},
            "plan": plan,
            "activeOperation": {"type": kind, "steps": [kind], "id": digest, "inputFingerprint": digest,
                "jobName": "ptah-job", "generation": 3, "startedAt": time, "attempt": 1,
                "executionBindingID": "v1-0", "coordinationDigest": digest},
        },
    }))
    .unwrap()
}

fn built(kind: &str) -> Job {
    of(&schema(kind))
}

/// The same with its files in a Git repository or in an OCI artifact.
fn remote(kind: &str, oci: bool) -> PtahSchema {
    let mut value = serde_json::to_value(schema(kind)).unwrap();
    let digest = Digest::of(b"").to_string();
    let (desired, source) = if oci {
        (
            json!({"ociRef": "oci://registry.example/app:v1", "transport": {"caFrom": {"name": "ca", "key": "pem"}},
                "registryAuthFrom": {"name": "registry-auth", "usernameKey": "who"},
                "verificationPolicyFrom": {"name": "policy", "key": "policy.yaml"}}),
            json!({"requestedReference": "oci://registry.example/app:v1", "digest": digest, "artifactType": "t",
                "resolvedReference": "oci://registry.example/app@sha256:0", "verified": true,
                "verificationPolicyUID": "p", "verificationPolicyDigest": digest, "verifiedAt": "2026-01-01T00:00:00Z"}),
        )
    } else {
        (
            json!({"git": {"repository": "https://git.example/app.git", "ref": "main", "path": "db",
                "authFrom": {"name": "git-auth"}}}),
            json!({"git": {"repository": "https://git.example/app.git", "ref": "main", "path": "db",
                "commit": "c0ffee", "resolvedRef": "refs/heads/main"}}),
        )
    };
    value["spec"]["desired"] = desired;
    let status = &mut value["status"];
    let known = status["source"].as_object_mut().unwrap();
    known.remove("configMap");
    known.extend(source.as_object().unwrap().clone());
    if kind == "Observe" {
        status["activeOperation"]["terms"] =
            json!({"verificationPolicy": {"name": "policy", "uid": "p", "digest": digest}});
        status["activeOperation"]["steps"] = json!(["Resolve", "Observe"]);
    }
    serde_json::from_value(value).unwrap()
}

fn of(schema: &PtahSchema) -> Job {
    let status = schema.status.clone().unwrap();
    let settings = Settings {
        runner_image: "r.example/runner@sha256:0".into(),
        controller_image: "r.example/manager@sha256:0".into(),
        delivery: ResultDelivery {
            endpoint: "https://results.ns.svc".into(),
            trust: "PEM".into(),
        },
    };
    build(
        schema,
        &status,
        status.active_operation.as_ref().unwrap(),
        &settings,
    )
    .unwrap()
}

fn pod(job: &Job) -> PodSpec {
    job.spec.clone().unwrap().template.spec.unwrap()
}

fn containers(pod: &PodSpec) -> Vec<Container> {
    pod.init_containers
        .iter()
        .flatten()
        .chain(&pod.containers)
        .cloned()
        .collect()
}

fn mounts(container: &Container) -> Vec<String> {
    container
        .volume_mounts
        .iter()
        .flatten()
        .map(|mount| mount.name.clone())
        .collect()
}

#[test]
fn promise_p045_url_snapshot_and_desired_sql_never_meet_in_one_container() {
    for kind in ["Observe", "Plan"] {
        let pod = pod(&built(kind));
        for container in containers(&pod) {
            let mounts = mounts(&container);
            let holds = |name: &str| mounts.iter().any(|mount| mount == name);
            assert!(!(holds("database") && holds("snapshot")), "{}", container.name);
            assert!(
                !(holds("database") && holds("scratch-data")),
                "{}",
                container.name
            );
            assert!(!holds("result-token") || holds("database"), "{}", container.name);
        }
        let main = &pod.containers[0];
        let content = main
            .volume_mounts
            .iter()
            .flatten()
            .find(|mount| mount.name == "content")
            .unwrap();
        assert_eq!(content.read_only, Some(true));
    }
    let apply = pod(&built("Apply"));
    assert_eq!(apply.init_containers, None);
    assert_eq!(
        mounts(&apply.containers[0]),
        ["request", "pod", "database", "result-token", "work", "plan"]
    );
}

#[test]
fn promise_p063_the_container_that_holds_the_source_s_credential_cannot_see_the_url_and_no_other_has_it() {
    for (kind, oci) in [
        ("Observe", false),
        ("Plan", false),
        ("Observe", true),
        ("Plan", true),
    ] {
        let pod = pod(&of(&remote(kind, oci)));
        let containers = containers(&pod);
        let names: Vec<&str> = containers
            .iter()
            .map(|container| container.name.as_str())
            .collect();
        assert_eq!(names, ["source", "scratch", "operation"], "{kind}");
        for container in &containers {
            let mounts = mounts(container);
            let holds = |name: &str| mounts.iter().any(|mount| mount == name);
            let at_source = container.name == "source";
            assert_eq!(holds("source-auth"), at_source, "{kind} {}", container.name);
            assert_eq!(holds("source-work"), at_source, "{kind} {}", container.name);
            assert!(!(at_source && (holds("database") || holds("scratch"))), "{kind}");
            assert_eq!(holds("result-token"), container.name != "scratch", "{kind}");
            assert_eq!(
                holds("verification-policy"),
                at_source && oci && kind == "Observe",
                "{kind}: an artifact is verified where it is resolved"
            );
            assert_eq!(holds("source-ca"), at_source && oci, "{kind}");
        }
        for name in ["content", "source"] {
            let mount = |container: usize| {
                let mounts = containers[container].volume_mounts.iter().flatten();
                mounts
                    .into_iter()
                    .find(|mount| mount.name == name)
                    .unwrap()
                    .read_only
            };
            assert_eq!((mount(0), mount(2)), (None, Some(true)), "{kind} {name}");
        }
    }
    assert_eq!(pod(&of(&remote("Apply", false))).init_containers, None);
}

#[test]
fn a_source_s_keys_become_files_of_names_of_ours_and_the_request_names_no_secret() {
    for (kind, oci) in [("Observe", false), ("Plan", true)] {
        let job = of(&remote(kind, oci));
        let text = serde_json::to_string(&job).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let pod = &value["spec"]["template"];
        let request = pod["metadata"]["annotations"][names::ANNOTATION_REQUEST]
            .as_str()
            .unwrap();
        assert!(!request.contains("-auth"), "{request}");
        let read = Request::from_bytes(request.as_bytes()).unwrap();
        assert_eq!(
            read.source.is_some_and(|source| source.pinned.is_some()),
            kind == "Plan"
        );
        let volumes = pod["spec"]["volumes"].as_array().unwrap();
        let auth = volumes
            .iter()
            .find(|volume| volume["name"] == "source-auth")
            .unwrap();
        let keys: Vec<(&str, &str)> = auth["projected"]["sources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|source| {
                let secret = &source["secret"];
                assert_eq!(secret["optional"], true);
                let item = &secret["items"][0];
                (item["key"].as_str().unwrap(), item["path"].as_str().unwrap())
            })
            .collect();
        if oci {
            assert!(
                keys.contains(&("who", "username")) && keys.contains(&("registry", "registry")),
                "{keys:?}"
            );
        } else {
            assert!(keys.contains(&("known_hosts", "known_hosts")), "{keys:?}");
        }
    }
}

#[test]
fn every_container_meets_the_restricted_standard_and_gets_nothing_by_environment() {
    let jobs = ["Observe", "Plan", "Apply"]
        .map(|kind| [built(kind), of(&remote(kind, false)), of(&remote(kind, true))]);
    for job in jobs.as_flattened() {
        let pod = pod(job);
        assert_eq!(pod.automount_service_account_token, Some(false));
        assert_eq!(pod.host_network, None);
        for container in containers(&pod) {
            let security = container.security_context.clone().unwrap();
            assert_eq!(security.allow_privilege_escalation, Some(false));
            assert_eq!(security.read_only_root_filesystem, Some(true));
            assert_eq!(security.run_as_non_root, Some(true));
            assert_eq!(security.capabilities.unwrap().drop, Some(vec!["ALL".to_owned()]));
            assert_eq!(security.seccomp_profile.unwrap().type_, "RuntimeDefault");
            assert_eq!((container.env, container.env_from), (None, None));
        }
    }
}

#[test]
fn the_request_in_the_annotation_is_the_one_that_the_runner_reads() {
    for kind in ["Observe", "Plan", "Apply"] {
        let job = built(kind);
        let annotations = job
            .spec
            .clone()
            .unwrap()
            .template
            .metadata
            .unwrap()
            .annotations
            .unwrap();
        let request = Request::from_bytes(annotations[names::ANNOTATION_REQUEST].as_bytes()).unwrap();
        assert_eq!(request.identity.job_name, "ptah-job");
        assert_eq!(
            annotations.contains_key(names::ANNOTATION_SAFE_TO_EVICT),
            kind == "Apply"
        );
        assert_eq!(
            annotations.contains_key(names::ANNOTATION_PLAN_FINGERPRINT),
            kind == "Apply"
        );
        let text = serde_json::to_string(&job).unwrap();
        assert!(
            !text.contains("ttlSecondsAfterFinished"),
            "a Job lives until its result was read"
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["metadata"]["labels"]["team.example/owner"], "a");
    }
}

#[test]
fn only_the_claim_s_own_job_is_ours() {
    let (job, schema) = (built("Plan"), schema("Plan"));
    let operation = schema.status.clone().unwrap().active_operation.unwrap();
    assert!(is_ours(&job, &schema, &operation));
    let mut another = operation.clone();
    another.id = "other".into();
    assert!(!is_ours(&job, &schema, &another));
    let mut orphan = job.clone();
    orphan.metadata.owner_references = None;
    assert!(!is_ours(&orphan, &schema, &operation));
}
