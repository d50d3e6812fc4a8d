//! The realm's Lease: one interval of ownership has one epoch.
//!
//! Promises: a Lease is taken only when it has no holder, or when its holder left it unchanged for its whole duration
//! by this process's own monotonic clock (another machine's wall clock proves nothing); taking it makes a new epoch;
//! renewing keeps it; giving it back needs holder and epoch to match. A record that makes no sense is never taken.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::PostParams;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::names;
use ptah_contract::digest::Digest;

use crate::lifecycle::evidence::LeaseEvidence;
use crate::lifecycle::step::LeaseClaim;

/// Why a Lease could not be taken, renewed or given back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused or could not be asked.
    #[error("the realm's Lease could not be read or written")]
    Api(#[from] kube::Error),
    /// Somebody else holds it, or took it meanwhile.
    #[error("the realm's Lease is held by another operation")]
    Held,
}

/// The realm Leases of one coordination namespace, and when each foreign record was first seen unchanged.
pub struct Leases {
    api: Api<Lease>,
    seen: Mutex<HashMap<String, (String, Instant)>>,
}

impl Leases {
    /// Leases in this namespace.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        Self {
            api: Api::namespaced(client, namespace),
            seen: Mutex::default(),
        }
    }

    /// How the Lease stands for this resource and operation.
    ///
    /// # Errors
    /// When the API server cannot be asked.
    pub async fn read(
        &self,
        realm: &Digest,
        uid: &str,
        operation_id: &str,
    ) -> Result<LeaseEvidence, kube::Error> {
        let name = names::realm_lease_name(realm);
        let lease = self.api.get_opt(&name).await?;
        Ok(self.judge(&name, lease.as_ref(), &names::lease_holder(uid, operation_id)))
    }

    fn judge(&self, name: &str, lease: Option<&Lease>, holder: &str) -> LeaseEvidence {
        let Some(lease) = lease else {
            return LeaseEvidence::Available;
        };
        let spec = lease.spec.clone().unwrap_or_default();
        let held_by = spec.holder_identity.clone().filter(|holder| !holder.is_empty());
        let Some(held_by) = held_by else {
            return LeaseEvidence::Available;
        };
        let epoch = lease
            .annotations()
            .get(names::ANNOTATION_LEASE_EPOCH)
            .cloned()
            .unwrap_or_default();
        let duration = spec
            .lease_duration_seconds
            .and_then(|seconds| u64::try_from(seconds).ok());
        if held_by == holder {
            // A renewal in the future means a clock that was set back: renewing is the safe answer.
            let due = spec
                .renew_time
                .as_ref()
                .zip(duration)
                .is_none_or(|(renewed, duration)| {
                    let age = Timestamp::now().duration_since(renewed.0).as_secs();
                    age < 0 || age * 3 >= i64::try_from(duration).unwrap_or(i64::MAX)
                });
            return LeaseEvidence::Ours { epoch, due };
        }
        let Some(duration) = duration else {
            return LeaseEvidence::Foreign;
        };
        let version = lease.resource_version().unwrap_or_default();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = seen
            .entry(name.to_owned())
            .or_insert_with(|| (version.clone(), Instant::now()));
        if entry.0 != version {
            *entry = (version, Instant::now());
        }
        if entry.1.elapsed() > Duration::from_secs(duration) {
            LeaseEvidence::Available
        } else {
            LeaseEvidence::Foreign
        }
    }

    /// Takes the Lease under a new epoch, or does nothing when this operation holds it already.
    ///
    /// # Errors
    /// [`Error::Held`] when somebody else has it.
    pub async fn acquire(&self, claim: &LeaseClaim, uid: &str, fresh_epoch: &str) -> Result<(), Error> {
        let name = names::realm_lease_name(&claim.coordination_digest);
        let holder = names::lease_holder(uid, &claim.operation_id);
        let found = self.api.get_opt(&name).await?;
        match self.judge(&name, found.as_ref(), &holder) {
            LeaseEvidence::Ours { .. } => return Ok(()),
            LeaseEvidence::Foreign | LeaseEvidence::NotRead => return Err(Error::Held),
            LeaseEvidence::Available => {}
        }
        let now = MicroTime(Timestamp::now());
        let before = found
            .as_ref()
            .and_then(|lease| lease.spec.clone())
            .unwrap_or_default();
        let spec = LeaseSpec {
            holder_identity: Some(holder),
            lease_duration_seconds: Some(claim.duration_seconds),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: Some(before.lease_transitions.unwrap_or(0).saturating_add(1)),
            ..LeaseSpec::default()
        };
        let metadata = ObjectMeta {
            name: Some(name.clone()),
            resource_version: found.as_ref().and_then(kube::ResourceExt::resource_version),
            labels: Some(
                [
                    (names::LABEL_MANAGED_BY.to_owned(), names::MANAGED_BY.to_owned()),
                    (names::LABEL_COORDINATION.to_owned(), "database-target".to_owned()),
                ]
                .into(),
            ),
            annotations: Some([(names::ANNOTATION_LEASE_EPOCH.to_owned(), fresh_epoch.to_owned())].into()),
            ..ObjectMeta::default()
        };
        let lease = Lease {
            metadata,
            spec: Some(spec),
        };
        let written = match found {
            None => self.api.create(&PostParams::default(), &lease).await,
            Some(_) => self.api.replace(&name, &PostParams::default(), &lease).await,
        };
        held_or(written)
    }

    /// Renews the Lease, if this operation holds it under this epoch.
    ///
    /// # Errors
    /// [`Error::Held`] when it does not.
    pub async fn renew(&self, claim: &LeaseClaim, uid: &str) -> Result<(), Error> {
        self.update_own(claim, uid, |spec| {
            spec.renew_time = Some(MicroTime(Timestamp::now()))
        })
        .await?
        .ok_or(Error::Held)
    }

    /// Gives the Lease back. One that is gone, or is another's by now, counts as given back.
    ///
    /// # Errors
    /// When the API server cannot be asked, or somebody wrote the Lease meanwhile.
    pub async fn release(&self, claim: &LeaseClaim, uid: &str) -> Result<(), Error> {
        self.update_own(claim, uid, |spec| spec.holder_identity = None)
            .await
            .map(|_| ())
    }

    async fn update_own(
        &self,
        claim: &LeaseClaim,
        uid: &str,
        change: impl FnOnce(&mut LeaseSpec),
    ) -> Result<Option<()>, Error> {
        let name = names::realm_lease_name(&claim.coordination_digest);
        let Some(mut lease) = self.api.get_opt(&name).await? else {
            return Ok(None);
        };
        let holder = names::lease_holder(uid, &claim.operation_id);
        let epoch = lease.annotations().get(names::ANNOTATION_LEASE_EPOCH);
        let Some(spec) = lease.spec.as_ref() else {
            return Ok(None);
        };
        if spec.holder_identity.as_ref() != Some(&holder) || epoch != claim.epoch.as_ref() {
            return Ok(None);
        }
        if let Some(spec) = lease.spec.as_mut() {
            change(spec);
        }
        lease.metadata.managed_fields = None;
        held_or(self.api.replace(&name, &PostParams::default(), &lease).await)?;
        Ok(Some(()))
    }
}

/// A conflict means that somebody was faster: the next pass looks again.
fn held_or(written: Result<Lease, kube::Error>) -> Result<(), Error> {
    match written {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 409 => Err(Error::Held),
        Err(error) => Err(error.into()),
    }
}
