//! The table of verification: algorithm, layout and fault, each with the verdict that it gets, and with what others say
//! of it. `docs/verification-table.md` is written from it: `PTAH_UPDATE=1` writes it anew.

// A failed step of a test is a failed test.
#![allow(clippy::unwrap_used, clippy::panic)]

mod keyed;
mod keyless;
mod mint;

use std::fmt::Write as _;
use std::path::Path;

use ptah_contract::artifact::{ArtifactDescription, Attached, Body, Evidence, Found};
use ptah_contract::digest::Digest;

/// One line of the table.
struct Row {
    algorithm: String,
    layout: String,
    fault: String,
    /// Why it is refused; `None` when it is accepted.
    refusal: Option<String>,
    /// Whether cosign accepts it, where cosign was asked.
    cosign: Option<bool>,
}

/// An artifact with these attachments.
fn artifact(digest: Digest, attached: Vec<Attached>) -> ArtifactDescription {
    ArtifactDescription {
        reference: "oci://registry.example/app:v1".to_owned(),
        pinned: false,
        digest,
        artifact_type: "application/vnd.stokaro.ptah.schema.v1".to_owned(),
        annotations: Default::default(),
        attached,
    }
}

/// An attachment with these layers: media type, annotations, bytes.
fn attachment(
    found: Found,
    artifact_type: &str,
    layers: impl IntoIterator<Item = (String, std::collections::BTreeMap<String, String>, Vec<u8>)>,
) -> Attached {
    let layers = layers.into_iter();
    let evidence = layers
        .map(|(media_type, annotations, bytes)| Evidence {
            media_type,
            digest: Digest::of(&bytes),
            annotations,
            body: Body::Read(bytes),
        })
        .collect();
    Attached {
        found,
        media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
        digest: Digest::of(artifact_type.as_bytes()),
        size: 1,
        artifact_type: artifact_type.to_owned(),
        annotations: Default::default(),
        evidence,
    }
}

#[test]
fn the_table_in_the_documentation_is_what_the_tests_saw() {
    let mut text = String::from(
        "# What is accepted and what is refused\n\n\
         Written by the tests (`PTAH_UPDATE=1 cargo test -p ptah-verifier --test table`) from what they saw. A row whose \
         last column differs from its verdict is a difference from cosign that is meant; [verification.md](verification.md) \
         says why.\n",
    );
    let _ = write!(
        text,
        "\n## Signed with a key\n\nSignatures by cosign {}.\n",
        keyed::cosign()
    );
    rows(&mut text, &keyed::rows());
    text.push_str("\n## Signed with a certificate\n\nOf a minted instance, against its own trusted root.\n");
    rows(&mut text, &keyless::rows());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/verification-table.md");
    if std::env::var_os("PTAH_UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "docs/verification-table.md is stale; PTAH_UPDATE=1 writes it anew"
    );
}

fn rows(text: &mut String, rows: &[Row]) {
    text.push_str("\n| Algorithm | Layout | Fault | Verdict | Cosign |\n| --- | --- | --- | --- | --- |\n");
    let word = |accepted| if accepted { "accepted" } else { "refused" };
    for row in rows {
        let cosign = row.cosign.map_or("not asked", word);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {cosign} |",
            row.algorithm,
            row.layout,
            row.fault,
            word(row.refusal.is_none())
        );
    }
}
