//! An acceptable ACK: what it delivers, and what follows from that.

use super::Sender;
use crate::context::Context;
use crate::recovery::Phase;
use crate::send::queue::Arrival;
use crate::send::{Delivery, Fin};
use ropewalk_congestion::{AckSample, LimitedBy};
use ropewalk_units::{Duration, Instant, Mark, Seq};
use ropewalk_wire::{Flags, SackBlocks, Segment};

/// Octets that arrived more than once, as a DSACK says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DuplicateReport {
    pub(super) left: Mark,
    pub(super) right: Mark,
}

/// What an ACK was about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// Nothing is on its way.
    Idle,
    /// Data on its way, acknowledged or not.
    Data,
    /// It acknowledges our FIN, and so everything.
    Fin,
}

/// What one ACK says, once applied to the scoreboard.
#[derive(Clone, Debug)]
pub(super) struct Ack {
    pub(super) delivery: Delivery,
    /// Octets that had been sent and not delivered before it, neither cumulatively nor selectively.
    pub(super) undelivered_before: u32,
    /// The window that comes with it, in octets.
    pub(super) window: u32,
    /// SND.UNA advanced.
    pub(super) advanced: bool,
    /// It bears nothing but an acknowledgement: RFC 5681 §2 (b), (c), (e).
    pub(super) bare: bool,
    /// RFC 5681 §2, RFC 6675 §2: a duplicate ACK.
    pub(super) duplicate: bool,
    /// A duplicate was reported (RFC 2883).
    pub(super) dsack: Option<DuplicateReport>,
    /// TSecr.
    pub(super) echo: Option<u32>,
    /// ECN-Echo.
    pub(super) ece: bool,
}

impl Sender {
    /// SND.UNA =< SEG.ACK =< SND.NXT.
    pub(crate) fn on_ack(&mut self, cx: &mut Context, segment: &Segment) -> Progress {
        self.on_idle_ack(cx);
        let nothing_sent = self.nxt == self.una;
        if nothing_sent && segment.options.sack.is_empty() && self.recovery.tail_probe.is_none() {
            return Progress::Idle;
        }
        if self.is_all_plain(cx, segment) {
            self.on_plain_ack(cx, segment)
        } else {
            self.on_any_ack(cx, segment)
        }
    }

    /// After [`Self::on_ack`]: updates the model of the path, and the trace.
    pub(crate) fn conclude_ack(&mut self, cx: &mut Context) {
        self.feed_model(cx);
        self.tend_buffer(cx);
        self.trace_window(cx);
    }

    /// Any segment's ACK; all of it if nothing is on its way.
    #[inline(always)]
    pub(crate) fn on_idle_ack(&mut self, cx: &Context) {
        self.check_app_limited(cx);
        self.timeouts.on_answer();
        self.deferred = false;
    }

    /// The sender's part of [`crate::Connection::expects`].
    #[inline(always)]
    pub(crate) fn expects(&self, segment: &Segment) -> bool {
        if segment.payload.len > 0 {
            return self.nxt == self.una && segment.ack == self.una && self.recovery.tail_probe.is_none();
        }
        segment.ack.before_eq(self.nxt) && segment.ack.after(self.una) && self.is_calm()
    }

    /// Does what [`Self::on_ack`] and [`Self::conclude_ack`] would, for an ACK that [`Self::expects`] accepts.
    #[inline(always)]
    pub(crate) fn on_expected_ack(&mut self, cx: &mut Context, segment: &Segment) {
        self.on_idle_ack(cx);
        self.on_plain_ack(cx, segment);
        self.conclude_ack(cx);
    }

    /// Was all that is on its way sent once, outside any recovery, and is nothing suspected?
    fn is_calm(&self) -> bool {
        self.queue.is_plain()
            && self.recovery.phase == Phase::Open
            && self.recovery.duplicates == 0
            && self.recovery.tail_probe.is_none()
    }

