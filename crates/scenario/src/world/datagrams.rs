//! UDP: a paced sender and a receiver that counts what came, what came late and what came twice.

use super::application::Paced;
use super::packet::{Body, Datagram, Packet};
use super::transport::FourTuple;
use hdrhistogram::Histogram;
use ropewalk_units::Instant;
use ropewalk_wire::Payload;

/// Sends one datagram per message.
#[derive(Debug)]
pub(crate) struct UdpSender {
    pub(crate) tuple: FourTuple,
    pub(crate) paced: Paced,
    /// Code point of its packets.
    pub(crate) dscp: u8,
}

impl UdpSender {
    /// The next datagram that is due.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if !self.paced.take_due(now) {
            return None;
        }
        let number = self.paced.sent() - 1;
        let len = self.paced.message();
        let payload = Payload { offset: number * u64::from(len), len };
        let body = Body::Udp(Datagram { number, sent: now, payload });
        Some(Packet::new(self.tuple.local, self.tuple.remote, body).with_dscp(self.dscp))
    }
}

/// Delays above this (1000 s) count as this.
const LONGEST_DELAY_US: u64 = 1_000_000_000;

/// How far back the receiver remembers which numbers it has seen.
const WINDOW: u64 = 4096;

/// Counts datagrams.
#[derive(Clone, Debug)]
pub(crate) struct UdpReceiver {
    /// Octets of payload, duplicates not counted.
    pub(crate) bytes: u64,
    /// Datagrams that came after one with a higher number.
    pub(crate) reordered: u64,
    /// Octets of datagrams that had come before.
    pub(crate) duplicate_bytes: u64,
    /// When the last one came.
    pub(crate) last_at: Option<Instant>,
    /// Datagrams that came, duplicates not counted.
    pub(crate) datagrams: u64,
    /// One-way delays in µs of those, to three digits.
    pub(crate) delays: Histogram<u32>,
    /// First datagram whose octets were not those that were sent.
    pub(crate) corrupt_at: Option<u64>,
    next: u64,
    seen: Vec<u64>,
}

impl UdpReceiver {
    /// Nothing received yet.
    pub(crate) fn new() -> Self {
        Self {
            bytes: 0,
            reordered: 0,
            duplicate_bytes: 0,
            last_at: None,
            datagrams: 0,
            delays: Histogram::new_with_bounds(1, LONGEST_DELAY_US, 3).expect("the bounds are apart"),
            corrupt_at: None,
            next: 0,
            seen: vec![0; (WINDOW / 64) as usize],
        }
    }

    /// Takes a datagram.
    pub(crate) fn receive(&mut self, now: Instant, datagram: &Datagram) {
        let Payload { offset, len } = datagram.payload;
        if offset != datagram.number * u64::from(len) {
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

    fn datagram(number: u64) -> Datagram {
        Datagram { number, sent: Instant::ZERO, payload: Payload { offset: number * 100, len: 100 } }
    }

    #[test]
    fn late_and_repeated_datagrams_are_told_apart() {
        let mut receiver = UdpReceiver::new();
        for number in [0, 1, 3, 2, 3, 9000, 2, 8999, 8999] {
            receiver.receive(Instant::ZERO, &datagram(number));
        }
        assert_eq!(receiver.bytes, 600, "0, 1, 3, 2, 9000 and 8999");
        assert_eq!(receiver.duplicate_bytes, 300, "3 again, 2 beyond the window, 8999 again");
        assert_eq!((receiver.datagrams, receiver.reordered), (6, 2), "2 and 8999 came late");
        assert_eq!(receiver.corrupt_at, None);
    }

    #[test]
    fn a_wrong_octet_is_noticed() {
        let mut receiver = UdpReceiver::new();
        receiver.receive(
            Instant::ZERO,
            &Datagram { number: 1, sent: Instant::ZERO, payload: Payload { offset: 7, len: 100 } },
        );
        assert_eq!(receiver.corrupt_at, Some(7));
    }

    #[test]
    fn delays_are_measured() {
        let mut receiver = UdpReceiver::new();
        for number in 0..100 {
            receiver.receive(Instant::from_nanos(1_000_000 * (number + 1)), &datagram(number));
        }
        let delay = |part: f64| receiver.delays.value_at_quantile(part) as f64;
        assert!((delay(0.5) / 50_000.0 - 1.0).abs() < 0.002 && (delay(0.99) / 99_000.0 - 1.0).abs() < 0.002);
    }
}
