use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{SourceRevision, Step};

use super::*;

fn source(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

fn found(revision: &str) -> Landing {
    Landing::Here(Ok(Box::new(SourceReport {
        found: SourceRevision {
            revision: revision.to_owned(),
            reference: None,
            index_digest: None,
            tag_object: None,
            content_digest: source(revision),
        },
        fetched: None,
    })))
}

fn failed() -> Landing {
    Landing::Here(Err(Box::new(StepFailure {
        step: Step::Resolve,
        failure: Failure::new(
            "stalled",
            FailureClass::Transient,
            "no byte was received for 30 s",
        ),
    })))
}

fn revision(answer: Option<SourceAnswer>) -> String {
    match answer {
        Some(SourceAnswer::Here {
            found: Ok(report), ..
        }) => report.found.revision,
        other => format!("{other:?}"),
    }
}

struct Clock(Instant);

impl Clock {
    fn at(&self, seconds: u64) -> Instant {
        self.0 + Duration::from_secs(seconds)
    }
}

fn begin() -> (Answers<&'static str>, Clock, Digest) {
    (Answers::default(), Clock(Instant::now()), source("one"))
}

#[test]
fn resources_that_ask_together_cost_one_look_and_are_all_woken() {
    let (mut answers, clock, one) = begin();
    assert_eq!(answers.of("a", one, clock.at(0)), Some(SourceAnswer::NotAsked));
    assert_eq!(
        answers.ask("a", "A", one, false, clock.at(0)),
        Todo::Look { known: None }
    );
    assert_eq!(answers.ask("b", "B", one, false, clock.at(1)), Todo::Wait);
    assert_eq!(answers.of("b", one, clock.at(1)), Some(SourceAnswer::UnderWay));
    assert_eq!(
        answers.of("c", one, clock.at(1)),
        Some(SourceAnswer::NotAsked),
        "nobody is answered who did not ask"
    );
    let (mut woken, again) = answers.landed(one, found("r1"), clock.at(2));
    woken.sort_unstable();
    assert_eq!((woken, again), (vec!["A", "B"], None));
    assert_eq!(revision(answers.of("a", one, clock.at(2))), "r1");
    answers.forget("a");
    assert_eq!(answers.of("a", one, clock.at(2)), Some(SourceAnswer::NotAsked));
    // Whoever refreshes a moment later is answered from it, and after that the source is looked at again, from what is known.
    assert_eq!(answers.ask("c", "C", one, false, clock.at(9)), Todo::Wake);
    assert_eq!(revision(answers.of("c", one, clock.at(9))), "r1");
    let Todo::Look { known } = answers.ask("d", "D", one, false, clock.at(20)) else {
        panic!("an answer of 20 seconds ago is of another refresh");
    };
    assert_eq!(known.unwrap().found.revision, "r1");
}

#[test]
fn whoever_relies_on_nothing_gets_a_look_of_its_own_that_began_after_it_asked() {
    let (mut answers, clock, one) = begin();
    answers.ask("a", "A", one, false, clock.at(0));
    assert_eq!(answers.ask("b", "B", one, true, clock.at(1)), Todo::Wait);
    let (woken, again) = answers.landed(one, found("r1"), clock.at(2));
    assert_eq!(woken, ["A"]);
    assert_eq!(again, Some(Todo::Look { known: None }));
    assert_eq!(answers.of("b", one, clock.at(2)), Some(SourceAnswer::UnderWay));
    let (woken, again) = answers.landed(one, found("r2"), clock.at(3));
    assert!(woken.contains(&"B"), "{woken:?}");
    assert_eq!(again, None);
    assert_eq!(revision(answers.of("b", one, clock.at(3))), "r2");
    assert!(matches!(
        answers.of("b", one, clock.at(3)),
        Some(SourceAnswer::Here { anew: true, .. })
    ));
    assert_eq!(
        answers.ask("b", "B", one, true, clock.at(4)),
        Todo::Look { known: None },
        "what is known is not relied on"
    );
}

#[test]
fn an_answer_that_nobody_took_grows_old_and_a_question_that_nobody_repeats_is_forgotten() {
    let (mut answers, clock, one) = begin();
    answers.ask("a", "A", one, false, clock.at(0));
    answers.landed(one, found("r1"), clock.at(1));
    assert_eq!(revision(answers.of("a", one, clock.at(60))), "r1");
    assert_eq!(answers.of("a", one, clock.at(62)), Some(SourceAnswer::NotAsked));
    answers.ask("b", "B", source("two"), false, clock.at(601));
    assert!(!answers.asked.contains_key("a"));
}

#[test]
fn another_question_of_the_same_resource_is_another_source() {
    let (mut answers, clock, one) = begin();
    answers.ask("a", "A", one, true, clock.at(0));
    answers.landed(one, found("r1"), clock.at(1));
    assert_eq!(
        answers.of("a", source("two"), clock.at(1)),
        Some(SourceAnswer::NotAsked)
    );
    answers.ask("a", "A", source("two"), true, clock.at(1));
    assert_eq!(answers.of("a", one, clock.at(1)), Some(SourceAnswer::NotAsked));
    let (woken, _) = answers.landed(source("two"), found("r2"), clock.at(2));
    assert_eq!(woken, ["A"]);
}

#[test]
fn a_failure_is_an_answer_and_forgets_nothing_that_was_known() {
    let (mut answers, clock, one) = begin();
    answers.ask("a", "A", one, false, clock.at(0));
    answers.landed(one, found("r1"), clock.at(1));
    answers.ask("a", "A", one, false, clock.at(100));
    answers.landed(one, failed(), clock.at(101));
    assert!(matches!(
        answers.of("a", one, clock.at(101)),
        Some(SourceAnswer::Here { found: Err(_), .. })
    ));
    let Todo::Look { known } = answers.ask("a", "A", one, false, clock.at(200)) else {
        panic!("it is looked at again");
    };
    assert_eq!(known.unwrap().found.revision, "r1");
}

#[test]
fn what_is_too_much_is_left_to_a_pod_for_a_day() {
    let (mut answers, clock, one) = begin();
    answers.ask("a", "A", one, true, clock.at(0));
    let (woken, again) = answers.landed(one, Landing::TooMuch, clock.at(1));
    assert_eq!((woken, again), (vec!["A"], None));
    assert_eq!(answers.of("a", one, clock.at(2)), None);
    assert_eq!(answers.of("another", one, clock.at(86_000)), None);
    assert_eq!(
        answers.of("a", one, clock.at(86_402)),
        Some(SourceAnswer::NotAsked)
    );
}

#[test]
fn the_least_used_source_makes_room_and_one_that_is_looked_at_does_not() {
    let (mut answers, clock, one) = begin();
    answers.ask("first", "F", one, false, clock.at(0));
    for number in 1..REMEMBERED {
        let other = source(&number.to_string());
        answers.ask("x", "X", other, false, clock.at(number as u64));
        answers.landed(other, found("r"), clock.at(number as u64));
    }
    answers.ask("last", "L", source("last"), false, clock.at(5000));
    assert_eq!(answers.sources.len(), REMEMBERED);
    assert!(answers.sources.contains_key(&one));
    assert!(!answers.sources.contains_key(&source("1")));
}
