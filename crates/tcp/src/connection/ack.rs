//! An acceptable ACK: what it delivers, and what follows from that.

use super::recovery::Phase;
use super::{Connection, Fin};
use crate::event::Event;
use crate::send::Delivery;
use crate::send::queue::Arrival;
use crate::timestamp;
use ropewalk_congestion::AckSample;
use ropewalk_units::{Duration, Instant, Mark, Seq};
use ropewalk_wire::{Flags, SackBlocks, Segment};

/// Octets that arrived more than once, as a DSACK says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reported {
    pub(super) left: Mark,
    pub(super) right: Mark,
}

/// What one ACK says, once applied to the scoreboard.
#[derive(Clone, Debug)]
pub(super) struct Ack {
    pub(super) delivery: Delivery,
    /// Octets that had been sent and not delivered before it, neither cumulatively nor selectively.
    pub(super) undelivered_before: u32,
    /// SND.UNA advanced.
    pub(super) advanced: bool,
    /// RFC 5681 §2, RFC 6675 §2: a duplicate ACK.
    pub(super) duplicate: bool,
    /// A duplicate was reported (RFC 2883).
    pub(super) dsack: Option<Reported>,
    /// TSecr.
    pub(super) echo: Option<u32>,
    /// ECN-Echo.
    pub(super) ece: bool,
}

impl Connection {
    /// SND.UNA =< SEG.ACK =< SND.NXT.
    #[inline]
    pub(super) fn take_ack(&mut self, segment: &Segment) {
        self.check_app_limited();
        self.probes_unanswered = 0;
        let nothing_sent = self.nxt == self.una;
        if nothing_sent && segment.options.sack.is_empty() && self.probe.is_none() {
            return;
        }
        if self.is_all_plain(segment) {
            self.take_plain_ack(segment);
        } else {
            self.take_any_ack(segment);
        }
        self.tell_model();
        self.trace_window();
    }

    /// Can the ACK only acknowledge data sent once, in order, outside any recovery? Nearly every one.
    #[inline]
    fn is_all_plain(&self, segment: &Segment) -> bool {
        segment.ack.after(self.una)
            && self.queue.is_plain()
            && self.recovery.phase == Phase::Open
            && self.recovery.duplicates == 0
            && segment.options.sack.is_empty()
            && self.probe.is_none()
            && !(self.peer.ecn && segment.flags.contains(Flags::ECE))
    }

    /// What [`Self::take_any_ack`] comes to then.
    #[inline(always)]
    fn take_plain_ack(&mut self, segment: &Segment) {
        let Arrival { acked, oldest, newest } = self.queue.acknowledge_plain(segment.ack);
        self.advance_to(segment.ack, acked);
        if acked > 0 {
            if oldest != Instant::MAX {
                self.rtt_sample(self.now.saturating_since(oldest));
            }
            self.measure_rate(acked);
            self.sample_plain(acked);
        }
        self.grow(acked, newest);
        self.progress();
    }

    #[inline(never)]
    fn take_any_ack(&mut self, segment: &Segment) {
        let ack = self.apply_ack(segment);
        if ack.delivery.delivered > 0 {
            self.measure(&ack);
        }
        if ack.ece {
            let (acked, sent) = (self.stats.bytes_acked, self.stats.bytes_acked + u64::from(self.flight()));
            self.controller.on_marked(ack.delivery.acked, acked, sent);
        }
        if self.is_plain(&ack) {
            self.grow(ack.delivery.acked, ack.delivery.newest);
        } else {
            self.recover(&ack);
        }
        if ack.advanced {
            self.progress();
        }
    }

    /// SND.UNA moves.
    #[inline]
    fn advance_to(&mut self, una: Seq, acked: u32) {
        self.una = una;
        self.consecutive_timeouts = 0;
        self.rtt.reset_backoff();
        self.stats.bytes_acked += u64::from(acked);
    }

