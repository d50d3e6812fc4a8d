//! Labels, annotations, finalizers and the names of objects that the manager makes.

use ptah_contract::digest::Digest;
use sha2::{Digest as _, Sha256};

/// Value of `app.kubernetes.io/managed-by`.
pub const MANAGED_BY: &str = "ptah-operator";
/// Standard label of the managing program.
pub const LABEL_MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Standard label of the part that an object plays.
pub const LABEL_COMPONENT: &str = "app.kubernetes.io/component";
/// Component of a schema's operation Jobs.
pub const COMPONENT_SCHEMA_OPERATION: &str = "schema-operation";
/// Name of the PtahSchema.
pub const LABEL_SCHEMA: &str = "operator.ptah.run/schema";
/// Lower-case operation.
pub const LABEL_OPERATION: &str = "operator.ptah.run/operation";
/// First 16 hex digits of the operation id's SHA-256.
pub const LABEL_OPERATION_ID: &str = "operator.ptah.run/operation-id";
/// Name of the plan that a chunk belongs to.
pub const LABEL_PLAN: &str = "operator.ptah.run/plan";
/// Part of a result that a record is.
pub const LABEL_RESULT_RECORD: &str = "operator.ptah.run/result-record";
/// What an object that coordinates is for.
pub const LABEL_COORDINATION: &str = "operator.ptah.run/coordination";
/// Marks a source snapshot.
pub const LABEL_SNAPSHOT: &str = "operator.ptah.run/snapshot";

/// The runner's request document.
pub const ANNOTATION_REQUEST: &str = "operator.ptah.run/request";
/// The operation's id.
pub const ANNOTATION_OPERATION_ID: &str = "operator.ptah.run/operation-id";
/// What the claim was made from.
pub const ANNOTATION_INPUT_FINGERPRINT: &str = "operator.ptah.run/input-fingerprint";
/// Epoch of the execution binding.
pub const ANNOTATION_EXECUTION_BINDING: &str = "operator.ptah.run/execution-binding-id";
/// Image of the manager that made the Job.
pub const ANNOTATION_CONTROLLER_IMAGE: &str = "operator.ptah.run/controller-image";
/// Fingerprint of the plan that an Apply runs.
pub const ANNOTATION_PLAN_FINGERPRINT: &str = "operator.ptah.run/plan-fingerprint";
/// Keeps the cluster autoscaler from evicting a Pod that changes a database.
pub const ANNOTATION_SAFE_TO_EVICT: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict";
/// Epoch of a realm Lease.
pub const ANNOTATION_LEASE_EPOCH: &str = "operator.ptah.run/lease-epoch";

/// Finalizer while a claim that holds a Lease is in flight.
pub const FINALIZER: &str = "operator.ptah.run/active-operation";
/// Name of the manager's leader election Lease.
pub const LEADER_LEASE: &str = "ptah-operator.operator.ptah.run";

/// Deterministic name of a Job: known, and written down, before the Job exists.
#[must_use]
pub fn job_name(resource: &str, operation: &str, identity: &[&str]) -> String {
    let suffix = short_hash(identity);
    let room = 63 - "ptah---".len() - operation.len() - suffix.len();
    let resource: String = resource.chars().take(room).collect();
    format!(
        "ptah-{operation}-{}-{suffix}",
        resource.trim_end_matches(['-', '.'])
    )
}

/// First 16 hex digits of SHA-256 over the parts, joined by NUL.
#[must_use]
pub fn short_hash(parts: &[&str]) -> String {
    Digest::of(parts.join("\0").as_bytes()).hex()[..16].to_owned()
}

/// Name of a realm's Lease: `ptah-t-` and the base32 of the coordination digest.
#[must_use]
pub fn realm_lease_name(coordination: &Digest) -> String {
    // The digest's text is valid hex by construction.
    let bytes: Vec<u8> = coordination
        .hex()
        .as_bytes()
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    format!("ptah-t-{}", base32(&bytes))
}

/// Holder of a realm's Lease: `ptah-h-` and the base32 of SHA-256 over resource UID, NUL, operation id.
#[must_use]
pub fn lease_holder(resource_uid: &str, operation_id: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(resource_uid.as_bytes());
    hasher.update([0]);
    hasher.update(operation_id.as_bytes());
    format!("ptah-h-{}", base32(&hasher.finalize()))
}

/// Name of a snapshot: `ptah-src-` and 32 hex digits over resource UID, NUL, content digest, so that two resources
/// with the same files have a snapshot each.
#[must_use]
pub fn snapshot_name(resource_uid: &str, content: &Digest) -> String {
    let hash = Digest::of(format!("{resource_uid}\0{content}").as_bytes());
    format!("ptah-src-{}", &hash.hex()[..32])
}

/// Name of a plan's chunk.
#[must_use]
pub fn chunk_name(plan: &str, index: usize) -> String {
    format!("{plan}-{index:03}")
}

/// RFC 4648 base32, lower case, without padding.
fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut buffer, mut bits) = (0u32, 0);
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(buffer >> bits) as usize & 31]));
        }
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[(buffer << (5 - bits)) as usize & 31]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_deterministic_and_fit_kubernetes() {
        let long = "a".repeat(63);
        let name = job_name(&long, "observe", &["uid", "id"]);
        assert_eq!(name.len(), 63);
        assert_eq!(name, job_name(&long, "observe", &["uid", "id"]));
        assert_ne!(name, job_name(&long, "observe", &["uid", "id2"]));
        assert!(job_name("a-------------------------------------b", "plan", &["x"]).len() <= 63);
        let digest = Digest::of(b"");
        assert!(realm_lease_name(&digest).len() <= 63 && lease_holder("u", "o").len() <= 63);
        assert_ne!(snapshot_name("a", &digest), snapshot_name("b", &digest));
    }

    #[test]
    fn base32_is_rfc_4648() {
        for (input, output) in [
            ("", ""),
            ("f", "my"),
            ("fo", "mzxq"),
            ("foo", "mzxw6"),
            ("foobar", "mzxw6ytboi"),
        ] {
            assert_eq!(base32(input.as_bytes()), output);
        }
    }
}
