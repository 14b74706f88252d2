//! How long the ways between the two ends are without queues, and how much later a report came.
//!
//! A one-way delay is a difference of two clocks. Of these only one thing is known: all paths have
//! the same two. A delay to the peer is the way's length, its queue, and by how much the peer's clock
//! is ahead. A delay from the peer is the way's length and its queue, less the same offset. So each
//! delay bounds the offset from one side once the way's length is known, and the sum of a delay forth
//! and one back does not depend on it.
//!
//! All times are in µs and wrap at 2³², as the headers' clock does.

mod base_delay;
mod parts;
mod skew;

#[cfg(test)]
mod tests;

use crate::clock::{DelayReference, micros};
use crate::id::PathId;
use crate::receive::incoming::Extremes;
use crate::tuning::BondTuning;
use crate::wire::control::{Report, TICK};
use base_delay::{BaseDelay, is_less, least};
use ropewalk_congestion::UNKNOWN;
use ropewalk_units::{Duration, Instant};
use skew::Skew;

/// The least delays since the last report.
#[derive(Clone, Copy, Default)]
struct Heard {
    /// To the peer, as the report tells; `None`: nothing has come since the one before.
    to: Option<u32>,
    /// From the peer.
    from: Option<u32>,
}

impl Heard {
    fn with(self, other: Self) -> Self {
        let both = |one: Option<u32>, other: Option<u32>| other.map_or(one, |other| Some(least(one, other)));
        Self { to: both(self.to, other.to), from: both(self.from, other.from) }
    }
}

/// One path's two ways.
#[derive(Clone, Copy)]
struct Way {
    /// To the peer, less the offset.
    forth: BaseDelay,
    /// From the peer, and the offset more.
    back: BaseDelay,
    heard: Heard,
    /// What counts with the next report.
    put_off: Heard,
    /// When the newest packet left that the peer told of.
    newest: Option<u32>,
    /// What came from the peer waited so long in queues.
    waits: Extremes,
}

impl Way {
    /// How long something waited in queues that took this delay from the peer, and the offset more.
    fn wait(&self, delay: u32) -> Duration {
        let wait = self.back.least.map_or(0, |least| delay.wrapping_sub(least) as i32);
        Duration::from_micros(wait.max(0) as u64)
    }

    /// How long all that came from the peer in the last second waited.
    fn least_wait(&self) -> Duration {
        Duration::from_micros(self.waits.least().unwrap_or_default() as u64)
    }
}

/// The ways between the two ends.
pub(crate) struct Ways {
    ways: Vec<Way>,
    reference: DelayReference,
    /// By how much the peer's clock is ahead, beyond what it was first.
    offset: u32,
    skew: Skew,
    /// When a report told last of what this end had sent: the offset is bounded from above then.
    bounded_at: Option<Instant>,
    /// The last report said that a way had become shorter.
    is_shorter: bool,
    /// What comes before this gives no one-way delay: one of the clocks has stood still.
    measured_from: Instant,
    /// How late the last report came that was measured.
    late: Duration,
}

impl Ways {
    pub(crate) fn new(paths: usize, tuning: &BondTuning, now: Instant) -> Self {
        let (forth, back) = (BaseDelay::new(now), BaseDelay::new(now));
        let (heard, put_off) = (Heard::default(), Heard::default());
        let way = Way { forth, back, heard, put_off, newest: None, waits: Extremes::new(now) };
        Self {
            ways: vec![way; paths],
            reference: DelayReference::default(),
            offset: 0,
            skew: Skew::new(tuning, now),
            bounded_at: None,
            is_shorter: false,
            measured_from: Instant::ZERO,
            late: Duration::ZERO,
        }
    }

    /// Something that the peer sent when its clock showed `sent` came by a path. Returns its delay in
    /// µs beyond the first one's.
    #[inline]
    pub(crate) fn on_arrival(&mut self, now: Instant, path: PathId, sent: u32) -> i64 {
        let delay = micros(now).wrapping_sub(sent);
        let way = &mut self.ways[path.index()];
        way.heard.from = Some(least(way.heard.from, delay));
        self.reference.relative(delay)
    }

    /// One of the clocks has stood still. What comes in the next round trip may have left before.
    pub(crate) fn on_gap(&mut self, now: Instant, round_trip: Duration) {
        self.measured_from = now.saturating_add(round_trip);
        self.bounded_at = None;
        self.skew.forget(now);
        self.ways.iter_mut().for_each(|way| way.waits = Extremes::new(now));
    }

