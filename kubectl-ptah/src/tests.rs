//! The plugin against an API server that tells the truth, and against one that does not.

use std::collections::BTreeMap;

use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse as _;
use axum::{Json, Router};
use clap::CommandFactory as _;
use kube::Client;
use ptah_contract::digest::Digest;
use ptah_contract::drift::Severity;
use ptah_contract::plan_chunks;
use ptah_contract::plan_contract::SchemaPlanBinding;
use ptah_contract::plan_document::{
    FORMAT_VERSION, POSTGRES, PlanDocument, PrivilegeChange, Proof, Statement,
};
use ptah_contract::policy::TransactionMode;
use serde_json::{Value, json};

use super::*;

const CRS: &str = "/apis/operator.ptah.run/v1alpha1/namespaces/application";
const MAPS: &str = "/api/v1/namespaces/application/configmaps";
const PLAN: &str = "ptah-plan-1";

fn digest() -> String {
    Digest::of(b"x").to_string()
}

fn statement(sql: &str) -> Statement {
    Statement {
        sql: sql.into(),
        severity: Severity::Destructive,
        reason: "the column is no longer described".into(),
        lock: Some("ACCESS EXCLUSIVE".into()),
        rewrites: true,
        scans: false,
        transactional: true,
        data_dependent: true,
        privileges: vec![PrivilegeChange::Grant],
        objects: vec!["public.orders".into()],
    }
}

fn document(statements: Vec<Statement>) -> PlanDocument {
    let (from, to) = (Digest::of(b"from"), Digest::of(b"to"));
    PlanDocument {
        format_version: FORMAT_VERSION,
        name: PlanDocument::default_name(from, to),
        dialect: POSTGRES.into(),
        from_fingerprint: from,
        to_fingerprint: to,
        exclude: vec![],
        scope: vec!["public".into()],
        transaction_mode: TransactionMode::File,
        destructive: true,
        proof: Proof {
            scratch_server: "postgres 17".into(),
            replayed: statements.len() as u32,
            residual: 0,
        },
        statements,
        notes: vec!["extension hstore is left alone".into()],
    }
}

/// Objects by path.
type World = BTreeMap<String, Value>;

/// A schema that waits for an approval of this document.
fn world(document: &PlanDocument) -> (World, Vec<u8>) {
    let bytes = document.encode().unwrap();
    let mut world = World::new();
    let mut chunks = Vec::new();
    for (index, part) in plan_chunks::split(&bytes).unwrap().iter().enumerate() {
        let name = format!("{PLAN}-{index:03}");
        chunks.push(
            json!({"index": index, "name": name, "size": part.len(), "digest": Digest::of(part).to_string()}),
        );
        let data = k8s_openapi::ByteString(part.to_vec());
        world.insert(
            format!("{MAPS}/{name}"),
            json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "application"}, "binaryData": {"chunk": data}}),
        );
    }
    let binding = json!({
        "contractVersion": 2, "resourceUID": "schema-uid", "source": {"kind": "configMap", "uid": "source-uid"},
        "contentDigest": digest(), "planDigest": Digest::of(&bytes).to_string(), "coordinationDigest": digest(),
        "targetIdentityDigest": digest(), "actualStateFingerprint": digest(), "desiredStateFingerprint": digest(),
        "policyFingerprint": digest(), "verificationPolicy": null, "sourcePolicy": null, "commitVerification": null,
        "executionBinding": {"epoch": "v1-1", "controllerStateVersion": 1, "engineVersion": "1",
            "runnerImage": "r", "protocolVersion": 1},
        "destructive": true, "privilegeChanges": ["Grant"], "statementCount": document.statements.len(),
    });
    let fingerprint = serde_json::from_value::<SchemaPlanBinding>(binding.clone())
        .unwrap()
        .fingerprint()
        .unwrap();
    world.insert(format!("{CRS}/ptahschemaplans/{PLAN}"), json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchemaPlan",
        "metadata": {"name": PLAN, "namespace": "application", "uid": "plan-uid"},
        "spec": {"schemaRef": {"name": "shop", "uid": "schema-uid"}, "fingerprint": fingerprint, "binding": binding,
            "size": bytes.len(), "dialect": "postgres", "chunks": chunks,
            "recorded": {"controllerImage": "m", "controllerRevision": "1", "source": "configMap shop-sql"}},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Published", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
    }));
    world.insert(format!("{CRS}/ptahschemas/shop"), json!({
        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
        "metadata": {"name": "shop", "namespace": "application", "uid": "schema-uid", "generation": 1},
        "spec": {"target": {"engine": "PostgreSQL", "coordinationKey": "k", "urlFrom": {"name": "d", "key": "url"}},
            "desired": {"configMap": {"name": "shop-sql"}}},
        "status": {"phase": "AwaitingApproval", "plan": {"name": PLAN, "uid": "plan-uid", "fingerprint": fingerprint,
            "planDigest": Digest::of(&bytes).to_string(), "contentDigest": digest(), "coordinationDigest": digest(),
            "targetIdentityDigest": digest(), "policyFingerprint": digest(), "executionBindingID": "v1-1",
            "destructive": true, "statementCount": 1, "size": bytes.len(), "chunks": 1,
            "createdAt": "2026-01-01T00:00:00Z"}},
    }));
    (world, bytes)
}

