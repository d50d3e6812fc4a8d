//! A pass may end at any single action: before it, after it, or with its request still under way. Starting again from
//! what the API server holds reaches the same end, with no statement twice and nothing left owed.

use super::faults::Cut;
use super::stories::{self, Story};

/// Tells a story with a cut at every action in turn; the number of cuts.
fn cut_everywhere(story: &Story) -> usize {
    story.clone().told_with(None);
    let mut cuts = 0;
    for index in 0..400 {
        let kinds = [Cut::Before(index), Cut::After(index), Cut::Late(index)];
        let happened = kinds.map(|cut| story.clone().told_with(Some(cut)));
        if happened == [false; 3] {
            return cuts;
        }
        cuts += happened.iter().filter(|happened| **happened).count();
    }
    panic!("{}: a story without an end", story.name);
}

/// Two halves, so that two cores share the work.
fn half(of: usize) {
    for story in stories::all().iter().skip(of).step_by(2) {
        let cuts = cut_everywhere(story);
        assert!(cuts >= 12, "{}: only {cuts} actions were cut", story.name);
    }
}

#[test]
fn a_crash_at_any_action_of_any_story_loses_nothing_and_repeats_nothing() {
    half(0);
}

#[test]
fn a_crash_at_any_action_of_any_other_story_loses_nothing_and_repeats_nothing() {
    half(1);
}
