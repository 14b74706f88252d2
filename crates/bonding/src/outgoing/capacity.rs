//! The rate that a path delivers.

use super::log::Entry;
use super::train::Shown;
use crate::control::PathReport;

/// Assumed until there is a measurement, bits per second. Too little and the first packets are spread over paths that are not
/// needed; too much and they are heaped upon one.
const GUESS: f64 = 30e6;
/// A sample spans at least this many packets and microseconds.
const SAMPLE_PACKETS: u32 = 8;
const SAMPLE_MICROS: u32 = 15_000;
/// A sample spans at most this: a pause is no measurement.
const SAMPLE_MICROS_MOST: u32 = 1_000_000;
/// Beyond its own transmission, a packet that waited this long shows that the path was busy, in µs.
const BUSY_MICROS: i64 = 1_000;
/// Below, a packet of a path of unknown rate has met no queue worth the name, in µs.
const QUEUE_MICROS: i64 = 10_000;
/// What a packet's own transmission is taken for, octets.
pub(super) const FULL_PACKET: u32 = 1500;
/// So much more sent than came shows that the path was busy, even if less came than this share of its rate.
const SLOWER: f64 = 1.1;
const LITTLE: f64 = 0.8;
const GAIN_UP: f64 = 0.5;
const GAIN_DOWN: f64 = 0.25;
/// Bursts are short, and a start is full of them: many must agree.
const GAIN_BURST: f64 = 0.1;
/// A burst that shows a rate is at least this long, in octets: 16 full packets.
const BURST: u32 = 24_000;
/// A greater share lost is no chance.
const MOST_LOST: f64 = 0.05;
/// Least estimate, bits per second: below, even a keepalive would take a second.
const FLOOR: f64 = 10e3;

/// Bytes received over time between two arrivals. While the path was busy all the time that is its rate; else the
/// rate is at least that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    bits_per_sec: f64,
    nanos_per_byte: f64,
    is_measured: bool,
    /// There was a sample, if only one that showed the path not to be slower than assumed.
    is_tried: bool,
    start: Option<Anchor>,
    was_busy: bool,
}

/// How much longer than without a queue data took, in µs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// The quickest since the report before.
    pub(super) least: i64,
    /// What came last.
    pub(super) last: i64,
}

/// Where a sample begins.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    packets: u32,
    bytes: u32,
    arrived_at: u32,
    /// Sent up to its last packet, and when that left.
    sent: u32,
    left_at: u32,
}

impl Default for Capacity {
    fn default() -> Self {
        let mut capacity = Self {
            bits_per_sec: 0.0,
            nanos_per_byte: 0.0,
            is_measured: false,
            is_tried: false,
            start: None,
            was_busy: true,
        };
        capacity.set(GUESS);
        capacity
    }
}

impl Capacity {
    fn set(&mut self, bits_per_sec: f64) {
        self.bits_per_sec = bits_per_sec.max(FLOOR);
        self.nanos_per_byte = 8e9 / self.bits_per_sec;
    }

    pub(super) fn bits_per_sec(&self) -> f64 {
        self.bits_per_sec
    }

    pub(super) fn is_measured(&self) -> bool {
        self.is_measured
    }

    pub(super) fn is_tried(&self) -> bool {
        self.is_tried
    }

    /// How long so many octets take, in nanoseconds.
    #[inline]
    pub(super) fn time_of(&self, bytes: u32) -> i64 {
        (f64::from(bytes) * self.nanos_per_byte) as i64
    }

    /// A report that says that data came.
    pub(super) fn note(&mut self, report: &PathReport, waits: Waits, lost: f64, last: &Entry) {
        let here = Anchor {
            packets: report.received_packets,
            bytes: report.received_bytes,
            arrived_at: report.arrived_at,
            sent: last.bytes,
            left_at: last.left_at,
        };
        let Some(start) = self.start else {
            // So many within a report's interval: it is not slow.
            self.is_tried = here.packets >= SAMPLE_PACKETS;
            return self.restart(here);
        };
        self.was_busy &= waits.least > BUSY_MICROS + self.time_of(FULL_PACKET) / 1000;
        let elapsed = here.arrived_at.wrapping_sub(start.arrived_at);
        if elapsed > SAMPLE_MICROS_MOST {
            return self.restart(here);
        }
        if here.packets.wrapping_sub(start.packets) >= SAMPLE_PACKETS && elapsed >= SAMPLE_MICROS {
            let bytes = here.bytes.wrapping_sub(start.bytes);
            // All of it was held back before it left: so more was offered than the path was believed to carry.
            self.was_busy |= last.held_bytes > here.sent.wrapping_sub(start.sent);
            // With a queue that has just come, too little was offered to show the rate, and too much to show that it suffices.
            self.is_tried |= waits.last <= QUEUE_MICROS;
            let rate = |bytes: u32, micros: u32| f64::from(bytes) * 8e6 / f64::from(micros.max(1));
            // What is lost at random has taken its time as well.
            let sample = rate(bytes, elapsed) / (1.0 - lost.min(MOST_LOST));
            let sent_at = rate(here.sent.wrapping_sub(start.sent), here.left_at.wrapping_sub(start.left_at));
            self.take(sample, sent_at > sample * SLOWER);
            self.restart(here);
        }
    }

    /// So many bytes, sent since the path was believed to be idle, were delivered within so many µs beyond the least delay:
    /// it is at least that fast, however briefly it was busy.
    pub(super) fn note_burst(&mut self, bytes: u32, micros: i64) {
        if bytes >= BURST && micros > 0 {
            let sample = f64::from(bytes) * 8e6 / micros as f64;
            if sample > self.bits_per_sec {
                self.set(self.bits_per_sec + (sample - self.bits_per_sec) * GAIN_BURST);
            }
        }
    }

    /// A train of probes has come.
    pub(super) fn note_train(&mut self, shown: Shown) {
        self.is_tried = true;
        match shown {
            Shown::Little => {}
            // Something as short is believed if the path is slower than assumed, not if it is faster.
            Shown::Hint(rate) => self.set(rate.min(self.bits_per_sec)),
            Shown::AtLeast(rate) => self.set(rate.max(self.bits_per_sec)),
            Shown::Rate(rate) => {
                self.set(rate);
                self.is_measured = true;
            }
        }
    }

    fn restart(&mut self, here: Anchor) {
        self.start = Some(here);
        self.was_busy = true;
    }

    /// A sample; `is_slower`: more was sent in its time. Was it not, and was that little, the path was not busy: its delay has grown.
    fn take(&mut self, sample: f64, is_slower: bool) {
        self.is_tried |= sample > self.bits_per_sec || self.was_busy;
        if sample > self.bits_per_sec {
            let gain = if self.is_measured { GAIN_UP } else { 1.0 };
            self.set(self.bits_per_sec + (sample - self.bits_per_sec) * gain);
            self.is_measured = true;
        } else if self.was_busy && (is_slower || !self.is_measured || sample > self.bits_per_sec * LITTLE) {
            let gain = if self.is_measured { GAIN_DOWN } else { 1.0 };
            self.set(self.bits_per_sec + (sample - self.bits_per_sec) * gain);
            self.is_measured = true;
        }
    }
}
