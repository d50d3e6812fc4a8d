//! Where a repository is.

use std::fmt;
use std::str::FromStr;

use ptah_contract::source_policy::{Refusal, SourcePolicy};
use url::Url;

use super::Error;
use crate::net::Authority;

const MAX_LENGTH: usize = 2048;
const HTTPS_PORT: u16 = 443;
/// The port of SSH, where a repository names none.
pub(super) const SSH_PORT: u16 = 22;

/// The URL of a repository, as it was written, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    text: String,
    at: At,
}

/// What a repository is reached through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    Https {
        url: Url,
        authority: Authority,
    },
    Ssh {
        user: String,
        authority: Authority,
        path: String,
    },
}

impl Repository {
    /// As it was written: the identity that a plan binds.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The authority that is contacted, and that a credential must be granted for.
    #[must_use]
    pub fn authority(&self) -> Authority {
        match &self.at {
            At::Https { authority, .. } | At::Ssh { authority, .. } => authority.clone(),
        }
    }

    /// Whether SSH is spoken.
    #[must_use]
    pub fn is_ssh(&self) -> bool {
        matches!(self.at, At::Ssh { .. })
    }

    /// Asks a source policy whether the repository may be a source, before anything is asked of it.
    ///
    /// # Errors
    /// The rule that says no.
    pub fn admitted_by(&self, policy: &SourcePolicy, verified: bool) -> Result<(), Refusal> {
        let (authority, usual) = match &self.at {
            At::Https { authority, .. } => (authority, HTTPS_PORT),
            At::Ssh { authority, .. } => (authority, SSH_PORT),
        };
        policy
            .check_git_host(authority.host(), authority.port().unwrap_or(usual))
            .and_then(|()| policy.check_git_verification(verified))
    }

    pub(super) fn at(&self) -> &At {
        &self.at
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Repository {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_LENGTH {
            return Err(Error::Repository("it is longer than 2048 bytes"));
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(Error::Repository(
                "it contains white space or a control character",
            ));
        }
        let at = match text.split_once("://") {
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                "https" => https(text)?,
                "ssh" | "git+ssh" | "ssh+git" => ssh_url(rest)?,
                "http" => return Err(Error::Scheme("plain http")),
                "git" => return Err(Error::Scheme("the git protocol")),
                "file" => return Err(Error::Scheme("a local file")),
                _ => return Err(Error::Scheme("this scheme")),
            },
            None if text.contains("::") && !text.contains('[') => {
                return Err(Error::Scheme("a remote helper"));
            }
            None => short_ssh(text)?,
        };
        Ok(Self {
            text: text.to_owned(),
            at,
        })
    }
}

fn https(text: &str) -> Result<At, Error> {
    let url = Url::parse(text).map_err(|_| Error::Repository("it is no URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::CredentialsInUrl);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Error::Repository("it has a query or a fragment"));
    }
    if url.path().trim_matches('/').is_empty() {
        return Err(Error::Repository("it names no path on the host"));
    }
    // The host has passed the URL parser; what a name may be is narrower.
    let authority = Authority::of(&url).map_err(|_| Error::Repository("its host is unusable"))?;
    Authority::new(authority.host(), None).map_err(|_| Error::Repository("its host is unusable"))?;
    Ok(At::Https { url, authority })
}

fn ssh_url(rest: &str) -> Result<At, Error> {
    let (authority, path) = rest
        .split_once('/')
        .ok_or(Error::Repository("it names no path on the host"))?;
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user, host),
        // Not the name of whoever runs this program: the environment changes nothing.
        None => ("git", authority),
    };
    let authority: Authority = host
        .parse()
        .map_err(|_| Error::Repository("its host is unusable"))?;
    // `/~user/...` is a path below that user's home folder.
    let path = if path.starts_with('~') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    ssh(user, authority, path)
}