    /// Updates SND.UNA and the scoreboard.
    fn apply_ack(&mut self, segment: &Segment) -> Ack {
        let echo = segment.options.timestamps.filter(|_| self.peer.timestamps).map(|t| t.echo);
        let min_rtt = self.rtt.min().unwrap_or(Duration::ZERO);
        let fack = self.una + self.rack.fack().since(self.queue.una()) as u32;
        let mut ack = Ack {
            delivery: Delivery::new(self.now, self.echo_millis(echo), min_rtt, fack),
            undelivered_before: self.flight().saturating_sub(self.queue.sacked()),
            advanced: segment.ack.after(self.una),
            duplicate: false,
            dsack: None,
            echo,
            ece: self.peer.ecn && segment.flags.contains(Flags::ECE),
        };
        if ack.advanced {
            self.queue.acknowledge(segment.ack, &mut ack.delivery);
            self.advance_to(segment.ack, ack.delivery.acked);
        }
        if self.peer.sack && !segment.options.sack.is_empty() {
            self.apply_sack(&segment.options.sack, &mut ack);
        }
        ack.duplicate = !ack.advanced && self.is_duplicate(segment, &ack);
        self.stats.duplicate_acks_received += u64::from(ack.duplicate);
        ack
    }

    /// Nothing but new data acknowledged in order, and no recovery.
    fn is_plain(&self, ack: &Ack) -> bool {
        ack.advanced
            && self.recovery.phase == Phase::Open
            && self.recovery.duplicates == 0
            && self.queue.sacked() == 0
            && !ack.ece
            && ack.dsack.is_none()
            && self.probe.is_none()
    }

    /// The blocks above SND.UNA go to the scoreboard; a first block that says otherwise is a DSACK.
    fn apply_sack(&mut self, blocks: &SackBlocks, ack: &mut Ack) {
        let mut blocks = blocks.as_slice();
        if let Some(first) = blocks.first().copied() {
            // RFC 2883 §4: below the cumulative ACK, or inside the second block.
            let below = first.1.before_eq(self.una);
            let inside = blocks.get(1).is_some_and(|b| b.0.before_eq(first.0) && first.1.before_eq(b.1));
            if below || inside {
                ack.dsack = self.duplicate_of_sent(first);
                blocks = &blocks[1..];
            }
        }
        let mut valid = [(Seq::default(), Seq::default()); 4];
        let mut count = 0;
        for (left, right) in blocks.iter().copied() {
            if left.before(right) && left.after_eq(self.una) && right.before_eq(self.nxt) {
                valid[count] = (left, right);
                count += 1;
            }
        }
        self.queue.sack(&valid[..count], &mut ack.delivery);
    }

    /// A DSACK block, if all of it was sent.
    fn duplicate_of_sent(&self, (left, right): (Seq, Seq)) -> Option<Reported> {
        let mark = |seq: Seq| {
            let above = seq.after_eq(self.una) && seq.before_eq(self.nxt);
            if above { Some(self.mark(seq)) } else { self.mark_below(seq) }
        };
        let reported = Reported { left: mark(left)?, right: mark(right)? };
        (reported.left < reported.right).then_some(reported)
    }

    fn is_duplicate(&self, segment: &Segment, ack: &Ack) -> bool {
        if self.peer.sack {
            // RFC 6675 §2: it reports octets that were not reported before.
            return ack.delivery.sacked > 0;
        }
        // RFC 5681 §2 (a) to (e). A window that belongs to the owner above changes for other reasons.
        let same_window = !self.owns_window() || self.scaled_window(segment) == self.peer.window;
        // RFC 8684 §3.4: an ACK that only carries Multipath TCP's signals says nothing about congestion.
        self.nxt != self.una
            && segment.payload.len == 0
            && !segment.options.mptcp.has_rare()
            && !segment.flags.intersects(Flags::SYN | Flags::FIN)
            && same_window
    }

