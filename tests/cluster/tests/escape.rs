//! Desired SQL that does not end or fills the disk, in a real Pod: its clear end, and who saw what meanwhile.

use ptah_cluster_tests::{PATIENCE, World, message, shared};
use serde_json::{Value, json};
use xtask::stage::Database;

/// Never ends, and cannot be cancelled: only the end of its server process ends it.
const ENDLESS: &str =
    "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP BEGIN PERFORM pg_sleep(3600);
  EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$;
CREATE MATERIALIZED VIEW m AS SELECT f() AS a;";

/// Makes rows until somebody stops it.
const FILLING: &str =
    "CREATE MATERIALIZED VIEW m AS SELECT generate_series(1, 1000000000) AS a, repeat('x', 1500) AS b;";

/// The Pod that is at work, once its operation runs.
fn working(world: &World) -> Value {
    let pod = shared().cluster.wait("a Pod at work", PATIENCE, || {
        let text = shared()
            .cluster
            .ask(&["get", "pods", "-n", &world.namespace(), "-o", "json"])?;
        let pods: Value = serde_json::from_str(&text)?;
        let found = pods["items"].as_array().into_iter().flatten().find(|pod| {
            let states = pod["status"]["containerStatuses"].as_array();
            states.is_some_and(|states| states.iter().any(|state| !state["state"]["running"].is_null()))
        });
        Ok(found.cloned())
    });
    pod.unwrap()
}

/// What a container says to a command.
fn inside(world: &World, pod: &Value, container: &str, script: &str) -> String {
    let name = pod["metadata"]["name"].as_str().unwrap();
    shared()
        .cluster
        .ask(&[
            "exec",
            "-n",
            &world.namespace(),
            name,
            "-c",
            container,
            "--",
            "sh",
            "-c",
            script,
        ])
        .unwrap()
}

/// Names of what a container mounts, sorted.
fn mounts(pod: &Value, part: &str, container: &str) -> Vec<String> {
    let all = pod["spec"][part].as_array().unwrap();
    let found = all.iter().find(|found| found["name"] == container).unwrap();
    assert_eq!(found["env"], Value::Null, "{container}");
    assert_eq!(found["envFrom"], Value::Null, "{container}");
    let mut names: Vec<String> = found["volumeMounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mount| mount["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn an_endless_loop_and_a_full_disk_end_with_what_to_do_and_no_container_saw_more_than_its_own() {
    let world = World::new("escape").unwrap();
    world.source(&json!({"loop.sql": ENDLESS})).unwrap();
    world.schema(&json!({})).unwrap();

    let pod = working(&world);
    assert_eq!(
        mounts(&pod, "containers", "operation"),
        [
            "content",
            "database",
            "pod",
            "request",
            "result-token",
            "scratch",
            "work"
        ]
    );
    assert_eq!(
        mounts(&pod, "initContainers", "scratch"),
        ["scratch", "scratch-data"]
    );
    assert_eq!(
        mounts(&pod, "initContainers", "snapshot"),
        ["content", "request", "snapshot"]
    );
    assert_eq!(
        inside(&world, &pod, "operation", "ls /ptah"),
        "content\ndatabase\npod\nrequest\nresult-token\nscratch\nwork"
    );
    assert_eq!(
        inside(&world, &pod, "scratch", "ls /ptah"),
        "scratch\nscratch-data"
    );
    assert_eq!(
        inside(
            &world,
            &pod,
            "operation",
            "ls /ptah/database && cat /ptah/database/url | wc -l"
        ),
        "url\n0",
        "the operation has the URL"
    );
    shared()
        .cluster
        .wait("the scratch server to be asked for", PATIENCE, || {
            let files = inside(&world, &pod, "scratch", "ls /ptah/scratch");
            Ok(files.contains(".json").then_some(()))
        })
        .unwrap();
    // Everything that the scratch server's user can read about itself and its neighbours.
    let everything = "id -u; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /proc/self/mountinfo 2>/dev/null | tr '\\0' '\\n'; \
                      find /ptah /run /var/run -type f -readable 2>/dev/null; cat /ptah/scratch/*.json 2>/dev/null";
    let seen = inside(&world, &pod, "scratch", everything);
    assert!(seen.starts_with("65533\n"), "{seen}");
    for secret in [
        Database::secret(),
        "postgres://",
        "test_escape_app",
        "serviceaccount",
        "result-token",
        "/ptah/database",
    ] {
        assert!(!seen.contains(secret), "the scratch server sees {secret}: {seen}");
    }

    let schema = world
        .until("the loop to be ended", |schema| {
            message(schema, "ReconciliationFailed").contains("scratch_limit")
        })
        .unwrap();
    let said = message(&schema, "ReconciliationFailed");
    for words in [
        "loop.sql:3",
        "it was not done after 60 s",
        "take out what loops",
        "it needs an edit",
    ] {
        assert!(said.contains(words), "{said}");
    }

    world.source(&json!({"loop.sql": FILLING})).unwrap();
    let schema = world
        .until("the full disk to be noticed", |schema| {
            let said = message(schema, "ReconciliationFailed");
            said.contains("scratch_limit") && said.contains("loop.sql:1")
        })
        .unwrap();
    let said = message(&schema, "ReconciliationFailed");
    for words in [
        "its database grew beyond 1024 MiB",
        "take out what loops or makes them",
        "it needs an edit",
    ] {
        assert!(said.contains(words), "{said}");
    }
    // Ended from inside, not by the node: no eviction, no restart of the scratch server.
    let pods = shared()
        .cluster
        .ask(&["get", "pods", "-n", &world.namespace(), "-o", "json"])
        .unwrap();
    for word in ["Evicted", "OOMKilled"] {
        assert!(!pods.contains(word), "{word}");
    }
    assert_eq!(
        world
            .sql("SELECT count(*) FROM pg_class WHERE relname = 'm'")
            .unwrap(),
        ["0"]
    );
    // And what is right is planned.
    world
        .source(&json!({"loop.sql": "CREATE TABLE t (id int);"}))
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
}
