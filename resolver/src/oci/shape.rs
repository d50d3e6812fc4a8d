//! What kind of artifact a manifest describes, and which of its layers are content.
//!
//! Promises: pure; what is not understood whole is refused by name, before a layer is fetched.
//!
//! Ptah's own types: annotation names and media types as the Ptah command line writes them. Plain artifacts: titled
//! layers as ORAS pushes files and folders; one untitled tar layer as Flux pushes a folder.

use ptah_contract::digest::Digest;
use ptah_contract::failure::FailureClass;
use ptah_contract::manifest::ContentPath;

use super::manifest::{Descriptor, Manifest, short};
use crate::archive::Compression;

const TITLE: &str = "org.opencontainers.image.title";
const UNPACK: &str = "io.deis.oras.content.unpack";
const UNPACKED_DIGEST: &str = "io.deis.oras.content.digest";

const PTAH: &str = "application/vnd.stokaro.ptah.";
const PTAH_SCHEMA: &str = "application/vnd.stokaro.ptah.schema.v1";
const PTAH_MIGRATIONS: &str = "application/vnd.stokaro.ptah.migrations.v1";
const SCHEMA_LAYER: &str = "application/vnd.stokaro.ptah.schema.hcl.v1";
const ROWS_LAYER: &str = "application/vnd.stokaro.ptah.managed-data.v1+json";
const MIGRATION_LAYER: &str = "application/vnd.stokaro.ptah.migration.file.v1";
const KIND: &str = "io.stokaro.ptah.kind";
const SCHEMA_FORMAT: &str = "io.stokaro.ptah.schema-format";
const MIGRATION_FORMAT: &str = "io.stokaro.ptah.migration-format";

const EMPTY_CONFIG: &str = "application/vnd.oci.empty.v1+json";
const HELM_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const IMAGE_CONFIGS: [&str; 2] = [
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
];

/// What an artifact is wanted for. A plain artifact serves both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The desired state of a schema.
    Schema,
    /// A directory of migrations.
    Migrations,
}

impl Family {
    fn artifact_type(self) -> &'static str {
        match self {
            Self::Schema => PTAH_SCHEMA,
            Self::Migrations => PTAH_MIGRATIONS,
        }
    }
}

/// Why an artifact is not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// An image that is run and not read.
    #[error("the artifact is a runnable image (configuration {0:?}), not a schema or migrations")]
    RunnableImage(String),
    /// A chart is an archive as well, and its templates are no schema.
    #[error("the artifact is a Helm chart ({0:?}), not a schema or migrations")]
    HelmChart(String),
    /// A Ptah artifact that does not say what it is.
    #[error("the artifact has Ptah's layers or type, but {0} is missing")]
    PtahKindMissing(&'static str),
    /// A Ptah artifact that says two things.
    #[error("the artifact's type is {artifact_type:?}, its annotation io.stokaro.ptah.kind is {kind:?}")]
    PtahKindDiffers {
        /// The manifest's type.
        artifact_type: String,
        /// The annotation.
        kind: String,
    },
    /// A plan, a report, or another thing of Ptah's that is no desired state.
    #[error("the artifact is {0:?}, which is neither a Ptah schema nor Ptah migrations")]
    PtahNotContent(String),
    /// A schema where migrations are wanted, or the other way.
    #[error("the artifact is {found:?}, {expected:?} is expected")]
    OtherFamily {
        /// What it is.
        found: String,
        /// What is wanted.
        expected: &'static str,
    },
    /// A format that is not known.
    #[error("the artifact's annotation {annotation} is {found:?}, which is not known")]
    PtahFormat {
        /// Which annotation.
        annotation: &'static str,
        /// What it says.
        found: String,
    },
    /// A configuration where none should be.
    #[error("the Ptah artifact's configuration is {0:?}, not the empty one")]
    PtahConfig(String),
    /// A file that does not belong into such an artifact.
    #[error("the Ptah artifact's file {title:?} has media type {media_type:?}, which does not belong there")]
    PtahLayer {
        /// The file.
        title: String,
        /// Its layer's media type.
        media_type: String,
    },
    /// A file that a schema artifact cannot have, or one that it lacks.
    #[error("the Ptah schema artifact {0}")]
    PtahSchemaFiles(String),
    /// Layers that nobody named.
    #[error("layer {position} of {count} has no {TITLE}, and only a single tar layer goes without")]
    Untitled {
        /// Which layer, from 1.
        position: usize,
        /// How many there are.
        count: usize,
    },
    /// One unnamed layer that is no archive.
    #[error("the artifact's only layer has no {TITLE} and media type {0:?}, which is no tar archive")]
    NotAnArchive(String),
    /// A folder in a form that is not unpacked.
    #[error("the folder {title:?} has media type {media_type:?}, which is no tar archive")]
    FolderForm {
        /// The folder.
        title: String,
        /// Its layer's media type.
        media_type: String,
    },
    /// A title that is no path.
    #[error("the layer's title is unusable: {0}")]
    Title(#[from] ptah_contract::manifest::Error),
}

impl Error {
    /// Stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::RunnableImage(_) => "runnable_image",
            Self::HelmChart(_) => "helm_chart",
            Self::PtahKindMissing(_) => "ptah_kind_missing",
            Self::PtahKindDiffers { .. } => "ptah_kind_differs",
            Self::PtahNotContent(_) => "ptah_not_content",
            Self::OtherFamily { .. } => "artifact_type",
            Self::PtahFormat { .. } => "ptah_format",
            Self::PtahConfig(_) => "ptah_config",
            Self::PtahLayer { .. } => "ptah_layer",
            Self::PtahSchemaFiles(_) => "ptah_schema_files",
            Self::Untitled { .. } => "layer_untitled",
            Self::NotAnArchive(_) => "layer_not_archive",
            Self::FolderForm { .. } => "folder_not_archive",
            Self::Title(_) => "invalid_path",
        }
    }

    /// A rule said no.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        FailureClass::Refused
    }
}

