//! Git sources, from a real server to a proven database.

use ptah_cluster_tests::{World, condition, message, shared};
use serde_json::{Value, json};
use xtask::stage::GitServer;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";
const WIDER: &str = "CREATE TABLE t (id bigint PRIMARY KEY, note text);";
const REPOSITORY: &str = "app.git";

/// A world whose files are in a repository of a server of its own.
struct Told {
    world: World,
    server: GitServer,
}

impl Told {
    fn new(name: &str) -> Self {
        let world = World::new(name).unwrap();
        let server = GitServer::start().unwrap();
        server.create(REPOSITORY).unwrap();
        let told = Self { world, server };
        told.secret(&told.server.known_hosts().unwrap());
        told
    }

    fn secret(&self, known_hosts: &str) {
        let secret = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "git-auth", "namespace": self.world.namespace()},
            "stringData": {"host": self.server.authority(), "identity": self.server.identity().unwrap(),
                "known_hosts": known_hosts}});
        shared().cluster.apply(&secret.to_string()).unwrap();
    }

    fn commit(&self, files: &[(&str, &str)]) -> String {
        self.server.commit(REPOSITORY, "a change", files).unwrap()
    }

    fn desired(&self, reference: &str, path: &str) -> Value {
        json!({"git": {"repository": self.server.url(REPOSITORY), "ref": reference, "path": path,
            "authFrom": {"name": "git-auth"}}})
    }

    /// Declares the schema; `spec` beside the source.
    fn declare(&self, reference: &str, spec: Value) {
        let mut spec = spec;
        spec["desired"] = self.desired(reference, "db");
        self.world.schema(&spec).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let path = self.server.path(REPOSITORY).display().to_string();
        self.server.git(&[&["-C", &path], arguments].concat()).unwrap()
    }

    fn columns(&self) -> Vec<String> {
        let query = "SELECT attname::text FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum";
        self.world.sql(query).unwrap()
    }

    fn until_commit(&self, commit: &str) -> Value {
        self.world
            .until(&format!("commit {commit}"), |schema| {
                schema["status"]["source"]["git"]["commit"] == commit
                    && schema["status"]["activeOperation"].is_null()
            })
            .unwrap()
    }
}

fn always() -> Value {
    json!({"policy": {"apply": "Always"}, "interval": "10s"})
}

#[test]
fn promise_p060_p061_p062_p063_a_branch_is_followed_from_its_tip_to_a_proven_database() {
    let told = Told::new("git-branch");
    let first = told.commit(&[("db/t.sql", TABLE), ("README.md", "not selected")]);
    told.declare("main", always());
    let schema = told.world.until_phase("InSync").unwrap();
    let source = &schema["status"]["source"];
    assert_eq!(source["git"]["commit"], first);
    assert_eq!(source["git"]["resolvedRef"], "refs/heads/main");
    assert_eq!(
        (
            &source["git"]["repository"],
            &source["git"]["ref"],
            &source["git"]["path"]
        ),
        (&json!(told.server.url(REPOSITORY)), &json!("main"), &json!("db"))
    );
    assert_eq!(source["files"], 1);
    assert_eq!(condition(&schema, "ArtifactResolved"), "True/CommitResolved");
    assert!(message(&schema, "ArtifactResolved").contains(&first));
    assert_eq!(condition(&schema, "ArtifactVerified"), "");
    assert_eq!(condition(&schema, "InSync"), "True/ScopedConverged");
    assert_eq!(told.columns(), ["id"]);

    // The branch is read again at the interval: the same files keep everything, others are planned and run.
    let jobs = told.world.jobs().unwrap().len();
    let second = told.commit(&[("README.md", "another")]);
    let schema = told.until_commit(&second);
    assert_eq!(
        schema["status"]["source"]["contentDigest"],
        source["contentDigest"]
    );
    assert_eq!(condition(&schema, "InSync"), "True/ScopedConverged");
    let third = told.commit(&[("db/t.sql", WIDER)]);
    told.until_commit(&third);
    told.world.until_phase("InSync").unwrap();
    assert_eq!(told.columns(), ["id", "note"]);
    let kinds: Vec<String> = told.world.jobs().unwrap()[jobs..]
        .iter()
        .filter(|name| !name.starts_with("ptah-observe-"))
        .map(|name| name.split('-').nth(1).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["plan", "apply", "plan"],
        "the second commit plans nothing"
    );
}

