//! Keys of a ConfigMap as files.
//!
//! A ConfigMap is the one source that is held in memory whole: the API server bounds it at 1 MiB.

use std::collections::BTreeMap;

use ptah_contract::manifest::Manifest;

use crate::Error;
use crate::content::{self, Limits};

/// What fits a snapshot ConfigMap: the API server's bound on an object's data
/// (`MaxSecretSize`, which its ConfigMap validation uses: 1 MiB over keys and values).
pub const SNAPSHOT_LIMIT: u64 = 1 << 20;

/// Selected files and their manifest, files in manifest order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// What there is.
    pub manifest: Manifest,
    /// The bytes of each file of the manifest, in its order.
    pub bytes: Vec<Vec<u8>>,
}

/// Takes the selected keys of a ConfigMap as files: `(key, path)` pairs, or every key as a file of its own name.
///
/// # Errors
/// When a key is missing, a path is unusable, two paths collide, nothing is selected, or the content does not fit a
/// snapshot.
pub fn resolve(
    data: &BTreeMap<String, Vec<u8>>,
    items: Option<&[(String, String)]>,
) -> Result<Content, Error> {
    let selected: Vec<(&str, &[u8])> = match items {
        None => data
            .iter()
            .map(|(key, bytes)| (key.as_str(), bytes.as_slice()))
            .collect(),
        Some(items) => items
            .iter()
            .map(|(key, path)| {
                let bytes = data.get(key).ok_or_else(|| Error::MissingKey(key.clone()))?;
                Ok((normal(path), bytes.as_slice()))
            })
            .collect::<Result<_, Error>>()?,
    };
    let content = content::Content::new(Limits::default(), None)?;
    for (path, bytes) in &selected {
        content.read(path, *bytes)?;
    }
    let manifest = content.finish(None)?;
    let by_path: BTreeMap<&str, &[u8]> = selected.into_iter().collect();
    let bytes: Vec<Vec<u8>> = manifest
        .files()
        .iter()
        .map(|file| {
            by_path
                .get(file.path.as_str())
                .map(|bytes| bytes.to_vec())
                .unwrap_or_default()
        })
        .collect();
    let keys = bytes.len() as u64 * 10;
    let size = manifest.to_bytes().len() as u64 + manifest.total_bytes() + keys + 13;
    if size > SNAPSHOT_LIMIT {
        return Err(Error::TooLarge {
            size,
            limit: SNAPSHOT_LIMIT,
        });
    }
    Ok(Content { manifest, bytes })
}

/// In a spec a leading `./` and a trailing `/` are dropped.
fn normal(path: &str) -> &str {
    let path = path.strip_prefix("./").unwrap_or(path);
    path.strip_suffix('/').unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(pairs: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        pairs
            .iter()
            .map(|(key, text)| ((*key).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    fn items(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(key, path)| ((*key).to_owned(), (*path).to_owned()))
            .collect()
    }

    #[test]
    fn promise_p042_the_same_files_give_the_same_digest_whatever_key_held_them() {
        let by_name = resolve(&data(&[("a.sql", "A"), ("b.sql", "B")]), None).unwrap();
        let selected = resolve(
            &data(&[("x", "A"), ("y", "B"), ("z", "?")]),
            Some(&items(&[("y", "b.sql"), ("x", "./a.sql")])),
        );
        assert_eq!(selected.unwrap(), by_name);
        assert_eq!(by_name.bytes, vec![b"A".to_vec(), b"B".to_vec()]);
    }

    #[test]
    fn promise_p048_an_edit_of_an_unselected_key_keeps_the_digest() {
        let select = items(&[("x", "a.sql")]);
        let before = resolve(&data(&[("x", "A"), ("z", "1")]), Some(&select)).unwrap();
        let after = resolve(&data(&[("x", "A"), ("z", "2")]), Some(&select)).unwrap();
        assert_eq!(before.manifest.content_digest(), after.manifest.content_digest());
        let edited = resolve(&data(&[("x", "B"), ("z", "2")]), Some(&select)).unwrap();
        assert_ne!(before.manifest.content_digest(), edited.manifest.content_digest());
    }

    #[test]
    fn what_cannot_be_a_snapshot_is_refused_by_name() {
        for (data, select, expected) in [
            (data(&[]), None, "Input nothing_selected: no file is selected"),
            (
                data(&[("a", "")]),
                Some(items(&[("b", "b")])),
                "Input missing_key: key \"b\" is not in the ConfigMap",
            ),
            (
                data(&[("a", "")]),
                Some(items(&[("a", "../b")])),
                "Refused invalid_path: path \"../b\": it has a part that is \".\" or \"..\"",
            ),
            (
                data(&[("a", ""), ("b", "")]),
                Some(items(&[("a", "X"), ("b", "x")])),
                "Refused path_collision: paths \"X\" and \"x\" would be one file on some systems",
            ),
            (
                data(&[("a", &"x".repeat(1 << 20))]),
                None,
                "Refused snapshot_too_large: files and manifest are 1048726 bytes together, a snapshot ConfigMap holds \
                 1048576",
            ),
        ] {
            let error = resolve(&data, select.as_deref()).unwrap_err();
            assert_eq!(format!("{:?} {}: {error}", error.class(), error.code()), expected);
        }
    }
}
