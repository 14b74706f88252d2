//! Coupled congestion control, and what decisions are made from.

use super::{Connection, Mode};
use crate::view::QueueView;

impl Connection {
    /// Tells a subflow's TCP its increase and decrease, from the windows as they are before an ACK or timeout.
    #[inline(always)]
    pub(super) fn set_coupling(&mut self, at: usize) {
        let coupling = self.planner.coupling(&mut self.subflows, at);
        self.subflows[at].tcp.set_coupling(coupling);
    }

    /// An ACK or a timeout was handled: `acked_before` octets had been acknowledged before.
    #[inline(always)]
    pub(super) fn after_ack(&mut self, at: usize, acked_before: u64) {
        let subflow = &self.subflows[at];
        let stats = subflow.tcp.stats();
        let acked = (stats.bytes_acked - acked_before) as u32;
        let losses = stats.fast_recoveries + stats.timeouts;
        let lost = losses != subflow.loss_events;
        if acked == 0 && !lost {
            return;
        }
        if lost {
            self.subflows[at].loss_events = losses;
        }
        if let Some(update) = self.planner.on_acked(&mut self.subflows, at, acked, lost) {
            self.subflows[at].tcp.set_cwnd(update.cwnd, update.ssthresh);
            self.subflows[at].upkeep.on_numbers();
        }
    }

    /// The send queue as the scheduler sees it.
    #[inline]
    pub(super) fn queue_view(&self, least_segment: u32) -> QueueView {
        let in_flight = self.sending.queue.next() - self.sending.queue.una();
        let unscheduled = self.sending.queue.unscheduled();
        // Nagle (RFC 9293 §3.7.4), once for the connection: a partial segment waits for what is on its way.
        let held = self.config.tcp.nagle
            && in_flight > 0
            && unscheduled < u64::from(least_segment)
            && self.sending.finish == super::Finish::No;
        QueueView {
            unsent: if held { 0 } else { unscheduled },
            window_left: self.sending.window_left(),
            in_flight,
            data_acked: self.sending.queue.una(),
            opportunistic_retransmissions: self.stats.opportunistic_retransmissions,
        }
    }

    /// Redundant scheduling: how much each subflow has left to carry.
    pub(super) fn refresh_own_backlogs(&mut self) {
        let (una, written) = (self.sending.queue.una(), self.sending.queue.written());
        let end = written.min(self.sending.queue.next() + self.sending.window_left());
        let planner = &mut self.planner;
        self.subflows.for_each_live(|subflow| {
            subflow.pointer = subflow.pointer.max(una);
            planner.set_own_backlog(usize::from(subflow.place), end.saturating_sub(subflow.pointer));
        });
    }

    pub(super) fn may_carry_data(&self) -> bool {
        match self.mode {
            Mode::Opening => false,
            Mode::Multipath | Mode::Tcp => self.end.is_none(),
        }
    }
}
