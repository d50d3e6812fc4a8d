//! A PostgreSQL 17 with TLS in a Pod, with a login that is no superuser, and a way to it from here.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio_postgres::NoTls;

use super::Cluster;

const PATIENCE: Duration = Duration::from_secs(120);
/// Secrets of a server that lives as long as the demo. Tests look for this text wherever a secret must not be.
const PASSWORD: &str = "planted-secret-Vah9ooqu";

/// A database server on the cluster.
pub struct Database {
    namespace: String,
    way: Way,
    runtime: tokio::runtime::Runtime,
}

/// How this machine reaches the server.
struct Way {
    host: String,
    port: u16,
    /// `kubectl port-forward`, where the cluster's network is not ours.
    forward: Option<Child>,
}

impl Drop for Way {
    fn drop(&mut self) {
        // The forwarding ends with us; there is nobody left to tell if it ended before.
        if let Some(forward) = &mut self.forward {
            let _ = forward.kill();
            let _ = forward.wait();
        }
    }
}

/// A connection that stays open, as the superuser in one database: what it holds, it holds until it is dropped.
pub struct Session<'a> {
    database: &'a Database,
    client: tokio_postgres::Client,
}

impl Session<'_> {
    /// Runs statements.
    pub fn run(&self, statements: &str) -> Result<()> {
        Ok(self
            .database
            .runtime
            .block_on(self.client.batch_execute(statements))?)
    }
}

impl Database {
    /// Starts the server in a namespace of its own and waits until it answers.
    pub fn start(cluster: &Cluster, namespace: &str, image: &str) -> Result<Self> {
        cluster.restricted_namespace(namespace)?;
        let host = format!("postgresql.{namespace}.svc");
        let key = rcgen::generate_simple_self_signed(vec![host])?;
        cluster.apply(&manifests(
            namespace,
            image,
            &key.cert.pem(),
            &key.signing_key.serialize_pem(),
        ))?;
        cluster.ask(&[
            "wait",
            "-n",
            namespace,
            "pod/postgresql",
            "--for=condition=Ready",
            "--timeout=120s",
        ])?;
        let way = match cluster {
            Cluster::Node(_) => Way {
                host: cluster.ask(&[
                    "get",
                    "service",
                    "postgresql",
                    "-n",
                    namespace,
                    "-o",
                    "jsonpath={.spec.clusterIP}",
                ])?,
                port: 5432,
                forward: None,
            },
            Cluster::Context(_) => {
                let (forward, port) = forward(cluster, namespace)?;
                Way {
                    host: "127.0.0.1".to_owned(),
                    port,
                    forward: Some(forward),
                }
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let database = Self {
            namespace: namespace.to_owned(),
            way,
            runtime,
        };
        cluster.wait("the database to answer", PATIENCE, || {
            Ok(database.sql("postgres", "SELECT 1").ok())
        })?;
        Ok(database)
    }

    /// Makes a database and a login that owns it and is no superuser, and returns the URL that operations use.
    pub fn create(&self, name: &str) -> Result<String> {
        self.sql(
            "postgres",
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )?;
        self.sql(
            "postgres",
            &format!(
                "DO $$ BEGIN CREATE ROLE {name}_app LOGIN PASSWORD '{PASSWORD}'; \
                 EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            ),
        )?;
        self.sql("postgres", &format!("CREATE DATABASE {name} OWNER {name}_app"))?;
        Ok(format!(
            "postgres://{name}_app:{PASSWORD}@postgresql.{}.svc:5432/{name}?sslmode=require",
            self.namespace
        ))
    }

    /// The URL of a database that was made, for a program on this machine, which knows no name of the cluster.
    pub fn url_from_here(&self, name: &str) -> String {
        let Way { host, port, .. } = &self.way;
        format!("postgres://{name}_app:{PASSWORD}@{host}:{port}/{name}?sslmode=require")
    }

    /// Runs statements as the superuser in one database, as a person would by hand; the first column of the rows.
    pub fn sql(&self, database: &str, statements: &str) -> Result<Vec<String>> {
        let address = self.address(database);
        self.runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&address, NoTls).await?;
            let connection = tokio::spawn(connection);
            let rows = client.simple_query(statements).await?;
            drop(client);
            connection.await??;
            Ok(rows
                .iter()
                .filter_map(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(ToOwned::to_owned),
                    _ => None,
                })
                .collect())
        })
    }

    /// Opens a connection that stays.
    pub fn session(&self, database: &str) -> Result<Session<'_>> {
        let address = self.address(database);
        let client = self.runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&address, NoTls).await?;
            tokio::spawn(connection);
            Ok::<_, tokio_postgres::Error>(client)
        })?;
        Ok(Session {
            database: self,
            client,
        })
    }

    fn address(&self, database: &str) -> String {
        let Way { host, port, .. } = &self.way;
        format!(
            "host={host} port={port} user=postgres password={PASSWORD} dbname={database} connect_timeout=5"
        )
    }

    /// The text that must be nowhere.
    pub fn secret() -> &'static str {
        PASSWORD
    }
}