/// A layer that is content, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The blob.
    pub layer: Descriptor,
    /// What it is.
    pub form: Form,
}

/// How a layer becomes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// The file of this path, byte for byte.
    File(ContentPath),
    /// An archive of files.
    Archive {
        /// How it is compressed.
        compression: Compression,
        /// Where every entry has to stand; `None` for anywhere.
        folder: Option<ContentPath>,
        /// What the archive gives when it is not compressed any more, where that is said.
        unpacked: Option<Digest>,
    },
}

/// The layers that are content.
///
/// # Errors
/// When the artifact is of a kind that is not taken.
pub fn parts(manifest: &Manifest, wanted: Option<Family>) -> Result<Vec<Part>, Error> {
    let config = manifest.config.media_type.as_str();
    if is_ptah(manifest) {
        return ptah(manifest, wanted);
    }
    if IMAGE_CONFIGS.contains(&config) {
        return Err(Error::RunnableImage(config.to_owned()));
    }
    if config == HELM_CONFIG {
        return Err(Error::HelmChart(config.to_owned()));
    }
    plain(manifest)
}

fn is_ptah(manifest: &Manifest) -> bool {
    let own = |text: &String| text.starts_with(PTAH);
    manifest.artifact_type.as_ref().is_some_and(own)
        || manifest.annotations.contains_key(KIND)
        || manifest.layers.iter().any(|layer| own(&layer.media_type))
}

fn ptah(manifest: &Manifest, wanted: Option<Family>) -> Result<Vec<Part>, Error> {
    let missing = Error::PtahKindMissing;
    let artifact_type = manifest.artifact_type.clone().ok_or(missing("artifactType"))?;
    let kind = manifest
        .annotations
        .get(KIND)
        .ok_or(missing("the annotation io.stokaro.ptah.kind"))?;
    if *kind != artifact_type {
        return Err(Error::PtahKindDiffers {
            artifact_type,
            kind: short(kind),
        });
    }
    let family = match artifact_type.as_str() {
        PTAH_SCHEMA => Family::Schema,
        PTAH_MIGRATIONS => Family::Migrations,
        _ => return Err(Error::PtahNotContent(artifact_type)),
    };
    if let Some(wanted) = wanted
        && wanted != family
    {
        return Err(Error::OtherFamily {
            found: artifact_type,
            expected: wanted.artifact_type(),
        });
    }
    let config = &manifest.config;
    if config.media_type != EMPTY_CONFIG || config.digest != Digest::of(b"{}") {
        return Err(Error::PtahConfig(config.media_type.clone()));
    }
    let files = manifest.layers.iter().enumerate();
    let files: Vec<Part> = files
        .map(|(index, layer)| file(layer, index, manifest.layers.len()))
        .collect::<Result<_, _>>()?;
    match family {
        Family::Schema => schema(manifest, files),
        Family::Migrations => migrations(manifest, files),
    }
}

fn format(manifest: &Manifest, annotation: &'static str, known: &[&str], default: &str) -> Result<(), Error> {
    let found = manifest
        .annotations
        .get(annotation)
        .map_or(default, String::as_str);
    if known.contains(&found) {
        return Ok(());
    }
    Err(Error::PtahFormat {
        annotation,
        found: short(found),
    })
}

