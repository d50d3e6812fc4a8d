//! Finds a schema's plan and its bytes, and checks them as the operator does before it runs them.
//!
//! Promises: a plan is returned only when its object is the one that the schema names (UID and fingerprint), its
//! binding gives that fingerprint, its storage is committed, and every part and the whole have the recorded digests.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::KubeconfigError;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::conditions::{is_true, types};
use ptah_api::{PtahSchema, PtahSchemaPlan, PtahSchemaStatus};
use ptah_contract::plan_chunks::{self, CHUNK_KEY};
use ptah_contract::plan_document::{PlanDocument, PlanDocumentError};

/// Which plan of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The one that waits.
    Current,
    /// The one that ran last.
    Applied,
}

/// A plan that verified.
#[derive(Debug)]
pub struct Loaded {
    /// The schema that names it.
    pub schema: PtahSchema,
    /// The plan object.
    pub plan: PtahSchemaPlan,
    /// Which of the schema's plans it is.
    pub selection: Selection,
    /// The stored document, byte for byte.
    pub bytes: Vec<u8>,
    /// The same, read.
    pub document: PlanDocument,
}

/// Why no plan is shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration does not name a cluster.
    #[error("the kubeconfig cannot be used; check --kubeconfig and --context")]
    Kubeconfig(#[source] KubeconfigError),
    /// No client can be made of it.
    #[error("the cluster cannot be connected to")]
    Connect(#[source] kube::Error),
    /// The time is over.
    #[error(
        "the cluster did not answer within {0} s; check the connection, or give more time with --timeout"
    )]
    Slow(u64),
    /// The API server does not give an object.
    #[error("{what} cannot be read; you need the verb get on it in this namespace: {words}")]
    Forbidden {
        /// The object.
        what: String,
        /// The server's words.
        words: String,
    },
    /// The API server does not answer as it should.
    #[error("{what} cannot be read: {words}")]
    Api {
        /// The object.
        what: String,
        /// The cause, in words.
        words: String,
    },
    /// No such schema.
    #[error("there is no ptahschema {0}; check the name, and the namespace given with -n")]
    NoSchema(String),
    /// The schema has no such plan (exit status 3).
    #[error("{0}")]
    NoPlan(String),
    /// The plan object is gone.
    #[error("the plan object {0} is named by the schema and does not exist; the operator plans again")]
    PlanGone(String),
    /// The plan object is not what the schema names.
    #[error(
        "plan {name} did not verify: {what}; do not approve it, delete the plan object and the operator plans again"
    )]
    Plan {
        /// The plan.
        name: String,
        /// What does not hold.
        what: &'static str,
    },
    /// The storage is not committed.
    #[error("plan {0} is not Ready: its SQL is not stored whole yet; try again in a moment")]
    NotReady(String),
    /// The bytes are not the plan's.
    #[error(
        "plan {name} did not verify; do not approve it, delete the plan object and the operator plans again"
    )]
    Bytes {
        /// The plan.
        name: String,
        /// What does not hold.
        #[source]
        source: plan_chunks::Error,
    },
    /// The bytes are the plan's and are no document that this program reads.
    #[error(
        "plan {name} cannot be shown by this version of kubectl ptah; use the one of the operator's release"
    )]
    Document {
        /// The plan.
        name: String,
        /// What does not hold.
        #[source]
        source: PlanDocumentError,
    },
    /// The terminal or pipe does not take it.
    #[error("the plan cannot be written out")]
    Print(#[source] std::io::Error),
}

impl Error {
    /// The exit status.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        if matches!(self, Self::NoPlan(_)) { 3 } else { 1 }
    }
}

/// What the schema says about the plan.
struct Named {
    name: String,
    uid: String,
    fingerprint: String,
}

/// Finds, reads and checks a plan.
///
/// # Errors
/// [`Error`].
pub async fn load(
    client: &Client,
    namespace: &str,
    name: &str,
    selection: Selection,
) -> Result<Loaded, Error> {
    let what = format!("ptahschema {namespace}/{name}");
    let found = Api::<PtahSchema>::namespaced(client.clone(), namespace)
        .get_opt(name)
        .await;
    let schema = found.map_err(|error| unread(what, error))?;
    let schema = schema.ok_or_else(|| Error::NoSchema(format!("{namespace}/{name}")))?;
    let named = select(&schema, selection)?;

    let what = format!("ptahschemaplan {namespace}/{}", named.name);
    let found = Api::<PtahSchemaPlan>::namespaced(client.clone(), namespace)
        .get_opt(&named.name)
        .await;
    let plan = found.map_err(|error| unread(what, error))?;
    let plan = plan.ok_or_else(|| Error::PlanGone(named.name.clone()))?;
    verify(&schema, &plan, &named)?;

    let bytes = read_bytes(client, namespace, &plan).await?;
    let document = PlanDocument::decode(&bytes).map_err(|source| Error::Document {
        name: named.name,
        source,
    })?;
    Ok(Loaded {
        schema,
        plan,
        selection,
        bytes,
        document,
    })
}

