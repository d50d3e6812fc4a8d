//! `--verification`: whose signatures a commit or its tag needs, as `spec.desired.git.verification` says it.

use std::path::Path;

use ptah_contract::commit::SignedObject;
use ptah_contract::failure::{Failure, FailureClass, quoted};
use ptah_verifier::CommitPolicy;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    mode: SignedObject,
    keys_from: Key,
    committers: Option<Vec<String>>,
}

/// A key of a ConfigMap, which is a file of a folder here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    name: String,
    key: String,
}

pub(crate) fn read(file: &Path) -> Result<CommitPolicy, Failure> {
    let text = bytes("verification", file)?;
    let document: Document = serde_yaml_ng::from_slice(&text).map_err(|error| {
        let message = format!("the verification cannot be read: {}", quoted(&error.to_string()));
        Failure::new("verification_malformed", FailureClass::Input, message)
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let keys = bytes(
        "commit keys",
        &folder
            .join(&document.keys_from.name)
            .join(&document.keys_from.key),
    )?;
    if document.committers.as_ref().is_some_and(Vec::is_empty) {
        let message = "committers names nobody; leave it out, or name who is believed";
        return Err(Failure::new(
            "verification_malformed",
            FailureClass::Input,
            message,
        ));
    }
    CommitPolicy::new(
        document.mode,
        document.committers.unwrap_or_default(),
        &keys,
        String::new(),
    )
    .map_err(|error| Failure::new(error.code(), error.class(), error.to_string()))
}

/// A file that an argument names, or another file of the command line.
pub(crate) fn bytes(what: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        let code = format!("{}_unreadable", what.replace(' ', "_"));
        let path = path.display().to_string();
        let message = format!("the {what} {path:?} cannot be read: {}", error.kind());
        Failure::new(&code, FailureClass::Input, message)
    })
}
