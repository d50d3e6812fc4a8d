//! Every manifest in `examples/` is accepted as it stands, and the schema among them gets a plan.

use ptah_cluster_tests::{World, condition, shared};
use serde_json::json;

#[test]
fn every_example_is_applied_and_the_schema_among_them_is_planned() {
    let world = World::new("examples").unwrap();
    let namespace = world.namespace();
    let url = world.url.clone();
    world
        .put(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "application-database"},
            "stringData": {"url": url}}),
        )
        .unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut applied = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("namespace: application"), "{}", path.display());
        let here = text.replace("namespace: application", &format!("namespace: {namespace}"));
        shared()
            .cluster
            .apply(&here)
            .unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
        applied += 1;
    }
    assert!(applied >= 2, "{applied} examples");
    let waiting = world
        .until_of("application", "a plan to wait", |schema| {
            schema["status"]["phase"] == "AwaitingApproval"
        })
        .unwrap();
    assert_eq!(condition(&waiting, "ArtifactResolved"), "True/SnapshotTaken");
    assert_eq!(waiting["status"]["plan"]["destructive"], false);
}
