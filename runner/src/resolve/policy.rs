//! `--source-policy`: the same rules as in a cluster, asked at the same moments.

use std::path::Path;

use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::source_policy::SourcePolicy;
use ptah_resolver::git::Repository;

pub(super) fn read(file: &Path) -> Result<SourcePolicy, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        let message = format!("the source policy cannot be read: {}", error.kind());
        Failure::new("source_policy_unreadable", FailureClass::Input, message)
    })?;
    SourcePolicy::parse(&bytes).map_err(|error| Failure::new(error.code(), error.class(), error.to_string()))
}

/// Before anything is asked of the repository. What the policy says about files is a limit of the request, so that
/// reading ends where it is exceeded.
pub(super) fn admit(policy: &SourcePolicy, repository: &Repository, verified: bool) -> Result<(), Failure> {
    repository
        .admitted_by(policy, verified)
        .map_err(|refusal| Failure::new(refusal.code(), refusal.class(), refusal.to_string()))
}