    /// A report came by `path`. Returns by how much later than it would have come by the shortest way back without queues.
    pub(crate) fn on_report(&mut self, now: Instant, path: PathId, report: &Report) -> Duration {
        let delay = micros(now).wrapping_sub(report.made);
        self.take(report);
        if now < self.measured_from {
            self.ways.iter_mut().for_each(|way| (way.heard, way.put_off) = Default::default());
            return self.late;
        }
        let before = self.offset;
        self.offset = before.wrapping_add(self.skew.growth(now));
        let bounds = self.bounds();
        let is_put_off = self.may_span_a_step(bounds);
        if let (Some((lower, upper)), false) = (bounds, is_put_off) {
            self.bounded_at = Some(now);
            let beyond = |bound: i32| self.offset.wrapping_add(bound as u32);
            self.skew.note(now, beyond(lower), beyond(upper));
            self.offset = beyond(0.clamp(lower.min(upper), lower.max(upper)));
        }
        let (low, high) =
            if is_less(before, self.offset) { (before, self.offset) } else { (self.offset, before) };
        let mut growth = 0;
        for way in &mut self.ways {
            let heard = std::mem::take(&mut way.heard).with(std::mem::take(&mut way.put_off));
            if is_put_off {
                way.put_off = heard;
                continue;
            }
            // If the offset has moved since the report before, it may be either: that one counts by which no way seems shorter than it is.
            if let Some(from) = heard.from {
                growth = growth.max(way.back.note(now, from.wrapping_add(high)));
                way.waits.note(now, way.wait(from.wrapping_add(low)).as_micros() as i64);
            }
            if let Some(to) = heard.to {
                growth = growth.max(way.forth.note(now, to.wrapping_sub(low)));
            }
        }
        self.skew.on_lengths(now, growth);
        let own = delay.wrapping_add(self.offset);
        let shortest =
            self.ways.iter().filter_map(|way| way.back.least).reduce(|one, other| least(Some(one), other));
        let late = own.wrapping_sub(shortest.unwrap_or(own)) as i32;
        let left_out = if self.is_known(now) { Duration::ZERO } else { self.least_wait(path) };
        self.late = Duration::from_micros(late.max(0) as u64).saturating_sub(left_out);
        self.late
    }

    /// How long all that came by a path of late has waited in queues, as far as that is known.
    pub(crate) fn standing(&self, now: Instant, path: PathId) -> Duration {
        if self.is_known(now) { self.least_wait(path) } else { Duration::ZERO }
    }

    fn least_wait(&self, path: PathId) -> Duration {
        self.ways[path.index()].least_wait()
    }

    /// Does a delay to the peer tell of its clock? While nothing is sent there, what all packets seem to wait on the way back may be what that
    /// clock has fallen behind. Else they wait: the clock is not behind by more than the shortest queue on the way to the peer, and
    /// a controller empties its own now and then.
    fn is_known(&self, now: Instant) -> bool {
        self.bounded_at.is_some_and(|at| now.saturating_since(at) < UNKNOWN)
    }

    /// Takes the delays to the peer that a report tells of.
    fn take(&mut self, report: &Report) {
        for (entry, way) in report.paths().iter().zip(&mut self.ways) {
            if entry.received_packets > 0 && way.newest.replace(entry.newest) != Some(entry.newest) {
                let newest = report.made.wrapping_sub(entry.held).wrapping_sub(entry.newest);
                way.heard.to = Some(newest.wrapping_sub(u32::from(entry.excess) * TICK));
            }
        }
    }

    /// By how much more than it is the offset is at the least and at the most. It moves no further than both ask. Where they contradict
    /// each other, a way has become shorter, or its queue was never empty before. Bounds are of least delays, as lengths are: of longer
    /// ones they would be the looser the further the offset is off, since the lengths are by it.
    fn bounds(&self) -> Option<(i32, i32)> {
        let beyond = |bound: u32| bound.wrapping_sub(self.offset) as i32;
        let from = |way: &Way| way.heard.with(way.put_off).from;
        let lower = self.ways.iter().filter_map(|way| Some(way.back.least?.wrapping_sub(from(way)?)));
        let upper = self.ways.iter().filter_map(|way| Some(way.heard.to?.wrapping_sub(way.forth.least?)));
        Some((lower.map(beyond).max()?, upper.map(beyond).min()?))
    }

    /// A report that was made after the peer's clock was set may tell of what came before. Then it seems that the way back has become
    /// shorter. The next report says the same if it has.
    fn may_span_a_step(&mut self, bounds: Option<(i32, i32)>) -> bool {
        let is_shorter = bounds.is_some_and(|(lower, upper)| upper < lower);
        let was_shorter = std::mem::replace(&mut self.is_shorter, is_shorter);
        is_shorter && !was_shorter
    }
}
