//! When to acknowledge (RFC 9293 §3.8.6.3, RFC 5681 §4.2).

use crate::config::DelayedAck;
use ropewalk_units::{Duration, Instant};

/// How urgent an ACK is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Urgency {
    /// Nothing to acknowledge.
    #[default]
    None,
    /// May wait for more data, or for data of ours to ride on.
    Delayed,
    /// At once; data of ours may carry it.
    Now,
    /// At once, in a segment of its own.
    Pure,
}

/// Data that arrived in order, in one segment as the host takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder {
    pub(crate) octets: u32,
    /// PSH: a write of the peer's ends with them.
    pub(crate) push: bool,
}

/// Decides between delayed and immediate ACKs.
#[derive(Clone, Debug)]
pub(crate) struct AckPolicy {
    urgency: Urgency,
    /// In-order octets since the last ACK.
    unacknowledged: u32,
    /// The largest segment seen: an estimate of the peer's effective MSS (Linux `rcv_mss`).
    segment_size: u32,
    /// ACKs that are still to be sent without delay.
    quick: u32,
    /// The peer's write ended since the last ACK (Linux `ICSK_ACK_PUSHED`).
    pushed: bool,
    /// Data of ours follows the peer's so soon that it carries the ACKs (Linux "pingpong mode").
    answers: bool,
    deadline: Instant,
    last_arrival: Instant,
}

impl AckPolicy {
    pub(crate) fn new(quick: u32) -> Self {
        Self {
            urgency: Urgency::None,
            unacknowledged: 0,
            segment_size: 0,
            quick,
            pushed: false,
            answers: false,
            deadline: Instant::MAX,
            last_arrival: Instant::MAX,
        }
    }

    /// The estimate of the peer's segment size; at least `floor`.
    pub(crate) fn segment_size(&self, floor: u32) -> u32 {
        self.segment_size.max(floor)
    }

    /// `mss` is the longest segment that the peer may send, for what a host takes as one segment may have been many (Linux:
    /// `tcp_measure_rcv_mss`). `idle` is how long a pause makes the peer restart from a small window.
    pub(crate) fn in_order(
        &mut self,
        now: Instant,
        InOrder { octets, push }: InOrder,
        mss: u16,
        config: &DelayedAck,
        idle: Duration,
    ) {
        if now.saturating_since(self.last_arrival) > idle {
            self.quick = self.quick.max(config.quick_acks);
        }
        self.last_arrival = now;
        self.unacknowledged = self.unacknowledged.saturating_add(octets);
        self.segment_size = self.segment_size.max(octets.min(u32::from(mss)));
        self.pushed |= config.after_reading && (push || octets < self.segment_size);
        let enough = self.unacknowledged > (config.segments.max(1) - 1).saturating_mul(self.segment_size);
        if enough || (self.quick > 0 && !self.answers) {
            self.at_once();
        } else if self.urgency == Urgency::None {
            self.urgency = Urgency::Delayed;
            self.deadline = now.saturating_add(config.timeout);
        }
    }

    /// Duplicates say that the peer lacks our ACKs: acknowledge the next ones at once too, as Linux does.
    pub(crate) fn duplicate(&mut self, config: &DelayedAck) {
        self.quick = self.quick.max(config.quick_acks);
        self.answers = false;
        self.at_once();
    }

    /// The window that is offered grew: the peer hears of it at once, or by an answer.
    #[inline]
    pub(crate) fn window_grew(&mut self) {
        if !self.answers {
            self.at_once();
        }
    }

    /// Does the ACK wait only until the application has read what arrived?
    #[inline]
    pub(crate) fn waits_for_reader(&self) -> bool {
        self.pushed && self.urgency == Urgency::Delayed && !self.answers
    }

    /// Acknowledge at once.
    pub(crate) fn at_once(&mut self) {
        self.urgency = self.urgency.max(Urgency::Now);
    }

    /// Acknowledge at once, in a segment without data.
    pub(crate) fn pure(&mut self) {
        self.urgency = Urgency::Pure;
    }

    /// Is an ACK due that must not ride on data?
    pub(crate) fn wants_pure(&self) -> bool {
        self.urgency == Urgency::Pure
    }

