//! Coupled congestion control, and what decisions are made from.

use super::views::{Sources, Views};
use super::{Connection, Mode};
use crate::view::QueueView;

impl Connection {
    /// Tells a subflow's TCP its increase and decrease, from the windows as they are before an ACK or timeout.
    #[inline(always)]
    pub(super) fn set_coupling(&mut self, at: usize) {
        self.refresh_windows();
        let coupling = self.coupled.coupling(&self.views, at);
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
        if lost || self.coupled.looks_after_ack() {
            self.refresh_views();
        }
        if lost {
            self.subflows[at].loss_events = losses;
            self.coupled.on_loss(&self.views, at);
        }
        if acked > 0
            && let Some(update) = self.coupled.on_acked(&self.views, at, acked)
        {
            self.subflows[at].tcp.set_cwnd(update.cwnd, update.ssthresh);
            self.subflows[at].upkeep.on_numbers();
        }
    }

    /// Brings the views up to date.
    pub(super) fn refresh_views(&mut self) {
        let (views, mut sources) = self.sources();
        views.refresh(&mut sources);
    }

    /// As [`Self::refresh_views`], but only what coupled congestion control looks at.
    #[inline(always)]
    fn refresh_windows(&mut self) {
        let (views, mut sources) = self.sources();
        views.refresh_windows(&mut sources);
    }

    /// As [`Self::refresh_views`], but only what tells whether a subflow has room and how fast it is.
    #[inline]
    pub(super) fn refresh_rooms(&mut self) {
        let (views, mut sources) = self.sources();
        views.refresh_rooms(&mut sources);
    }

    /// A whole view of one subflow.
    pub(super) fn refresh_view(&mut self, at: usize) {
        let (views, mut sources) = self.sources();
        views.refresh_one(at, &mut sources);
    }

    /// The views, and what they are made from.
    #[inline(always)]
    fn sources(&mut self) -> (&mut Views, Sources<'_>) {
        let sources = Sources {
            live: &self.live,
            subflows: &mut self.subflows,
            scheduler: &self.scheduler,
            stale_loss_cnt: self.config.stale_loss_cnt,
        };
        (&mut self.views, sources)
    }

    /// The send queue as the scheduler sees it.
    #[inline]
    pub(super) fn queue_view(&self, least_segment: u32) -> QueueView {
        let in_flight = self.queue.next() - self.queue.una();
        let unscheduled = self.queue.unscheduled();
        // Nagle (RFC 9293 §3.7.4), once for the connection: a partial segment waits for what is on its way.
        let held = self.config.tcp.nagle
            && in_flight > 0
            && unscheduled < u64::from(least_segment)
            && self.finish == super::Finish::No;
        QueueView {
            unsent: if held { 0 } else { unscheduled },
            window_left: self.send_edge.saturating_sub(self.queue.next()),
            in_flight,
            data_acked: self.queue.una(),
            opportunistic_retransmissions: self.stats.opportunistic_retransmissions,
        }
    }

    /// Redundant scheduling: how much each subflow has left to carry.
    pub(super) fn refresh_own_backlogs(&mut self) {
        let (una, written) = (self.queue.una(), self.queue.written());
        let end = written.min(self.send_edge.max(self.queue.next()));
        for index in 0..self.live.len() {
            let at = self.live[index] as usize;
            let subflow = &mut self.subflows[at];
            subflow.pointer = subflow.pointer.max(una);
            self.views.set_own_backlog(at, end.saturating_sub(subflow.pointer));
        }
    }

    pub(super) fn may_carry_data(&self) -> bool {
        match self.mode {
            Mode::Opening => false,
            Mode::Multipath | Mode::Tcp => self.end.is_none(),
        }
    }
}
