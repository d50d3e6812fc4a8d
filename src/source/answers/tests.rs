use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{SourceRevision, Step};

use super::*;

fn source(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

fn found(revision: &str) -> Landing {
    Landing::Here(Ok(Box::new(SourceReport {
        verified: None,
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

fn who(uid: &str) -> Who<'_> {
    Who { uid, generation: 1 }
}

/// A look whose turn comes at once.
fn look(
    answers: &mut Answers<&'static str>,
    source: Digest,
    landing: Landing,
    now: Instant,
) -> (Vec<&'static str>, bool) {
    answers.begin(source, now);
    answers.landed(source, landing, now)
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
    assert_eq!(
        answers.of(who("a"), one, clock.at(0)),
        Some(SourceAnswer::NotAsked)
    );
    assert_eq!(answers.ask(who("a"), "A", one, false, clock.at(0)), Todo::Look);
    assert_eq!(answers.begin(one, clock.at(0)), None);
    assert_eq!(answers.ask(who("b"), "B", one, false, clock.at(1)), Todo::Wait);
    assert_eq!(
        answers.of(who("b"), one, clock.at(1)),
        Some(SourceAnswer::UnderWay)
    );
    assert_eq!(
        answers.of(who("c"), one, clock.at(1)),
        Some(SourceAnswer::NotAsked),
        "nobody is answered who did not ask"
    );
    let (mut woken, again) = answers.landed(one, found("r1"), clock.at(2));
    woken.sort_unstable();
    assert_eq!((woken, again), (vec!["A", "B"], false));
    assert_eq!(revision(answers.of(who("a"), one, clock.at(2))), "r1");
    answers.forget("a");
    assert_eq!(
        answers.of(who("a"), one, clock.at(2)),
        Some(SourceAnswer::NotAsked)
    );
    // Whoever refreshes a moment later is answered from it, and after that the source is looked at again, from what is
    // known.
    assert_eq!(answers.ask(who("c"), "C", one, false, clock.at(9)), Todo::Wake);
    assert_eq!(revision(answers.of(who("c"), one, clock.at(9))), "r1");
    assert_eq!(answers.ask(who("d"), "D", one, false, clock.at(20)), Todo::Look);
    let known = answers.begin(one, clock.at(20)).unwrap();
    assert_eq!(known.found.revision, "r1");
}

#[test]
fn whoever_relies_on_nothing_gets_a_look_that_began_after_it_asked() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, false, clock.at(0));
    answers.begin(one, clock.at(0));
    assert_eq!(answers.ask(who("b"), "B", one, true, clock.at(1)), Todo::Wait);
    assert_eq!(answers.landed(one, found("r1"), clock.at(2)), (vec!["A"], true));
    assert_eq!(
        answers.of(who("b"), one, clock.at(2)),
        Some(SourceAnswer::UnderWay)
    );
    assert_eq!(
        answers.begin(one, clock.at(2)),
        None,
        "what is known is not relied on"
    );
    assert_eq!(answers.landed(one, found("r2"), clock.at(3)), (vec!["B"], false));
    assert_eq!(revision(answers.of(who("b"), one, clock.at(3))), "r2");
    assert!(matches!(
        answers.of(who("b"), one, clock.at(3)),
        Some(SourceAnswer::Here { anew: true, .. })
    ));
    assert_eq!(
        revision(answers.of(who("a"), one, clock.at(3))),
        "r1",
        "an answer that was given stands"
    );
    // Its answer is never taken, and is no reason to look again.
    answers.ask(who("c"), "C", one, false, clock.at(100));
    assert_eq!(
        look(&mut answers, one, found("r3"), clock.at(101)),
        (vec!["C"], false)
    );
}

#[test]
fn a_question_that_waits_for_its_turn_joins_the_look_and_is_not_forgotten_however_long_that_takes() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, false, clock.at(0));
    assert_eq!(answers.ask(who("b"), "B", one, true, clock.at(5)), Todo::Wait);
    assert_eq!(
        answers.ask(who("c"), "C", source("two"), false, clock.at(700)),
        Todo::Look
    );
    assert_eq!(
        answers.of(who("a"), one, clock.at(700)),
        Some(SourceAnswer::UnderWay)
    );
    let (mut woken, again) = look(&mut answers, one, found("r1"), clock.at(800));
    woken.sort_unstable();
    assert_eq!(
        (woken, again),
        (vec!["A", "B"], false),
        "one look, which relied on nothing"
    );
}

#[test]
fn an_edit_is_not_answered_by_what_was_asked_before_it() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, true, clock.at(0));
    answers.begin(one, clock.at(0));
    let edited = Who {
        uid: "a",
        generation: 2,
    };
    assert_eq!(answers.of(edited, one, clock.at(1)), Some(SourceAnswer::NotAsked));
    assert_eq!(answers.ask(edited, "A", one, true, clock.at(1)), Todo::Wait);
    assert_eq!(answers.landed(one, found("r1"), clock.at(2)), (vec![], true));
    assert_eq!(
        look(&mut answers, one, found("r2"), clock.at(3)),
        (vec!["A"], false)
    );
    assert_eq!(revision(answers.of(edited, one, clock.at(3))), "r2");
}