/// Forwards a free port of this machine to the server.
fn forward(cluster: &Cluster, namespace: &str) -> Result<(Child, u16)> {
    let mut child = cluster
        .kubectl()?
        .args([
            "port-forward",
            "-n",
            namespace,
            "pod/postgresql",
            "--address",
            "127.0.0.1",
            ":5432",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start kubectl")?;
    let mut lines = BufReader::new(child.stdout.take().context("no word from kubectl")?).lines();
    let line = lines.next().context("kubectl port-forward ended")??;
    let port = line
        .split("127.0.0.1:")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|port| port.parse().ok());
    let Some(port) = port else {
        bail!("kubectl port-forward said {line:?}")
    };
    // Whoever forwards goes on talking; nobody reading would end it.
    std::thread::spawn(move || for _line in lines {});
    Ok((child, port))
}

fn manifests(namespace: &str, image: &str, certificate: &str, key: &str) -> String {
    let secret = |text: &str| BASE64_STANDARD.encode(text);
    format!(
        r#"apiVersion: v1
kind: Secret
metadata: {{name: postgresql, namespace: {namespace}}}
data: {{password: {password}, tls.crt: {certificate}, tls.key: {key}}}
---
apiVersion: v1
kind: Service
metadata: {{name: postgresql, namespace: {namespace}}}
spec: {{selector: {{app: postgresql}}, ports: [{{port: 5432}}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: postgresql, namespace: {namespace}, labels: {{app: postgresql}}}}
spec:
  automountServiceAccountToken: false
  securityContext: {{runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999, seccompProfile: {{type: RuntimeDefault}}}}
  containers:
    - name: postgresql
      image: {image}
      args: ["-c", "max_connections=100"]
      securityContext: {{allowPrivilegeEscalation: false, capabilities: {{drop: [ALL]}}, readOnlyRootFilesystem: true}}
      readinessProbe: {{tcpSocket: {{port: 5432}}, periodSeconds: 1}}
      volumeMounts:
        - {{name: password, mountPath: /etc/postgresql/password}}
        - {{name: tls, mountPath: /etc/postgresql/tls}}
        - {{name: data, mountPath: /var/lib/postgresql}}
        - {{name: tmp, mountPath: /tmp}}
  volumes:
    - {{name: password, secret: {{secretName: postgresql, items: [{{key: password, path: password}}]}}}}
    - {{name: tls, secret: {{secretName: postgresql, items: [{{key: tls.crt, path: tls.crt}}, {{key: tls.key, path: tls.key}}]}}}}
    - {{name: data, emptyDir: {{}}}}
    - {{name: tmp, emptyDir: {{}}}}
"#,
        password = secret(PASSWORD),
        certificate = secret(certificate),
        key = secret(key),
    )
}
