//! Ownership: what the manager makes goes with what it was made for.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

/// The one controlling owner, whose deletion waits for what it owns; nothing for an object that was never stored.
pub fn controller_reference<K: Resource<DynamicType = ()>>(owner: &K) -> Option<Vec<OwnerReference>> {
    let mut reference = owner.controller_owner_ref(&())?;
    reference.block_owner_deletion = Some(true);
    Some(vec![reference])
}
