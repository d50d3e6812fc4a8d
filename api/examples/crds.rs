//! Writes the chart's CRD templates: `cargo run -p ptah-api --example crds -- <folder>`.
//!
//! One file a kind, `<plural>.yaml`. Each stands behind the value `crds.install`, carries the chart's labels, and
//! is kept when the release is uninstalled, so that no resource goes with it.

use std::path::PathBuf;
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    let folder: PathBuf = env::args_os().nth(1).ok_or("name the folder to write to")?.into();
    fs::create_dir_all(&folder)?;
    for (name, text) in files()? {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Every file by name.
pub fn files() -> Result<Vec<(String, String)>, Box<dyn error::Error>> {
    ptah_api::crds()
        .iter()
        .map(|crd| {
            let name = format!("{}.yaml", crd.spec.names.plural);
            Ok((name, template(&serde_yaml_ng::to_string(crd)?)?))
        })
        .collect()
}

/// The manifest as a template. `metadata` holds nothing but the name, so that its place is known.
fn template(manifest: &str) -> Result<String, &'static str> {
    let metadata = "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n  labels:\n    \
                    @labels@\n";
    let (before, after) = manifest
        .split_once("metadata:\n")
        .ok_or("a CRD without metadata")?;
    // Text of ours is no template: the one thing that could start an action is written as text.
    let quoted = format!("{before}{metadata}{after}").replace("{{", "{{ \"{{\" }}");
    let body = quoted.replace("@labels@", "{{- include \"ptah.labels\" . | nindent 4 }}");
    Ok(format!(
        "# Generated from the API's types (`cargo xtask crds`); edit those.\n\
         {{{{- if .Values.crds.install }}}}\n{body}{{{{- end }}}}\n"
    ))
}
