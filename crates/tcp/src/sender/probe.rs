//! The tail loss probe (RFC 8985 §7).

use super::Sender;
use super::ack::Ack;
use crate::config::LossRecovery;
use crate::context::Context;
use crate::event::Event;
use crate::outbox::Outbox;
use crate::recovery::Phase;
use crate::recovery::rack::{Probe, TailProbe};
use ropewalk_units::Duration;

/// RFC 8985 §7.2 WCDelAckT: what a receiver may wait with the ACK of a single segment (Linux: its least RTO).
const WORST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// Linux adds two clock ticks to a probe's timeout.
const PROBE_SLACK: Duration = Duration::from_millis(2);
/// PTO without a round-trip time (RFC 8985 §7.2).
const PROBE_INITIAL: Duration = Duration::from_secs(1);

impl Sender {
    /// RFC 8985 §7.2: schedules a probe for the tail, if loss detection could do without a timeout.
    pub(super) fn schedule_probe(&mut self, cx: &Context) {
        if !cx.config.tail_loss_probe || self.recovery.method == LossRecovery::NewReno {
            return;
        }
        if self.recovery.phase != Phase::Open || self.queue.sacked() > 0 || self.recovery.tail_probe.is_some()
        {
            return self.timers.stop_probe();
        }
        if self.queue.is_empty() {
            return;
        }
        let mut timeout = self.rtt.srtt().map_or(PROBE_INITIAL, |srtt| srtt * 2);
        timeout += if self.queue.len() == 1 { WORST_DELAYED_ACK } else { PROBE_SLACK };
        self.timers.restart_probe(cx.now, timeout);
    }

    /// RFC 8985 §7.3: send new data, or the last segment again.
    pub(super) fn tail_loss_probe(&mut self, cx: &mut Context) {
        if self.queue.is_empty() || self.recovery.tail_probe.is_some() || self.recovery.phase != Phase::Open {
            return;
        }
        cx.outbox.put(Outbox::TAIL_PROBE);
        self.timers.restart_retransmission(cx.now, self.rtt.rto());
    }

    /// The probe left.
    pub(super) fn on_probe_sent(&mut self, cx: &mut Context, probe: Probe) {
        self.recovery.tail_probe = Some(TailProbe { end: self.sent_mark(), probe });
        cx.stats.tail_loss_probes += 1;
        self.timers.restart_retransmission(cx.now, self.rtt.rto());
        self.timers.stop_probe();
        cx.event(Event::TailLossProbeSent);
    }

    /// RFC 8985 §7.4.2: did the probe repair a loss that nothing else showed?
    pub(super) fn on_ack_of_probe(&mut self, ack: &Ack) {
        let Some(probe) = self.recovery.tail_probe else { return };
        let una = self.queue.una();
        if una < probe.end {
            return;
        }
        // The DSACK of the probe itself: both it and the original arrived.
        let reported = ack.dsack.is_some_and(|dsack| dsack.right == probe.end);
        if probe.probe == Probe::NewData || reported {
            self.recovery.tail_probe = None;
        } else if una > probe.end {
            // An ACK above the probe without a DSACK: the original was lost, one reduction is due.
            self.recovery.tail_probe = None;
            if self.recovery.phase == Phase::Open {
                self.controller.on_repaired_loss(self.flight());
            }
        } else if !ack.advanced && ack.bare && ack.delivery.sacked == 0 {
            // Both arrived: the duplicate made this duplicate ACK. The peer's data say nothing about it.
            self.recovery.tail_probe = None;
        }
    }
}