#[test]
fn promise_p071_p072_a_plan_is_kept_by_the_same_files_and_retired_by_others_and_by_another_path() {
    let told = Told::new("git-plans");
    told.commit(&[("db/t.sql", TABLE), ("copy/t.sql", TABLE)]);
    told.declare("main", json!({"interval": "10s"}));
    let schema = told.world.until_phase("AwaitingApproval").unwrap();
    let plan = schema["status"]["plan"].clone();
    let second = told.commit(&[("README.md", "another")]);
    let schema = told.until_commit(&second);
    assert_eq!(schema["status"]["plan"]["uid"], plan["uid"], "the plan is kept");

    told.world
        .schema(&json!({"desired": told.desired("main", "copy"), "interval": "10s"}))
        .unwrap();
    let schema = told
        .world
        .until("a plan of the other path", |schema| {
            let now = &schema["status"]["plan"]["uid"];
            schema["status"]["phase"] == "AwaitingApproval" && now.is_string() && *now != plan["uid"]
        })
        .unwrap();
    assert_eq!(
        schema["status"]["plan"]["contentDigest"], plan["contentDigest"],
        "another path retires the plan though the files match"
    );
    let third = told.commit(&[("copy/t.sql", WIDER)]);
    let schema = told.until_commit(&third);
    assert_ne!(schema["status"]["plan"]["contentDigest"], plan["contentDigest"]);
    assert_eq!(
        told.world
            .sql("SELECT count(*)::text FROM pg_class WHERE relname = 't'")
            .unwrap(),
        ["0"]
    );
}

#[test]
fn promise_p066_p067_p068_p069_a_pinned_commit_holds_while_the_server_names_it_and_a_tag_always() {
    let told = Told::new("git-pinned");
    let first = told.commit(&[("db/t.sql", TABLE)]);
    told.declare(&first, always());
    let schema = told.world.until_phase("InSync").unwrap();
    assert_eq!(schema["status"]["source"]["git"]["commit"], first);
    let applied = schema["status"]["applied"].clone();
    told.git(&["tag", "-a", "-m", "a release", "v1", &first]);
    told.commit(&[("db/t.sql", WIDER)]);
    let refused = told.world.until_phase("Failed").unwrap();
    assert_eq!(condition(&refused, "ReconciliationFailed"), "True/ResolveFailed");
    let why = message(&refused, "ReconciliationFailed");
    assert!(why.contains("commit_not_allowed") && why.contains("tag"), "{why}");
    assert_eq!(
        refused["status"]["applied"], applied,
        "the resource keeps what it applied"
    );
    assert_eq!(told.columns(), ["id"]);

    told.declare("v1", always());
    let schema = told.world.until_phase("InSync").unwrap();
    let git = &schema["status"]["source"]["git"];
    assert_eq!(
        (&git["commit"], &git["resolvedRef"]),
        (&json!(first), &json!("refs/tags/v1"))
    );
    assert_eq!(git["tagObject"], told.git(&["rev-parse", "v1"]));

    // The server's leave is enough.
    told.git(&["config", "uploadpack.allowReachableSHA1InWant", "true"]);
    told.declare(&first, always());
    told.world.until_phase("InSync").unwrap();
    assert_eq!(told.columns(), ["id"]);
}

#[test]
fn promise_p064_a_commit_that_the_branch_has_left_behind_is_proven_along_its_history() {
    let told = Told::new("git-behind");
    let first = told.commit(&[("db/t.sql", TABLE)]);
    told.declare("main", json!({"interval": "1h"}));
    told.world.until_phase("AwaitingApproval").unwrap();
    for number in 0..3 {
        told.commit(&[("db/t.sql", WIDER), ("README.md", &number.to_string())]);
    }
    // What was approved is what is run and proven; the branch is read again at the interval.
    told.world.approve("first").unwrap();
    let schema = told.world.until_phase("InSync").unwrap();
    assert_eq!(schema["status"]["source"]["git"]["commit"], first);
    assert_eq!(condition(&schema, "InSync"), "True/ScopedConverged");
    assert_eq!(told.columns(), ["id"]);
}

#[test]
fn promise_p065_a_commit_that_was_forced_away_is_refused_and_the_ref_is_read_again() {
    let told = Told::new("git-forced");
    told.commit(&[("db/t.sql", TABLE)]);
    told.declare("main", json!({"interval": "1h"}));
    told.world.until_phase("AwaitingApproval").unwrap();
    // Another history without that commit.
    let other = told
        .server
        .create("other.git")
        .and_then(|()| told.server.commit("other.git", "anew", &[("db/t.sql", WIDER)]));
    let other_path = told.server.path("other.git").display().to_string();
    told.git(&["fetch", "-q", "--force", &other_path, "+main:main"]);
    told.git(&["reflog", "expire", "--expire=now", "--all"]);
    told.git(&["gc", "-q", "--prune=now"]);
    // The approved plan runs: its bytes are stored. Its proof cannot be made, and the ref is read again.
    told.world.approve("first").unwrap();
    let schema = told
        .world
        .until("the other history's plan", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
                && schema["status"]["source"]["git"]["commit"] == *other.as_ref().unwrap()
                && schema["status"]["activeOperation"].is_null()
        })
        .unwrap();
    assert_eq!(told.columns(), ["id"]);
    assert_eq!(
        schema["status"]["applied"],
        Value::Null,
        "the run is credited to nobody"
    );
    told.world.approve("second").unwrap();
    told.world.until_phase("InSync").unwrap();
    assert_eq!(told.columns(), ["id", "note"]);
}

