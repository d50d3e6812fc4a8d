//! Commits and tags that git and ssh-keygen sign, behind `git http-backend`: held to whose signatures are asked for before
//! anything of them is recorded or written.

use ptah_contract::commit::{CommitVerification as _, SignedObject};
use ptah_contract::failure::FailureClass;
use ptah_contract::protocol::{
    SourceLocator, SourceReport, SourceRequest, SourceRevision, Step, StepFailure,
};
use ptah_resolver::net::Limits;
use ptah_resolver::source::{self, Access, HeldTo};
use ptah_sources_tests::repo::Repo;
use ptah_sources_tests::signing::{ADA, Signer};
use ptah_sources_tests::table::rows;
use ptah_sources_tests::tls::CA;
use ptah_verifier::CommitPolicy;

use crate::support::{Server, files_below, is_empty, network};

/// What a ref leads to, mode, committers that are listed, and what is found: the requirements that hold, or why not.
const TABLE: &str = "\
main | Head | - | the commit is signed by
v1 | Head | - | the commit is signed by
id | Head | - | the commit is signed by
v1 | Tag | - | the tag is signed by
v1 | TagAndHead | - | the tag is signed by
tag-alone | Tag | - | the tag is signed by
HEAD | Head | - | the commit is signed by

unsigned | Head | - | ! commit_signature: the commit is not signed
tag-alone | Head | - | ! commit_signature: the commit is not signed
tag-alone | TagAndHead | - | ! commit_signature: the commit is not signed
unsigned-tag | Tag | - | ! tag_signature: the tag is not signed
unsigned-tag | TagAndHead | - | ! tag_signature: the tag is not signed
stranger | Head | - | ! commit_signature: the commit is not signed by somebody trusted
light | Tag | - | ! tag: the ref names no tag object; tag_signature: there is no tag object that could be signed
main | Tag | - | ! tag: the ref names no tag object
id | Tag | - | ! tag: the ref names no tag object
renamed | Tag | - | ! tag: \"refs/tags/renamed\" was asked for, and the tag calls itself \"v1\"

# A43: a key that is trusted does not make its owner anybody.
main | Head | ada@team.test | the committer is \"ada@team.test\"
v1 | Tag | ada@team.test | the tagger is \"ada@team.test\"
main | Head | grace@team.test | ! committer: the committer is \"ada@team.test\", who is not among the listed
v1 | Tag | grace@team.test | ! tagger: the tagger is \"ada@team.test\", who is not among the listed
grace-s-key | Head | - | the commit is signed by
main | Head | team.test | ! committer: the committer is \"ada@team.test\", who is not among the listed
grace-s-key | Head | ada@team.test | ! commit_signature: the commit is not signed by somebody trusted
";

struct Stage {
    server: Server,
    repo: Repo,
    keys: String,
    ours: Signer,
    graces: Signer,
}

impl Stage {
    async fn new() -> Self {
        let server = Server::start().await;
        let repo = server.repo("app.git");
        let (ours, graces) = (Signer::new(), Signer::new());
        ours.signs_in(&repo);
        repo.signed_commit(&[("db/a.sql", "1")]);
        let keys = format!("{}{}", ours.allowed(ADA), graces.allowed("grace@team.test"));
        Self {
            server,
            repo,
            keys,
            ours,
            graces,
        }
    }

    fn policy(&self, mode: &str, committers: &str) -> CommitPolicy {
        let mode = match mode {
            "Head" => SignedObject::Head,
            "Tag" => SignedObject::Tag,
            _ => SignedObject::TagAndHead,
        };
        let committers = match committers {
            "-" => Vec::new(),
            one => vec![one.to_owned()],
        };
        CommitPolicy::new(mode, committers, self.keys.as_bytes(), "a-uid".to_owned()).unwrap()
    }

    fn wanted(&self, reference: &str) -> SourceRequest {
        SourceRequest {
            locator: SourceLocator::Git {
                repository: self.server.site.url("git.test", "/app.git"),
                reference: reference.to_owned(),
                path: "db".to_owned(),
            },
            pinned: None,
            known: None,
            max_bytes: None,
            max_files: None,
            verification: None,
            commit_verification: None,
        }
    }

    /// Reaches it, and gives the files that were written. After a refusal there are none.
    async fn reach(
        &self,
        wanted: &SourceRequest,
        policy: &CommitPolicy,
    ) -> Result<(SourceReport, Vec<String>), StepFailure> {
        let out = tempfile::tempdir().unwrap();
        let access = Access {
            ca: Some(CA.pem().to_vec()),
            secret: None,
            network: network(),
            scratch: None,
            out: Some(out.path().to_owned()),
            attempt: Limits::default(),
            content: Default::default(),
            evidence: Default::default(),
            unpacked_bytes: None,
            more_attempts: 0,
            stop: Default::default(),
        };
        let held_to = HeldTo {
            artifact: None,
            commit: Some(policy),
        };
        let reached = source::reach(wanted, &access, held_to).await;
        assert!(reached.is_ok() || is_empty(out.path()));
        reached.map(|report| (report, files_below(out.path())))
    }
}

