//! The content manifest: what a source contains, whatever it came from.
//!
//! Promises: the same files give the same bytes and the same digest, whether a ConfigMap, a Git tree or an OCI
//! artifact held them. A path that could mean another file on some system, and two paths that some system could
//! take for one, are refused. Nothing here reads a file system.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::canonical;
use crate::digest::Digest;

/// Most files that one content may have.
pub const MAX_FILES: usize = 10_000;
/// Largest single file, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// Largest content, in bytes.
pub const MAX_CONTENT_BYTES: u64 = 512 << 20;
const MAX_PATH_BYTES: usize = 1024;
const MAX_PATH_PARTS: usize = 32;

/// Why a path or a manifest is refused. Each names the path it is about.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The path itself is unusable.
    #[error("path {path:?}: {reason}")]
    Path {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Two paths are equal, or equal after Unicode normalisation and case folding, or one is the folder of the other.
    #[error("paths {first:?} and {second:?} would be one file on some systems")]
    Collision {
        /// The path that came first in byte order.
        first: String,
        /// The one that collides with it.
        second: String,
    },
    /// Nothing was selected. An empty desired state is never assumed.
    #[error("no file is selected")]
    Empty,
    /// A limit of this module is exceeded.
    #[error("{what}: {found} exceeds the limit of {limit}")]
    Limit {
        /// What was counted.
        what: String,
        /// How much there was.
        found: u64,
        /// How much is allowed.
        limit: u64,
    },
    /// The bytes are not the canonical encoding of a manifest of version 1.
    #[error(
        "the content manifest is not the canonical one of version 1 (another release may have written it): {0}"
    )]
    Encoding(String),
}

/// A clean relative path: UTF-8, `/` between parts, safe to create below any folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ContentPath(String);

impl ContentPath {
    /// The path as text, relative, with `/` between its parts.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ContentPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |reason| {
            Err(Error::Path {
                path: text.chars().take(256).collect(),
                reason,
            })
        };
        if text.is_empty() {
            return refuse("it is empty");
        }
        if text.len() > MAX_PATH_BYTES {
            return refuse("it is longer than 1024 bytes");
        }
        if text.contains('\\') {
            return refuse("it contains a backslash");
        }
        if text.chars().any(char::is_control) {
            return refuse("it contains a control character");
        }
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > MAX_PATH_PARTS {
            return refuse("it has more than 32 parts");
        }
        for part in parts {
            match part {
                "" => return refuse("it is absolute or has an empty part"),
                "." | ".." => return refuse("it has a part that is \".\" or \"..\""),
                _ if is_dot_git(part) => return refuse("it has a part that some system takes for \".git\""),
                _ => {}
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for ContentPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// `.git` in any case, with the trailing dots and blanks that Windows drops, or its 8.3 short name
/// (what git's own `core.protectNTFS` guards against, git-config(1)).
fn is_dot_git(part: &str) -> bool {
    let lower = part.to_lowercase();
    let lower = lower.trim_end_matches([' ', '.']);
    let short = lower
        .strip_prefix("git~")
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    lower == ".git" || short
}

/// One selected file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where it stands, relative to the selected folder.
    pub path: ContentPath,
    /// SHA-256 of its bytes, hex without an algorithm's name.
    #[serde(with = "bare_hex")]
    pub sha256: Digest,
    /// Its length in bytes.
    pub size: u64,
}

/// Every selected file, in byte order of the paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    files: Vec<File>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoded {
    files: Vec<File>,
    version: u32,
}

impl Manifest {
    /// Orders the files and checks that they can stand beside each other and keep the limits.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Collision`] or [`Error::Limit`].
    pub fn new(mut files: Vec<File>) -> Result<Self, Error> {
        if files.is_empty() {
            return Err(Error::Empty);
        }
        limit("files", files.len() as u64, MAX_FILES as u64)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut total = 0u64;
        for file in &files {
            limit(
                &format!("bytes of {:?}", file.path.as_str()),
                file.size,
                MAX_FILE_BYTES,
            )?;
            total = total.saturating_add(file.size);
        }
        limit("bytes of all files", total, MAX_CONTENT_BYTES)?;
        refuse_collisions(&files)?;
        Ok(Self { files })
    }

    /// The files in byte order of their paths.
    #[must_use]
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Bytes of all files together.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// The canonical encoding: what is stored beside a snapshot and what the content digest is taken over.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let encoded = Encoded {
            files: self.files.clone(),
            version: 1,
        };
        // Strings and integers only: encoding them cannot fail.
        canonical::to_bytes(&encoded).unwrap_or_default()
    }

    /// SHA-256 of [`Self::to_bytes`]: the identity of the content.
    #[must_use]
    pub fn content_digest(&self) -> Digest {
        Digest::of(&self.to_bytes())
    }

    /// Reads a stored manifest. Only the exact canonical bytes are accepted, so that one content has one digest.
    ///
    /// # Errors
    /// [`Error::Encoding`] for anything else, and what [`Self::new`] refuses.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let encoded: Encoded =
            serde_json::from_slice(bytes).map_err(|error| Error::Encoding(error.to_string()))?;
        if encoded.version != 1 {
            return Err(Error::Encoding(format!("version {} is unknown", encoded.version)));
        }
        let manifest = Self::new(encoded.files)?;
        if manifest.to_bytes() != bytes {
            return Err(Error::Encoding("keys, order or white space differ".to_owned()));
        }
        Ok(manifest)
    }
}