    /// Can the ACK only acknowledge data sent once, in order, outside any recovery? Nearly every one.
    fn is_all_plain(&self, cx: &Context, segment: &Segment) -> bool {
        segment.ack.after(self.una)
            && self.is_calm()
            && segment.options.sack.is_empty()
            && !(cx.agreed.ecn && segment.flags.contains(Flags::ECE))
    }

    /// Does what [`Self::on_any_ack`] would, for such an ACK.
    #[inline(always)]
    fn on_plain_ack(&mut self, cx: &mut Context, segment: &Segment) -> Progress {
        let Arrival { acked, oldest, newest } = self.queue.acknowledge_plain(segment.ack);
        self.advance_to(cx, segment.ack, acked);
        if acked > 0 {
            if oldest != Instant::MAX {
                self.rtt_sample(cx, cx.now.saturating_since(oldest));
                self.recovery.rack.on_delivered(cx.now, newest, segment.ack);
            }
            self.measure_rate(cx, acked);
            self.sample_plain(cx, acked);
        }
        self.grow(cx, acked, newest);
        self.on_progress(cx)
    }

    #[inline(never)]
    fn on_any_ack(&mut self, cx: &mut Context, segment: &Segment) -> Progress {
        let ack = self.apply_ack(cx, segment);
        if ack.delivery.delivered > 0 {
            self.measure(cx, &ack);
        }
        if ack.ece {
            let (acked, sent) = (cx.stats.bytes_acked, cx.stats.bytes_acked + u64::from(self.flight()));
            self.controller.on_marked(ack.delivery.acked, acked, sent);
        }
        if self.is_plain(&ack) {
            self.grow(cx, ack.delivery.acked, ack.delivery.newest);
        } else {
            self.recover(cx, &ack);
        }
        if ack.advanced { self.on_progress(cx) } else { Progress::Data }
    }

    /// SND.UNA moves.
    fn advance_to(&mut self, cx: &mut Context, una: Seq, acked: u32) {
        self.una = una;
        self.timeouts.on_progress();
        cx.stats.bytes_acked += u64::from(acked);
    }

