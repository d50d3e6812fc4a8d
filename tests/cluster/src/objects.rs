//! More of a test's world: other schemas beside the first, and the objects that the manager makes.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::{PATIENCE, World, shared};

impl World {
    /// An object of this namespace that must be there.
    pub fn object(&self, kind: &str, name: &str) -> Result<Value> {
        self.find(kind, name)?
            .with_context(|| format!("there is no {kind} {name}"))
    }

    /// An object of this namespace, where there is one.
    pub fn find(&self, kind: &str, name: &str) -> Result<Option<Value>> {
        shared().cluster.get(&self.namespace(), kind, name)
    }

    /// All objects of a kind in this namespace.
    pub fn all(&self, kind: &str) -> Result<Vec<Value>> {
        let text = shared()
            .cluster
            .ask(&["get", kind, "-n", &self.namespace(), "-o", "json"])?;
        let mut list: Value = serde_json::from_str(&text)?;
        Ok(list["items"]
            .as_array_mut()
            .map(std::mem::take)
            .unwrap_or_default())
    }

    /// Applies an object to this namespace.
    pub fn put(&self, mut object: Value) -> Result<()> {
        object["metadata"]["namespace"] = self.namespace().into();
        shared().cluster.apply(&object.to_string())
    }

    /// Deletes an object of this namespace and waits until it is gone.
    pub fn delete(&self, kind: &str, name: &str) -> Result<()> {
        shared()
            .cluster
            .ask(&["delete", kind, name, "-n", &self.namespace(), "--timeout=60s"])?;
        Ok(())
    }

    /// Waits until an object is gone, without asking for it.
    pub fn until_gone(&self, kind: &str, name: &str) -> Result<()> {
        shared()
            .cluster
            .wait(&format!("{kind} {name} to go"), PATIENCE, || {
                Ok(self.find(kind, name)?.is_none().then_some(()))
            })
    }

    /// A schema of another name; `spec` is merged over the smallest one, as for the first.
    pub fn schema_named(&self, name: &str, spec: &Value) -> Result<()> {
        self.declare(name, name, &json!({}), spec)
    }

    /// Applies a schema of this name and realm; `spec` is merged over the smallest one.
    pub(crate) fn declare(&self, name: &str, realm: &str, annotations: &Value, spec: &Value) -> Result<()> {
        let mut whole = json!({
            "target": {"engine": "PostgreSQL", "coordinationKey": realm, "urlFrom": {"name": "db", "key": "url"}},
            "desired": {"configMap": {"name": "sql"}},
            "execution": {"failureRetryInterval": "5s"},
        });
        for (key, value) in spec.as_object().into_iter().flatten() {
            whole[key] = value.clone();
        }
        self.put(
            json!({"apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
                "metadata": {"name": name, "annotations": annotations}, "spec": whole}),
        )
    }

    /// Waits for a schema of any name that satisfies `met`; the error shows the last one.
    pub fn until_of(&self, name: &str, what: &str, met: impl Fn(&Value) -> bool) -> Result<Value> {
        let mut last = Value::Null;
        let found = shared().cluster.wait(what, PATIENCE, || {
            last = self.read_of(name)?;
            Ok(met(&last).then(|| last.clone()))
        });
        found.with_context(|| format!("{name}: {:#}", last["status"]))
    }

    /// Waits for a condition's reason, on a schema of any name.
    pub fn until_reason(&self, name: &str, condition: &str, reason: &str) -> Result<Value> {
        self.until_of(name, &format!("{condition}/{reason}"), |schema| {
            crate::condition(schema, condition).ends_with(&format!("/{reason}"))
        })
    }

    /// The Events about an object of this namespace, as one text.
    pub fn events(&self) -> Result<String> {
        shared()
            .cluster
            .ask(&["get", "events", "-n", &self.namespace(), "-o", "yaml"])
    }

    /// Tables of the schema `public`, by name.
    pub fn tables(&self) -> Result<Vec<String>> {
        self.sql("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    }

    /// Columns of a table, in their order.
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        self.sql(&format!(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0 \
             AND NOT attisdropped ORDER BY attnum"
        ))
    }

    /// Makes the login that the Secret names the owner of a table, as an earlier run of the operator would have.
    pub fn own(&self, table: &str) -> Result<()> {
        self.sql(&format!("ALTER TABLE {table} OWNER TO {}_app", self.database()))?;
        Ok(())
    }

    /// The first chunk of the plan that waits.
    pub fn chunk(&self) -> Result<String> {
        let schema = self.read()?;
        let plan = schema["status"]["plan"]["name"]
            .as_str()
            .context("no plan waits")?;
        ensure!(schema["status"]["plan"]["chunks"] == 1, "one chunk: {schema}");
        Ok(format!("{plan}-000"))
    }

    /// Binds a person to a ClusterRole in this namespace.
    pub fn bind(&self, user: &str, role: &str) -> Result<()> {
        self.put(
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                "metadata": {"name": format!("{user}-{role}")},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]}),
        )
    }
}

/// An object without what the API server added, so that it can be created again.
#[must_use]
pub fn bare(object: &Value) -> Value {
    let mut bare = object.clone();
    if let Some(whole) = bare.as_object_mut() {
        whole.remove("status");
    }
    if let Some(metadata) = bare["metadata"].as_object_mut() {
        metadata.retain(|key, _| {
            matches!(
                key.as_str(),
                "name" | "namespace" | "labels" | "annotations" | "ownerReferences"
            )
        });
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    bare
}
