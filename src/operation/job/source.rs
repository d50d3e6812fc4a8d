//! What the init container that reaches a Git repository or a registry is given.
//!
//! Promises: it alone holds the source's credential, as the keys that the owner of the Secret may have set, each under
//! a name of ours; it holds nothing of the database. What is not there is told by the runner, by the name of the key.

use k8s_openapi::api::core::v1::{Volume, VolumeMount};
use ptah_api::{ConfigMapKeySelector, DesiredSource, GitSource, RegistryAuthMode, SourceTerms};
use ptah_contract::protocol::paths;
use ptah_resolver::git::SECRET_KEYS;

use super::container::mount;
use super::volume;

/// Keys of a registry Secret that its user cannot rename: they are the owner's consent.
const REGISTRY_GRANTS: [&str; 3] = ["registry", "allowPlainHTTP", "caSHA256"];

/// The volumes of the init container, each with where it mounts it.
///
/// `terms` are what the source is held to while it is resolved; what was resolved before is held to its digest alone.
pub(super) fn volumes(desired: &DesiredSource, terms: Option<&SourceTerms>) -> Vec<(Volume, VolumeMount)> {
    let mut volumes = vec![(
        volume::work("source", "1Mi"),
        mount("source", paths::SOURCE_DIR, false),
    )];
    let mut given = |volume: Volume, path: &str| {
        let mount = mount(&volume.name, path, true);
        volumes.push((volume, mount));
    };
    if let Some((secret, keys)) = secret(desired) {
        given(
            volume::optional_keys("source-auth", &secret, &keys),
            paths::SOURCE_AUTH_DIR,
        );
    }
    let git = desired.git.as_ref().and_then(|git| git.ca_from.as_ref());
    let registry = desired
        .transport
        .as_ref()
        .and_then(|transport| transport.ca_from.as_ref());
    if let Some(ca) = git.or(registry) {
        given(
            volume::config_map_key("source-ca", ca, "ca.crt"),
            "/ptah/source-ca",
        );
    }
    let Some(terms) = terms else {
        return volumes;
    };
    let commits = desired.git.as_ref().and_then(GitSource::verification);
    if let Some(verification) = commits {
        given(
            volume::config_map_key("commit-keys", &verification.keys_from, "keys"),
            "/ptah/commit-keys",
        );
    }
    if let Some(policy) = &desired.verification_policy_from {
        given(
            volume::config_map_key("verification-policy", policy, "policy.yaml"),
            "/ptah/verification-policy",
        );
    }
    for (at, root) in terms.trusted_roots.iter().enumerate() {
        let selector = ConfigMapKeySelector {
            name: root.name.clone(),
            key: root.key.clone(),
            optional: None,
        };
        given(
            volume::config_map_key(&format!("trusted-root-{at}"), &selector, paths::TRUSTED_ROOT_FILE),
            &paths::trusted_root_dir(at),
        );
    }
    volumes
}

/// The Secret, and its keys with the file that each becomes.
fn secret(desired: &DesiredSource) -> Option<(String, Vec<(String, String)>)> {
    let own = |keys: &[&str]| -> Vec<(String, String)> {
        keys.iter()
            .map(|key| ((*key).to_owned(), (*key).to_owned()))
            .collect()
    };
    if let Some(auth) = desired.git.as_ref().and_then(|git| git.auth_from.as_ref()) {
        return Some((auth.name.clone(), own(&SECRET_KEYS)));
    }
    let auth = desired.registry_auth_from.as_ref()?;
    let key = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
    let mut keys = own(&REGISTRY_GRANTS);
    match auth.mode.unwrap_or(RegistryAuthMode::Environment) {
        RegistryAuthMode::Environment => {
            keys.push((key(&auth.username_key, "username"), "username".to_owned()));
            keys.push((key(&auth.password_key, "password"), "password".to_owned()));
            keys.push((key(&auth.token_key, "token"), "token".to_owned()));
        }
        RegistryAuthMode::DockerConfigJSON => keys.push((
            key(&auth.docker_config_json_key, ".dockerconfigjson"),
            ".dockerconfigjson".to_owned(),
        )),
    }
    Some((auth.name.clone(), keys))
}
