//! Three rounds: from nothing, after an edit, after somebody changed the database by hand.

use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::Options;
use super::signing::Cosign;
use super::source::Source;
use crate::run;
use crate::stage::{Cluster, Database};

const PATIENCE: Duration = Duration::from_secs(300);
pub(super) const NAMESPACE: &str = "application";

struct Story<'a> {
    cluster: &'a Cluster,
    plugin: &'a Path,
    options: &'a Options,
    report: String,
}

/// Tells it; the returned text gives the seconds and Jobs of each round.
pub(super) fn tell(
    cluster: &Cluster,
    database: &Database,
    plugin: &Path,
    options: &Options,
    cosign: Option<Cosign>,
) -> Result<String> {
    let mut story = Story {
        cluster,
        plugin,
        options,
        report: String::from("round                     seconds  Jobs\n"),
    };
    // What an earlier demo kept would be gone round with, not begun with.
    cluster.ask(&[
        "delete",
        "namespace",
        NAMESPACE,
        "--ignore-not-found",
        "--timeout=120s",
    ])?;
    let url = database.create("shop")?;
    let source = Source::start(options.source, cluster, cosign)?;

    story.round("from an empty database", "first", || {
        cluster.restricted_namespace(NAMESPACE)?;
        show("kubectl -n application create secret generic application-database --from-literal=url='<database-url>'");
        cluster.ask(&[
            "-n", NAMESPACE, "create", "secret", "generic", "application-database", &format!("--from-literal=url={url}"),
        ])?;
        source.declare(cluster)
    })?;
    story.round(source.edit_name(), "edit", || {
        source.edit(cluster)?;
        if source.is_watched() {
            return Ok(());
        }
        read_now(cluster, "12m")
    })?;
    story.round("drift made by hand", "drift", || {
        let sql = "ALTER TABLE orders ALTER COLUMN placed_at DROP DEFAULT; DROP INDEX orders_customer_id";
        show(&format!("psql shop -c '{sql}'"));
        database.sql("shop", sql)?;
        read_now(cluster, "11m")
    })?;
    if let Some(artifact) = source.signed() {
        story.blocked("signed with another key", || {
            artifact.sign_with_another_key(cluster)?;
            read_now(cluster, "12m")
        })?;
    }
    Ok(story.report)
}

