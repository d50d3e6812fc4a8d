//! The API server, asked in somebody's name, without a `kubectl` for every question.

use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use kube::{Client, Config};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::shared;

/// In whose name a request is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The administrator of the node, a member of `system:masters`.
    Administrator,
    /// Somebody else, impersonated.
    User(String),
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Ask<'a> {
    /// Read one object.
    Get(&'a str),
    /// Read all of them.
    List,
    /// Create this one.
    Create(&'a Value),
    /// Change the named one by a merge patch; of a subresource where it is not empty.
    Patch(&'a str, &'a str, &'a Value),
    /// Delete the named one.
    Delete(&'a str),
}

/// An answer that is not a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct No {
    /// HTTP status.
    pub code: u16,
    /// What the API server says.
    pub message: String,
}

/// Asks. With `dry` everything is judged, admission included, and nothing is kept.
///
/// # Errors
/// When there is no answer at all; a refusal is an answer.
pub fn ask(who: &Who, collection: &str, ask: Ask<'_>, dry: bool) -> Result<Result<Value, No>> {
    let request = Request::new(collection);
    let post = PostParams {
        dry_run: dry,
        ..PostParams::default()
    };
    let patch = PatchParams {
        dry_run: dry,
        ..PatchParams::default()
    };
    let delete = DeleteParams {
        dry_run: dry,
        ..DeleteParams::default()
    };
    let mut request = match ask {
        Ask::Get(name) => request.get(name, &GetParams::default())?,
        Ask::List => request.list(&ListParams::default())?,
        Ask::Create(object) => request.create(&post, serde_json::to_vec(object)?)?,
        Ask::Patch(name, "", change) => request.patch(name, &patch, &Patch::Merge(change))?,
        Ask::Patch(name, part, change) => {
            request.patch_subresource(part, name, &patch, &Patch::Merge(change))?
        }
        Ask::Delete(name) => request.delete(name, &delete)?,
    };
    if let Who::User(name) = who {
        request.headers_mut().insert("Impersonate-User", name.parse()?);
    }
    let (client, runtime) = client()?;
    match runtime.block_on(client.request::<Value>(request)) {
        Ok(value) => Ok(Ok(value)),
        Err(kube::Error::Api(status)) => Ok(Err(No {
            code: status.code,
            message: status.message.clone(),
        })),
        Err(error) => Err(error).context("the API server did not answer"),
    }
}

/// Where objects of a kind are, by the plural of the kind.
#[must_use]
pub fn collection(namespace: &str, plural: &str) -> String {
    let group = match plural {
        "configmaps" | "secrets" | "pods" | "serviceaccounts" | "events" => "/api/v1",
        "jobs" => "/apis/batch/v1",
        "leases" => "/apis/coordination.k8s.io/v1",
        _ => "/apis/operator.ptah.run/v1alpha1",
    };
    format!("{group}/namespaces/{namespace}/{plural}")
}

/// Deletes exactly the object of this UID.
///
/// # Errors
/// When it cannot be deleted.
pub fn delete_exactly(collection: &str, name: &str, uid: &str) -> Result<()> {
    let delete = DeleteParams {
        preconditions: Some(Preconditions {
            uid: Some(uid.to_owned()),
            resource_version: None,
        }),
        ..DeleteParams::default()
    };
    let request = Request::new(collection).delete(name, &delete)?;
    let (client, runtime) = client()?;
    runtime.block_on(client.request::<Value>(request))?;
    Ok(())
}

fn client() -> Result<&'static (Client, Runtime)> {
    static CLIENT: OnceLock<(Client, Runtime)> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let made = administrator()?;
    Ok(CLIENT.get_or_init(|| made))
}

/// The administrator's client, with what drives it.
///
/// # Errors
/// When there is no node.
pub fn administrator() -> Result<(Client, Runtime)> {
    let kubeconfig = shared().node.kubeconfig()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let client = runtime.block_on(async {
        // Whoever was first in this process decided already, for the same library.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        anyhow::Ok(Client::try_from(config)?)
    })?;
    Ok((client, runtime))
}
