//! Where the demo's files are: a ConfigMap, a Git repository, or a registry, each with what a user does to declare them
//! and to change them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use serde_json::json;

use crate::node::paths::REGISTRY;
use crate::stage::{Cluster, GitServer};
use crate::{run, workspace};

use super::signing::Cosign;
use super::story::{NAMESPACE, show};

/// The file that the second round adds.
const ADDED: (&str, &str) = (
    "003-comments.sql",
    "ALTER TABLE customers ADD COLUMN name text NOT NULL DEFAULT '';\n\
     CREATE VIEW big_orders AS SELECT id, total_cents FROM orders WHERE total_cents > 100000;\n",
);
const ARTIFACT: &str = "team/application-schema";
const REPOSITORY: &str = "application.git";

/// The kinds of source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// `examples/ptahschema.yaml`.
    #[default]
    ConfigMap,
    /// `examples/ptahschema-git.yaml`, from a Git server over SSH that the demo starts.
    Git,
    /// `examples/ptahschema-oci.yaml`, from the test node's registry.
    Oci,
}

/// A source that is ready to be declared.
pub(super) enum Source {
    ConfigMap,
    Git(GitServer),
    Oci(Option<Cosign>),
}

impl Source {
    pub(super) fn start(kind: Kind, cluster: &Cluster, cosign: Option<Cosign>) -> Result<Self> {
        match (kind, cluster) {
            (Kind::ConfigMap, _) => Ok(Self::ConfigMap),
            (Kind::Git | Kind::Oci, Cluster::Context(_)) => {
                bail!(
                    "--source git and oci start servers that only the test node reaches; leave out --context"
                )
            }
            (Kind::Git, Cluster::Node(_)) => {
                let server = GitServer::start()?;
                server.create(REPOSITORY)?;
                let files = declared(cluster)?;
                let files: Vec<(String, &str)> = files
                    .iter()
                    .map(|(path, text)| (format!("db/schema/{path}"), text.as_str()))
                    .collect();
                let files: Vec<(&str, &str)> =
                    files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
                server.commit(REPOSITORY, "a first schema", &files)?;
                Ok(Self::Git(server))
            }
            (Kind::Oci, Cluster::Node(_)) => Ok(Self::Oci(cosign)),
        }
    }

    /// What the edit of the second round is called.
    pub(super) fn edit_name(&self) -> &'static str {
        match self {
            Self::ConfigMap => "an edit of the ConfigMap",
            Self::Git(_) => "a push to the branch",
            Self::Oci(_) => "another artifact under the tag",
        }
    }

    /// Does what the example's own comment says, and applies it.
    pub(super) fn declare(&self, cluster: &Cluster) -> Result<()> {
        match self {
            Self::ConfigMap => {
                show("kubectl apply -f examples/ptahschema.yaml");
                cluster.apply(&example("ptahschema.yaml")?)
            }
            Self::Git(server) => {
                show(
                    "kubectl -n application create secret generic application-git \\\n    \
                     --from-literal=host=… --from-file=identity=… --from-file=known_hosts=…",
                );
                let secret = json!({"apiVersion": "v1", "kind": "Secret",
                    "metadata": {"name": "application-git", "namespace": NAMESPACE},
                    "stringData": {"host": server.authority(), "identity": server.identity()?,
                        "known_hosts": server.known_hosts()?}});
                cluster.apply(&secret.to_string())?;
                show("kubectl apply -f examples/ptahschema-git.yaml   # with the repository's own address");
                let here = server.url(REPOSITORY);
                let text = example("ptahschema-git.yaml")?;
                cluster.apply(&text.replace("ssh://git@git.example/team/application.git", &here))
            }
            Self::Oci(cosign) => {
                self.publish(cluster, &declared(cluster)?)?;
                let folder = tempfile::tempdir()?;
                let (file, policy) = policy(cosign.as_ref(), folder.path())?;
                let (name, from) = (
                    "ptah-verification-policy",
                    format!("--from-file=policy.yaml={}", policy.display()),
                );
                show(&format!(
                    "kubectl -n application create configmap ptah-verification-policy \\\n    \
                     --from-file=policy.yaml={file}\n\
                     kubectl -n application patch configmap ptah-verification-policy --type=merge -p '{{\"immutable\":true}}'",
                ));
                cluster.ask(&["-n", NAMESPACE, "create", "configmap", name, &from])?;
                let immutable = r#"{"immutable":true}"#;
                cluster.ask(&[
                    "-n",
                    NAMESPACE,
                    "patch",
                    "configmap",
                    name,
                    "--type=merge",
                    "-p",
                    immutable,
                ])?;
                show(
                    "kubectl apply -f examples/ptahschema-oci.yaml   # with the node's registry, which speaks no TLS",
                );
                let text = example("ptahschema-oci.yaml")?
                    .replace("registry.example", REGISTRY)
                    .replace(
                        "    verificationPolicyFrom:\n",
                        "    transport: {plainHTTP: true}\n    verificationPolicyFrom:\n",
                    );
                cluster.apply(&text)
            }
        }
    }

    /// Changes what is declared.
    pub(super) fn edit(&self, cluster: &Cluster) -> Result<()> {
        let (path, text) = ADDED;
        match self {
            Self::ConfigMap => {
                let patch = json!({"data": {path: text}}).to_string();
                show(&format!(
                    "kubectl -n application patch configmap application-schema -p '{patch}'"
                ));
                cluster
                    .ask(&[
                        "-n",
                        NAMESPACE,
                        "patch",
                        "configmap",
                        "application-schema",
                        "-p",
                        &patch,
                    ])
                    .map(drop)
            }
            Self::Git(server) => {
                show(&format!(
                    "git add db/schema/{path} && git commit -m 'names and big orders' && git push"
                ));
                let file = format!("db/schema/{path}");
                let commit = server.commit(REPOSITORY, "names and big orders", &[(&file, text)])?;
                println!("{commit}");
                Ok(())
            }
            Self::Oci(_) => {
                let mut files = declared(cluster)?;
                files.push((path.to_owned(), text.to_owned()));
                self.publish(cluster, &files)
            }
        }
    }

    /// Whether a change is noticed at once, and not at the next interval.
    pub(super) fn is_watched(&self) -> bool {
        matches!(self, Self::ConfigMap)
    }

    /// Pushes the files as a plain artifact, by the real `crane`.
    fn publish(&self, cluster: &Cluster, files: &[(String, String)]) -> Result<()> {
        let Cluster::Node(node) = cluster else {
            bail!("only the test node has a registry of its own");
        };
        let reference = format!("{REGISTRY}/{ARTIFACT}:v1");
        show(&format!(
            "oras push {reference} …   # or: flux push artifact, ptah schema push"
        ));
        let annotations = json!({
            "org.opencontainers.image.source": "https://git.example/team/application",
            "org.opencontainers.image.revision": "the commit that it was made from",
        });
        let folder = tempfile::tempdir()?;
        let digest = crate::artifact::layout(folder.path(), files, &annotations)?;
        let mut crane = node.command("crane")?;
        crane
            .arg("push")
            .arg(folder.path())
            .args([&reference, "--insecure"]);
        run::quiet(&mut crane)?;
        println!("{digest}");
        match self {
            Self::Oci(Some(cosign)) => cosign.sign(node, &format!("{REGISTRY}/{ARTIFACT}@{digest}")),
            _ => Ok(()),
        }
    }

    /// The artifact whose signature is asked for, where one is.
    pub(super) fn signed(&self) -> Option<Signed<'_>> {
        match self {
            Self::Oci(Some(cosign)) => Some(Signed(cosign)),
            _ => None,
        }
    }
}

