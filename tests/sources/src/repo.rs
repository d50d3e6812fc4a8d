//! Repositories, made by git.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What git may see of the world: no configuration, and a clock that stands still.
pub fn environment() -> Vec<(&'static str, String)> {
    [
        ("PATH", std::env::var("PATH").unwrap_or_default()),
        ("HOME", "/nonexistent".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_AUTHOR_NAME", "Ada".to_owned()),
        ("GIT_AUTHOR_EMAIL", "ada@team.test".to_owned()),
        ("GIT_COMMITTER_NAME", "Ada".to_owned()),
        ("GIT_COMMITTER_EMAIL", "ada@team.test".to_owned()),
        ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z".to_owned()),
        ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z".to_owned()),
        ("LC_ALL", "C".to_owned()),
    ]
    .into()
}

/// A bare repository and a work tree to fill it from.
pub struct Repo {
    at: PathBuf,
    work: TempDir,
}

/// One entry of a tree that is made by hand.
pub enum Entry {
    /// Mode and content.
    Blob(&'static str, Vec<u8>),
    /// Mode and an id that need not exist.
    Link(&'static str, String),
}

impl Repo {
    /// `<root>/<name>`, with SHA-1 ids and the branch `main`.
    pub fn init(root: &Path, name: &str) -> Self {
        Self::with_format(root, name, "sha1")
    }

    pub fn with_format(root: &Path, name: &str, format: &str) -> Self {
        let repo = Self {
            at: root.join(name),
            work: tempfile::tempdir().unwrap(),
        };
        let made = Command::new("git")
            .env_clear()
            .envs(environment())
            .args(["init", "-q", "--bare", "-b", "main", "--object-format", format])
            .arg(&repo.at)
            .status()
            .expect("git: install the Debian package git");
        assert!(made.success());
        repo
    }

    pub fn path(&self) -> &Path {
        &self.at
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(environment())
            .env("GIT_DIR", &self.at)
            .env("GIT_WORK_TREE", self.work.path())
            .current_dir(self.work.path())
            .args(arguments);
        command
    }

    /// Runs git and gives what it prints, without the last newline.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Runs git with input and gives the bytes that it prints.
    pub fn bytes(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        output.stdout
    }

    pub fn config(&self, key: &str, value: &str) {
        self.git(&["config", key, value]);
    }

    /// Takes a section of the configuration out, if it is there.
    pub fn forget_section(&self, name: &str) {
        let output = self
            .command(&["config", "--remove-section", name])
            .output()
            .unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 128)),
            "no such section is fine"
        );
    }

    /// Writes files, beside those that are there, and commits them on the current branch.
    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let file = self.work.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// A tree with these entries, whatever git thinks of their names.
    pub fn tree(&self, entries: &[(Vec<String>, Entry)]) -> String {
        let mut here = Vec::new();
        let mut below: BTreeMap<&str, Vec<(Vec<String>, &Entry)>> = BTreeMap::new();
        let borrowed: Vec<(Vec<String>, &Entry)> = entries
            .iter()
            .map(|(path, entry)| (path.clone(), entry))
            .collect();
        self.tree_of(&borrowed, &mut here, &mut below)
    }

    fn tree_of<'a>(
        &self,
        entries: &'a [(Vec<String>, &'a Entry)],
        here: &mut Vec<(String, String, String)>,
        below: &mut BTreeMap<&'a str, Vec<(Vec<String>, &'a Entry)>>,
    ) -> String {
        for (path, entry) in entries {
            match path.as_slice() {
                [name] => {
                    let (mode, id) = match entry {
                        Entry::Blob(mode, bytes) => (*mode, self.hash("blob", bytes)),
                        Entry::Link(mode, id) => (*mode, id.clone()),
                    };
                    here.push((mode.to_owned(), name.clone(), id));
                }
                [first, rest @ ..] => below.entry(first).or_default().push((rest.to_vec(), *entry)),
                [] => panic!("an entry without a name"),
            }
        }
        for (name, entries) in std::mem::take(below) {
            let id = self.tree_of(&entries, &mut Vec::new(), &mut BTreeMap::new());
            here.push(("40000".into(), name.to_owned(), id));
        }
        here.sort_by_key(|(mode, name, _)| {
            let slash = if mode == "40000" { "/" } else { "" };
            format!("{name}{slash}")
        });
        let mut bytes = Vec::new();
        for (mode, name, id) in here.iter() {
            bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            for at in (0..id.len()).step_by(2) {
                bytes.push(u8::from_str_radix(&id[at..at + 2], 16).unwrap());
            }
        }
        self.hash("tree", &bytes)
    }

    /// Stores an object as it is.
    pub fn hash(&self, kind: &str, bytes: &[u8]) -> String {
        let printed = self.bytes(
            &["hash-object", "-t", kind, "--literally", "-w", "--stdin"],
            bytes,
        );
        String::from_utf8(printed).unwrap().trim().to_owned()
    }

    /// A commit of a tree, at a ref.
    pub fn commit_tree(&self, tree: &str, reference: &str) -> String {
        let id = self.git(&["commit-tree", "-m", "by hand", tree]);
        self.git(&["update-ref", reference, &id]);
        id
    }
}
