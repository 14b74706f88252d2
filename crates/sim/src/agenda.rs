//! Pending events: the next arrival of each link in a tournament, and all others in the queue.
//!
//! A link has one pending event, and only the link moves it. In the tournament its place is known, and a move costs one
//! comparison for each doubling of the links. In the queue, each move would have to find the old place and the new one.

mod arrivals;

use crate::event_queue::EventQueue;
use crate::ids::{LinkId, NodeId};
use arrivals::{Arrivals, Key};
use ropewalk_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the queue holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// Something may have arrived at the end of a link.
    Arrival(LinkId),
    Timer {
        node: NodeId,
        token: u32,
    },
    /// Index of the timed change.
    Change(u32),
    /// The medium's timer; its token in two halves, so that events of links stay small.
    Medium {
        high: u32,
        low: u32,
    },
}

/// An event with the number of its insertion, which orders events of one time.
#[derive(Clone, Copy)]
struct Numbered {
    number: u64,
    event: Event,
}

/// Pending events in order of time; those of one time in order of insertion.
pub(crate) struct Agenda {
    arrivals: Arrivals,
    /// Plans of links that were given up for earlier ones.
    superseded: BinaryHeap<Reverse<Key>>,
    others: EventQueue<Numbered>,
    /// Every event before this time is an arrival.
    others_from: Instant,
    /// Number of the next insertion.
    number: u64,
}

impl Agenda {
    /// Nothing pending.
    pub(crate) fn new() -> Self {
        Self {
            arrivals: Arrivals::new(),
            superseded: BinaryHeap::new(),
            others: EventQueue::new(),
            others_from: Instant::MAX,
            number: 0,
        }
    }

    fn count(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, at: Instant, event: Event) {
        let number = self.count();
        self.others_from = self.others_from.min(at);
        self.others.push(at, Numbered { number, event });
    }

    /// A link's event has come: the next one, if it is known, takes its place.
    pub(crate) fn follow(&mut self, link: LinkId, next: Option<Instant>) {
        let key = match next {
            Some(at) => Key::new(at, self.count(), link),
            None => Key::NONE,
        };
        self.arrivals.set(link, key);
    }

    /// A link's event is now this one. An earlier plan stays as an event that comes to nothing.
    pub(crate) fn plan(&mut self, link: LinkId, at: Instant) {
        let before = self.arrivals.of(link);
        if before != Key::NONE {
            self.supersede(before);
        }
        let key = Key::new(at, self.count(), link);
        self.arrivals.set(link, key);
    }

    #[inline(never)]
    fn supersede(&mut self, plan: Key) {
        self.others_from = self.others_from.min(plan.at());
        self.superseded.push(Reverse(plan));
    }

    /// No event comes before this time.
    pub(crate) fn earliest(&self) -> Instant {
        self.arrivals.first().at().min(self.others_from)
    }

    /// The first event, if its time is not after `limit`. A link's arrival stays until [`Self::follow`].
    pub(crate) fn pop_until(&mut self, limit: Instant) -> Option<(Instant, Event)> {
        let first = self.arrivals.first();
        if first.at() >= self.others_from {
            return self.pop_other(limit, first);
        }
        (first.at() <= limit).then(|| (first.at(), Event::Arrival(first.link())))
    }

    /// The same when another event than `planned` may be the first.
    #[inline(never)]
    fn pop_other(&mut self, limit: Instant, planned: Key) -> Option<(Instant, Event)> {
        let superseded = self.superseded.peek().map_or(Key::NONE, |Reverse(plan)| *plan);
        let first = planned.min(superseded);
        let precedes = |at: Instant, event: &Numbered| Key::new(at, event.number, LinkId(0)) < first;
        if let Some((at, other)) = self.others.pop_if(limit.min(first.at()), precedes) {
            return Some((at, other.event));
        }
        self.others_from = self.others.earliest().min(superseded.at());
        if first == Key::NONE || first.at() > limit {
            return None;
        }
        if first == superseded {
            self.superseded.pop();
            self.revive(first.at(), first.link());
        }
        Some((first.at(), Event::Arrival(first.link())))
    }

    /// A superseded event of a link comes. If the link plans one for that very time, it is this one, being the older, and the
    /// other comes to nothing.
    fn revive(&mut self, at: Instant, link: LinkId) {
        let plan = self.arrivals.of(link);
        if plan.at() == at {
            self.arrivals.set(link, Key::NONE);
            self.supersede(plan);
        }
    }
}

#[cfg(test)]
mod tests;