#[test]
fn an_answer_that_nobody_took_grows_old_and_is_forgotten() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, false, clock.at(0));
    look(&mut answers, one, found("r1"), clock.at(1));
    assert_eq!(revision(answers.of(who("a"), one, clock.at(60))), "r1");
    assert_eq!(
        answers.of(who("a"), one, clock.at(62)),
        Some(SourceAnswer::NotAsked)
    );
    answers.ask(who("b"), "B", source("two"), false, clock.at(601));
    assert!(!answers.asked.contains_key("a"));
}

#[test]
fn another_question_of_the_same_resource_is_another_source() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, true, clock.at(0));
    look(&mut answers, one, found("r1"), clock.at(1));
    let two = source("two");
    assert_eq!(
        answers.of(who("a"), two, clock.at(1)),
        Some(SourceAnswer::NotAsked)
    );
    answers.ask(who("a"), "A", two, true, clock.at(1));
    assert_eq!(
        answers.of(who("a"), one, clock.at(1)),
        Some(SourceAnswer::NotAsked)
    );
    assert_eq!(
        look(&mut answers, two, found("r2"), clock.at(2)),
        (vec!["A"], false)
    );
}

#[test]
fn a_failure_is_an_answer_and_forgets_nothing_that_was_known() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, false, clock.at(0));
    look(&mut answers, one, found("r1"), clock.at(1));
    answers.ask(who("a"), "A", one, false, clock.at(100));
    look(&mut answers, one, failed(), clock.at(101));
    assert!(matches!(
        answers.of(who("a"), one, clock.at(101)),
        Some(SourceAnswer::Here { found: Err(_), .. })
    ));
    assert_eq!(answers.ask(who("a"), "A", one, false, clock.at(200)), Todo::Look);
    assert_eq!(answers.begin(one, clock.at(200)).unwrap().found.revision, "r1");
}

#[test]
fn what_is_too_much_is_left_to_a_pod_for_an_hour() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("a"), "A", one, true, clock.at(0));
    assert_eq!(
        look(&mut answers, one, Landing::TooMuch, clock.at(1)),
        (vec!["A"], false)
    );
    assert_eq!(answers.of(who("a"), one, clock.at(2)), None);
    assert_eq!(answers.of(who("another"), one, clock.at(3600)), None);
    assert_eq!(
        answers.of(who("b"), one, clock.at(3602)),
        Some(SourceAnswer::NotAsked)
    );
}

#[test]
fn the_least_used_source_makes_room_and_one_that_is_looked_at_does_not() {
    let (mut answers, clock, one) = begin();
    answers.ask(who("first"), "F", one, false, clock.at(0));
    for number in 1..REMEMBERED {
        let (other, now) = (source(&number.to_string()), clock.at(number as u64));
        answers.ask(who("x"), "X", other, false, now);
        look(&mut answers, other, found("r"), now);
    }
    answers.ask(who("last"), "L", source("last"), false, clock.at(5000));
    assert_eq!(answers.sources.len(), REMEMBERED);
    assert!(answers.sources.contains_key(&one));
    assert!(!answers.sources.contains_key(&source("1")));
}