fn select(schema: &PtahSchema, selection: Selection) -> Result<Named, Error> {
    let PtahSchemaStatus {
        plan, applied, phase, ..
    } = schema.status.clone().unwrap_or_default();
    let name = schema.name_any();
    match selection {
        Selection::Current => plan
            .map(|plan| Named {
                name: plan.name,
                uid: plan.uid,
                fingerprint: plan.fingerprint.to_string(),
            })
            .ok_or_else(|| {
                let phase = phase.unwrap_or_default();
                let hint = if applied.is_some() {
                    "; --applied shows the one that ran last"
                } else {
                    ""
                };
                Error::NoPlan(format!(
                    "ptahschema {name} has no plan that waits (phase {phase:?}){hint}"
                ))
            }),
        Selection::Applied => applied
            .map(|applied| Named {
                name: applied.plan_ref.name,
                uid: applied.plan_ref.uid,
                fingerprint: applied.plan_fingerprint.to_string(),
            })
            .ok_or_else(|| Error::NoPlan(format!("no plan of ptahschema {name} has run yet"))),
    }
}

fn verify(schema: &PtahSchema, plan: &PtahSchemaPlan, named: &Named) -> Result<(), Error> {
    let refuse = |what| {
        Err(Error::Plan {
            name: named.name.clone(),
            what,
        })
    };
    if plan.uid().as_ref() != Some(&named.uid) {
        return refuse("it is not the object that the schema names, but one made again under its name");
    }
    if plan.spec.fingerprint != named.fingerprint {
        return refuse("its fingerprint is not the one that the schema names");
    }
    if !plan.spec.binds_its_fingerprint() {
        return refuse("what it binds does not give its fingerprint");
    }
    if schema.uid().as_ref() != Some(&plan.spec.binding.resource_uid) {
        return refuse("it was made for another schema");
    }
    let conditions = plan
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    if !is_true(conditions, types::READY) {
        return Err(Error::NotReady(named.name.clone()));
    }
    Ok(())
}

async fn read_bytes(client: &Client, namespace: &str, plan: &PtahSchemaPlan) -> Result<Vec<u8>, Error> {
    let name = plan.name_any();
    let (recorded, whole) = plan.spec.parts();
    let refuse = |source| Error::Bytes {
        name: name.clone(),
        source,
    };
    // Before anything is read: a record of sixteen parts at most is asked for, whatever the object says.
    plan_chunks::check(&recorded, whole).map_err(refuse)?;
    let api = Api::<ConfigMap>::namespaced(client.clone(), namespace);
    let mut parts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for part in &recorded {
        let what = format!(
            "configmap {namespace}/{}, which holds a part of the plan,",
            part.name
        );
        let found = api
            .get_opt(part.name)
            .await
            .map_err(|error| unread(what, error))?;
        if let Some(bytes) = found.and_then(content) {
            parts.insert(part.name.to_owned(), bytes);
        }
    }
    plan_chunks::join(&recorded, whole, |name| parts.get(name).map(Vec::as_slice)).map_err(refuse)
}

fn content(map: ConfigMap) -> Option<Vec<u8>> {
    let binary = map
        .binary_data
        .and_then(|mut data| data.remove(CHUNK_KEY))
        .map(|bytes| bytes.0);
    binary.or_else(|| {
        map.data
            .and_then(|mut data| data.remove(CHUNK_KEY))
            .map(String::into_bytes)
    })
}

/// The client's own texts repeat their causes and show structures; a reader wants the server's sentence.
fn unread(what: String, error: kube::Error) -> Error {
    match error {
        kube::Error::Api(status) if status.is_forbidden() => Error::Forbidden {
            what,
            words: status.message,
        },
        kube::Error::Api(status) => Error::Api {
            what,
            words: status.message,
        },
        other => Error::Api {
            what,
            words: root(&other),
        },
    }
}

fn root(mut error: &dyn std::error::Error) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}
