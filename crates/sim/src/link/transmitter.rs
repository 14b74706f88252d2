//! How long a packet takes to leave: a constant rate, or the opportunities of a trace.

use crate::config::Trace;
use ropewalk_units::{Duration, Instant, Rate};

/// Work is counted in 10^-9 bit, so that a rate (bit/s) times nanoseconds is work.
pub(super) const WORK_PER_OCTET: u64 = 8_000_000_000;
/// Octets of one opportunity of a Mahimahi trace.
const OPPORTUNITY_BYTES: u32 = 1500;
/// A small packet, for RED's idea of how many could have left while the link was idle.
const SMALL_PACKET: u32 = 500;

/// Time for `work` at `rate`, to the nearest nanosecond.
pub(super) fn time_for(work: u64, rate: Rate) -> Duration {
    match rate.bits_per_sec() {
        0 => Duration::MAX,
        bits => Duration::from_nanos((work + bits / 2) / bits),
    }
}

pub(super) struct Transmitter {
    rate: Rate,
    /// The last packet size and its time: a link carries few sizes, and a division costs more than all the rest.
    last: (u32, Duration),
    trace: Option<TraceClock>,
    /// Capacity is counted from here.
    since: Instant,
}

impl Transmitter {
    pub(super) fn new(rate: Rate, trace: Option<Trace>, now: Instant) -> Self {
        let last = (0, rate.transmission_time(0));
        Self { rate, last, trace: trace.map(|trace| TraceClock::new(trace, now)), since: now }
    }

    /// When a packet that starts at `at` has left.
    pub(super) fn departure(&mut self, at: Instant, bytes: u32) -> Instant {
        if let Some(trace) = &mut self.trace {
            return trace.departure(at, bytes);
        }
        at.saturating_add(self.time(bytes))
    }

    /// How long a packet is in transmission at the constant rate.
    pub(super) fn time(&mut self, bytes: u32) -> Duration {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.transmission_time(bytes));
        }
        self.last.1
    }

    /// What is left of `work` after `elapsed`; `None` with a trace, which a new rate does not change.
    pub(super) fn rest(&self, elapsed: Duration, work: u64) -> Option<u64> {
        let done = elapsed.saturating_mul(self.rate.bits_per_sec()).as_nanos();
        self.trace.is_none().then(|| work.saturating_sub(done))
    }

    pub(super) fn set_rate(&mut self, rate: Rate, now: Instant) {
        self.rate = rate;
        self.last = (0, rate.transmission_time(0));
        self.since = now;
    }

    pub(super) fn set_trace(&mut self, trace: Option<Trace>, now: Instant) {
        self.trace = trace.map(|trace| TraceClock::new(trace, now));
        self.since = now;
    }

    /// The link goes down: the packet in transmission gives up what it had reserved.
    pub(super) fn pause(&mut self, now: Instant) {
        if let Some(trace) = &mut self.trace {
            trace.abandon(now);
        }
    }

    /// The link is up again: capacity counts from now.
    pub(super) fn resume(&mut self, now: Instant) {
        self.since = now;
    }

    /// Octets that could have left since the last change.
    pub(super) fn capacity(&self, now: Instant) -> u64 {
        match &self.trace {
            Some(trace) => trace.opportunities(self.since, now) * u64::from(OPPORTUNITY_BYTES),
            None => self.rate.bytes_in(now.saturating_since(self.since)),
        }
    }

    /// How many small packets could have left in `time` (Floyd & Jacobson 1993 §4: "m" of the idle queue).
    pub(super) fn small_packets_in(&self, time: Duration) -> f64 {
        let rate = self.trace.as_ref().map_or(self.rate, TraceClock::mean_rate);
        rate.bytes_in(time) as f64 / f64::from(SMALL_PACKET)
    }
}

/// A place in an endlessly repeated trace.
struct TraceClock {
    trace: Trace,
    /// The trace's time zero.
    start: Instant,
    /// Time of the running repetition, in ms from `start`.
    shift_ms: u64,
    /// The next opportunity with something left.
    index: usize,
    /// Octets left of it.
    left: u32,
}

impl TraceClock {
    fn new(trace: Trace, start: Instant) -> Self {
        Self { trace, start, shift_ms: 0, index: 0, left: OPPORTUNITY_BYTES }
    }

    /// The repetition's length: the time of the last opportunity.
    fn period_ms(&self) -> u64 {
        self.trace.opportunities_ms[self.trace.opportunities_ms.len() - 1]
    }

    fn at(&self) -> Instant {
        let ms = self.shift_ms + self.trace.opportunities_ms[self.index];
        self.start.saturating_add(Duration::from_millis(ms))
    }

    /// Uses opportunities from `at` on, the rest of a shared one first; returns the time of the last one used.
    fn departure(&mut self, at: Instant, bytes: u32) -> Instant {
        if self.at() < at {
            // Opportunities at which no packet waited are gone.
            self.seek(at.saturating_since(self.start).as_nanos().div_ceil(1_000_000));
        }
        let mut rest = bytes;
        loop {
            if self.left == 0 {
                self.advance();
            }
            let used = rest.min(self.left);
            self.left -= used;
            rest -= used;
            if rest == 0 {
                return self.at();
            }
        }
    }

    fn advance(&mut self) {
        self.left = OPPORTUNITY_BYTES;
        self.index += 1;
        if self.index == self.trace.opportunities_ms.len() {
            self.index = 0;
            self.shift_ms += self.period_ms();
        }
    }

    /// Moves to the first opportunity not before `ms`, a time above zero.
    fn seek(&mut self, ms: u64) {
        // The repetition that covers (shift, shift + period].
        self.shift_ms = (ms - 1) / self.period_ms() * self.period_ms();
        self.index = self.trace.opportunities_ms.partition_point(|&time| self.shift_ms + time < ms);
        self.left = OPPORTUNITY_BYTES;
    }

    /// Forgets what was reserved after `now`.
    fn abandon(&mut self, now: Instant) {
        if self.at() > now {
            self.seek(now.saturating_since(self.start).as_millis() + 1);
        }
    }

    /// Opportunities later than `from` and not later than `to`.
    fn opportunities(&self, from: Instant, to: Instant) -> u64 {
        let until = |time: Instant| {
            let ms = time.saturating_since(self.start).as_millis();
            let (whole, rest) = (ms / self.period_ms(), ms % self.period_ms());
            let list = &self.trace.opportunities_ms;
            whole * list.len() as u64 + list.partition_point(|&time| time <= rest) as u64
        };
        until(to).saturating_sub(until(from))
    }

    fn mean_rate(&self) -> Rate {
        let bits = self.trace.opportunities_ms.len() as u64 * u64::from(OPPORTUNITY_BYTES) * 8;
        Rate::from_bits_per_sec(bits * 1_000 / self.period_ms())
    }
}

#[cfg(test)]
mod tests;
