//! What no link does to a segment: a box before the receiving host.

use ropewalk_sim::{Stream, Streams};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Ecn, MptcpOptions, Segment};

/// What the box does. It does nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Middlebox {
    /// Probability that a segment with data is lost.
    pub data_loss: f64,
    /// Probability that a segment without data is lost.
    pub bare_loss: f64,
    /// Probability that a segment which may be marked is marked with Congestion Experienced.
    pub marks: f64,
    /// Probability that a segment takes a detour, and how much longer that is at most.
    pub detours: (f64, Duration),
    /// Now and then nothing moves, and the order is kept.
    pub standstill: Option<Standstill>,
    /// Options of Multipath TCP are taken off from then on.
    pub strips_from: Option<Instant>,
    /// Between these times data is altered, as long as both hosts would notice.
    pub alters: Option<(Instant, Instant)>,
}

/// For `lasting` at the end of each `every`, nothing moves.
#[derive(Clone, Copy, Debug)]
pub struct Standstill {
    /// From one end of a standstill to the next.
    pub every: Duration,
    /// How long each is.
    pub lasting: Duration,
}

impl Standstill {
    fn release(&self, at: Instant) -> Instant {
        let phase = Duration::from_nanos(at.as_nanos() % self.every.as_nanos());
        if phase + self.lasting > self.every { at + (self.every - phase) } else { at }
    }
}

/// A box at work.
#[derive(Debug)]
pub(crate) struct Working {
    middlebox: Middlebox,
    until: Instant,
    name: String,
    streams: Streams,
    random: Option<Box<Stream>>,
    pub(crate) marked: u64,
    pub(crate) lost: u64,
}

impl Working {
    pub(crate) fn new(middlebox: Middlebox, until: Instant, name: String, streams: Streams) -> Self {
        Self { middlebox, until, name, streams, random: None, marked: 0, lost: 0 }
    }

    /// True with this probability; draws only if that is above zero.
    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random().bernoulli(probability)
    }

    fn random(&mut self) -> &mut Stream {
        self.random.get_or_insert_with(|| Box::new(self.streams.stream(&format!("middlebox/{}", self.name))))
    }

    /// When the segment reaches the host, changed or not; none if it is lost. `checked`: both hosts
    /// notice altered data.
    pub(crate) fn pass(&mut self, now: Instant, segment: &mut Segment, checked: bool) -> Option<Instant> {
        self.alter(now, segment, checked);
        if now >= self.until {
            return Some(now);
        }
        let data = segment.payload.len > 0;
        let loss = if data { self.middlebox.data_loss } else { self.middlebox.bare_loss };
        if self.happens(loss) {
            self.lost += 1;
            return None;
        }
        if segment.ecn != Ecn::NotEct && self.happens(self.middlebox.marks) {
            segment.ecn = Ecn::Ce;
            self.marked += 1;
        }
        let mut at = now;
        let (probability, longest) = self.middlebox.detours;
        if self.happens(probability) {
            at += longest.mul_f64(self.random().uniform());
        }
        Some(self.middlebox.standstill.map_or(at, |standstill| standstill.release(at)))
    }

    fn alter(&self, now: Instant, segment: &mut Segment, checked: bool) {
        if self.middlebox.strips_from.is_some_and(|from| now >= from) {
            segment.options.mptcp = MptcpOptions::default();
        }
        let alters = self.middlebox.alters.is_some_and(|(from, to)| (from..to).contains(&now));
        if alters && checked && segment.payload.len > 0 {
            segment.payload.offset ^= 1 << 40;
        }
    }
}
