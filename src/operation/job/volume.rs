//! The volumes of an operation Pod.

use k8s_openapi::api::core::v1::{
    ConfigMapProjection, ConfigMapVolumeSource, DownwardAPIVolumeFile, DownwardAPIVolumeSource,
    EmptyDirVolumeSource, KeyToPath, ObjectFieldSelector, ProjectedVolumeSource, SecretProjection,
    ServiceAccountTokenProjection, Volume, VolumeProjection,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use ptah_api::{ConfigMapKeySelector, DatabaseTarget, PtahSchemaStatus, names};
use ptah_contract::plan_chunks::CHUNK_KEY;
use ptah_contract::protocol::{RESULT_AUDIENCE, paths};

use super::request::Error;

/// Keys of a Secret that `connectionFrom` names.
const CONNECTION_KEYS: [&str; 7] = [
    "host",
    "port",
    "user",
    "password",
    "database",
    "sslmode",
    "sslrootcert",
];
/// The owner's consent: names of the resources that may use the Secret, one a line.
const GRANT_KEY: &str = "ptahSchemas";
const MODE: i32 = 0o440;

pub(super) fn request() -> Volume {
    downward(
        "request",
        &[(
            "request.json",
            &format!("metadata.annotations['{}']", names::ANNOTATION_REQUEST),
        )],
    )
}

/// Facts about the Pod itself.
pub(super) fn pod() -> Volume {
    downward(
        "pod",
        &[
            ("name", "metadata.name"),
            ("uid", "metadata.uid"),
            ("job-uid", "metadata.labels['batch.kubernetes.io/controller-uid']"),
        ],
    )
}

/// The database Secret, by key: files, never environment variables.
pub(super) fn database(target: &DatabaseTarget) -> Result<Volume, Error> {
    let secret = |name: &str, key: &str, path: &str, optional: bool| VolumeProjection {
        secret: Some(SecretProjection {
            name: name.to_owned(),
            items: Some(vec![file(key, path)]),
            optional: optional.then_some(true),
        }),
        ..VolumeProjection::default()
    };
    let mut sources = Vec::new();
    let name = match (&target.url_from, &target.connection_from) {
        (Some(url), None) => {
            sources.push(secret(&url.name, &url.key, "url", false));
            &url.name
        }
        (None, Some(connection)) => {
            for key in CONNECTION_KEYS {
                sources.push(secret(&connection.name, key, key, true));
            }
            &connection.name
        }
        _ => return Err(Error::Missing("exactly one of urlFrom and connectionFrom")),
    };
    sources.push(secret(name, GRANT_KEY, GRANT_KEY, true));
    Ok(projected("database", sources))
}

/// A token that only the result receiver takes.
pub(super) fn result_token() -> Volume {
    projected(
        "result-token",
        vec![VolumeProjection {
            service_account_token: Some(ServiceAccountTokenProjection {
                audience: Some(RESULT_AUDIENCE.to_owned()),
                expiration_seconds: Some(3600),
                path: "token".to_owned(),
                ..ServiceAccountTokenProjection::default()
            }),
            ..VolumeProjection::default()
        }],
    )
}

/// The snapshot, as it is stored.
pub(super) fn snapshot(name: String) -> Volume {
    Volume {
        name: "snapshot".to_owned(),
        config_map: Some(ConfigMapVolumeSource {
            name,
            default_mode: Some(MODE),
            ..ConfigMapVolumeSource::default()
        }),
        ..Volume::default()
    }
}

/// The plan's chunks, in order.
pub(super) fn plan(status: &PtahSchemaStatus) -> Result<Volume, Error> {
    let plan = status.plan.as_ref().ok_or(Error::Missing("the plan"))?;
    let sources = (0..usize::try_from(plan.chunks).unwrap_or(0))
        .map(|index| VolumeProjection {
            config_map: Some(ConfigMapProjection {
                name: names::chunk_name(&plan.name, index),
                items: Some(vec![file(CHUNK_KEY, &paths::chunk_file(index))]),
                ..ConfigMapProjection::default()
            }),
            ..VolumeProjection::default()
        })
        .collect();
    Ok(projected("plan", sources))
}

/// Keys of a Secret of which its owner may have set any, each with the file that it becomes. A Secret that is not there
/// is a folder that is empty: the runner names the key that it misses.
pub(super) fn optional_keys(name: &str, secret: &str, keys: &[(String, String)]) -> Volume {
    let sources = keys
        .iter()
        .map(|(key, path)| VolumeProjection {
            secret: Some(SecretProjection {
                name: secret.to_owned(),
                items: Some(vec![file(key, path)]),
                optional: Some(true),
            }),
            ..VolumeProjection::default()
        })
        .collect();
    projected(name, sources)
}

/// One key of a ConfigMap as a file. One that is not there is no file: the runner says so.
pub(super) fn config_map_key(name: &str, selector: &ConfigMapKeySelector, path: &str) -> Volume {
    let source = ConfigMapProjection {
        name: selector.name.clone(),
        items: Some(vec![file(&selector.key, path)]),
        optional: Some(true),
    };
    let projection = VolumeProjection {
        config_map: Some(source),
        ..VolumeProjection::default()
    };
    projected(name, vec![projection])
}

/// Room on the node's disk.
pub(super) fn work(name: &str, limit: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource {
            size_limit: Some(Quantity(limit.to_owned())),
            ..EmptyDirVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn projected(name: &str, sources: Vec<VolumeProjection>) -> Volume {
    Volume {
        name: name.to_owned(),
        projected: Some(ProjectedVolumeSource {
            default_mode: Some(MODE),
            sources: Some(sources),
            ..ProjectedVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn downward(name: &str, files: &[(&str, &str)]) -> Volume {
    let items = files
        .iter()
        .map(|(path, field)| DownwardAPIVolumeFile {
            path: (*path).to_owned(),
            field_ref: Some(ObjectFieldSelector {
                field_path: (*field).to_owned(),
                ..ObjectFieldSelector::default()
            }),
            mode: Some(MODE),
            ..DownwardAPIVolumeFile::default()
        })
        .collect();
    Volume {
        name: name.to_owned(),
        downward_api: Some(DownwardAPIVolumeSource {
            items: Some(items),
            default_mode: Some(MODE),
            ..DownwardAPIVolumeSource::default()
        }),
        ..Volume::default()
    }
}

fn file(key: &str, path: &str) -> KeyToPath {
    KeyToPath {
        key: key.to_owned(),
        path: path.to_owned(),
        mode: Some(MODE),
        ..KeyToPath::default()
    }
}
