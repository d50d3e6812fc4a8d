//! What a path selects, and what is refused there.

use ptah_sources_tests::git_http;
use ptah_sources_tests::repo::{Entry, Repo};
use ptah_sources_tests::table::rows;
use serde_json::Value;

use crate::support::{Server, files, resolve, resolve_like_git, told, try_request};

fn fill(repo: &Repo) {
    // Straight into the index: attributes are of the work tree.
    let id = |text: &str| repo.hash("blob", text.as_bytes());
    for (mode, path, text) in [
        ("100644", "db/schema/01.sql", "CREATE TABLE a (id int);\n"),
        ("100644", "db/schema/02.sql", "with\r\nits line ends\r\n$Id$\n"),
        ("100644", "db/schema/sub/03.sql", "x"),
        ("100755", "db/run.sh", "#!/bin/sh\n"),
        ("100644", "db/.hidden", "h"),
        ("100644", "db/.gitignore", "*.tmp\n"),
        (
            "100644",
            ".gitattributes",
            "* text=auto eol=lf ident export-ignore filter=lfs working-tree-encoding=UTF-16\n",
        ),
        ("100644", ".github/workflows/ci.yaml", "x"),
        ("100644", "empty.sql", ""),
        ("100644", "with space/a file.sql", "s"),
        ("100644", "Straße/ü.sql", "u"),
    ] {
        repo.git(&["update-index", "--add", "--cacheinfo", mode, &id(text), path]);
    }
    let tree = repo.git(&["write-tree"]);
    repo.commit_tree(&tree, "refs/heads/main");
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p061_a_path_selects_what_git_lists_below_it_byte_for_byte() {
    for (filter, version_0) in [(false, false), (true, false), (true, true)] {
        let server = Server::with(git_http::Options {
            version_0,
            ..Default::default()
        })
        .await;
        let repo = server.repo("app.git");
        repo.config("uploadpack.allowFilter", &filter.to_string());
        fill(&repo);
        let url = server.site.url("git.test", "/app.git");
        for (line, [path, expected]) in rows::<2>(include_str!("../../testdata/git/paths.txt")) {
            let path: String = serde_json::from_str(path).unwrap();
            let found = match try_request(&url, "main", &path) {
                Err(error) => told(&error),
                Ok(request) => match resolve(&request).await {
                    Err(error) => told(&error),
                    Ok(_) => {
                        let resolved = resolve_like_git(&request, &repo).await;
                        format!("ok {}", resolved.resolution.files)
                    }
                },
            };
            assert_eq!(
                found, expected,
                "line {line}, filter: {filter}, version 0: {version_0}"
            );
        }
    }
}

/// The entry of a row: `[mode, names, content]`.
fn entry(repo: &Repo, row: &Value) -> (Vec<String>, Entry) {
    let names = row[1]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned());
    let content = row[2].as_str().unwrap_or_default().as_bytes().to_vec();
    let entry = match row[0].as_str().unwrap() {
        "100644" => Entry::Blob("100644", content),
        "100664" => Entry::Blob("100664", content),
        "100755" => Entry::Blob("100755", content),
        "120000" => Entry::Blob("120000", content),
        "160000" => Entry::Link("160000", "0123456789012345678901234567890123456789".into()),
        "100644 tree" => Entry::Link("100644", repo.hash("tree", b"")),
        "40000" => Entry::Link("40000", repo.hash("tree", b"")),
        mode => panic!("mode {mode}"),
    };
    (names.collect(), entry)
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_p070_what_is_no_file_of_the_repository_is_refused_by_its_path() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    for filter in [false, true] {
        repo.config("uploadpack.allowFilter", &filter.to_string());
        for (index, line) in include_str!("../../testdata/git/trees.txt").lines().enumerate() {
            if line.starts_with('#') {
                continue;
            }
            let case: Value = serde_json::from_str(line).unwrap();
            let entries: Vec<_> = case["entries"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| entry(&repo, row))
                .collect();
            repo.commit_tree(&repo.tree(&entries), "refs/heads/main");
            let request = server.request("app.git", "main", case["path"].as_str().unwrap());
            let out = tempfile::tempdir().unwrap();
            let found =
                ptah_resolver::git::resolve(&request, &crate::support::attempt(), Some(out.path())).await;
            let found = match found {
                Ok(resolved) => {
                    let paths: Vec<String> = files(&resolved).into_iter().map(|(path, ..)| path).collect();
                    format!("ok {}", paths.join(" "))
                }
                Err(error) => {
                    assert!(crate::support::is_empty(out.path()), "{line}");
                    told(&error)
                }
            };
            assert_eq!(
                found,
                case["expect"].as_str().unwrap(),
                "line {}, filter: {filter}",
                index + 1
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_not_utf_8_is_refused() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    let blob = repo.hash("blob", b"x");
    let mut tree = b"100644 \xff\xfe\0".to_vec();
    tree.extend(
        (0..blob.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&blob[at..at + 2], 16).unwrap()),
    );
    repo.commit_tree(&repo.hash("tree", &tree), "refs/heads/main");
    let error = resolve(&server.request("app.git", "main", "."))
        .await
        .unwrap_err();
    assert_eq!(
        told(&error),
        "input invalid_name: \"\u{fffd}\u{fffd}\" is not a UTF-8 name"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn trees_that_hold_each_other_many_times_are_refused_and_do_not_run_for_ever() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    let mut tree = repo.hash("tree", b"");
    for _ in 0..20 {
        let entries: Vec<_> = (0..10)
            .map(|name| (vec![format!("d{name}")], Entry::Link("40000", tree.clone())))
            .collect();
        tree = repo.tree(&entries);
    }
    repo.commit_tree(&tree, "refs/heads/main");
    let error = resolve(&server.request("app.git", "main", "."))
        .await
        .unwrap_err();
    assert_eq!(
        told(&error),
        "refused content_limit: the path selects more than 10000 files and folders"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn more_files_or_bytes_than_a_policy_allows_are_refused_before_the_commit_is_recorded() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.commit(&[("db/a.sql", "12345"), ("db/b.sql", "12345")]);
    let mut request = server.request("app.git", "main", "db");
    for (bytes, files, expected) in [
        (10, 2, "ok"),
        (
            9,
            2,
            "refused source_policy_refused: bytes of all files exceed 9, the bound that the policy sets",
        ),
        (
            10,
            1,
            "refused source_policy_refused: files exceed 1, the bound that the policy sets",
        ),
    ] {
        request.limits = ptah_resolver::content::Limits::default()
            .max_bytes(Some(bytes), "the policy")
            .max_files(Some(files), "the policy");
        let found = resolve(&request)
            .await
            .map_or_else(|error| told(&error), |_| "ok".into());
        assert_eq!(found, expected);
    }
}
