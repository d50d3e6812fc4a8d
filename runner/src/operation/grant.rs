//! The owner's consent: a database Secret may list the schemas that may use it, one a line.

use std::io::ErrorKind;
use std::path::Path;

use ptah_contract::failure::{Failure, FailureClass};

const GRANT: &str = "ptahSchemas";

/// Refuses a resource that the Secret does not list. A Secret without a list grants every resource that names it.
pub(super) fn check(directory: &Path, resource: &str) -> Result<(), Failure> {
    let text = match std::fs::read_to_string(directory.join(GRANT)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let message = format!("the Secret's key {GRANT} cannot be read: {}", error.kind());
            return Err(Failure::new("invalid_grant", FailureClass::Input, message));
        }
    };
    if text.lines().any(|line| line.trim() == resource) {
        return Ok(());
    }
    let message =
        format!("the database Secret's key {GRANT} does not list {resource:?}; its owner must add it");
    Err(Failure::new("not_granted", FailureClass::Refused, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_with_a_list_is_for_the_listed_alone_and_one_without_for_all() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check(folder.path(), "a").is_ok());
        std::fs::write(folder.path().join(GRANT), "a\n b \n").unwrap();
        assert!(check(folder.path(), "a").is_ok() && check(folder.path(), "b").is_ok());
        assert_eq!(check(folder.path(), "c").unwrap_err().code, "not_granted");
    }
}
