//! The receiver of datagrams: what came, what came late and what came twice.

use super::FrameSink;
use crate::plan::RecordedDatagram;
use hdrhistogram::Histogram;
use ropewalk_units::Instant;
use ropewalk_wire::Payload;
use std::sync::Arc;

/// Delays above this (1000 s) count as this.
const LONGEST_DELAY_US: u64 = 1_000_000_000;

/// How far back the receiver remembers which numbers it has seen.
const WINDOW: u64 = 4096;

/// A datagram as its receiver sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Counted from 0 by the sending application.
    pub number: u64,
    /// When it was sent.
    pub sent: Instant,
    /// Its octets, as a range of the sender's stream.
    pub payload: Payload,
}

/// Counts datagrams.
#[derive(Clone, Debug)]
pub struct Datagrams {
    /// Octets of payload, duplicates not counted.
    pub bytes: u64,
    /// Datagrams that came after one with a higher number.
    pub reordered: u64,
    /// Octets of datagrams that had come before.
    pub duplicate_bytes: u64,
    /// When the last one came.
    pub last_at: Option<Instant>,
    /// Datagrams that came, duplicates not counted.
    pub datagrams: u64,
    /// One-way delays in µs of those, to three digits.
    pub delays: Histogram<u32>,
    /// First datagram whose octets were not those that were sent.
    pub corrupt_at: Option<u64>,
    /// The frames that they are packets of, if they are.
    pub frames: Option<FrameSink>,
    /// What they should be, if it was recorded. Else all have one length.
    recorded: Option<Arc<[RecordedDatagram]>>,
    next: u64,
    seen: Vec<u64>,
}

impl Default for Datagrams {
    fn default() -> Self {
        Self::new()
    }
}

impl Datagrams {
    /// Nothing received yet.
    pub fn new() -> Self {
        Self {
            bytes: 0,
            reordered: 0,
            duplicate_bytes: 0,
            last_at: None,
            datagrams: 0,
            delays: Histogram::new_with_bounds(1, LONGEST_DELAY_US, 3).expect("the bounds are apart"),
            corrupt_at: None,
            frames: None,
            recorded: None,
            next: 0,
            seen: vec![0; (WINDOW / 64) as usize],
        }
    }

    /// The same, whose datagrams are packets of frames.
    pub fn of_frames(frames: FrameSink) -> Self {
        Self { frames: Some(frames), ..Self::new() }
    }

    /// The same, whose datagrams were recorded.
    pub fn of_recorded(recorded: Arc<[RecordedDatagram]>) -> Self {
        Self { recorded: Some(recorded), ..Self::new() }
    }

    fn is_as_sent(&self, datagram: &Received) -> bool {
        let Payload { offset, len } = datagram.payload;
        self.recorded.as_ref().map_or(offset == datagram.number * u64::from(len), |recorded| {
            let sent = usize::try_from(datagram.number).ok().and_then(|number| recorded.get(number));
            sent.is_some_and(|sent| sent.payload == datagram.payload)
        })
    }

    /// Takes a datagram.
    pub fn receive(&mut self, now: Instant, datagram: Received) {
        let Payload { offset, len } = datagram.payload;
        if !self.is_as_sent(&datagram) {
            self.corrupt_at.get_or_insert(offset);
        }
        if !self.first_time(datagram.number) {
            self.duplicate_bytes += u64::from(len);
            return;
        }
        self.bytes += u64::from(len);
        self.datagrams += 1;
        self.delays.saturating_record((now - datagram.sent).as_nanos() / 1000);
        self.last_at = Some(now);
        if let Some(frames) = &mut self.frames {
            frames.receive(now, datagram.number);
        }
    }

    /// Marks the number as seen; older than the window counts as seen.
    fn first_time(&mut self, number: u64) -> bool {
        let late = number < self.next;
        if !late {
            for skipped in self.next.max(number.saturating_sub(WINDOW - 1))..=number {
                self.seen[(skipped / 64 % (WINDOW / 64)) as usize] &= !(1 << (skipped % 64));
            }
            self.next = number + 1;
        } else if self.next - number > WINDOW {
            return false;
        }
        let word = &mut self.seen[(number / 64 % (WINDOW / 64)) as usize];
        let bit = 1 << (number % 64);
        let first = *word & bit == 0;
        *word |= bit;
        self.reordered += u64::from(first && late);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(number: u64) -> Received {
        Received { number, sent: Instant::ZERO, payload: Payload { offset: number * 100, len: 100 } }
    }

    #[test]
    fn late_and_repeated_datagrams_are_told_apart() {
        let mut receiver = Datagrams::new();
        for number in [0, 1, 3, 2, 3, 9000, 2, 8999, 8999] {
            receiver.receive(Instant::ZERO, datagram(number));
        }
        assert_eq!(receiver.bytes, 600, "0, 1, 3, 2, 9000 and 8999");
        assert_eq!(receiver.duplicate_bytes, 300, "3 again, 2 beyond the window, 8999 again");
        assert_eq!((receiver.datagrams, receiver.reordered), (6, 2), "2 and 8999 came late");
        assert_eq!(receiver.corrupt_at, None);
    }

    #[test]
    fn a_wrong_octet_is_noticed() {
        let mut receiver = Datagrams::new();
        receiver.receive(
            Instant::ZERO,
            Received { number: 1, sent: Instant::ZERO, payload: Payload { offset: 7, len: 100 } },
        );
        assert_eq!(receiver.corrupt_at, Some(7));
    }

    #[test]
    fn delays_are_measured() {
        let mut receiver = Datagrams::new();
        for number in 0..100 {
            receiver.receive(Instant::from_nanos(1_000_000 * (number + 1)), datagram(number));
        }
        let delay = |part: f64| receiver.delays.value_at_quantile(part) as f64;
        assert!((delay(0.5) / 50_000.0 - 1.0).abs() < 0.002 && (delay(0.99) / 99_000.0 - 1.0).abs() < 0.002);
    }
}