#[test]
fn promise_p070_a_refused_pull_says_why() {
    let told = Told::new("git-refused");
    let first = told.commit(&[("db/t.sql", TABLE)]);
    told.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{first},db/vendor"),
    ]);
    told.git(&["read-tree", "main"]);
    told.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{first},db/vendor"),
    ]);
    let tree = told.git(&["write-tree"]);
    let with_submodule = told.git(&["commit-tree", "-m", "a submodule", "-p", &first, &tree]);
    told.git(&["branch", "submodule", &with_submodule]);
    let refused = |reference: &str, words: &[&str]| {
        told.declare(reference, json!({"interval": "10s"}));
        let schema = told.world.until_phase("Failed").unwrap();
        assert_eq!(condition(&schema, "ReconciliationFailed"), "True/ResolveFailed");
        let why = message(&schema, "ReconciliationFailed");
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
        assert!(why.starts_with("Resolve: "), "{why}");
        assert_eq!(schema["status"]["plan"], Value::Null);
    };
    refused("submodule", &["submodule", "db/vendor"]);
    refused("gone", &["ref_not_found", "\"gone\""]);
    let known = told.server.known_hosts().unwrap();
    let (host, _) = known.split_once(' ').unwrap();
    told.secret(&format!(
        "{host} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    ));
    refused("main", &["host_key"]);
    // The key comes back, and with it everything.
    told.secret(&known);
    told.declare("main", always());
    told.world.until_phase("InSync").unwrap();
    let spoken = serde_json::to_string(&told.world.read().unwrap()).unwrap();
    let identity = told.server.identity().unwrap();
    let secret = identity.lines().nth(1).unwrap();
    assert!(!spoken.contains(secret));
}

#[test]
fn promise_p080_p081_p082_a_source_policy_is_kept_and_a_replaced_one_is_read_at_once() {
    let told = Told::new("git-policy");
    told.commit(&[("db/t.sql", TABLE)]);
    let policy = |text: &str| {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "source-policy", "namespace": told.world.namespace()}, "data": {"policy.yaml": text}});
        shared().cluster.apply(&map.to_string()).unwrap();
    };
    policy("version: 1\ngit:\n  hosts: [\"git.example\"]\n");
    let mut desired = told.desired("main", "db");
    desired["sourcePolicyFrom"] = json!({"name": "source-policy", "key": "policy.yaml"});
    told.world
        .schema(&json!({"desired": desired, "interval": "1h"}))
        .unwrap();
    let schema = told.world.until_phase("Failed").unwrap();
    assert_eq!(
        condition(&schema, "ReconciliationFailed"),
        "True/SourcePolicyRefused"
    );
    assert!(message(&schema, "ReconciliationFailed").contains("git.hosts"));
    assert_eq!(
        told.world.jobs().unwrap(),
        Vec::<String>::new(),
        "no Job was made"
    );

    let host = told.server.authority();
    policy(&format!(
        "version: 1\ngit:\n  hosts: [\"{host}\"]\ncontent:\n  maxBytes: 10\n"
    ));
    let small = told
        .world
        .until("the size to be refused", |schema| {
            message(schema, "ReconciliationFailed").contains("content")
        })
        .unwrap();
    assert_eq!(small["status"]["source"], Value::Null, "no commit was recorded");

    policy(&format!(
        "version: 1\ngit:\n  hosts: [\"{host}\"]\ncontent:\n  maxBytes: 1000\n"
    ));
    let schema = told.world.until_phase("AwaitingApproval").unwrap();
    let (bound, plan) = (
        schema["status"]["source"]["sourcePolicy"].clone(),
        schema["status"]["plan"].clone(),
    );
    assert_eq!(bound["name"], "source-policy");
    policy(&format!(
        "version: 1\ngit:\n  hosts: [\"{host}\"]\ncontent:\n  maxBytes: 2000\n"
    ));
    let schema = told
        .world
        .until("a plan under the new policy", |schema| {
            let now = &schema["status"]["plan"]["fingerprint"];
            schema["status"]["phase"] == "AwaitingApproval" && now.is_string() && *now != plan["fingerprint"]
        })
        .unwrap();
    assert_ne!(
        schema["status"]["source"]["sourcePolicy"]["digest"],
        bound["digest"]
    );
}

