//! How fast the peer's clock runs, by this end's.
//!
//! While queues stand both ways, no delay tells how far the clocks are apart. But a clock's rate hardly changes within minutes. Each
//! bound of the offset bounds the rate together with one from before: from one time to another the offset has grown by what is
//! between the later lower bound and the earlier upper one, at the least. These are the lines that fit between all bounds, as
//! Moon, Skelly and Towsley fit one below all delays (INFOCOM 1999).

use super::base_delay::is_less;
use super::parts::Parts;
use crate::tuning::BondTuning;
use ropewalk_units::Instant;

/// A clock is off by no more, µs per µs (RFC 5905 §7.2). Two that drift apart faster were set.
const MAXFREQ: f64 = 500e-6;

/// A bound of the offset, µs.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: Instant,
    offset: u32,
}

impl Bound {
    /// By how much it is above `earlier`, µs.
    fn above(self, earlier: Self) -> f64 {
        f64::from(self.offset.wrapping_sub(earlier.offset) as i32)
    }

    /// The µs since `earlier`.
    fn since(self, earlier: Self) -> f64 {
        self.at.saturating_since(earlier.at).as_secs_f64() * 1e6
    }

    /// Is it above the line of this `rate` through `other`?
    fn is_above(self, other: Self, rate: f64) -> bool {
        self.above(other) > rate * (self.since(other) - other.since(self))
    }
}

/// The closest bounds of one part of the time.
#[derive(Clone, Copy, Debug)]
struct Part {
    lower: Bound,
    upper: Bound,
}

impl Part {
    /// The closest ones of both, if the offset grows at this `rate`.
    fn with(self, other: Self, rate: f64) -> Self {
        let lower = if other.lower.is_above(self.lower, rate) { other.lower } else { self.lower };
        let upper = if self.upper.is_above(other.upper, rate) { other.upper } else { self.upper };
        Self { lower, upper }
    }
}

/// The rate, and what it was learnt from.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    parts: Parts<Part>,
    /// µs per µs by which the offset grows.
    rate: f64,
    asked_at: Instant,
    /// What it has grown by beyond whole µs.
    rest: f64,
    /// Bounds are as precise as this, µs.
    precision: u32,
}

impl Skew {
    pub(super) fn new(tuning: &BondTuning, now: Instant) -> Self {
        Self {
            parts: Parts::new(now),
            rate: 0.0,
            asked_at: now,
            rest: 0.0,
            precision: tuning.precision.as_micros() as u32,
        }
    }

    /// By how much the offset has grown since this was asked last, µs.
    pub(super) fn growth(&mut self, now: Instant) -> u32 {
        let passed = now.saturating_since(self.asked_at);
        self.asked_at = self.asked_at.max(now);
        self.rest += self.rate * passed.as_secs_f64() * 1e6;
        let whole = self.rest as i32;
        self.rest -= f64::from(whole);
        whole as u32
    }

    /// The offset is between these.
    pub(super) fn note(&mut self, now: Instant, lower: u32, upper: u32) {
        if is_less(upper, lower) {
            return self.forget(now);
        }
        if self.parts.is_over(now) {
            self.learn(now);
        }
        let (lower, upper) = (lower.wrapping_sub(self.precision), upper.wrapping_add(self.precision));
        let [lower, upper] = [lower, upper].map(|offset| Bound { at: now, offset });
        let rate = self.rate;
        self.parts.note(Part { lower, upper }, |closest, own| closest.with(own, rate));
    }

    /// A clock was set, or a way has another length: bounds from before and after cannot be compared.
    pub(super) fn forget(&mut self, now: Instant) {
        self.parts = Parts::new(now);
    }

    /// A way counts as longer by so much, µs. What its delays bound is another offset then.
    pub(super) fn on_lengths(&mut self, now: Instant, growth: u32) {
        if growth > self.precision {
            self.forget(now);
        }
    }

    /// A part is over.
    fn learn(&mut self, now: Instant) {
        let (least, most) = self.rates();
        let (least, most) = (least.max(-2.0 * MAXFREQ), most.min(2.0 * MAXFREQ));
        if least > most {
            return self.forget(now);
        }
        // Of two parts, a clock that was set in between is not told from one that drifts.
        if self.parts.iter().count() > 2 {
            self.rate = self.rate.clamp(least, most);
        }
        self.parts.begin(now);
    }

    /// The least and the greatest rate that fit all parts.
    fn rates(&self) -> (f64, f64) {
        let rate = |one: Bound, other: Bound| one.above(other) / one.since(other).max(1.0);
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for (place, later) in self.parts.iter().enumerate() {
            for earlier in self.parts.iter().skip(place + 1) {
                least = least.max(rate(later.lower, earlier.upper));
                most = most.min(rate(later.upper, earlier.lower));
            }
        }
        (least, most)
    }
}
