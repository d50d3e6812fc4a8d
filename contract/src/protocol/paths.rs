//! Where things stand in an operation Pod. The manager mounts them there, the runner reads them there.

/// The request document (downward API).
pub const REQUEST_FILE: &str = "/ptah/request/request.json";
/// One file per fact about the Pod itself (downward API): `namespace`, `name`, `uid`, `job-uid`.
pub const POD_DIR: &str = "/ptah/pod";
/// The database Secret's keys, one file each.
pub const DATABASE_DIR: &str = "/ptah/database";
/// The snapshot ConfigMap as it is stored: numbered files and the manifest. Only the init container has it.
pub const SNAPSHOT_DIR: &str = "/ptah/snapshot";
/// The keys of the Secret that the source names, one file each. Only the init container has it.
pub const SOURCE_AUTH_DIR: &str = "/ptah/source-auth";
/// Certificate authorities of the source's server. Only the init container has it.
pub const SOURCE_CA_FILE: &str = "/ptah/source-ca/ca.crt";
/// The verification policy. Only the init container has it.
pub const VERIFICATION_POLICY_FILE: &str = "/ptah/verification-policy/policy.yaml";
/// The keys whose signatures a commit is held to. Only the init container has them.
pub const COMMIT_KEYS_FILE: &str = "/ptah/commit-keys/keys";
/// A trusted root that the policy names, in the folder of its number. Only the init container has it.
pub const TRUSTED_ROOT_FILE: &str = "trusted_root.json";
/// What the init container found, read-only in the main container.
pub const SOURCE_DIR: &str = "/ptah/source";
/// The report in [`SOURCE_DIR`].
pub const SOURCE_REPORT_FILE: &str = "/ptah/source/report.json";
/// The checked files, written by the init container and read-only in the main container.
pub const CONTENT_DIR: &str = "/ptah/content";
/// The plan document's chunks, `000.plan` and so on.
pub const PLAN_DIR: &str = "/ptah/plan";
/// The volume that the scratch server's socket and its credentials stand in.
pub const SCRATCH_DIR: &str = "/ptah/scratch";
/// The scratch server's private data folder; only the sidecar has it.
pub const SCRATCH_DATA_DIR: &str = "/ptah/scratch-data";
/// Room to write.
pub const WORK_DIR: &str = "/ptah/work";
/// The Pod-bound token for the result receiver.
pub const RESULT_TOKEN_FILE: &str = "/ptah/result-token/token";
/// Key of the manifest in a snapshot ConfigMap.
pub const MANIFEST_KEY: &str = "manifest.json";

/// Key of the `index`th file in a snapshot ConfigMap, in manifest order.
#[must_use]
pub fn snapshot_key(index: usize) -> String {
    format!("file-{index:05}")
}

/// The folder of the `index`th trusted root of a request.
#[must_use]
pub fn trusted_root_dir(index: usize) -> String {
    format!("/ptah/trusted-root-{index}")
}

/// File name of the `index`th chunk of a plan in [`PLAN_DIR`].
#[must_use]
pub fn chunk_file(index: usize) -> String {
    format!("{index:03}.plan")
}
