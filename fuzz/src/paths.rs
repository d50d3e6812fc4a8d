//! Paths of content, and the manifest that lists them.

use std::path::{Component, Path};

use ptah_contract::digest::Digest;
use ptah_contract::manifest::{ContentPath, File, MAX_CONTENT_BYTES, MAX_FILES, Manifest, Places};

use crate::{bounded, text};

/// Below the folder, in as many parts as it says.
pub(crate) fn stays_below(path: &ContentPath) {
    let plain = Path::new(path.as_str())
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let parts = path.as_str().split('/').count();
    assert!(
        plain && Path::new(path.as_str()).components().count() == parts,
        "{path}"
    );
    assert!(!path.as_str().contains(['\0', '\\']), "{path}");
}

/// Lines as paths: what is taken stays below its folder and reads back as itself; a manifest and the places that are
/// taken one by one agree about which paths can stand beside each other; the order of the files says nothing.
pub fn content_path(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let mut paths = Vec::new();
    for line in text.split('\n') {
        match line.parse::<ContentPath>() {
            Ok(path) => {
                stays_below(&path);
                assert_eq!(path.to_string().parse(), Ok(path.clone()));
                paths.push(path);
            }
            Err(error) => bounded(&error),
        }
    }
    if paths.is_empty() || paths.len() > MAX_FILES {
        return;
    }
    let mut places = Places::default();
    let taken = paths.iter().try_for_each(|path| places.file(path));
    let file = |path: &ContentPath| File {
        path: path.clone(),
        sha256: Digest::of(path.as_str().as_bytes()),
        size: path.as_str().len() as u64,
    };
    let manifest = Manifest::new(paths.iter().map(file).collect());
    assert_eq!(taken.is_ok(), manifest.is_ok(), "{paths:?}");
    match manifest {
        Ok(manifest) => {
            let other = Manifest::new(paths.iter().rev().map(file).collect());
            assert_eq!(other.as_ref(), Ok(&manifest));
            assert_eq!(Manifest::from_bytes(&manifest.to_bytes()), Ok(manifest));
        }
        Err(error) => bounded(&error),
    }
}

/// A manifest that is read is those bytes and no others, within the limits, and its paths stay below their folder.
pub fn content_manifest(data: &[u8]) {
    match Manifest::from_bytes(data) {
        Ok(manifest) => {
            assert_eq!(manifest.to_bytes(), data);
            assert_eq!(manifest.content_digest(), Digest::of(data));
            assert!((1..=MAX_FILES).contains(&manifest.files().len()));
            assert!(manifest.total_bytes() <= MAX_CONTENT_BYTES);
            assert!(manifest.files().is_sorted_by(|a, b| a.path < b.path));
            manifest.files().iter().for_each(|file| stays_below(&file.path));
        }
        Err(error) => bounded(&error),
    }
}