fn schema(manifest: &Manifest, files: Vec<Part>) -> Result<Vec<Part>, Error> {
    format(manifest, SCHEMA_FORMAT, &["hcl"], "")?;
    let mut seen = false;
    for part in &files {
        let title = part.title();
        let wanted = match title {
            "schema.hcl" => SCHEMA_LAYER,
            "managed-data.json" => ROWS_LAYER,
            _ => return Err(Error::PtahSchemaFiles(format!("holds {title:?}"))),
        };
        part.is(wanted)?;
        seen |= title == "schema.hcl";
    }
    if seen {
        Ok(files)
    } else {
        Err(Error::PtahSchemaFiles("has no \"schema.hcl\"".to_owned()))
    }
}

/// Files that `migrations push` does not capture are left out by `migrations pull`, and here.
fn migrations(manifest: &Manifest, files: Vec<Part>) -> Result<Vec<Part>, Error> {
    format(manifest, MIGRATION_FORMAT, &["auto", "ptah", "atlas"], "auto")?;
    files.iter().try_for_each(|part| part.is(MIGRATION_LAYER))?;
    Ok(files
        .into_iter()
        .filter(|part| is_captured(part.title()))
        .collect())
}

fn is_captured(title: &str) -> bool {
    let name = title.rsplit('/').next().unwrap_or(title);
    let sql = name.len() >= 4
        && name.is_char_boundary(name.len() - 4)
        && name[name.len() - 4..].eq_ignore_ascii_case(".sql");
    sql || matches!(name, "ptah.sum" | "atlas.sum" | ".ptah-lint.yaml")
}

fn plain(manifest: &Manifest) -> Result<Vec<Part>, Error> {
    let layers = &manifest.layers;
    if let [only] = layers.as_slice()
        && !only.annotations.contains_key(TITLE)
        && only.media_type != EMPTY_CONFIG
    {
        let compression =
            compression(&only.media_type).ok_or_else(|| Error::NotAnArchive(only.media_type.clone()))?;
        return Ok(vec![Part {
            layer: only.clone(),
            form: Form::Archive {
                compression,
                folder: None,
                unpacked: None,
            },
        }]);
    }
    let named = layers.iter().enumerate();
    named
        // An artifact without content holds the empty blob as its layer.
        .filter(|(_, layer)| layer.media_type != EMPTY_CONFIG || layer.annotations.contains_key(TITLE))
        .map(
            |(index, layer)| match layer.annotations.get(UNPACK).map(String::as_str) {
                Some("true") => folder(layer, index, layers.len()),
                _ => file(layer, index, layers.len()),
            },
        )
        .collect()
}

fn title(layer: &Descriptor, index: usize, count: usize) -> Result<ContentPath, Error> {
    let title = layer.annotations.get(TITLE).ok_or(Error::Untitled {
        position: index + 1,
        count,
    })?;
    Ok(title.parse()?)
}

/// The media type of a titled layer says nothing about its form: ORAS calls every plain file a tar by default.
fn file(layer: &Descriptor, index: usize, count: usize) -> Result<Part, Error> {
    Ok(Part {
        form: Form::File(title(layer, index, count)?),
        layer: layer.clone(),
    })
}

fn folder(layer: &Descriptor, index: usize, count: usize) -> Result<Part, Error> {
    // `oras push .` packs the folder where it stands: then there is none to stand below.
    let here = layer.annotations.get(TITLE).is_some_and(|title| title == ".");
    let folder = match here {
        true => None,
        false => Some(title(layer, index, count)?),
    };
    let compression = compression(&layer.media_type).ok_or_else(|| Error::FolderForm {
        title: folder.as_ref().map_or(".", ContentPath::as_str).to_owned(),
        media_type: layer.media_type.clone(),
    })?;
    let unpacked = layer.annotations.get(UNPACKED_DIGEST);
    Ok(Part {
        layer: layer.clone(),
        form: Form::Archive {
            compression,
            folder,
            // Of another algorithm it cannot be checked, and the layer's own digest covers the bytes already.
            unpacked: unpacked.and_then(|text| text.parse().ok()),
        },
    })
}

/// By the end of the media type, as registered for layers and as others follow.
fn compression(media_type: &str) -> Option<Compression> {
    let ends = |ends: &[&str]| ends.iter().any(|end| media_type.ends_with(end));
    if ends(&[".tar+gzip", ".tar.gzip"]) {
        Some(Compression::Gzip)
    } else if ends(&[".tar+zstd", ".tar.zstd"]) {
        Some(Compression::Zstd)
    } else {
        ends(&[".tar"]).then_some(Compression::None)
    }
}

impl Part {
    fn title(&self) -> &str {
        match &self.form {
            Form::File(path) => path.as_str(),
            Form::Archive { .. } => "",
        }
    }

    fn is(&self, media_type: &str) -> Result<(), Error> {
        if self.layer.media_type == media_type {
            return Ok(());
        }
        Err(Error::PtahLayer {
            title: self.title().to_owned(),
            media_type: self.layer.media_type.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
