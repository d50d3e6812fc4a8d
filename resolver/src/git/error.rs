//! Why a Git source cannot be used, and who can end it.

use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};

use crate::net;

/// A refusal or a failure. Names refs, paths, objects, hosts and Secret keys; never a secret, a whole URL, or text
/// that the server wrote.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network, or whatever answers there.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// The files, or where they are to be written.
    #[error(transparent)]
    Content(#[from] crate::Error),

    /// `repository` is malformed.
    #[error("repository: {0}")]
    Repository(&'static str),
    /// `repository` asks for a transport that protects nothing.
    #[error("repository: {0} is not allowed; use https://, ssh:// or user@host:path")]
    Scheme(&'static str),
    /// `repository` holds a user's name or password.
    #[error("repository: a URL with a user name or a password is not taken; put it in the Secret")]
    CredentialsInUrl,
    /// `ref` is malformed.
    #[error("ref: {0}")]
    Ref(&'static str),

    /// The Secret is malformed.
    #[error("Secret key {key}: {problem}")]
    SecretKey {
        /// Which key.
        key: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// The keys of the Secret do not make one credential.
    #[error("Secret: {0}")]
    SecretKeys(String),
    /// The Secret is for another host.
    #[error("Secret key host grants {granted}, the repository is at {authority}; no credential is sent")]
    NotGranted {
        /// Where the repository is.
        authority: String,
        /// What the Secret grants.
        granted: String,
    },
    /// The Secret does not know this CA.
    #[error("Secret key caSHA256 grants {granted}, the CA bundle has {found}; no credential is sent")]
    CaNotGranted {
        /// What the Secret grants.
        granted: Digest,
        /// What is given.
        found: Digest,
    },
    /// SSH without a key.
    #[error("an SSH repository needs a Secret with identity and known_hosts")]
    IdentityMissing,
    /// `known_hosts` is malformed.
    #[error("known_hosts line {line}: {problem}")]
    KnownHosts {
        /// Which line.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// `known_hosts` says nothing of the host.
    #[error("known_hosts has no line for {host}{hint}")]
    HostUnknown {
        /// The name that is looked for.
        host: String,
        /// What might help.
        hint: String,
    },
    /// The host offers no key of a kind that `known_hosts` has.
    #[error("host {host} offers no key of the kinds in known_hosts: offered {offered}; on file {known}")]
    HostKeyKinds {
        /// Which.
        host: String,
        /// What it offers.
        offered: String,
        /// What is on file.
        known: String,
    },
    /// The host's key is another one.
    #[error("host {host} has an {algorithm} key with fingerprint {fingerprint}, which is not in known_hosts")]
    HostKeyMismatch {
        /// Which.
        host: String,
        /// The kind of its key.
        algorithm: String,
        /// The key, as ssh-keygen shows it.
        fingerprint: String,
    },
    /// The host's key is marked as revoked.
    #[error("the key of host {host} with fingerprint {fingerprint} is revoked in known_hosts")]
    HostKeyRevoked {
        /// Which.
        host: String,
        /// The key, as ssh-keygen shows it.
        fingerprint: String,
    },
    /// Nothing that both sides speak.
    #[error("host {host} offers no {what} for SSH that is spoken here")]
    SshAlgorithms {
        /// Which.
        host: String,
        /// A kind of algorithm.
        what: &'static str,
    },
    /// SSH could not be set up.
    #[error("the SSH connection to {host} could not be set up; the log of its SSH server says why")]
    Ssh {
        /// With whom.
        host: String,
    },

    /// A credential was rejected.
    #[error("{host} rejects the credential")]
    AuthenticationFailed {
        /// Who.
        host: String,
    },
    /// There is no credential, and one is asked for.
    #[error("{host} asks for a credential; a repository that does not exist may be hidden the same way")]
    AuthenticationRequired {
        /// Who.
        host: String,
    },
    /// Redirected to where the credential may not go.
    #[error(
        "{host} asks for a credential, which is granted for {granted} alone and was not sent after the redirect"
    )]
    RedirectedCredential {
        /// Who asks.
        host: String,
        /// Where it may go.
        granted: String,
    },
    /// The credential may not read this.
    #[error("{host} denies access to the repository")]
    AccessDenied {
        /// Who.
        host: String,
    },
    /// There is no such repository.
    #[error("{host} has no such repository, or hides it from this credential")]
    RepositoryNotFound {
        /// Who.
        host: String,
    },
    /// The server is there but does not speak Git.
    #[error("{host} does not answer as a Git server")]
    NotAGitServer {
        /// Who.
        host: String,
    },
    /// A redirect that changes more than where the repository is.
    #[error("{host} redirects to something that is not the same repository")]
    RedirectTarget {
        /// Who.
        host: String,
    },
    /// The installation's token could not be had.
    #[error("no token was given for the GitHub App installation: {0}")]
    AppToken(&'static str),

    /// No such ref.
    #[error("ref {0:?} does not exist in the repository")]
    RefNotFound(String),
    /// The remote's HEAD leads nowhere.
    #[error("HEAD of the repository names no commit")]
    HeadUnborn,
    /// A branch and a tag have that name.
    #[error("ref {name:?} is both {branch} and {tag}; write the full name of one of them")]
    RefAmbiguous {
        /// What was asked for.
        name: String,
        /// The one.
        branch: String,
        /// The other.
        tag: String,
    },
    /// The ref leads to something else than a commit.
    #[error("ref {name:?} leads to a {kind}, not to a commit")]
    NotACommit {
        /// Which.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// The server does not allow asking for that commit.
    #[error(
        "commit {0} is not at a branch or a lightweight tag, and the server does not allow asking for it: it would \
         have to allow reachable or any SHA-1 in want (uploadpack.allowReachableSHA1InWant or allowAnySHA1InWant); \
         naming the tag works everywhere"
    )]
    CommitNotAllowed(String),
    /// The commit is not there.
    #[error("commit {0} does not exist in the repository, or no ref leads to it")]
    CommitNotFound(String),
    /// The recorded commit cannot be had any more.
    #[error("commit {commit} is no longer reachable from {from}")]
    CommitGone {
        /// Which.
        commit: String,
        /// Where it was looked for.
        from: String,
    },
    /// The recorded commit is deeper than the budget allows to look.
    #[error(
        "commit {commit} was not found within {depth} commits of {reference}, where the fetch budget ends"
    )]
    HistoryBudget {
        /// Which.
        commit: String,
        /// Along what.
        reference: String,
        /// How deep.
        depth: u32,
    },
    /// The object ids are of another kind than the repository's.
    #[error("commit {0} is not an object id of the kind that the repository uses")]
    ObjectFormat(String),

    /// The server does not give what was asked for by id.
    #[error("{host} does not give what it listed a moment ago; the ref may have moved meanwhile")]
    NotOurs {
        /// Who.
        host: String,
    },

    /// The repository hashes its objects in a way that is not known here.
    #[error("the objects of the repository have a hash that is not supported")]
    UnknownHash,

    /// The path does not exist in the tree.
    #[error("path {0:?} does not exist in the commit")]
    PathNotFound(String),
    /// A submodule at the path.
    #[error("path {0:?} is a submodule; its content is in another repository")]
    Submodule(String),
    /// A symbolic link at the path.
    #[error("path {0:?} is a symbolic link")]
    Symlink(String),
    /// A pointer of Git LFS.
    #[error("path {0:?} is a Git LFS pointer; the file itself is not in the repository")]
    LfsPointer(String),
    /// A tree whose entries no honest program writes.
    #[error("the tree of {path:?} is malformed: {problem}")]
    Tree {
        /// Where.
        path: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A tree with more entries than any honest one of the allowed size.
    #[error("the path selects more than {0} files and folders")]
    TooManyEntries(usize),

    /// The pack's objects are too large together.
    #[error("the pack unpacks to more than {limit} bytes")]
    UnpackedBudget {
        /// What it may unpack to.
        limit: u64,
    },
    /// The pack has too many objects.
    #[error("the pack has {found} objects, the fetch budget is {limit}")]
    ObjectBudget {
        /// What it says.
        found: u64,
        /// What is allowed.
        limit: u64,
    },
    /// An object is larger than is held in memory.
    #[error("the pack has an object of more than {limit} bytes")]
    ObjectTooLarge {
        /// What is allowed.
        limit: u64,
    },
    /// The pack does not give its checksum, or ends early.
    #[error("the pack of {host} is damaged or incomplete")]
    PackDamaged {
        /// Whose.
        host: String,
    },
    /// An object that must be there is not: what was sent has another hash.
    #[error("{host} did not send object {id}: nothing in its pack has that hash")]
    ObjectMissing {
        /// Who.
        host: String,
        /// Which.
        id: String,
    },
    /// An object of another kind than its place demands.
    #[error(
        "object {id} is not a {expected}, as its place demands; git fsck shows what is wrong with the repository"
    )]
    ObjectKind {
        /// Which.
        id: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The server says something that the protocol does not allow.
    #[error("{host} answers outside the Git protocol")]
    Protocol {
        /// Who.
        host: String,
    },
    /// A server from before side bands.
    #[error("{host} speaks Git without multi_ack_detailed or side-band, which are needed")]
    TooOld {
        /// Who.
        host: String,
    },
    /// The server ended the conversation with an error of its own.
    #[error("the Git program of {host} ended with an error")]
    Remote {
        /// Who.
        host: String,
    },
    /// A library failed in a way that it should not.
    #[error("a library failed while reading the repository; this attempt is over")]
    Panicked,
    /// A signature is asked for that the commit, or the tag that led to it, does not carry.
    #[error("verification: {0}")]
    Unverified(String),
}

impl Error {
    /// Stable name of the refusal.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Net(error) => error.code(),
            Self::Content(error) => error.code(),
            Self::Repository(_) => "invalid_repository",
            Self::Scheme(_) => "scheme_refused",
            Self::CredentialsInUrl => "credentials_in_url",
            Self::Ref(_) => "invalid_ref",
            Self::SecretKey { .. } | Self::SecretKeys(_) => "invalid_secret",
            Self::NotGranted { .. } => "host_not_granted",
            Self::CaNotGranted { .. } => "ca_not_granted",
            Self::IdentityMissing => "identity_missing",
            Self::KnownHosts { .. } => "invalid_known_hosts",
            Self::HostUnknown { .. } => "host_key_unknown",
            Self::HostKeyKinds { .. } => "host_key_kinds",
            Self::HostKeyMismatch { .. } => "host_key_mismatch",
            Self::HostKeyRevoked { .. } => "host_key_revoked",
            Self::SshAlgorithms { .. } => "ssh_algorithms",
            Self::Ssh { .. } => "ssh_failed",
            Self::AuthenticationFailed { .. } => "authentication_failed",
            Self::AuthenticationRequired { .. } => "authentication_required",
            Self::RedirectedCredential { .. } => "credential_not_sent",
            Self::AccessDenied { .. } => "access_denied",
            Self::RepositoryNotFound { .. } => "repository_not_found",
            Self::NotAGitServer { .. } => "not_a_git_server",
            Self::RedirectTarget { .. } => "redirect_target",
            Self::AppToken(_) => "app_token_failed",
            Self::RefNotFound(_) => "ref_not_found",
            Self::HeadUnborn => "head_unborn",
            Self::RefAmbiguous { .. } => "ref_ambiguous",
            Self::NotACommit { .. } => "not_a_commit",
            Self::CommitNotAllowed(_) => "commit_not_allowed",
            Self::CommitNotFound(_) => "commit_not_found",
            Self::CommitGone { .. } => "commit_gone",
            Self::HistoryBudget { .. } => "history_budget",
            Self::ObjectFormat(_) | Self::UnknownHash => "object_format",
            Self::NotOurs { .. } => "ref_moved",
            Self::PathNotFound(_) => "path_not_found",
            Self::Submodule(_) => "submodule",
            Self::Symlink(_) => "symlink",
            Self::LfsPointer(_) => "lfs_pointer",
            Self::Tree { .. } => "malformed_tree",
            Self::TooManyEntries(_) => "content_limit",
            Self::ObjectBudget { .. } => "object_budget",
            Self::UnpackedBudget { .. } => "unpacked_budget",
            Self::ObjectTooLarge { .. } => "object_too_large",
            Self::PackDamaged { .. } => "pack_damaged",
            Self::ObjectMissing { .. } => "object_missing",
            Self::ObjectKind { .. } => "object_kind",
            Self::Protocol { .. } => "protocol_violation",
            Self::TooOld { .. } => "server_too_old",
            Self::Remote { .. } => "remote_failed",
            Self::Panicked => "library_panicked",
            Self::Unverified(_) => "commit_signature_refused",
        }
    }

    /// Who can end it.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Net(error) => error.class(),
            Self::Content(error) => error.class(),
            Self::NotOurs { .. } | Self::PackDamaged { .. } | Self::Remote { .. } | Self::Ssh { .. } => {
                FailureClass::Transient
            }
            Self::Repository(_)
            | Self::Ref(_)
            | Self::SecretKey { .. }
            | Self::SecretKeys(_)
            | Self::IdentityMissing
            | Self::SshAlgorithms { .. }
            | Self::KnownHosts { .. }
            | Self::AuthenticationFailed { .. }
            | Self::AuthenticationRequired { .. }
            | Self::RedirectedCredential { .. }
            | Self::AccessDenied { .. }
            | Self::RepositoryNotFound { .. }
            | Self::NotAGitServer { .. }
            | Self::TooOld { .. }
            | Self::AppToken(_)
            | Self::RefNotFound(_)
            | Self::HeadUnborn
            | Self::RefAmbiguous { .. }
            | Self::NotACommit { .. }
            | Self::CommitNotFound(_)
            | Self::ObjectFormat(_)
            | Self::UnknownHash
            | Self::PathNotFound(_) => FailureClass::Input,
            Self::Scheme(_)
            | Self::CredentialsInUrl
            | Self::NotGranted { .. }
            | Self::CaNotGranted { .. }
            | Self::HostUnknown { .. }
            | Self::HostKeyKinds { .. }
            | Self::HostKeyMismatch { .. }
            | Self::HostKeyRevoked { .. }
            | Self::CommitNotAllowed(_)
            | Self::CommitGone { .. }
            | Self::HistoryBudget { .. }
            | Self::Submodule(_)
            | Self::Symlink(_)
            | Self::LfsPointer(_)
            | Self::Tree { .. }
            | Self::TooManyEntries(_)
            | Self::ObjectBudget { .. }
            | Self::UnpackedBudget { .. }
            | Self::ObjectTooLarge { .. }
            | Self::Unverified(_) => FailureClass::Refused,
            Self::RedirectTarget { .. }
            | Self::ObjectMissing { .. }
            | Self::ObjectKind { .. }
            | Self::Protocol { .. } => FailureClass::Attention,
            Self::Panicked => FailureClass::Internal,
        }
    }

    /// As it crosses a process boundary.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let object = match self {
            Self::Content(error) => return error.to_failure(),
            Self::PathNotFound(name)
            | Self::Submodule(name)
            | Self::Symlink(name)
            | Self::LfsPointer(name)
            | Self::RefNotFound(name)
            | Self::CommitNotAllowed(name)
            | Self::CommitNotFound(name)
            | Self::ObjectFormat(name)
            | Self::RefAmbiguous { name, .. }
            | Self::NotACommit { name, .. }
            | Self::CommitGone { commit: name, .. }
            | Self::HistoryBudget { commit: name, .. }
            | Self::Tree { path: name, .. } => Some(name.clone()),
            Self::SecretKey { key, .. } => Some((*key).to_owned()),
            Self::Repository(_) | Self::Scheme(_) | Self::CredentialsInUrl => Some("repository".to_owned()),
            Self::Ref(_) => Some("ref".to_owned()),
            _ => None,
        };
        Failure {
            object,
            ..Failure::new(self.code(), self.class(), self.to_string())
        }
    }

    #[cfg(test)]
    pub(crate) fn class_word(&self) -> &'static str {
        match self.class() {
            FailureClass::Transient => "transient",
            FailureClass::Input => "input",
            FailureClass::Refused => "refused",
            FailureClass::Attention => "attention",
            FailureClass::Internal => "internal",
        }
    }
}
