//! The answer to a segment that nobody expects.

use ropewalk_mptcp::Refusal;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Flags, Segment};

/// A reset for a segment that belongs to no connection (RFC 9293 §3.10.7.1, CLOSED); none for a
/// reset. A refused MP_JOIN has a reason, which the reset tells (RFC 8684 §3.2).
pub fn reset_for(segment: &Segment, why: Option<Refusal>) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    let mut reset = Segment { flags: Flags::RST, ..Segment::default() };
    if segment.flags.contains(Flags::ACK) {
        reset.seq = segment.ack;
    } else {
        reset.flags |= Flags::ACK;
        reset.ack = segment.end();
    }
    if let Some(refusal) = why {
        reset.options.mptcp.push(refusal.option());
    }
    Some(reset)
}

/// Resets that may leave in [`PERIOD`], so that a flood of strangers' segments is not answered with
/// another flood. Linux limits its ICMP errors likewise (`icmp_msgs_per_sec`).
const BURST: u32 = 1_000;
/// The time in which [`BURST`] resets may leave.
const PERIOD: Duration = Duration::from_secs(1);

/// How many resets may still leave.
#[derive(Debug)]
pub(crate) struct Limit {
    since: Instant,
    left: u32,
}

impl Limit {
    pub(crate) fn new() -> Self {
        Self { since: Instant::ZERO, left: BURST }
    }

    /// May one leave now?
    pub(crate) fn allows(&mut self, now: Instant) -> bool {
        if now.saturating_since(self.since) >= PERIOD {
            *self = Self { since: now, left: BURST };
        }
        let allows = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_answered_only_so_often_in_a_second() {
        let mut limit = Limit::new();
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        assert_eq!((0..5_000).filter(|_| limit.allows(at(1_500))).count(), 1_000);
        assert!(!limit.allows(at(2_499)));
        assert!(limit.allows(at(2_500)));
    }

    #[test]
    fn the_reset_for_a_refused_join_tells_the_reason() {
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let options = |why| {
            let reset = reset_for(&syn, why).expect("a RST");
            assert_eq!((reset.flags, reset.ack), (Flags::RST | Flags::ACK, syn.end()));
            reset.options.mptcp.rare().to_vec()
        };
        assert_eq!(options(Some(Refusal::UNKNOWN)), [Refusal::UNKNOWN.option()]);
        assert_eq!(options(None), []);
        let reset = Segment { flags: Flags::RST, ..Segment::default() };
        assert_eq!(reset_for(&reset, None), None);
    }
}