fn short_ssh(text: &str) -> Result<At, Error> {
    const FORM: Error = Error::Repository("it is none of https://…, ssh://… and user@host:path");
    let (user, rest) = text.split_once('@').ok_or(FORM)?;
    let (host, path) = match rest.split_once("]:") {
        Some((host, path)) => (format!("{host}]"), path),
        None => rest
            .split_once(':')
            .map(|(host, path)| (host.to_owned(), path))
            .ok_or(FORM)?,
    };
    let authority = Authority::new(&host, None).map_err(|_| Error::Repository("its host is unusable"))?;
    ssh(user, authority, path.to_owned())
}

fn ssh(user: &str, authority: Authority, path: String) -> Result<At, Error> {
    if user.contains(':') {
        return Err(Error::CredentialsInUrl);
    }
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    if user.is_empty() || user.starts_with('-') || !user.chars().all(named) {
        return Err(Error::Repository("its user name is unusable"));
    }
    if path.trim_matches('/').is_empty() {
        return Err(Error::Repository("it names no path on the host"));
    }
    // The path stands between apostrophes in a command of the other side's shell.
    if path.starts_with('-') || path.contains(['\'', '\\', '!', '`', '$', '"']) {
        return Err(Error::Repository(
            "its path holds a character that a shell would read",
        ));
    }
    if path.contains(['%', '?', '#']) {
        return Err(Error::Repository(
            "its path holds one of % ? #, which an SSH path has not",
        ));
    }
    Ok(At::Ssh {
        user: user.to_owned(),
        authority,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The form `class code text`, or `ok authority text`.
    #[test]
    fn every_repository_of_the_table_is_taken_or_refused_as_it_says() {
        for line in crate::testing::rows(include_str!("../../testdata/git/repositories.txt")) {
            let [verdict, detail, text] = crate::testing::fields(line);
            let text = text.replace("\\t", "\t");
            match text.parse::<Repository>() {
                Ok(repository) => {
                    assert_eq!(verdict, "ok", "{line}");
                    assert_eq!(repository.authority().to_string(), detail, "{line}");
                    assert_eq!(repository.as_str(), text);
                }
                Err(error) => {
                    assert_eq!((error.class_word(), error.code()), (verdict, detail), "{line}");
                    assert!(!error.to_string().contains("hunter2"), "{line}");
                }
            }
        }
    }

    #[test]
    fn a_transport_that_protects_nothing_is_refused_by_its_name() {
        for (text, name) in [
            ("http://git.example/app.git", "plain http"),
            ("git://git.example/app.git", "the git protocol"),
            ("file:///srv/app.git", "a local file"),
        ] {
            let error = text.parse::<Repository>().unwrap_err();
            let expected =
                format!("repository: {name} is not allowed; use https://, ssh:// or user@host:path");
            assert_eq!((error.class_word(), error.to_string()), ("refused", expected));
        }
    }

    #[test]
    fn a_user_or_a_password_in_a_url_is_refused_with_where_it_belongs() {
        let error = "https://ada:hunter2@git.example/app.git"
            .parse::<Repository>()
            .unwrap_err();
        let sentence = "repository: a URL with a user name or a password is not taken; put it in the Secret";
        assert_eq!(
            (error.class_word(), error.code(), error.to_string().as_str()),
            ("refused", "credentials_in_url", sentence)
        );
    }

    proptest! {
        #[test]
        fn whatever_is_taken_has_a_safe_host_and_a_safe_path(text in "(https://|ssh://|git@)?[ -~é]{0,40}") {
            if let Ok(repository) = text.parse::<Repository>() {
                let authority = repository.authority();
                prop_assert!(!authority.host().starts_with('-'));
                if let At::Ssh { user, path, .. } = repository.at() {
                    prop_assert!(!user.starts_with('-') && !path.starts_with('-'));
                    prop_assert!(!path.contains('\'') && !path.chars().any(char::is_control));
                }
            }
        }
    }
}
