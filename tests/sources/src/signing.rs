//! Keys of `ssh-keygen`, and repositories that git signs in with them.

use std::process::Command;

use tempfile::TempDir;

use crate::repo::Repo;

/// Whom `repo::environment` makes the committer and the tagger.
pub const ADA: &str = "ada@team.test";

/// A key that signs.
pub struct Signer {
    folder: TempDir,
}

impl Signer {
    /// A new Ed25519 key.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
            .arg(folder.path().join("key"))
            .status()
            .expect("ssh-keygen: install the Debian package openssh-client");
        assert!(made.success());
        Self { folder }
    }

    /// The public half: `ssh-ed25519 <base64>`.
    pub fn public(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("key.pub")).unwrap();
        text.trim().to_owned()
    }

    /// A line of `allowed_signers`.
    pub fn allowed(&self, principals: &str) -> String {
        format!("{principals} {}\n", self.public())
    }

    /// Has git sign with it in this repository: `git commit -S` and `git tag -s`.
    pub fn signs_in(&self, repo: &Repo) {
        repo.config("gpg.format", "ssh");
        repo.config(
            "user.signingKey",
            &self.folder.path().join("key").display().to_string(),
        );
    }
}

impl Default for Signer {
    fn default() -> Self {
        Self::new()
    }
}

impl Repo {
    /// As [`Repo::commit`], signed by whoever signs there.
    pub fn signed_commit(&self, files: &[(&str, &str)]) -> String {
        self.config("commit.gpgSign", "true");
        let id = self.commit(files);
        self.config("commit.gpgSign", "false");
        id
    }
}