    /// Round-trip time and delivery rate.
    fn measure(&mut self, ack: &Ack) {
        let delivery = &ack.delivery;
        // Karn's rule, RFC 6298 §3, as real stacks extend it: what arrived behind a hole is acknowledged only with
        // the hole's repair, so its time is the repair's too.
        if delivery.oldest != Instant::MAX && !delivery.retransmitted {
            self.rtt_sample(self.now.saturating_since(delivery.oldest));
        } else if ack.advanced
            && delivery.retransmitted
            && let Some(echo) = self.echo_millis(ack.echo)
        {
            // RFC 7323 §4.1: the echo says which transmission is meant, to the millisecond.
            let sample = Duration::from_millis(self.now.as_millis().saturating_sub(echo).max(1));
            self.rtt_sample(sample);
        }
        self.measure_rate(delivery.delivered);
        self.sample_delivery(delivery);
    }

    #[inline]
    fn measure_rate(&mut self, delivered: u32) {
        let app_limited = !self.usage.limited;
        self.rate.on_delivered(self.now, delivered, self.rtt.srtt(), app_limited);
    }

    #[inline(always)]
    fn rtt_sample(&mut self, sample: Duration) {
        if std::mem::take(&mut self.recovery.late)
            && let Some((srtt, rttvar)) = self.detectors.late_rtt(sample)
        {
            self.rtt.on_sample(self.now, sample);
            self.rtt.set(srtt, rttvar);
        } else {
            self.rtt.on_sample(self.now, sample);
        }
        self.trace_rtt(sample);
    }

    pub(super) fn trace_rtt(&mut self, sample: Duration) {
        if self.config.trace {
            let srtt = self.rtt.srtt().unwrap_or(sample);
            self.event(Event::RttMeasured { sample, srtt });
        }
    }

    /// The window grows: `acked` octets were acknowledged, the newest of them sent at `newest`.
    #[inline(always)]
    pub(super) fn grow(&mut self, acked: u32, newest: Instant) {
        let sample = AckSample {
            newly_acked: acked,
            srtt: self.rtt.srtt(),
            latest_rtt: (newest != Instant::MAX).then(|| self.now.saturating_since(newest)),
            acked: self.stats.bytes_acked,
            sent: self.stats.bytes_acked + u64::from(self.flight()),
            cwnd_limited: self.is_cwnd_limited(),
        };
        self.controller.on_ack(self.now, &sample);
    }

    /// As Linux: in slow start a window of which more than half was used may grow.
    #[inline]
    fn is_cwnd_limited(&self) -> bool {
        self.usage.limited
            || (self.controller.in_slow_start() && self.controller.cwnd() < 2 * self.usage.most)
    }

    /// SND.UNA advanced: timers, and our FIN.
    #[inline(always)]
    fn progress(&mut self) {
        if self.queue.is_empty() {
            // RFC 6298 §5.2.
            self.timers.stop_sending();
        } else {
            // RFC 6298 §5.3.
            self.timers.retransmission = self.now.saturating_add(self.rtt.rto());
            self.schedule_probe();
        }
        if let Fin::Sent(end) = self.fin
            && self.una == end
            && !self.state_knows_fin()
        {
            self.stats.bytes_acked -= 1;
            self.fin_acknowledged();
        }
    }

    /// Has the state moved past our FIN's acknowledgement already?
    fn state_knows_fin(&self) -> bool {
        use crate::state::State;
        matches!(self.state, State::FinWait2 | State::TimeWait | State::Closed)
    }

    #[inline]
    pub(super) fn timestamp(&self) -> u32 {
        timestamp::value(self.now)
    }

    /// The millisecond at which the echoed timestamp was sent.
    #[inline]
    fn echo_millis(&self, echo: Option<u32>) -> Option<u64> {
        let echo = echo.filter(|echo| *echo != 0)?;
        self.now.as_millis().checked_sub(timestamp::age(self.now, echo).as_millis())
    }
}