    /// Has data arrived that no ACK has acknowledged?
    pub(crate) fn is_pending(&self) -> bool {
        self.urgency != Urgency::None
    }

    /// Is an ACK due?
    pub(crate) fn is_due(&self) -> bool {
        self.urgency >= Urgency::Now
    }

    /// When a delayed ACK must go, or [`Instant::MAX`].
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The delayed ACK's time has come.
    pub(crate) fn expired(&mut self) {
        self.deadline = Instant::MAX;
        self.answers = false;
        self.at_once();
    }

    /// Data of ours leaves: soon after the peer's it is an answer.
    #[inline]
    pub(crate) fn data_leaves(&mut self, now: Instant, config: &DelayedAck) {
        let soon =
            now < self.last_arrival.saturating_add(config.timeout) && self.last_arrival != Instant::MAX;
        self.answers |= config.after_reading && soon;
    }

    /// A segment with the current acknowledgement left.
    pub(crate) fn sent(&mut self) {
        if self.urgency != Urgency::None {
            self.quick = self.quick.saturating_sub(1);
        }
        self.urgency = Urgency::None;
        self.pushed = false;
        self.unacknowledged = 0;
        self.deadline = Instant::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: DelayedAck =
        DelayedAck { segments: 2, timeout: Duration::from_millis(40), quick_acks: 0, after_reading: false };
    const MSS: u16 = 1460;
    const IDLE: Duration = Duration::from_millis(200);
    const SEGMENT: InOrder = InOrder { octets: 1000, push: false };

    #[test]
    fn every_second_full_segment_is_acknowledged() {
        let mut acks = AckPolicy::new(0);
        acks.in_order(Instant::ZERO, SEGMENT, MSS, &CONFIG, IDLE);
        assert!(!acks.is_due());
        assert_eq!(acks.deadline().as_millis(), 40);
        acks.in_order(Instant::ZERO, SEGMENT, MSS, &CONFIG, IDLE);
        assert!(acks.is_due());
        acks.sent();
        acks.in_order(Instant::ZERO, InOrder { octets: 400, ..SEGMENT }, MSS, &CONFIG, IDLE);
        acks.in_order(Instant::ZERO, InOrder { octets: 400, ..SEGMENT }, MSS, &CONFIG, IDLE);
        assert!(!acks.is_due(), "800 octets are less than two segments");
        acks.expired();
        assert!(acks.is_due());
    }

    #[test]
    fn what_was_many_segments_is_acknowledged_at_once_and_makes_none_longer() {
        let mut acks = AckPolicy::new(0);
        acks.in_order(Instant::ZERO, InOrder { octets: 10 * 1000, ..SEGMENT }, 1000, &CONFIG, IDLE);
        assert!(acks.is_due());
        acks.sent();
        assert_eq!(acks.segment_size(1), 1000);
        acks.in_order(Instant::ZERO, SEGMENT, 1000, &CONFIG, IDLE);
        assert!(!acks.is_due());
    }

    #[test]
    fn quick_acks_run_out_and_come_back_after_a_pause() {
        let config = DelayedAck { quick_acks: 2, ..CONFIG };
        let mut acks = AckPolicy::new(2);
        let mut due = [false; 4];
        for due in &mut due {
            acks.in_order(Instant::ZERO, SEGMENT, MSS, &config, IDLE);
            *due = acks.is_due();
            acks.sent();
        }
        assert_eq!(due, [true, true, false, false]);
        acks.in_order(Instant::from_nanos(300_000_000), SEGMENT, MSS, &config, IDLE);
        assert!(acks.is_due());
    }

    /// RFC 5681 §4.1: more than a timeout.
    #[test]
    fn a_pause_as_long_as_the_timeout_is_none() {
        let config = DelayedAck { quick_acks: 1, ..CONFIG };
        let mut acks = AckPolicy::new(0);
        let mut due_at = |now| {
            acks.in_order(now, SEGMENT, MSS, &config, IDLE);
            let due = acks.is_due();
            acks.sent();
            due
        };
        let second = Instant::ZERO + IDLE;
        assert!(!due_at(Instant::ZERO) && !due_at(second));
        assert!(due_at(second + IDLE + Duration::from_nanos(1)));
    }
}