/// An artifact that is signed.
pub(super) struct Signed<'a>(&'a Cosign);

impl Signed<'_> {
    /// Takes the signature from the artifact that the tag names, and signs it as somebody else.
    pub(super) fn sign_with_another_key(&self, cluster: &Cluster) -> Result<()> {
        let Cluster::Node(node) = cluster else {
            bail!("only the test node has a registry of its own");
        };
        let repository = format!("{REGISTRY}/{ARTIFACT}");
        let crane = |arguments: &[&str]| -> Result<String> {
            let mut crane = node.command("crane")?;
            crane.args(arguments).arg("--insecure");
            Ok(run::output(&mut crane)?.trim().to_owned())
        };
        let digest = crane(&["digest", &format!("{repository}:v1")])?;
        let signatures = format!("{repository}:{}", digest.replace(':', "-"));
        let signature = crane(&["digest", &signatures])?;
        show(&format!("crane delete {signatures}"));
        crane(&["delete", &format!("{repository}@{signature}")])?;
        self.0.replace_key()?;
        self.0.sign(node, &format!("{repository}@{digest}"))
    }
}

/// The policy that is declared: what it is called, and where it stands.
fn policy(cosign: Option<&Cosign>, folder: &Path) -> Result<(&'static str, PathBuf)> {
    let Some(cosign) = cosign else {
        let name = "verification-policy.yaml";
        return Ok(("examples/verification-policy.yaml", examples().join(name)));
    };
    let text = example("verification-policy-signed.yaml")?;
    let begins = text.find("      -----BEGIN").context("the example has no key")?;
    let ends = text
        .find("-----END PUBLIC KEY-----\n")
        .context("the example's key has no end")?;
    let ends = ends + "-----END PUBLIC KEY-----\n".len();
    let indented: String = cosign
        .public()?
        .lines()
        .map(|line| format!("      {line}\n"))
        .collect();
    let path = folder.join("policy.yaml");
    std::fs::write(&path, format!("{}{indented}{}", &text[..begins], &text[ends..]))?;
    Ok((
        "verification-policy-signed.yaml   # with your own cosign.pub",
        path,
    ))
}

/// The files that the first example declares, in the order of their names.
fn declared(cluster: &Cluster) -> Result<Vec<(String, String)>> {
    let path = examples().join("ptahschema.yaml").display().to_string();
    let text = cluster.ask(&["create", "-f", &path, "--dry-run=client", "-o", "json"])?;
    let found = serde_json::Deserializer::from_str(&text)
        .into_iter::<serde_json::Value>()
        .collect::<Result<Vec<_>, _>>()?;
    let objects = found.iter().flat_map(|object| {
        object["items"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![object.clone()])
    });
    let map = objects
        .into_iter()
        .find(|object| object["kind"] == "ConfigMap")
        .context("examples/ptahschema.yaml has no ConfigMap")?;
    let data = map["data"].as_object().context("the ConfigMap has no data")?;
    Ok(data
        .iter()
        .map(|(key, text)| (key.clone(), text.as_str().unwrap_or_default().to_owned()))
        .collect())
}

fn examples() -> PathBuf {
    workspace::root().join("examples")
}

fn example(name: &str) -> Result<String> {
    let path = examples().join(name);
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}
