//! What is asked for: a ref or a commit, and a path in its tree.

use std::fmt;
use std::str::FromStr;

use gix_hash::ObjectId;
use ptah_contract::manifest::ContentPath;

use super::Error;

/// What `ref` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    text: String,
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Exactly that ref.
    Full,
    /// That commit.
    Commit(ObjectId),
    /// The remote's symbolic HEAD.
    Head,
    /// The branch or the tag of exactly that name.
    Short,
}

impl Requested {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// What a listing is narrowed to; the other side may list more.
    pub(super) fn prefixes(&self) -> Vec<String> {
        match self.meaning {
            Meaning::Full => vec![self.text.clone()],
            Meaning::Head => vec!["HEAD".to_owned()],
            Meaning::Short => vec![self.branch(), self.tag()],
            Meaning::Commit(_) => vec![],
        }
    }

    pub(super) fn branch(&self) -> String {
        format!("refs/heads/{}", self.text)
    }

    pub(super) fn tag(&self) -> String {
        format!("refs/tags/{}", self.text)
    }
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Requested {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.len() > 1024 {
            return Err(Error::Ref("it is longer than 1024 bytes"));
        }
        let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let meaning = match text.len() {
            40 | 64 if hex => {
                let id = ObjectId::from_hex(text.as_bytes()).map_err(|_| Error::Ref("it is no object id"))?;
                Meaning::Commit(id)
            }
            _ if text == "HEAD" => Meaning::Head,
            _ if text.starts_with("refs/") => {
                well_formed(text)?;
                Meaning::Full
            }
            _ => {
                well_formed(&format!("refs/heads/{text}"))?;
                Meaning::Short
            }
        };
        Ok(Self {
            text: text.to_owned(),
            meaning,
        })
    }
}

/// As `git check-ref-format` judges a full name.
fn well_formed(name: &str) -> Result<(), Error> {
    gix_validate::reference::name(name.into())
        .map(|_| ())
        .map_err(|_| Error::Ref("git allows no ref of this name"))
}

/// What `path` selects: the whole tree, or a folder or a file in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePath(Option<ContentPath>);

impl TreePath {
    /// As it is recorded: without a leading `./` and a trailing `/`; `.` for the whole tree.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or(".", ContentPath::as_str)
    }

    /// The parts below the root; none for the whole tree.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|path| path.as_str().split('/'))
    }

    /// Whether everything is selected.
    pub(super) fn is_root(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TreePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let path = text.strip_prefix("./").unwrap_or(text);
        let path = path.strip_suffix('/').unwrap_or(path);
        if text == "." || text == "./" {
            return Ok(Self(None));
        }
        let path: ContentPath = path
            .parse()
            .map_err(|error| Error::Content(crate::Error::from(error)))?;
        Ok(Self(Some(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fields, rows};
    use proptest::prelude::*;
    use std::process::Command;

    fn git_allows(name: &str) -> bool {
        Command::new("git")
            .args(["check-ref-format", name])
            .status()
            .expect("git: install the Debian package git")
            .success()
    }

    #[test]
    fn every_ref_of_the_table_means_what_it_says_and_git_agrees_which_names_there_are() {
        for line in rows(include_str!("../../testdata/git/ref_names.txt")) {
            let [expected, text] = fields(line);
            let text: String = serde_json::from_str(text).unwrap();
            let parsed = text.parse::<Requested>();
            let found = match &parsed {
                Ok(requested) => match requested.meaning() {
                    Meaning::Full => "full",
                    Meaning::Commit(_) => "commit",
                    Meaning::Head => "head",
                    Meaning::Short => "short",
                },
                Err(error) => error.code(),
            };
            assert_eq!(found, expected, "{line}");
            if !text.contains('\0') && !matches!(found, "commit" | "head") {
                let name = if text.starts_with("refs/") {
                    text
                } else {
                    format!("refs/heads/{text}")
                };
                assert_eq!(git_allows(&name), parsed.is_ok(), "{line}");
            }
        }
    }

    #[test]
    fn every_path_of_the_table_is_normalised_or_refused_as_it_says() {
        for line in rows(include_str!("../../testdata/git/tree_paths.txt")) {
            let [expected, text] = fields(line);
            let text: String = serde_json::from_str(text).unwrap();
            let found = match text.parse::<TreePath>() {
                Ok(path) => path.to_string(),
                Err(error) => error.code().to_owned(),
            };
            assert_eq!(found, expected, "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn a_name_is_taken_only_when_git_allows_it(name in "(refs/)?[a-zA-Z0-9./@{}~^: *?\\[\\\\é-]{1,12}") {
            prop_assume!(name != "HEAD");
            let full = if name.starts_with("refs/") { name.clone() } else { format!("refs/heads/{name}") };
            prop_assert_eq!(name.parse::<Requested>().is_ok(), git_allows(&full), "{}", name);
        }

        #[test]
        fn a_path_is_clean_or_refused(text in ".{0,30}") {
            if let Ok(path) = text.parse::<TreePath>() {
                prop_assert!(path.parts().all(|part| !part.is_empty() && part != "." && part != ".."));
            }
        }
    }
}
