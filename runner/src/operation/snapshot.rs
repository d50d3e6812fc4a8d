//! The init container: holds the snapshot to the digest that the operation was bound to, and copies its files.

use std::path::Path;

use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{Request, paths};

pub(super) fn run(request: &Request) -> Result<(), Failure> {
    let Some(wanted) = request.content_digest else {
        return Err(Failure::new(
            "invalid_request",
            FailureClass::Internal,
            "the request names no content",
        ));
    };
    ptah_resolver::snapshot::copy_checked(
        Path::new(paths::SNAPSHOT_DIR),
        wanted,
        Path::new(paths::CONTENT_DIR),
    )
    .map(|_| ())
    .map_err(|error| error.to_failure())
}
