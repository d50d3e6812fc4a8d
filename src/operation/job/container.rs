//! The containers of an operation Pod.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Capabilities, Container, PodSecurityContext, ResourceRequirements, SeccompProfile, SecurityContext,
    VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use ptah_api::OperationType;
use ptah_contract::protocol::paths;

/// Name of the container that reaches a Git repository or a registry.
pub const SOURCE: &str = "source";
/// The uid that operations run as.
const UID: i64 = 65_532;
/// The uid of the scratch server: it can neither read the operation's files nor signal it.
const SCRATCH_UID: i64 = 65_533;
const RUNNER: &str = "/usr/bin/ptah-runner";

/// Security of the whole Pod.
pub(super) fn pod_security() -> PodSecurityContext {
    PodSecurityContext {
        fs_group: Some(UID),
        fs_group_change_policy: Some("OnRootMismatch".to_owned()),
        run_as_group: Some(UID),
        run_as_non_root: Some(true),
        run_as_user: Some(UID),
        seccomp_profile: Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        }),
        ..PodSecurityContext::default()
    }
}

/// Checks the snapshot and copies its files. It holds no credential at all.
pub(super) fn snapshot(image: &str) -> Container {
    Container {
        args: Some(vec![
            "operation".into(),
            "--request".into(),
            paths::REQUEST_FILE.into(),
            "--step".into(),
            "snapshot".into(),
        ]),
        volume_mounts: Some(vec![
            mount("request", "/ptah/request", true),
            mount("snapshot", paths::SNAPSHOT_DIR, true),
            mount("content", paths::CONTENT_DIR, false),
        ]),
        resources: Some(resources("16Mi", "128Mi")),
        ..base("snapshot", image, UID)
    }
}

/// Reaches the source and writes its checked files. It holds the source's credential and a way to deliver why it was
/// refused, and nothing of the database.
pub(super) fn source(image: &str, given: Vec<VolumeMount>) -> Container {
    let mut mounts = vec![
        mount("request", "/ptah/request", true),
        mount("pod", paths::POD_DIR, true),
        mount("result-token", "/ptah/result-token", true),
        mount("source-work", paths::WORK_DIR, false),
        mount("content", paths::CONTENT_DIR, false),
    ];
    mounts.extend(given);
    Container {
        args: Some(vec![
            "operation".into(),
            "--request".into(),
            paths::REQUEST_FILE.into(),
            "--step".into(),
            "source".into(),
        ]),
        volume_mounts: Some(mounts),
        resources: Some(resources("32Mi", "256Mi")),
        ..base(SOURCE, image, UID)
    }
}

/// The scratch server: a native sidecar that is idle until it is told which major version to start.
pub(super) fn scratch(image: &str) -> Container {
    Container {
        args: Some(vec![
            "scratch".into(),
            "--directory".into(),
            paths::SCRATCH_DIR.into(),
            "--work".into(),
            paths::SCRATCH_DATA_DIR.into(),
        ]),
        restart_policy: Some("Always".to_owned()),
        volume_mounts: Some(vec![
            mount("scratch", paths::SCRATCH_DIR, false),
            mount("scratch-data", paths::SCRATCH_DATA_DIR, false),
        ]),
        resources: Some(resources("64Mi", "1Gi")),
        ..base("scratch", image, SCRATCH_UID)
    }
}

/// The container that reaches the database.
pub(super) fn main(
    image: &str,
    kind: OperationType,
    reports_source: bool,
    limits: Option<ResourceRequirements>,
) -> Container {
    let mut mounts = vec![
        mount("request", "/ptah/request", true),
        mount("pod", paths::POD_DIR, true),
        mount("database", paths::DATABASE_DIR, true),
        mount("result-token", "/ptah/result-token", true),
        mount("work", paths::WORK_DIR, false),
    ];
    if kind == OperationType::Apply {
        mounts.push(mount("plan", paths::PLAN_DIR, true));
    } else {
        mounts.push(mount("content", paths::CONTENT_DIR, true));
        mounts.push(mount("scratch", paths::SCRATCH_DIR, false));
    }
    if reports_source {
        mounts.push(mount("source", paths::SOURCE_DIR, true));
    }
    Container {
        args: Some(vec![
            "operation".into(),
            "--request".into(),
            paths::REQUEST_FILE.into(),
        ]),
        volume_mounts: Some(mounts),
        resources: Some(limits.unwrap_or_else(|| resources("64Mi", "512Mi"))),
        ..base("operation", image, UID)
    }
}

fn base(name: &str, image: &str, uid: i64) -> Container {
    Container {
        name: name.to_owned(),
        image: Some(image.to_owned()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        command: Some(vec![RUNNER.to_owned()]),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities {
                drop: Some(vec!["ALL".to_owned()]),
                ..Capabilities::default()
            }),
            read_only_root_filesystem: Some(true),
            run_as_group: Some(UID),
            run_as_non_root: Some(true),
            run_as_user: Some(uid),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..SeccompProfile::default()
            }),
            ..SecurityContext::default()
        }),
        termination_message_path: Some("/dev/termination-log".to_owned()),
        termination_message_policy: Some("File".to_owned()),
        ..Container::default()
    }
}

fn resources(request: &str, limit: &str) -> ResourceRequirements {
    let memory = |amount: &str| {
        Some(BTreeMap::from([(
            "memory".to_owned(),
            Quantity(amount.to_owned()),
        )]))
    };
    ResourceRequirements {
        requests: memory(request),
        limits: memory(limit),
        ..ResourceRequirements::default()
    }
}

pub(super) fn mount(name: &str, path: &str, read_only: bool) -> VolumeMount {
    VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        read_only: read_only.then_some(true),
        ..VolumeMount::default()
    }
}
