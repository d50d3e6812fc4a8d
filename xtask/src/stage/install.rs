//! Installs the chart of this tree with real `helm`, images by digest.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::Cluster;
use crate::images::Images;
use crate::{run, workspace};

/// Name of the release.
pub const RELEASE: &str = "ptah-operator";
/// Its namespace.
pub const NAMESPACE: &str = "ptah-system";

const PATIENCE: Duration = Duration::from_secs(180);

/// Installs or upgrades the release and waits until it serves and the CRDs are established.
pub fn install(cluster: &Cluster, images: &Images, values: &[String]) -> Result<()> {
    install_chart(
        cluster,
        &workspace::chart(),
        &images.manager,
        &images.runner_postgresql,
        values,
    )
}

/// The same with another chart and other images.
pub fn install_chart(
    cluster: &Cluster,
    chart: &Path,
    manager: &str,
    runner_postgresql: &str,
    values: &[String],
) -> Result<()> {
    cluster.restricted_namespace(NAMESPACE)?;
    let mut helm = cluster.helm()?;
    helm.args([
        "upgrade",
        "--install",
        RELEASE,
        "--namespace",
        NAMESPACE,
        "--wait",
        "--timeout",
        "180s",
    ]);
    helm.arg(chart);
    for (key, image) in [
        ("image", manager),
        ("runner.images.postgresql", runner_postgresql),
    ] {
        let (repository, digest) = image.split_once('@').context("an image without a digest")?;
        helm.args([
            "--set",
            &format!("{key}.repository={repository},{key}.digest={digest}"),
        ]);
    }
    for value in values {
        helm.args(["--set", value]);
    }
    run::quiet(&mut helm)?;
    for crd in [
        "ptahschemas",
        "ptahschemaplans",
        "ptahschemaapprovals",
        "ptahresultrecords",
    ] {
        cluster.ask(&[
            "wait",
            "--for=condition=Established",
            "--timeout=60s",
            &format!("crd/{crd}.operator.ptah.run"),
        ])?;
    }
    // The webhook refuses everything until the leader gave it its trust.
    cluster.wait("the webhook's trust", PATIENCE, || {
        let path = "{.webhooks[0].clientConfig.caBundle}";
        let text = cluster.ask(&[
            "get",
            "mutatingwebhookconfiguration",
            &format!("{RELEASE}-approvals"),
            "-o",
            &format!("jsonpath={path}"),
        ])?;
        Ok((!text.is_empty()).then_some(()))
    })
}

/// Takes the release away. Resources and CRDs stay.
pub fn uninstall(cluster: &Cluster) -> Result<()> {
    run::quiet(cluster.helm()?.args([
        "uninstall",
        RELEASE,
        "--namespace",
        NAMESPACE,
        "--wait",
        "--ignore-not-found",
    ]))
}
