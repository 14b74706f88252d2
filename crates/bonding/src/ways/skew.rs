//! How fast the peer's clock runs, by this end's.
//!
//! While queues stand both ways, no delay tells how far the clocks are apart. But a clock's rate hardly changes within minutes. Each
//! bound of the offset bounds the rate together with one from before: from one time to another the offset has grown by what is
//! between the later lower bound and the earlier upper one, at the least. These are the lines that fit between all bounds, as
//! Moon, Skelly and Towsley fit one below all delays (INFOCOM 1999).

use super::{CAPACITY, is_less};
use ropewalk_congestion::BASE_HISTORY;
use ropewalk_units::{Duration, Instant};

/// A rate is known from so many parts on. Of two, a clock that was set in between is not told from one that drifts.
const LEAST_PARTS: usize = 3;
/// Two clocks drift apart by no more than twice what one may be off by (MAXFREQ, RFC 5905 §7.2), µs per µs. What grows faster was set.
const MOST: f64 = 2.0 * 500e-6;

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
    /// The closest ones of two parts, if the offset grows at this `rate`.
    fn with(self, other: Self, rate: f64) -> Self {
        let lower = if other.lower.is_above(self.lower, rate) { other.lower } else { self.lower };
        let upper = if self.upper.is_above(other.upper, rate) { other.upper } else { self.upper };
        Self { lower, upper }
    }
}

/// The rate, and what it was learnt from.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    /// The newest first.
    parts: [Option<Part>; CAPACITY],
    /// When the newest began, and how long each lasts.
    since: Instant,
    length: Duration,
    /// µs per µs by which the offset grows.
    rate: f64,
    asked_at: Instant,
    /// What it has grown by beyond whole µs.
    rest: f64,
    /// Bounds are as precise as this, µs.
    precision: u32,
}

impl Skew {
    /// Three times twice as long is a tenth of the time for which lengths count.
    const SHORTEST: Duration = Duration::from_nanos(BASE_HISTORY.as_nanos() / (8 * CAPACITY as u64));

    pub(super) fn new(precision: Duration, now: Instant) -> Self {
        let precision = precision.as_micros() as u32;
        Self {
            parts: [None; CAPACITY],
            since: now,
            length: Self::SHORTEST,
            rate: 0.0,
            asked_at: now,
            rest: 0.0,
            precision,
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
        if now.saturating_since(self.since) >= self.length {
            self.learn(now);
        }
        let (lower, upper) = (lower.wrapping_sub(self.precision), upper.wrapping_add(self.precision));
        let [lower, upper] = [lower, upper].map(|offset| Bound { at: now, offset });
        let own = Part { lower, upper };
        self.parts[0] = Some(self.parts[0].map_or(own, |closest| closest.with(own, self.rate)));
    }

    /// A clock was set, or a way has another length: bounds from before and after cannot be compared.
    pub(super) fn forget(&mut self, now: Instant) {
        self.parts = [None; CAPACITY];
        self.since = now;
        self.length = Self::SHORTEST;
    }

    /// A way counts as longer by so much, µs. What its delays bound is another offset then.
    pub(super) fn on_lengths(&mut self, now: Instant, growth: u32) {
        if growth > self.precision {
            self.forget(now);
        }
    }

    /// A part is over. Once all are full, two become one, until they reach back as far as lengths do.
    fn learn(&mut self, now: Instant) {
        let (least, most) = self.rates();
        let (least, most) = (least.max(-MOST), most.min(MOST));
        if least > most {
            return self.forget(now);
        }
        if self.known().count() >= LEAST_PARTS {
            self.rate = self.rate.clamp(least, most);
        }
        if self.known().count() == CAPACITY && self.length < BASE_HISTORY / CAPACITY as u64 {
            self.halve();
        }
        self.parts.rotate_right(1);
        self.parts[0] = None;
        self.since = now;
    }

    /// Makes one part of every two.
    fn halve(&mut self) {
        for place in 0..CAPACITY / 2 {
            let [one, other] = [2 * place, 2 * place + 1].map(|place| self.parts[place].take());
            self.parts[place] =
                one.zip(other).map(|(one, other)| one.with(other, self.rate)).or(one).or(other);
        }
        self.length = self.length * 2;
    }

    /// The parts of which bounds are known, the newest first.
    fn known(&self) -> impl Iterator<Item = &Part> + '_ {
        self.parts.iter().flatten()
    }

    /// The least and the greatest rate that fit all parts.
    fn rates(&self) -> (f64, f64) {
        let rate = |one: Bound, other: Bound| one.above(other) / one.since(other).max(1.0);
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for (place, later) in self.known().enumerate() {
            for earlier in self.known().skip(place + 1) {
                least = least.max(rate(later.lower, earlier.upper));
                most = most.min(rate(later.upper, earlier.lower));
            }
        }
        (least, most)
    }
}
