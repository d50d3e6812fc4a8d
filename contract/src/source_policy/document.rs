//! The document as it is written, read strictly.

use serde::Deserializer;

use super::pattern::{HostPattern, NamePattern};
use super::{Deserialize, Error, MAX_POLICY_BYTES};
use crate::failure::quoted;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Document {
    // Read once more, for unknown keys only; `Version` has decided already.
    #[allow(dead_code)]
    version: u32,
    #[serde(default)]
    pub(super) git: GitRules,
    #[serde(default)]
    pub(super) config_map: ConfigMapRules,
    #[serde(default)]
    pub(super) content: ContentRules,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GitRules {
    #[serde(default, deserialize_with = "given")]
    pub(super) hosts: Option<Vec<HostPattern>>,
    #[serde(default)]
    pub(super) require_verification: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConfigMapRules {
    #[serde(default, deserialize_with = "given")]
    pub(super) names: Option<Vec<NamePattern>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) max_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContentRules {
    #[serde(default, deserialize_with = "given")]
    pub(super) max_bytes: Option<u64>,
    #[serde(default, deserialize_with = "given")]
    pub(super) max_files: Option<u64>,
}

/// A key that is there has a value: `hosts:` with nothing behind it is a mistake, not the absence of a rule.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The version alone, so that a document of the future is refused for its version and not for its keys.
#[derive(Deserialize)]
struct Version {
    version: Option<serde_yaml_ng::Value>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, Error> {
    let malformed = |error: serde_yaml_ng::Error| Error::Malformed(quoted(&error.to_string()));
    if bytes.len() > MAX_POLICY_BYTES {
        return Err(Error::Malformed(format!(
            "it is {} bytes long, at most {MAX_POLICY_BYTES} are read",
            bytes.len()
        )));
    }
    let Version { version } = serde_yaml_ng::from_slice(bytes).map_err(malformed)?;
    match version {
        Some(version) if version.as_u64() == Some(1) => {}
        Some(version) => {
            let text = serde_yaml_ng::to_string(&version).unwrap_or_default();
            return Err(Error::Version(text.trim().chars().take(64).collect()));
        }
        None => return Err(Error::Version("none".to_owned())),
    }
    let document: Document = serde_yaml_ng::from_slice(bytes).map_err(malformed)?;
    document.check()?;
    Ok(document)
}

impl Document {
    fn check(&self) -> Result<(), Error> {
        let rule = |field, problem: &str| {
            Err(Error::Rule {
                field,
                problem: problem.to_owned(),
            })
        };
        if self.git.hosts.as_ref().is_some_and(Vec::is_empty) {
            return rule(
                "git.hosts",
                "it lists nothing, so every repository would be refused",
            );
        }
        if self.config_map.names.as_ref().is_some_and(Vec::is_empty) {
            return rule(
                "configMap.names",
                "it lists nothing, so every ConfigMap would be refused",
            );
        }
        for (field, bound) in [
            ("configMap.maxBytes", self.config_map.max_bytes),
            ("content.maxBytes", self.content.max_bytes),
            ("content.maxFiles", self.content.max_files),
        ] {
            if bound == Some(0) {
                return rule(field, "it is 0, so every source would be refused");
            }
        }
        let requires = self.git.hosts.is_some()
            || self.git.require_verification
            || self.config_map.names.is_some()
            || self.config_map.max_bytes.is_some()
            || self.content.max_bytes.is_some()
            || self.content.max_files.is_some();
        if requires {
            Ok(())
        } else {
            Err(Error::RequiresNothing)
        }
    }
}
