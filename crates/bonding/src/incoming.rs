//! One path as the receiving gateway sees it: what came, what is missing, how long it took.

mod delays;
mod gaps;

pub(crate) use delays::Extremes;

use crate::clock::micros;
use crate::control::{Keepalive, PathReport, Probe};
use crate::header::DataHeader;
use crate::id::{GlobalSeq, PathSeq};
use delays::IntervalDelays;
use gaps::Gaps;
use ropewalk_units::{Duration, Instant};

/// The most packets that a path may be out of order by.
const REORDERING_MOST: usize = 8;

/// A path's receiving side.
pub(crate) struct Incoming {
    next: PathSeq,
    pub(crate) received_packets: u64,
    pub(crate) received_bytes: u64,
    gaps: Gaps,
    arrived_at: u32,
    delay: u32,
    interval: IntervalDelays,
    /// One-way delays of late, for the resequencer.
    pub(crate) recent: Extremes,
    /// The last packets' global numbers: what came before all of them will not come any more.
    latest: [GlobalSeq; REORDERING_MOST],
    turn: u8,
    reordering: u8,
    /// How many of `latest` are known.
    known: u8,
    /// All packets of the bond from this one to the last data packet went on this path alone.
    solo_from: GlobalSeq,
    solo_until: GlobalSeq,
    /// When anything came last.
    pub(crate) heard_at: Instant,
}

impl Incoming {
    pub(crate) fn new(reordering: u8, now: Instant) -> Self {
        Self {
            next: PathSeq::new(0),
            received_packets: 0,
            received_bytes: 0,
            gaps: Gaps::default(),
            arrived_at: 0,
            delay: 0,
            interval: IntervalDelays::default(),
            recent: Extremes::new(now),
            latest: [GlobalSeq::new(0); REORDERING_MOST],
            turn: 0,
            reordering: reordering.min(REORDERING_MOST as u8),
            known: 0,
            solo_from: GlobalSeq::new(0),
            solo_until: GlobalSeq::new(0),
            heard_at: now,
        }
    }

    /// A data packet with its relative one-way delay in µs.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, header: &DataHeader, wire_len: u32, relative: i64) {
        self.pass(header.global_seq);
        self.solo_from = header.global_seq.minus((1 << header.solo) - 1);
        self.solo_until = header.global_seq;
        self.count(now, header.path_seq, header.timestamp, wire_len, relative);
    }

    /// A probe, likewise.
    pub(crate) fn on_probe(&mut self, now: Instant, probe: &Probe, wire_len: u32, relative: i64) {
        self.pass(probe.next_global_seq.previous());
        self.count(now, probe.path_seq, probe.timestamp, wire_len, relative);
    }

    /// What has a number on the path.
    #[inline]
    fn count(&mut self, now: Instant, seq: PathSeq, timestamp: u32, wire_len: u32, relative: i64) {
        self.heard_at = now;
        let delay = micros(now).wrapping_sub(timestamp);
        self.interval.note(delay);
        self.recent.note(now, relative);
        if seq.before(self.next) {
            if !self.gaps.fill(seq) {
                return;
            }
        } else {
            self.expect(seq, now);
            self.next = seq.next();
            self.arrived_at = micros(now);
            self.delay = delay;
        }
        self.received_packets += 1;
        self.received_bytes += u64::from(wire_len);
    }

    /// A keepalive with its relative one-way delay in µs.
    pub(crate) fn on_keepalive(&mut self, now: Instant, keepalive: &Keepalive, relative: i64) {
        self.heard_at = now;
        self.interval.note(micros(now).wrapping_sub(keepalive.timestamp));
        self.recent.note(now, relative);
        let was_complete = !self.next.before(keepalive.next_path_seq);
        self.expect(keepalive.next_path_seq, now);
        // Nothing of this path is under way, so there is nothing that this keepalive could have overtaken.
        let passes = if was_complete { self.reordering } else { 1 };
        for _ in 0..passes {
            self.pass(keepalive.next_global_seq.previous());
        }
    }

    /// Whatever comes before `seq` should have come.
    #[inline]
    fn expect(&mut self, seq: PathSeq, now: Instant) {
        if self.next.before(seq) {
            self.gaps.open(self.next, seq, now);
            self.next = seq;
        }
    }

    #[inline]
    fn pass(&mut self, global: GlobalSeq) {
        self.latest[usize::from(self.turn)] = global;
        self.turn = if self.turn + 1 >= self.reordering { 0 } else { self.turn + 1 };
        self.known = (self.known + 1).min(self.reordering);
    }

    /// Packets up to this one will not come on this path any more, reordering allowed for.
    #[inline]
    pub(crate) fn passed(&self) -> Option<GlobalSeq> {
        if self.known < self.reordering {
            return None;
        }
        let latest = &self.latest[..usize::from(self.reordering)];
        latest.iter().copied().reduce(|a, b| if b.before(a) { b } else { a })
    }

    /// What was sent on this path alone and will not come any more: from, and up to.
    #[inline]
    pub(crate) fn passed_alone(&self) -> Option<(GlobalSeq, GlobalSeq)> {
        let passed = self.passed()?;
        // A keepalive passes packets of other paths, too.
        let passed = if self.solo_until.before(passed) { self.solo_until } else { passed };
        (!passed.before(self.solo_from)).then_some((self.solo_from, passed))
    }

    /// Data packets given up as lost.
    pub(crate) fn lost(&self) -> u64 {
        self.gaps.lost
    }

    /// Counts what is overdue, and closes the interval.
    pub(crate) fn report(&mut self, now: Instant, loss_timeout: Duration) -> PathReport {
        self.gaps.expire(now, loss_timeout);
        let (least_delay, most_delay, is_fresh) = self.interval.take();
        PathReport {
            next: self.next,
            received_packets: self.received_packets as u32,
            received_bytes: self.received_bytes as u32,
            lost_packets: self.gaps.lost as u32,
            arrived_at: self.arrived_at,
            delay: self.delay,
            least_delay,
            most_delay,
            is_fresh,
        }
    }
}
