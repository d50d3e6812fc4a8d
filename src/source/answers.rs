//! Who asked for which source, and what came of it. Pure bookkeeping: no clock, no network.
//!
//! Promises: one look at a source at a time, however many resources ask; a resource is given an answer of a look that
//! began no earlier than it asked, or a moment before where it may share; a question that waits for a look is not
//! forgotten; what grows old is not given.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ptah_contract::digest::Digest;
use ptah_contract::protocol::{SourceReport, StepFailure};

use crate::lifecycle::evidence::SourceAnswer;

/// A refresh takes an answer whose look began so long before it asked: resources that refresh together cost one look.
const SHARED: Duration = Duration::from_secs(10);
/// An answer that nobody took for so long is of another time.
const FRESH: Duration = Duration::from_secs(60);
/// A source that was too much for the manager is looked at again after so long.
const TOO_MUCH_FOR: Duration = Duration::from_secs(60 * 60);
/// Sources that are remembered.
const REMEMBERED: usize = 4096;
/// Resources that never come back for their answer, such as deleted ones, are forgotten after so long.
const KEPT: Duration = Duration::from_secs(600);

/// What was found, whole; or which step failed, and why.
pub(super) type Found = Result<Box<SourceReport>, Box<StepFailure>>;

/// What a look at a source came to.
#[derive(Clone, Debug)]
pub(super) enum Landing {
    /// Found, or failed.
    Here(Found),
    /// More than the manager may hold: a Pod does it.
    TooMuch,
}

/// What has to be done about a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// Look: it waits for its turn.
    Look,
    /// Somebody looks already; the resource is woken at the end.
    Wait,
    /// The answer is here: wake the resource.
    Wake,
}

/// Who asks: a resource, and which edit of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who<'a> {
    pub uid: &'a str,
    pub generation: i64,
}

/// `R` is what wakes a resource.
#[derive(Debug)]
pub(super) struct Answers<R> {
    sources: HashMap<Digest, Source>,
    asked: HashMap<String, Asked<R>>,
}

#[derive(Debug, Default)]
struct Source {
    /// The look that waits or is under way.
    looking: Option<Looking>,
    /// The last look's answer.
    answer: Option<(Look, Found)>,
    /// What was found last, whole.
    last: Option<Box<SourceReport>>,
    too_much: Option<Instant>,
    used: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
enum Looking {
    /// It waits for its turn, and any question may still join it.
    Waits,
    /// Its turn has come.
    Began(Look),
}

#[derive(Clone, Copy, Debug)]
struct Look {
    began: Instant,
    /// It relies on nothing that was known before.
    anew: bool,
}

#[derive(Debug)]
struct Asked<R> {
    source: Digest,
    generation: i64,
    at: Instant,
    anew: bool,
    resource: R,
    /// When the answer came, of which look, and the answer.
    answer: Option<(Instant, Look, Found)>,
}

impl<R> Asked<R> {
    fn is_by(&self, who: Who<'_>, source: Digest) -> bool {
        self.source == source && self.generation == who.generation
    }

    /// Whether a look answers this question.
    fn takes(&self, look: Look) -> bool {
        if self.anew {
            look.anew && look.began >= self.at
        } else {
            look.began + SHARED >= self.at
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
    pub fn of(&self, who: Who<'_>, source: Digest, now: Instant) -> Option<SourceAnswer> {
        let known = self.sources.get(&source);
        let too_much = known.and_then(|known| known.too_much);
        if too_much.is_some_and(|since| now < since + TOO_MUCH_FOR) {
            return None;
        }
        let Some(asked) = self.asked.get(who.uid).filter(|asked| asked.is_by(who, source)) else {
            return Some(SourceAnswer::NotAsked);
        };
        Some(match &asked.answer {
            Some((landed, look, found)) if now <= *landed + FRESH => SourceAnswer::Here {
                anew: look.anew,
                found: found.clone(),
            },
            None if known.is_some_and(|known| known.looking.is_some()) => SourceAnswer::UnderWay,
            Some(_) | None => SourceAnswer::NotAsked,
        })
    }

    /// A resource asks.
    pub fn ask(&mut self, who: Who<'_>, resource: R, source: Digest, anew: bool, now: Instant) -> Todo {
        let sources = &self.sources;
        self.asked.retain(|_, asked| {
            let looking = sources
                .get(&asked.source)
                .is_some_and(|known| known.looking.is_some());
            now < asked.at + KEPT || (looking && asked.answer.is_none())
        });
        self.make_room(source);
        let known = self.sources.entry(source).or_default();
        known.used = Some(now);
        let mut asked = Asked {
            source,
            generation: who.generation,
            at: now,
            anew,
            resource,
            answer: None,
        };
        let todo = match (&known.answer, &known.looking) {
            (Some((look, found)), _) if asked.takes(*look) => {
                asked.answer = Some((now, *look, found.clone()));
                Todo::Wake
            }
            (_, Some(_)) => Todo::Wait,
            (_, None) => {
                known.looking = Some(Looking::Waits);
                Todo::Look
            }
        };
        self.asked.insert(who.uid.to_owned(), asked);
        todo
    }

    /// A look's turn has come: what it may rely on. It relies on nothing when anybody who waits for it wants that.
    pub fn begin(&mut self, source: Digest, now: Instant) -> Option<Box<SourceReport>> {
        let anew = self.waiting(source).any(|asked| asked.anew);
        let known = self.sources.entry(source).or_default();
        known.looking = Some(Looking::Began(Look { began: now, anew }));
        known.last.clone().filter(|_| !anew)
    }

    /// A look ended: who is woken, and whether it is looked at again for those who asked too late for it.
    pub fn landed(&mut self, source: Digest, landing: Landing, now: Instant) -> (Vec<R>, bool) {
        let Some(known) = self.sources.get_mut(&source) else {
            return (Vec::new(), false);
        };
        let Some(Looking::Began(look)) = known.looking.take() else {
            return (Vec::new(), false);
        };
        let found = match landing {
            Landing::TooMuch => {
                known.too_much = Some(now);
                let waiting = self.waiting(source);
                return (waiting.map(|asked| asked.resource.clone()).collect(), false);
            }
            Landing::Here(found) => found,
        };
        if let Ok(report) = &found {
            known.last = Some(report.clone());
        }
        known.answer = Some((look, found.clone()));
        let mut wake = Vec::new();
        for asked in self.asked.values_mut() {
            if asked.source == source && asked.answer.is_none() && asked.takes(look) {
                asked.answer = Some((now, look, found.clone()));
                wake.push(asked.resource.clone());
            }
        }
        let again = self.waiting(source).next().is_some();
        if let Some(known) = self.sources.get_mut(&source).filter(|_| again) {
            known.looking = Some(Looking::Waits);
        }
        (wake, again)
    }

    /// A resource took its answer.
    pub fn forget(&mut self, uid: &str) {
        self.asked.remove(uid);
    }

    /// Questions that have no answer yet.
    fn waiting(&self, source: Digest) -> impl Iterator<Item = &Asked<R>> {
        self.asked
            .values()
            .filter(move |asked| asked.source == source && asked.answer.is_none())
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

#[cfg(test)]
mod tests;
