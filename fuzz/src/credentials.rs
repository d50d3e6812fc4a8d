//! Secrets as somebody filled them in: used where they were granted for, never repeated in a message.

use std::collections::BTreeMap;

use ptah_resolver::git::{Credential, Repository, SECRET_KEYS, SecretKeys};
use ptah_resolver::oci::{Credentials, Reference};
use serde_json::Value;

use crate::oci::docker_config::{Login, login};
use crate::{SECRET, first_line, text};

/// A reference in the first line, a Docker configuration after it. No message repeats a secret, which is any value;
/// the keys of `auths` are names of registries and are told. What is given out can be sent.
pub fn docker_config(data: &[u8]) {
    let (reference, document) = first_line(data);
    let Some(text) = text(reference) else { return };
    let keys_are_plain = serde_json::from_slice(document).map_or(true, |value| !in_keys(&value));
    if !keys_are_plain || text.contains(SECRET) {
        return;
    }
    if let Ok(reference) = text.parse() {
        let shown = match login(document, &reference) {
            Ok(login) => {
                if let Login::Password { username, password } = &login {
                    assert!(!username.reveal().contains(':') && !username.reveal().is_empty());
                    assert!(!password.reveal().is_empty());
                }
                format!("{login:?}")
            }
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains(SECRET), "{shown}");
    }
    // The same behind the grant, as it is really used.
    let Ok(reference) = text.parse::<Reference>() else {
        return;
    };
    for (granted, is_granted) in [
        (reference.registry().to_string(), true),
        ("other.example".to_owned(), false),
    ] {
        let values = BTreeMap::from([
            ("registry".to_owned(), granted.into_bytes()),
            (".dockerconfigjson".to_owned(), document.to_vec()),
        ]);
        let credentials = Credentials::from_values(&values).expect("one kind of credential");
        let shown = match credentials.granted(&reference, false, None) {
            Ok(granted) => {
                assert!(is_granted || reference.registry().to_string() == "other.example");
                format!("{granted:?} {credentials:?}")
            }
            Err(error) => format!("{error} {error:?} {credentials:?}"),
        };
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

fn in_keys(value: &Value) -> bool {
    match value {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.contains(SECRET) || in_keys(value)),
        Value::Array(values) => values.iter().any(in_keys),
        _ => false,
    }
}

/// A repository in the first line, then values of a Secret, each behind a line `=== key`. It is a credential, or it is
/// refused without a word of it.
pub fn git_credential(data: &[u8]) {
    let (repository, rest) = first_line(data);
    let Some(repository) = text(repository).filter(|text| !text.contains(SECRET)) else {
        return;
    };
    let Ok(repository) = repository.parse::<Repository>() else {
        return;
    };
    let Some(rest) = text(rest) else { return };
    let mut keys = Vec::new();
    for block in rest.split("=== ").skip(1) {
        let (key, value) = block.split_once('\n').unwrap_or((block, ""));
        // An unknown key, and where a credential may go, are told.
        let told = !SECRET_KEYS.contains(&key) || matches!(key, "host" | "caSHA256");
        if told && block.contains(SECRET) {
            return;
        }
        keys.push((key.to_owned(), value.as_bytes().to_vec()));
    }
    let keys = SecretKeys::new(keys);
    let shown = match Credential::new(&keys, &repository, None) {
        Ok(credential) => format!("{credential:?} {keys:?}"),
        Err(error) => format!("{error} {error:?} {:?} {keys:?}", error.to_failure()),
    };
    assert!(!shown.contains(SECRET), "{shown}");
}
