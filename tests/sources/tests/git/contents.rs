//! What a path selects.

use crate::support::{Server, resolve_like_git};

#[tokio::test(flavor = "multi_thread")]
async fn promise_p061_commit_and_content_digest_are_what_git_says_they_are() {
    let server = Server::start().await;
    let repo = server.repo("app.git");
    repo.commit(&[
        ("db/schema/01.sql", "CREATE TABLE a ();"),
        ("db/schema/sub/02.sql", "x\r\n"),
        ("db/.hidden", "h"),
        ("README", "r"),
    ]);
    let tip = repo.commit(&[("db/schema/01.sql", "CREATE TABLE b ();")]);
    for path in [".", "db", "db/schema", "db/schema/01.sql", "README"] {
        let resolved = resolve_like_git(&server.request("app.git", "main", path), &repo).await;
        assert_eq!(resolved.resolution.commit.as_deref(), Some(tip.as_str()));
        assert_eq!(resolved.resolution.reference.as_deref(), Some("refs/heads/main"));
    }
}