#[test]
fn promise_p051_p061_the_same_files_are_the_same_content_from_wherever_and_a_move_drops_the_snapshot() {
    let told = Told::new("git-moves");
    told.commit(&[("db/t.sql", TABLE), ("db/sub/u.sql", "CREATE TABLE u (id int);")]);
    let map = json!({"a": TABLE, "b": "CREATE TABLE u (id int);"});
    told.world.source(&map).unwrap();
    let items = json!([{"key": "a", "path": "t.sql"}, {"key": "b", "path": "sub/u.sql"}]);
    told.world
        .schema(&json!({"desired": {"configMap": {"name": "sql", "items": items}}}))
        .unwrap();
    let before = told.world.until_phase("AwaitingApproval").unwrap();
    let snapshot = before["status"]["source"]["snapshot"]
        .as_str()
        .unwrap()
        .to_owned();
    told.declare("main", json!({}));
    let after = told
        .world
        .until("the commit's plan", |schema| {
            schema["status"]["phase"] == "AwaitingApproval" && schema["status"]["source"]["git"].is_object()
        })
        .unwrap();
    let digest = |schema: &Value| schema["status"]["source"]["contentDigest"].clone();
    assert_eq!(digest(&before), digest(&after));
    assert_eq!(
        before["status"]["plan"]["planDigest"], after["status"]["plan"]["planDigest"],
        "the same statements"
    );
    assert_ne!(
        before["status"]["plan"]["fingerprint"], after["status"]["plan"]["fingerprint"],
        "and another plan: it binds where its files come from"
    );
    shared()
        .cluster
        .wait("the snapshot to go", ptah_cluster_tests::PATIENCE, || {
            let left = shared()
                .cluster
                .get(&told.world.namespace(), "configmap", &snapshot)?;
            Ok(left.is_none().then_some(()))
        })
        .unwrap();
}

#[test]
fn a_commit_is_read_once_somebody_trusted_has_signed_it_and_a_plan_goes_with_the_signature() {
    let told = Told::new("git-signed");
    let world = &told.world;
    let keys = json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
        "metadata": {"name": "commit-signers", "namespace": world.namespace()},
        "data": {"allowed_signers": told.server.allowed_signer().unwrap()}});
    shared().cluster.apply(&keys.to_string()).unwrap();
    let declare = |mode: &str| {
        let mut desired = told.desired("main", "db");
        desired["git"]["verification"] = json!({"mode": mode,
            "keysFrom": {"name": "commit-signers", "key": "allowed_signers"}, "committers": ["ada@team.example"]});
        world
            .schema(&json!({"desired": desired, "interval": "10s"}))
            .unwrap();
    };
    let refused = |word: &str| {
        let schema = world.until_phase("Failed").unwrap();
        assert_eq!(
            condition(&schema, "ArtifactVerified"),
            "False/CommitSignatureRefused"
        );
        assert_eq!(
            condition(&schema, "ReconciliationFailed"),
            "True/CommitSignatureRefused"
        );
        let why = message(&schema, "ReconciliationFailed");
        assert!(why.contains(word), "{why}");
        assert_eq!(schema["status"]["plan"], Value::Null);
    };
    told.commit(&[("db/t.sql", TABLE)]);
    declare("Head");
    refused("the commit is not signed");
    let files = [("db/t.sql", WIDER)];
    let signed = told.server.commit_signed(REPOSITORY, "signed", &files).unwrap();
    let schema = world.until_phase("AwaitingApproval").unwrap();
    assert_eq!(schema["status"]["source"]["git"]["commit"], signed);
    assert_eq!(
        condition(&schema, "ArtifactVerified"),
        "True/CommitSignatureVerified"
    );
    // The tip moves on to one that nobody signed, with the same files: what was approved goes too.
    told.commit(&[("README", "nobody signed this")]);
    refused("the commit is not signed");
    // A branch has no tag object that could be signed.
    told.server
        .commit_signed(REPOSITORY, "signed again", &[("README", "signed")])
        .unwrap();
    world.until_phase("AwaitingApproval").unwrap();
    declare("Tag");
    refused("there is no tag object");
    declare("Head");
    world.until_phase("AwaitingApproval").unwrap();
    world.approve("signed").unwrap();
    world.until_phase("InSync").unwrap();
    assert_eq!(told.columns(), ["id", "note"]);
}