/// The next interval would find it; an edit that changes nothing else brings the reading forward.
fn read_now(cluster: &Cluster, interval: &str) -> Result<()> {
    let patch = format!(r#"{{"spec":{{"interval":"{interval}"}}}}"#);
    show(&format!(
        "kubectl -n application patch ptahschema application --type=merge -p '{patch}'"
    ));
    let arguments = [
        "-n",
        NAMESPACE,
        "patch",
        "ptahschema",
        "application",
        "--type=merge",
        "-p",
        &patch,
    ];
    cluster.ask(&arguments).map(drop)
}

pub(super) fn show(command: &str) {
    println!("\n$ {command}");
}

impl Story<'_> {
    fn round(&mut self, name: &str, approval: &str, begin: impl FnOnce() -> Result<()>) -> Result<()> {
        let begun = self.begin(name)?;
        let before = self
            .schema()?
            .and_then(|schema| schema["status"]["plan"]["uid"].as_str().map(str::to_owned));
        begin()?;
        self.follow("AwaitingApproval", before.as_deref())?;
        self.plan()?;
        self.decide()?;
        self.approve(approval)?;
        self.follow("InSync", None)?;
        let schema = self.schema()?.context("the schema is gone")?;
        let found = condition(&schema, "InSync");
        if found != ("True".to_owned(), "ScopedConverged".to_owned()) {
            bail!("InSync is {found:?}, not True with ScopedConverged");
        }
        println!("InSync=True ScopedConverged");
        self.end(name, begun)
    }

    /// When a round begins, and how many Jobs there are.
    fn begin(&self, name: &str) -> Result<(Instant, usize)> {
        println!("\n=== {name}");
        Ok((Instant::now(), self.jobs()?))
    }

    fn end(&mut self, name: &str, (began, jobs): (Instant, usize)) -> Result<()> {
        let seconds = began.elapsed().as_secs_f64();
        let jobs = self.jobs()? - jobs;
        writeln!(self.report, "{name:<25} {seconds:>7.1}  {jobs:>4}")?;
        Ok(())
    }

    /// What was in sync, and is refused now.
    fn blocked(&mut self, name: &str, begin: impl FnOnce() -> Result<()>) -> Result<()> {
        let begun = self.begin(name)?;
        begin()?;
        let schema = self.cluster.wait("phase Blocked", PATIENCE, || {
            let schema = self.schema()?.context("the schema is gone")?;
            Ok((schema["status"]["phase"] == "Blocked").then_some(schema))
        })?;
        let found = condition(&schema, "ArtifactVerified");
        if found != ("False".to_owned(), "PolicyRefused".to_owned()) {
            bail!("ArtifactVerified is {found:?}, not False with PolicyRefused");
        }
        let message = text(&schema, "ArtifactVerified", "message");
        println!("Blocked: ArtifactVerified=False PolicyRefused\n  {message}");
        self.end(name, begun)
    }

    fn schema(&self) -> Result<Option<Value>> {
        // Before the first round there is neither namespace nor resource.
        self.cluster.get(NAMESPACE, "ptahschema", "application")
    }

    fn jobs(&self) -> Result<usize> {
        let text = self
            .cluster
            .ask(&["get", "jobs", "-n", NAMESPACE, "-o", "name"])?;
        Ok(text.lines().count())
    }

    /// Shows each phase as it is reached, until `wanted`.
    fn follow(&self, wanted: &str, old_plan: Option<&str>) -> Result<()> {
        let (began, mut last) = (Instant::now(), String::new());
        self.cluster.wait(&format!("phase {wanted}"), PATIENCE, || {
            let Some(schema) = self.schema()? else {
                return Ok(None);
            };
            let phase = schema["status"]["phase"].as_str().unwrap_or("Pending").to_owned();
            if phase != last {
                println!("  {:>6.1} s  {phase}", began.elapsed().as_secs_f64());
                last.clone_from(&phase);
            }
            if matches!(phase.as_str(), "Failed" | "Blocked") {
                let (_, reason) = condition(&schema, "Ready");
                let conditions = &schema["status"]["conditions"];
                bail!("the schema is {phase} ({reason}): {conditions:#}");
            }
            let answered = schema["status"]["observedGeneration"] == schema["metadata"]["generation"];
            let fresh = old_plan.is_none() || schema["status"]["plan"]["uid"].as_str() != old_plan;
            Ok((phase == wanted && answered && fresh).then_some(()))
        })
    }

    fn plan(&self) -> Result<()> {
        show("kubectl ptah plan application -n application");
        // kubectl takes flags of its own only behind a plugin's name, and leaves them to the plugin.
        let (mut kubectl, context) = match self.cluster {
            Cluster::Node(node) => (node.kubectl()?, None),
            Cluster::Context(name) => (Command::new("kubectl"), Some(name)),
        };
        let path = kubectl
            .get_envs()
            .find(|(key, _)| *key == "PATH")
            .and_then(|(_, value)| value.map(ToOwned::to_owned))
            .or_else(|| std::env::var_os("PATH"))
            .unwrap_or_default();
        let folders = std::iter::once(self.plugin.to_owned()).chain(std::env::split_paths(&path));
        kubectl.env("PATH", std::env::join_paths(folders)?);
        kubectl.args(["ptah", "plan", "application", "-n", NAMESPACE]);
        if let Some(context) = context {
            kubectl.args(["--context", context]);
        }
        run::shown(&mut kubectl)
    }

    fn decide(&self) -> Result<()> {
        if self.options.yes {
            return Ok(());
        }
        print!("\nApprove exactly this plan? [y/N] ");
        std::io::stdout().flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if answer.trim().eq_ignore_ascii_case("y") {
            Ok(())
        } else {
            bail!("not approved; nothing has run")
        }
    }

    /// Creates the approval from what the API server holds, with `jq`, as `docs/first-schema.md` does.
    fn approve(&self, name: &str) -> Result<()> {
        let script = APPROVE.replace("application-first", &format!("application-{name}"));
        println!("\n{script}");
        let kubectl = self.cluster.kubectl()?;
        let folder = tempfile::tempdir()?;
        let mut shell = Command::new("bash");
        shell
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(folder.path())
            .stdout(Stdio::inherit());
        for (key, value) in kubectl.get_envs() {
            if let Some(value) = value {
                shell.env(key, value);
            }
        }
        if let Cluster::Context(context) = self.cluster {
            // The script is the page's own; a shell function gives its kubectl the context.
            shell.arg("").env(
                "BASH_FUNC_kubectl%%",
                format!("() {{ command kubectl --context '{context}' \"$@\"; }}"),
            );
        }
        run::shown(&mut shell)
    }
}

/// The page's own commands.
const APPROVE: &str = r#"kubectl -n application get ptahschema application -o json > schema.json
kubectl -n application get ptahschemaplan \
  "$(jq -r .status.plan.name schema.json)" -o json > plan.json
jq -n --slurpfile schema schema.json --slurpfile plan plan.json '
  {
    apiVersion: "operator.ptah.run/v1alpha1", kind: "PtahSchemaApproval",
    metadata: {name: "application-first"},
    spec: {
      schemaRef: {name: $schema[0].metadata.name, uid: $schema[0].metadata.uid},
      planRef:   {name: $plan[0].metadata.name,   uid: $plan[0].metadata.uid},
      planFingerprint: $plan[0].spec.fingerprint
    }
  }' | kubectl -n application create -f -"#;

/// Status and reason of a condition.
fn condition(schema: &Value, kind: &str) -> (String, String) {
    (text(schema, kind, "status"), text(schema, kind, "reason"))
}

/// One field of a condition; empty where there is none.
fn text(schema: &Value, kind: &str, field: &str) -> String {
    let conditions = schema["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|c| c["type"] == kind);
    found
        .and_then(|c| c[field].as_str())
        .unwrap_or_default()
        .to_owned()
}