    /// Updates SND.UNA and the scoreboard.
    fn apply_ack(&mut self, cx: &mut Context, segment: &Segment) -> Ack {
        let echo = segment.options.timestamps.filter(|_| cx.agreed.timestamps).map(|t| t.echo);
        let min_rtt = self.rtt.min().unwrap_or(Duration::ZERO);
        let fack = self.una + self.recovery.rack.fack().since(self.queue.una()) as u32;
        let mut ack = Ack {
            delivery: Delivery::new(cx.now, cx.echo_millis(echo), min_rtt, fack),
            undelivered_before: self.flight().saturating_sub(self.queue.sacked()),
            window: self.peer.of(segment),
            advanced: segment.ack.after(self.una),
            bare: self.is_bare(cx, segment),
            duplicate: false,
            dsack: None,
            echo,
            ece: cx.agreed.ecn && segment.flags.contains(Flags::ECE),
        };
        if ack.advanced {
            self.queue.acknowledge(segment.ack, &mut ack.delivery);
            self.advance_to(cx, segment.ack, ack.delivery.acked);
        }
        if cx.agreed.sack && !segment.options.sack.is_empty() {
            self.apply_sack(&segment.options.sack, &mut ack);
        }
        ack.duplicate = !ack.advanced && self.is_duplicate(cx, &ack);
        cx.stats.duplicate_acks_received += u64::from(ack.duplicate);
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
            && self.recovery.tail_probe.is_none()
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
    fn duplicate_of_sent(&self, (left, right): (Seq, Seq)) -> Option<DuplicateReport> {
        let mark = |seq: Seq| {
            let above = seq.after_eq(self.una) && seq.before_eq(self.nxt);
            if above { Some(self.mark(seq)) } else { self.mark_below(seq) }
        };
        let reported = DuplicateReport { left: mark(left)?, right: mark(right)? };
        (reported.left < reported.right).then_some(reported)
    }

    /// Does the segment bear neither data, nor a signal, nor a new window?
    fn is_bare(&self, cx: &Context, segment: &Segment) -> bool {
        // A window that belongs to the owner above changes for other reasons.
        let same_window = !cx.owns_window() || self.peer.of(segment) == self.peer.size();
        // RFC 8684 §3.4: an ACK that only carries Multipath TCP's signals says nothing about congestion.
        segment.payload.len == 0
            && !segment.options.mptcp.has_rare()
            && !segment.flags.intersects(Flags::SYN | Flags::FIN)
            && same_window
    }

    fn is_duplicate(&self, cx: &Context, ack: &Ack) -> bool {
        if cx.agreed.sack {
            // RFC 6675 §2: it reports octets that were not reported before.
            return ack.delivery.sacked > 0;
        }
        // RFC 5681 §2 (a) to (e).
        self.nxt != self.una && ack.bare
    }

    /// Round-trip time and delivery rate.
    fn measure(&mut self, cx: &mut Context, ack: &Ack) {
        let delivery = &ack.delivery;
        // Karn's rule, RFC 6298 §3, as real stacks extend it: what arrived behind a hole is acknowledged only with
        // the hole's repair, so its time is the repair's too.
        if delivery.oldest != Instant::MAX && !delivery.retransmitted {
            self.rtt_sample(cx, cx.now.saturating_since(delivery.oldest));
        } else if ack.advanced
            && delivery.retransmitted
            && let Some(echo) = cx.echo_millis(ack.echo)
        {
            // RFC 7323 §4.1: the echo says which transmission is meant, to the millisecond.
            let sample = Duration::from_millis(cx.now.as_millis().saturating_sub(echo).max(1));
            self.rtt_sample(cx, sample);
        }
        self.measure_rate(cx, delivery.delivered);
        self.sample_delivery(cx, delivery);
    }

    fn measure_rate(&mut self, cx: &Context, delivered: u32) {
        let limit = if self.usage.is_limited() { LimitedBy::Window } else { LimitedBy::Application };
        self.rate.on_delivered(cx.now, delivered, self.rtt.srtt(), limit);
    }

    #[inline(always)]
    fn rtt_sample(&mut self, cx: &mut Context, sample: Duration) {
        if std::mem::take(&mut self.recovery.late)
            && let Some((srtt, rttvar)) = self.recovery.detectors.late_rtt(sample)
        {
            self.rtt.on_sample(cx.now, sample);
            self.rtt.set(srtt, rttvar);
        } else {
            self.rtt.on_sample(cx.now, sample);
        }
        cx.trace_rtt(sample, self.rtt.srtt());
    }

    /// The window grows: `acked` octets were acknowledged, the newest of them sent at `newest`.
    #[inline(always)]
    pub(super) fn grow(&mut self, cx: &Context, acked: u32, newest: Instant) {
        let sample = AckSample {
            newly_acked: acked,
            srtt: self.rtt.srtt(),
            latest_rtt: (newest != Instant::MAX).then(|| cx.now.saturating_since(newest)),
            acked: cx.stats.bytes_acked,
            sent: cx.stats.bytes_acked + u64::from(self.flight()),
            cwnd_limited: self.is_cwnd_limited(),
        };
        self.controller.on_ack(cx.now, &sample);
    }

    /// As Linux: in slow start a window of which more than half was used may grow.
    fn is_cwnd_limited(&self) -> bool {
        self.usage.is_limited()
            || (self.controller.in_slow_start() && self.controller.cwnd() < 2 * self.usage.most())
    }

    /// SND.UNA advanced: timers, and our FIN.
    fn on_progress(&mut self, cx: &mut Context) -> Progress {
        if self.queue.is_empty() {
            // RFC 6298 §5.2.
            self.timers.stop_sending();
        } else {
            // RFC 6298 §5.3.
            self.timers.restart_retransmission(cx.now, self.rtt.rto());
            self.schedule_probe(cx);
        }
        if self.fin != Fin::Sent(self.una) {
            return Progress::Data;
        }
        self.fin = Fin::Acknowledged;
        cx.stats.bytes_acked -= 1;
        Progress::Fin
    }
}