fn limit(what: &str, found: u64, limit: u64) -> Result<(), Error> {
    if found > limit {
        Err(Error::Limit {
            what: what.to_owned(),
            found,
            limit,
        })
    } else {
        Ok(())
    }
}

/// The places that files and folders have taken so far, told apart as the strictest file system would.
///
/// Whoever takes in files one by one asks here before it writes the next one; [`Manifest::new`] asks for all.
#[derive(Debug, Default)]
pub struct Places {
    /// Folded path to the spelling that took it, and whether that is a file.
    taken: BTreeMap<String, (String, bool)>,
}

impl Places {
    /// Takes the place of a file, and those of the folders above it.
    ///
    /// # Errors
    /// [`Error::Collision`] when a path is equal to another after NFC and case folding, or is the folder of a file.
    pub fn file(&mut self, path: &ContentPath) -> Result<(), Error> {
        self.take(path.as_str(), true)
    }

    /// Takes the place of a folder, which may be taken any number of times in one spelling.
    ///
    /// # Errors
    /// As [`Self::file`].
    pub fn folder(&mut self, path: &ContentPath) -> Result<(), Error> {
        self.take(path.as_str(), false)
    }

    fn take(&mut self, path: &str, is_file: bool) -> Result<(), Error> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            let (part, ends_here) = (&path[..end], end == path.len());
            let folded = fold(part);
            match self.taken.get(&folded) {
                // The same folder in the same spelling holds many files.
                Some((seen, false)) if !(ends_here && is_file) && seen == part => {}
                Some((seen, _)) => {
                    return Err(Error::Collision {
                        first: seen.clone(),
                        second: path.to_owned(),
                    });
                }
                None => {
                    self.taken.insert(folded, (part.to_owned(), ends_here && is_file));
                }
            }
        }
        Ok(())
    }
}

fn refuse_collisions(files: &[File]) -> Result<(), Error> {
    let mut places = Places::default();
    files.iter().try_for_each(|file| places.file(&file.path))
}

fn fold(path: &str) -> String {
    let normal: String = path.nfc().collect();
    caseless::default_case_fold_str(&normal).nfc().collect()
}

mod bare_hex {
    use super::Digest;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&digest.hex())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        format!("sha256:{text}").parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: &[u8]) -> File {
        File {
            path: path.parse().unwrap(),
            sha256: Digest::of(bytes),
            size: bytes.len() as u64,
        }
    }

    #[test]
    fn promise_p042_the_same_files_give_the_same_digest_in_any_order() {
        let one = Manifest::new(vec![file("b.sql", b"B"), file("a/x.sql", b"A")]).unwrap();
        let two = Manifest::new(vec![file("a/x.sql", b"A"), file("b.sql", b"B")]).unwrap();
        let vector = include_str!("../testdata/manifest.json");
        assert_eq!(String::from_utf8(one.to_bytes()).unwrap(), vector);
        assert_eq!(one.content_digest(), two.content_digest());
        assert_eq!(one.content_digest(), Digest::of(vector.as_bytes()));
        assert_eq!(Manifest::from_bytes(vector.as_bytes()), Ok(one));
    }

    #[test]
    fn every_refused_path_of_the_table_is_refused_and_every_accepted_one_accepted() {
        for line in include_str!("../testdata/paths.txt")
            .lines()
            .filter(|l| !l.starts_with('#'))
        {
            let (verdict, text) = line.split_once(' ').unwrap();
            let path: String = serde_json::from_str(text).unwrap();
            assert_eq!(path.parse::<ContentPath>().is_ok(), verdict == "ok", "{line}");
        }
        assert!("a/".repeat(33).parse::<ContentPath>().is_err());
        assert!("a".repeat(1025).parse::<ContentPath>().is_err());
    }

    #[test]
    fn paths_that_are_one_file_somewhere_are_refused_together() {
        for (a, b) in [
            ("a.sql", "a.sql"),
            ("A.sql", "a.sql"),
            ("a", "a/b"),
            ("D/x", "d/y"),
            ("é", "e\u{301}"),
            ("ß", "SS"),
        ] {
            let files = vec![file(a, b"1"), file(b, b"2")];
            assert!(
                matches!(Manifest::new(files), Err(Error::Collision { .. })),
                "{a} {b}"
            );
        }
        assert!(Manifest::new(vec![file("d/x", b""), file("d/y", b""), file("d.x", b"")]).is_ok());
    }

    #[test]
    fn nothing_selected_is_refused_and_other_encodings_are_not_read() {
        assert_eq!(Manifest::new(vec![]), Err(Error::Empty));
        let vector = include_str!("../testdata/manifest.json");
        for wrong in [
            vector
                .replace(":1}", ":2}")
                .replace("\"version\":1", "\"version\":2"),
            vector.replace(',', ", "),
            format!("{vector}\n"),
            vector.replace("\"version\"", "\"extra\":0,\"version\""),
            String::new(),
        ] {
            assert!(Manifest::from_bytes(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn files_that_come_one_by_one_collide_exactly_when_they_cannot_make_a_manifest(
            paths in proptest::collection::vec("[aAbß]{1,2}(/[aAb]{1,2}){0,2}", 1..6),
        ) {
            let mut places = Places::default();
            let taken = paths.iter().try_for_each(|path| places.file(&path.parse().unwrap()));
            let whole = Manifest::new(paths.iter().map(|path| file(path, b"")).collect());
            proptest::prop_assert_eq!(taken.is_ok(), whole.is_ok(), "{:?}", paths);
        }
    }
}
