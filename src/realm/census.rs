//! Who else claims a realm. Suspended resources and those being deleted do not count.

use kube::ResourceExt as _;
use ptah_api::PtahSchema;
use ptah_api::effective::realm_of;
use ptah_contract::digest::Digest;

use crate::lifecycle::evidence::Claimant;

/// Every other resource of the same realm, by name.
pub fn claimants<'a>(
    schema: &PtahSchema,
    realm: Digest,
    all: impl Iterator<Item = &'a PtahSchema>,
) -> Vec<Claimant> {
    let mut found: Vec<Claimant> = all
        .filter(|other| other.uid() != schema.uid())
        .filter(|other| !other.is_suspended() && other.metadata.deletion_timestamp.is_none())
        .filter(|other| realm_of(other) == Some(realm))
        .map(|other| Claimant {
            name: format!(
                "PtahSchema {}/{}",
                other.namespace().unwrap_or_default(),
                other.name_any()
            ),
            shared: other.spec.target.shared_realm.unwrap_or(false),
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}
