//! The three-way handshake (RFC 9293 §3.5): whose SYN opened, and how often ours was sent.

use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, Segment};

/// Who opened the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    /// We, with a SYN.
    Active,
    /// The peer, with a SYN.
    Passive,
}

/// What is kept of the SYNs.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    iss: Seq,
    irs: Seq,
    opening: Opening,
    syn_sent_at: Instant,
    retransmissions: u32,
}

impl Handshake {
    pub(crate) fn new(opening: Opening, iss: Seq, now: Instant) -> Self {
        Self { iss, irs: Seq::new(0), opening, syn_sent_at: now, retransmissions: 0 }
    }

    /// Our initial sequence number.
    pub(crate) fn iss(&self) -> Seq {
        self.iss
    }

    /// The peer's initial sequence number, once its SYN came.
    pub(crate) fn irs(&self) -> Seq {
        self.irs
    }

    pub(crate) fn opening(&self) -> Opening {
        self.opening
    }

    /// The peer's SYN arrived.
    pub(crate) fn on_peer_syn(&mut self, irs: Seq) {
        self.irs = irs;
    }

    /// Our SYN leaves, for the first time or again.
    pub(crate) fn on_syn_sent(&mut self, now: Instant) {
        if self.retransmissions == 0 {
            self.syn_sent_at = now;
        }
    }

    /// Our SYN got no answer in time.
    pub(crate) fn on_timeout(&mut self) {
        self.retransmissions += 1;
    }

    /// How often our SYN was sent again.
    pub(crate) fn retransmissions(&self) -> u32 {
        self.retransmissions
    }

    /// Does the segment acknowledge our SYN and nothing else? `nxt` is SND.NXT.
    pub(crate) fn is_acknowledged_by(&self, segment: &Segment, nxt: Seq) -> bool {
        segment.flags.contains(Flags::ACK) && segment.ack == self.iss + 1 && nxt == self.iss + 1
    }

    /// RFC 6298 §3 (Karn): only a SYN that was sent once tells the round-trip time.
    pub(crate) fn rtt(&self, now: Instant) -> Option<Duration> {
        (self.retransmissions == 0).then(|| now.saturating_since(self.syn_sent_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISS: Seq = Seq::new(u32::MAX);

    #[test]
    fn only_a_syn_that_was_sent_once_tells_the_round_trip_time() {
        let mut handshake = Handshake::new(Opening::Active, ISS, Instant::ZERO);
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        handshake.on_syn_sent(ms(10));
        assert_eq!(handshake.rtt(ms(40)), Some(Duration::from_millis(30)));
        handshake.on_timeout();
        handshake.on_syn_sent(ms(1010));
        assert_eq!(handshake.rtt(ms(1040)), None);
    }

    #[test]
    fn an_ack_of_anything_but_our_syn_does_not_answer_it() {
        let handshake = Handshake::new(Opening::Active, ISS, Instant::ZERO);
        let ack = |ack| Segment { ack, flags: Flags::ACK, ..Segment::default() };
        assert!(handshake.is_acknowledged_by(&ack(ISS + 1), ISS + 1));
        assert!(!handshake.is_acknowledged_by(&ack(ISS + 1), ISS), "the SYN has not left");
        assert!(!handshake.is_acknowledged_by(&ack(ISS), ISS + 1));
        assert!(!handshake.is_acknowledged_by(&ack(ISS + 2), ISS + 1));
        let without = Segment { flags: Flags::SYN, ..ack(ISS + 1) };
        assert!(!handshake.is_acknowledged_by(&without, ISS + 1));
    }
}