/// Everything that the table names.
fn fill(stage: &Stage) -> String {
    let repo = &stage.repo;
    let signed = repo.git(&["rev-parse", "main"]);
    repo.git(&["tag", "-s", "-m", "x", "v1"]);
    repo.git(&["tag", "-a", "-m", "x", "unsigned-tag"]);
    repo.git(&["tag", "light"]);
    repo.git(&["update-ref", "refs/tags/renamed", "refs/tags/v1"]);
    let unsigned = repo.commit(&[("db/a.sql", "2")]);
    repo.git(&["tag", "-s", "-m", "x", "tag-alone"]);
    repo.git(&["update-ref", "refs/heads/unsigned", &unsigned]);
    for (name, signer) in [("stranger", &Signer::new()), ("grace-s-key", &stage.graces)] {
        signer.signs_in(repo);
        let id = repo.signed_commit(&[("db/a.sql", name)]);
        repo.git(&["update-ref", &format!("refs/heads/{name}"), &id]);
    }
    repo.git(&["update-ref", "refs/heads/main", &signed]);
    stage.ours.signs_in(repo);
    signed
}

#[tokio::test(flavor = "multi_thread")]
async fn a43_every_ref_of_the_table_is_held_to_whose_signatures_are_asked_for() {
    let stage = Stage::new().await;
    let main = fill(&stage);
    for (line, [reference, mode, committers, expected]) in rows(TABLE) {
        let wanted = stage.wanted(if reference == "id" { &main } else { reference });
        let policy = stage.policy(mode, committers);
        let reached = stage.reach(&wanted, &policy).await;
        let case = format!("line {line}: {reference}, {mode}, {committers}");
        let Some(why) = expected.strip_prefix("! ") else {
            let (report, files) = reached.unwrap_or_else(|failed| panic!("{case}: {failed:?}"));
            assert_eq!(files, ["a.sql"], "{case}");
            let verified = report.verified.unwrap();
            assert_eq!(verified.policy_digest, policy.digest(), "{case}");
            let holds = |one: &String| one.contains(expected);
            assert!(
                verified.satisfied.iter().any(holds),
                "{case}: {:?}",
                verified.satisfied
            );
            continue;
        };
        let StepFailure { step, failure } = reached.unwrap_err();
        // The step is that of resolving: what is refused was never resolved.
        let said = (step, failure.code.as_str(), failure.class);
        assert_eq!(
            said,
            (Step::Resolve, "commit_signature_refused", FailureClass::Refused),
            "{case}"
        );
        assert!(failure.message.contains(why), "{case}: {}", failure.message);
    }
}

/// What was recorded of a report, as the next request repeats it.
fn known(report: &SourceReport) -> SourceRevision {
    report.found.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tip_that_stands_where_it_stood_is_not_fetched_again_and_one_that_moves_is_held_again() {
    let stage = Stage::new().await;
    let policy = stage.policy("Head", "-");
    let mut wanted = stage.wanted("main");
    let (first, _) = stage.reach(&wanted, &policy).await.unwrap();
    wanted.known = Some(known(&first));
    stage.server.site.take_seen();
    let (again, files) = stage.reach(&wanted, &policy).await.unwrap();
    assert_eq!(
        (again.found, again.fetched, again.verified),
        (first.found.clone(), None, None)
    );
    assert_eq!(files, [""; 0]);
    let asked: Vec<String> = stage
        .server
        .site
        .take_seen()
        .into_iter()
        .map(|seen| seen.method)
        .collect();
    assert_eq!(asked, ["GET", "POST"], "the capabilities, then the listing");

    stage.repo.commit(&[("db/a.sql", "2")]);
    let refused = stage.reach(&wanted, &policy).await.unwrap_err();
    assert_eq!(refused.failure.code, "commit_signature_refused");
    let tip = stage.repo.signed_commit(&[("db/a.sql", "3")]);
    let (moved, files) = stage.reach(&wanted, &policy).await.unwrap();
    assert_eq!((moved.found.revision, files), (tip, vec!["a.sql".to_owned()]));
    assert!(moved.verified.is_some());
}

/// The tag was deleted and made again, without a signature, of the same commit.
#[tokio::test(flavor = "multi_thread")]
async fn a_tag_that_is_replaced_by_one_of_the_same_commit_is_held_again() {
    let stage = Stage::new().await;
    let policy = stage.policy("Tag", "-");
    stage.repo.git(&["tag", "-s", "-m", "x", "v1"]);
    let mut wanted = stage.wanted("v1");
    let (first, _) = stage.reach(&wanted, &policy).await.unwrap();
    wanted.known = Some(known(&first));
    assert_eq!(stage.reach(&wanted, &policy).await.unwrap().0.fetched, None);
    for replace in [&["tag", "-f", "-a", "-m", "y", "v1"][..], &["tag", "-f", "v1"]] {
        stage.repo.git(replace);
        let refused = stage.reach(&wanted, &policy).await.unwrap_err();
        assert_eq!(refused.failure.code, "commit_signature_refused", "{replace:?}");
    }
}

/// It was held when it was recorded, and its id and its content's digest say that it is the same. Keys may have changed
/// since: whoever asks again with other keys resolves again.
#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_commit_is_fetched_later_without_being_verified_again() {
    let stage = Stage::new().await;
    let (report, _) = stage
        .reach(&stage.wanted("main"), &stage.policy("Head", "-"))
        .await
        .unwrap();
    stage.repo.commit(&[("db/a.sql", "2")]);
    let mut wanted = stage.wanted("main");
    wanted.pinned = Some(known(&report));
    let other = Signer::new().allowed(ADA);
    let other = CommitPolicy::new(SignedObject::Head, Vec::new(), other.as_bytes(), String::new()).unwrap();
    let (later, files) = stage.reach(&wanted, &other).await.unwrap();
    assert_eq!((later.found, files), (report.found, vec!["a.sql".to_owned()]));
    assert_eq!(later.verified, None);
}
