use proptest::prelude::*;

use super::*;
use crate::manifest::File;

/// One block of the table: a document, and what it answers.
struct Case {
    name: String,
    document: String,
    answers: Vec<String>,
}

fn cases() -> Vec<Case> {
    include_str!("../../testdata/source-policy.txt")
        .split("\n=== ")
        .skip(1)
        .map(|block| {
            let (name, rest) = block.split_once('\n').unwrap();
            let (document, answers) = rest.split_once("--- ").unwrap();
            Case {
                name: name.to_owned(),
                document: document.to_owned(),
                answers: answers
                    .split("\n--- ")
                    .map(|line| line.trim_end().to_owned())
                    .collect(),
            }
        })
        .collect()
}

fn manifest(files: u64, bytes: u64) -> Manifest {
    let file = |n: u64| File {
        path: format!("{n}.sql").parse().unwrap(),
        sha256: Digest::of(b""),
        size: if n == 0 { bytes } else { 0 },
    };
    Manifest::new((0..files).map(file).collect()).unwrap()
}

fn ask(policy: &SourcePolicy, question: &str) -> Result<(), Refusal> {
    let words: Vec<&str> = question.split(' ').collect();
    match words[..] {
        ["git", host, port] => policy.check_git_host(host, port.parse().unwrap()),
        ["unverified"] => policy.check_git_verification(false),
        ["verified"] => policy.check_git_verification(true),
        ["configMap", name, bytes] => policy.check_config_map(name, bytes.parse().unwrap()),
        ["content", files, bytes] => {
            policy.check_content(&manifest(files.parse().unwrap(), bytes.parse().unwrap()))
        }
        _ => panic!("the table asks {question:?}"),
    }
}

#[test]
fn promise_p081_every_document_of_the_table_answers_as_the_table_says() {
    let cases = cases();
    assert!(cases.len() > 30, "{}", cases.len());
    for case in cases {
        let parsed = SourcePolicy::parse(case.document.as_bytes());
        for answer in &case.answers {
            let (question, expected) = answer.split_once(": ").unwrap_or_else(|| panic!("{answer}"));
            let found = match (&parsed, question) {
                (Err(error), _) => {
                    assert_eq!(error.class(), FailureClass::Input);
                    format!("{} {error}", error.code())
                }
                (Ok(policy), question) => match ask(policy, question) {
                    Ok(()) => "yes".to_owned(),
                    Err(refusal) => {
                        assert_eq!(refusal.class(), FailureClass::Refused);
                        assert!(refusal.to_string().starts_with(refusal.rule()));
                        format!("no {refusal}")
                    }
                },
            };
            assert!(found.starts_with(expected), "{}: {question}: {found}", case.name);
        }
    }
}

#[test]
fn a_policy_is_known_by_its_bytes_and_a_huge_one_is_not_read() {
    let bytes = b"version: 1\ncontent: {maxFiles: 1}\n";
    assert_eq!(SourcePolicy::parse(bytes).unwrap().digest(), Digest::of(bytes));
    let huge = format!(
        "# {}\nversion: 1\ncontent: {{maxFiles: 1}}\n",
        "x".repeat(MAX_POLICY_BYTES)
    );
    assert_eq!(
        SourcePolicy::parse(huge.as_bytes()).unwrap_err().code(),
        "source_policy_malformed"
    );
}

/// A message goes on into a status; a document may repeat a line of itself in it, and not itself.
#[test]
fn no_refusal_quotes_more_than_a_line_of_the_document() {
    let long = "x".repeat(MAX_POLICY_BYTES - 64);
    for document in [
        format!("version: 1\n{long}: 1\n"),
        format!("version: 1\ngit: {{hosts: [\"{long}/\"]}}\n"),
        format!("version: {long}\n"),
    ] {
        let message = SourcePolicy::parse(document.as_bytes()).unwrap_err().to_string();
        assert!(message.len() < 1024, "{} bytes: {message:.80}", message.len());
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = SourcePolicy::parse(&bytes);
    }

    #[test]
    fn a_pattern_covers_what_it_was_made_from(name in "[a-z0-9-]{0,20}", cut in 0usize..20, back in 0usize..20) {
        let front = &name[..cut.min(name.len())];
        let rest = &name[front.len()..];
        let tail = &rest[back.min(rest.len())..];
        let text = format!("version: 1\nconfigMap: {{names: [\"{front}*{tail}\"]}}\n");
        let policy = SourcePolicy::parse(text.as_bytes()).unwrap();
        prop_assert!(policy.check_config_map(&name, 0).is_ok());
    }
}