fn client(world: World) -> Client {
    let handle = move |uri: Uri| {
        let found = world.get(uri.path()).cloned();
        async move {
            match found {
                Some(code) if code.is_number() => status(u16::try_from(code.as_u64().unwrap()).unwrap()),
                Some(object) => Json(object).into_response(),
                None => status(404),
            }
        }
    };
    Client::new(Router::new().fallback(handle), "default")
}

fn status(code: u16) -> axum::response::Response {
    let reason = match code {
        403 => "Forbidden",
        404 => "NotFound",
        _ => "InternalError",
    };
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": reason, "message": "no", "code": code});
    (StatusCode::from_u16(code).unwrap(), Json(body)).into_response()
}

async fn load(world: World, selection: Selection) -> Result<plan::Loaded, Error> {
    plan::load(&client(world), "application", "shop", selection).await
}

#[tokio::test]
async fn promise_p013_the_plan_that_waits_is_read_checked_and_shown() {
    let (world, _) = world(&document(vec![statement("ALTER TABLE orders DROP COLUMN note")]));
    let loaded = load(world, Selection::Current).await.unwrap();
    let page = text::page(&loaded);
    for words in [
        "Plan ptah-plan-1 of ptahschema application/shop",
        "waits for an approval",
        "destructive   YES",
        "privileges    Grant",
        "note          extension hstore is left alone",
        "[1/1] destructive, lock ACCESS EXCLUSIVE, rewrites the table, rows may make it fail",
        "  the column is no longer described",
        "      ALTER TABLE orders DROP COLUMN note;",
        "{name: shop, uid: schema-uid}",
        &format!("planFingerprint: {}", loaded.plan.spec.fingerprint),
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
}

#[tokio::test]
async fn promise_p014_json_is_the_stored_document_byte_for_byte() {
    let document = document(vec![
        statement("SELECT '<a & b>'"),
        statement("SELECT 'é' -- last"),
    ]);
    let (world, bytes) = world(&document);
    let loaded = load(world, Selection::Current).await.unwrap();
    assert_eq!(loaded.bytes, bytes);
    let value: Value = serde_json::from_slice(&loaded.bytes).unwrap();
    assert_eq!(value["statements"][0]["severity"], "destructive");
    assert_eq!(value["statements"][0]["sql"], "SELECT '<a & b>'");
    assert_eq!(
        text::sql(&loaded.document),
        "SELECT '<a & b>';\nSELECT 'é' -- last\n;\n"
    );
}

#[tokio::test]
async fn promise_p012_a_plan_of_many_config_maps_is_put_together_from_them() {
    let long = format!("COMMENT ON TABLE orders IS '{}'", "ü".repeat(400_000));
    let (world, bytes) = world(&document(vec![statement(&long)]));
    assert!(world.keys().filter(|path| path.starts_with(MAPS)).count() >= 2);
    assert_eq!(load(world, Selection::Current).await.unwrap().bytes, bytes);
}

/// Each row changes one thing and names what the reader is told.
#[tokio::test]
async fn promise_p013_a_plan_that_does_not_verify_is_not_shown() {
    let plan = format!("{CRS}/ptahschemaplans/{PLAN}");
    let chunk = format!("{MAPS}/{PLAN}-000");
    let other = json!({"chunk": "AAAA"});
    let table: [(&str, &str, Value, &str, u8); 9] = [
        (
            &plan,
            "/metadata/uid",
            json!("other"),
            "made again under its name",
            1,
        ),
        (
            &plan,
            "/spec/fingerprint",
            json!(digest()),
            "its fingerprint is not the one",
            1,
        ),
        (
            &plan,
            "/spec/binding/statementCount",
            json!(7),
            "does not give its fingerprint",
            1,
        ),
        (
            &plan,
            "/status/conditions/0/status",
            json!("False"),
            "is not Ready",
            1,
        ),
        (&plan, "/spec/size", json!(1), "did not verify", 1),
        (&plan, "/spec/chunks/0/index", json!(1), "did not verify", 1),
        (&chunk, "/binaryData", other, "did not verify", 1),
        (&chunk, "/binaryData", json!(null), "did not verify", 1),
        (
            &format!("{CRS}/ptahschemas/shop"),
            "/status/plan",
            json!(null),
            "has no plan that waits (phase AwaitingApproval)",
            3,
        ),
    ];
    for (path, pointer, value, words, exit) in table {
        let (mut world, _) = world(&document(vec![statement("SELECT 1")]));
        *world.get_mut(path).unwrap().pointer_mut(pointer).unwrap() = value;
        let error = load(world, Selection::Current).await.expect_err(pointer);
        assert!(error.to_string().contains(words), "{path}{pointer}: {error}");
        assert_eq!(error.exit_status(), exit, "{path}{pointer}");
    }
}

#[tokio::test]
async fn what_is_missing_or_forbidden_is_named() {
    let absent = |path: String, answer: Value| {
        let (mut world, _) = world(&document(vec![statement("SELECT 1")]));
        world.insert(path, answer);
        world
    };
    let table = [
        (
            format!("{CRS}/ptahschemas/shop"),
            404,
            "there is no ptahschema application/shop",
        ),
        (
            format!("{CRS}/ptahschemaplans/{PLAN}"),
            404,
            "the plan object ptah-plan-1 is named by the schema",
        ),
        (format!("{MAPS}/{PLAN}-000"), 404, "did not verify"),
        (
            format!("{MAPS}/{PLAN}-000"),
            403,
            "configmap application/ptah-plan-1-000, which holds a part of the plan, cannot be read; you need the verb get",
        ),
        (
            format!("{CRS}/ptahschemas/shop"),
            500,
            "ptahschema application/shop cannot be read",
        ),
    ];
    for (path, code, words) in table {
        let error = load(absent(path.clone(), json!(code)), Selection::Current)
            .await
            .expect_err(&path);
        assert!(error.to_string().contains(words), "{path} {code}: {error}");
        assert_eq!(error.exit_status(), 1, "{path}");
    }
}

#[tokio::test]
async fn the_plan_that_ran_last_is_asked_for_by_name() {
    let (mut world, bytes) = world(&document(vec![statement("SELECT 1")]));
    let schema = world.get_mut(&format!("{CRS}/ptahschemas/shop")).unwrap();
    let alone = World::from([(format!("{CRS}/ptahschemas/shop"), schema.clone())]);
    let error = load(alone, Selection::Applied).await.expect_err("nothing ran");
    assert_eq!(
        (error.exit_status(), error.to_string()),
        (3, "no plan of ptahschema shop has run yet".into())
    );

    let fingerprint = schema["status"]["plan"]["fingerprint"].clone();
    schema["status"] = json!({"phase": "InSync", "applied": {"planRef": {"name": PLAN, "uid": "plan-uid"},
        "planFingerprint": fingerprint, "contentDigest": digest(), "coordinationDigest": digest(),
        "targetIdentityDigest": digest(), "executionBindingID": "v1-1", "completedAt": "2026-02-01T00:00:00Z"}});
    let loaded = load(world.clone(), Selection::Applied).await.unwrap();
    assert_eq!(loaded.bytes, bytes);
    let page = text::page(&loaded);
    assert!(
        page.contains("applied, proven at 2026-02-01T00:00:00Z") && !page.contains("To approve"),
        "{page}"
    );
    let error = load(world, Selection::Current).await.expect_err("nothing waits");
    assert!(
        error
            .to_string()
            .ends_with("(phase InSync); --applied shows the one that ran last"),
        "{error}"
    );
}

#[tokio::test]
async fn sql_cannot_deceive_the_reader_of_the_page() {
    let (world, _) = world(&document(vec![statement(
        "SELECT 1 /*\u{1b}[2K\r\u{202e}*/; -- \u{200b}x",
    )]));
    let page = text::page(&load(world, Selection::Current).await.unwrap());
    assert!(
        page.contains(r"SELECT 1 /*\u{001b}[2K\u{000d}\u{202e}*/; -- \u{200b}x"),
        "{page}"
    );
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn wrong_usage_has_exit_status_2_and_the_default_is_the_plan_that_waits() {
    Cli::command().debug_assert();
    for wrong in [
        vec![],
        vec!["plan"],
        vec!["plan", "a", "--current", "--applied"],
        vec!["plan", "a", "-o", "yaml"],
    ] {
        let error = Cli::try_parse_from([vec!["kubectl-ptah"], wrong].concat()).expect_err("usage");
        assert_eq!(error.exit_code(), 2);
    }
    let Cli {
        command: Command::Plan(args),
    } = Cli::try_parse_from(["kubectl-ptah", "plan", "shop", "-n", "application", "-o", "json"]).unwrap();
    assert_eq!(
        (args.output, args.applied, args.namespace.as_deref()),
        (Output::Json, false, Some("application"))
    );
}
