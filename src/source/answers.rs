//! Who asked for which source, and what came of it. Pure bookkeeping: no clock, no network.
//!
//! Promises: one look at a source at a time, however many resources ask; a resource is given an answer that began no
//! earlier than it asked, or a moment before where it may share; what grows old is not given.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ptah_contract::digest::Digest;
use ptah_contract::protocol::{SourceReport, StepFailure};

use crate::lifecycle::evidence::SourceAnswer;

/// A refresh takes an answer that began so long before it asked: resources that refresh together cost one look.
const SHARED: Duration = Duration::from_secs(10);
/// An answer that nobody took for so long is of another time.
const FRESH: Duration = Duration::from_secs(60);
/// A source that was too much for the manager is looked at again after so long.
const TOO_MUCH_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Sources that are remembered.
const REMEMBERED: usize = 4096;
/// Resources that asked and never came back, such as deleted ones, are forgotten after so long.
const WAITS: Duration = Duration::from_secs(600);

/// What a look at a source came to.
#[derive(Clone, Debug)]
pub(super) enum Landing {
    /// Found, whole, or failed.
    Here(Result<Box<SourceReport>, Box<StepFailure>>),
    /// More than the manager may hold: a Pod does it.
    TooMuch,
}

/// What has to be done about a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// Look, relying on what is known, if that is allowed.
    Look { known: Option<Box<SourceReport>> },
    /// Somebody looks already; the resource is woken at the end.
    Wait,
    /// The answer is here: wake the resource.
    Wake,
}

/// `R` is what wakes a resource.
#[derive(Debug)]
pub(super) struct Answers<R> {
    sources: HashMap<Digest, Source>,
    asked: HashMap<String, Asked<R>>,
}

#[derive(Debug, Default)]
struct Source {
    /// The look under way: when it began, and whether it relies on nothing.
    looking: Option<(Instant, bool)>,
    answer: Option<Answer>,
    /// What was found last, whole.
    last: Option<Box<SourceReport>>,
    too_much: Option<Instant>,
    used: Option<Instant>,
}

#[derive(Debug)]
struct Answer {
    began: Instant,
    landed: Instant,
    anew: bool,
    found: Result<Box<SourceReport>, Box<StepFailure>>,
}

#[derive(Debug)]
struct Asked<R> {
    source: Digest,
    at: Instant,
    anew: bool,
    resource: R,
}

impl<R> Asked<R> {
    /// Whether a look that began then answers this question.
    fn takes(&self, began: Instant, anew: bool) -> bool {
        if self.anew {
            anew && began >= self.at
        } else {
            began + SHARED >= self.at
        }
    }
}

impl<R> Default for Answers<R> {
    fn default() -> Self {
        Self {
            sources: HashMap::new(),
            asked: HashMap::new(),
        }
    }
}

impl<R: Clone> Answers<R> {
    /// What is known for a resource; `None` where a Pod must look.
    pub fn of(&self, uid: &str, source: Digest, now: Instant) -> Option<SourceAnswer> {
        let known = self.sources.get(&source);
        let too_much = known.and_then(|known| known.too_much);
        if too_much.is_some_and(|since| now < since + TOO_MUCH_FOR) {
            return None;
        }
        let Some(asked) = self.asked.get(uid).filter(|asked| asked.source == source) else {
            return Some(SourceAnswer::NotAsked);
        };
        let answer = known.and_then(|known| known.answer.as_ref());
        let Some(answer) = answer.filter(|answer| asked.takes(answer.began, answer.anew)) else {
            let looking = known.is_some_and(|known| known.looking.is_some());
            return Some(if looking {
                SourceAnswer::UnderWay
            } else {
                SourceAnswer::NotAsked
            });
        };
        if now > answer.landed + FRESH {
            return Some(SourceAnswer::NotAsked);
        }
        Some(SourceAnswer::Here {
            anew: answer.anew,
            found: answer.found.clone(),
        })
    }

    /// A resource asks.
    pub fn ask(&mut self, uid: &str, resource: R, source: Digest, anew: bool, now: Instant) -> Todo {
        self.asked.retain(|_, asked| now < asked.at + WAITS);
        let asked = Asked {
            source,
            at: now,
            anew,
            resource,
        };
        self.make_room(source);
        let known = self.sources.entry(source).or_default();
        known.used = Some(now);
        let todo = match (&known.looking, &known.answer) {
            (_, Some(answer)) if asked.takes(answer.began, answer.anew) => Todo::Wake,
            (Some(_), _) => Todo::Wait,
            (None, _) => known.look(anew, now),
        };
        self.asked.insert(uid.to_owned(), asked);
        todo
    }

    /// A look ended: who is woken, and what is looked at again for those who asked too late for it.
    pub fn landed(&mut self, source: Digest, landing: Landing, now: Instant) -> (Vec<R>, Option<Todo>) {
        let Some(known) = self.sources.get_mut(&source) else {
            return (Vec::new(), None);
        };
        let Some((began, anew)) = known.looking.take() else {
            return (Vec::new(), None);
        };
        match landing {
            Landing::TooMuch => known.too_much = Some(now),
            Landing::Here(found) => {
                if let Ok(report) = &found {
                    known.last = Some(report.clone());
                }
                known.answer = Some(Answer {
                    began,
                    landed: now,
                    anew,
                    found,
                });
            }
        }
        let waiting = self.asked.values().filter(|asked| asked.source == source);
        let (answered, late): (Vec<_>, Vec<_>) =
            waiting.partition(|asked| known.too_much == Some(now) || asked.takes(began, anew));
        let wake = answered.iter().map(|asked| asked.resource.clone()).collect();
        let again = (!late.is_empty()).then(|| known.look(late.iter().any(|asked| asked.anew), now));
        (wake, again)
    }

    /// A resource took its answer.
    pub fn forget(&mut self, uid: &str) {
        self.asked.remove(uid);
    }

    /// The least used source makes room for a new one.
    fn make_room(&mut self, source: Digest) {
        if self.sources.len() < REMEMBERED || self.sources.contains_key(&source) {
            return;
        }
        let idle = self.sources.iter().filter(|(_, known)| known.looking.is_none());
        if let Some(oldest) = idle
            .min_by_key(|(_, known)| known.used)
            .map(|(source, _)| *source)
        {
            self.sources.remove(&oldest);
        }
    }
}

impl Source {
    fn look(&mut self, anew: bool, now: Instant) -> Todo {
        self.looking = Some((now, anew));
        Todo::Look {
            known: self.last.clone().filter(|_| !anew),
        }
    }
}

#[cfg(test)]
mod tests;
