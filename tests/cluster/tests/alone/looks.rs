//! A manager that may look at sources itself.

use ptah_cluster_tests::registry::{ARTIFACT_TYPE, push};
use ptah_cluster_tests::{GitSite, World, condition, message, shared};
use serde_json::{Value, json};
use xtask::node::paths::{ADDRESS, REGISTRY};
use xtask::stage;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";
const WIDER: &str = "CREATE TABLE t (id bigint PRIMARY KEY, note text);";
/// A host that is listed, and whose address is not.
const ELSEWHERE: &str = "127.0.0.1:7443";

/// The product with a manager that may look at these hosts, until this is dropped.
struct Looking;

impl Looking {
    fn at(hosts: &[&str]) -> Self {
        let shared = shared();
        let mut values = vec![format!("resolver.inProcess.allowedNetworks[0]={ADDRESS}/32")];
        let listed = hosts.iter().enumerate();
        values.extend(listed.map(|(index, host)| format!("resolver.inProcess.hosts[{index}]={host}")));
        stage::install(&shared.cluster, &shared.images, &values).unwrap();
        Self
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        stage::install(&shared().cluster, &shared().images, &[]).unwrap();
    }
}

/// Jobs of a world whose Pod reaches the source, by their number among all of them.
fn reaching(world: &World) -> Vec<usize> {
    let reaches = |job: &Value| {
        let containers = job["spec"]["template"]["spec"]["initContainers"].as_array();
        containers.is_some_and(|all| all.iter().any(|container| container["name"] == "source"))
    };
    let mut jobs = world.all("jobs").unwrap();
    jobs.sort_by_key(|job| {
        job["metadata"]["creationTimestamp"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    let numbered = jobs.iter().enumerate().filter(|(_, job)| reaches(job));
    numbered.map(|(number, _)| number).collect()
}

#[test]
fn promise_p060_sources_on_listed_hosts_are_looked_at_by_the_manager_once_for_all_who_declare_them() {
    let _alone = super::alone();
    let site = GitSite::start(None).unwrap();
    let (server, host) = (&site.repositories, &site.host);
    server.create("app.git").unwrap();
    let commit = |files: &[(&str, &str)]| server.commit("app.git", "a change", files).unwrap();
    let first = commit(&[("db/t.sql", TABLE)]);
    let looking = Looking::at(&[host, REGISTRY, ELSEWHERE]);

    // Three resources, one repository: from its tip to a proven database.
    let declared = |name: &str| {
        let world = World::new(name).unwrap();
        world
            .put(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ca"},
                "data": {"ca.crt": site.ca()}}),
            )
            .unwrap();
        let git = json!({"repository": format!("https://{host}/app.git"), "ref": "main", "path": "db",
            "caFrom": {"name": "ca", "key": "ca.crt"}});
        world
            .schema(&json!({"desired": {"git": git}, "policy": {"apply": "Always"}, "interval": "20s"}))
            .unwrap();
        world
    };
    let worlds = ["looks-a", "looks-b", "looks-c"].map(declared);
    for world in &worlds {
        let schema = world.until_phase("InSync").unwrap();
        assert_eq!(schema["status"]["source"]["git"]["commit"], first);
        assert_eq!(condition(&schema, "ArtifactResolved"), "True/CommitResolved");
        assert_eq!(world.columns("t").unwrap(), ["id"]);
        assert_eq!(
            reaching(world)[..3],
            [0, 1, 3],
            "reading, planning and proving fetch what the manager found; the run needs no files"
        );
    }

    // A commit of the same files is one fetch for all, and no Pod fetches it.
    let fetches = |seen: Vec<ptah_sources_tests::https::Seen>| {
        let asks = |body: &[u8]| body.windows(13).any(|part| part == b"command=fetch");
        seen.iter().filter(|seen| asks(&seen.body)).count()
    };
    let jobs: Vec<usize> = worlds.iter().map(|world| reaching(world).len()).collect();
    site.take_seen();
    let second = commit(&[("README.md", "not selected")]);
    for (world, jobs) in worlds.iter().zip(jobs) {
        let schema = world
            .until("the second commit", |schema| {
                schema["status"]["source"]["git"]["commit"] == second && schema["status"]["phase"] == "InSync"
            })
            .unwrap();
        assert_eq!(condition(&schema, "InSync"), "True/ScopedConverged");
        assert_eq!(
            reaching(world).len(),
            jobs,
            "a refresh of the same files fetches nothing"
        );
    }
    assert_eq!(fetches(site.take_seen()), 1, "one fetch for three resources");

    // Other files are planned and run.
    let third = commit(&[("db/t.sql", WIDER)]);
    for world in &worlds {
        world
            .until("the third commit", |schema| {
                schema["status"]["source"]["git"]["commit"] == third && schema["status"]["phase"] == "InSync"
            })
            .unwrap();
        assert_eq!(world.columns("t").unwrap(), ["id", "note"]);
    }

    an_artifact_is_resolved_and_verified_without_a_pod();
    an_address_that_is_not_allowed_is_refused_without_a_job();
    drop(looking);
}

fn an_artifact_is_resolved_and_verified_without_a_pod() {
    let world = World::new("looks-oci").unwrap();
    let repository = format!("{REGISTRY}/{}", world.namespace());
    let digest = push(&repository, "v1", &[("t.sql", TABLE)], &json!({})).unwrap();
    let policy = |name: &str, text: String| {
        world
            .put(json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
                "metadata": {"name": name}, "data": {"policy.yaml": text}}))
            .unwrap();
    };
    policy(
        "strict",
        "version: 1\nrequire_annotations: [org.example.team]\n".to_owned(),
    );
    policy(
        "policy",
        format!("version: 1\nartifact_types: [{ARTIFACT_TYPE}]\n"),
    );
    let declare = |policy: &str| {
        let desired = json!({"ociRef": format!("oci://{repository}:v1"), "transport": {"plainHTTP": true},
            "verificationPolicyFrom": {"name": policy, "key": "policy.yaml"}});
        world
            .schema(&json!({"desired": desired, "policy": {"apply": "Always"}}))
            .unwrap();
    };
    declare("strict");
    let schema = world.until_phase("Blocked").unwrap();
    assert_eq!(condition(&schema, "ArtifactVerified"), "False/PolicyRefused");
    assert!(world.jobs().unwrap().is_empty(), "refused before a Pod is made");
    declare("policy");
    let schema = world.until_phase("InSync").unwrap();
    assert_eq!(schema["status"]["source"]["digest"], digest);
    assert_eq!(condition(&schema, "ArtifactVerified"), "True/PolicySatisfied");
    assert_eq!(world.columns("t").unwrap(), ["id"]);
}

fn an_address_that_is_not_allowed_is_refused_without_a_job() {
    let world = World::new("looks-elsewhere").unwrap();
    let git = json!({"repository": format!("https://{ELSEWHERE}/app.git"), "ref": "main", "path": "db"});
    world.schema(&json!({"desired": {"git": git}})).unwrap();
    let schema = world.until_phase("Failed").unwrap();
    let why = message(&schema, "ReconciliationFailed");
    assert!(why.contains("address_not_allowed"), "{why}");
    assert!(world.jobs().unwrap().is_empty());
}
