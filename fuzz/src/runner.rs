//! The documents between the manager and an operation Pod.

use std::fmt::Debug;

use ptah_contract::protocol::{MAX_PLAN_BYTES, Outcome, Request};
use serde::Serialize;

fn reads_back<T: Serialize + PartialEq + Debug, E: std::fmt::Display>(
    document: &T,
    read: impl Fn(&[u8]) -> Result<T, E>,
) {
    let bytes = serde_json::to_vec(document).expect("what was read is JSON");
    match read(&bytes) {
        Ok(again) => assert_eq!(again, *document),
        Err(error) => panic!("it does not read back: {error}"),
    }
}

/// A request that is read is written, and read as itself, and so is the identity of its policy.
pub fn runner_request(data: &[u8]) {
    let Ok(request) = Request::from_bytes(data) else {
        return;
    };
    reads_back(&request, Request::from_bytes);
    let fingerprint = request.policy.fingerprint().expect("a policy is JSON");
    let mut turned = request.policy.clone();
    turned.exclude.reverse();
    turned.protected_tables.reverse();
    assert_eq!(turned.fingerprint().ok(), Some(fingerprint));
}

/// An outcome that is read is written, and read as itself; its plan is within its limit.
pub fn runner_outcome(data: &[u8]) {
    let Ok(outcome) = Outcome::from_bytes(data) else {
        return;
    };
    reads_back(&outcome, Outcome::from_bytes);
    let document = outcome.plan.and_then(|plan| plan.document);
    assert!(document.is_none_or(|document| document.len() <= MAX_PLAN_BYTES));
}
