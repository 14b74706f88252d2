//! Coupled congestion control and the snapshots that decisions are made from.

use super::{Connection, Mode};
use crate::id::SubflowId;
use crate::scheduler::Needs;
use crate::subflow::{Phase, Stale, Subflow};
use crate::view::{QueueView, SubflowView};
use ropewalk_units::{Duration, Rate};

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
            self.subflows[at].stale = Stale::ALL;
        }
    }

    /// Brings the views up to date; one per subflow, by its identifier.
    pub(super) fn refresh_views(&mut self) {
        for index in 0..self.live.len() {
            let at = self.live[index] as usize;
            if self.subflows[at].stale != Stale::NONE {
                self.refresh_view(at);
            } else if self.views[at].coupled && !self.scheduler.participates(self.views[at].id) {
                // Left out since: an idle path has nothing else that would renew its view.
                self.views[at].coupled = false;
            }
        }
    }

    /// As [`Self::refresh_views`], but only what coupled congestion control looks at.
    #[inline(always)]
    fn refresh_windows(&mut self) {
        for &at in &self.live {
            let subflow = &mut self.subflows[at as usize];
            let Some(view) = self.views.get_mut(at as usize) else { return self.refresh_views() };
            let participates = self.scheduler.participates(subflow.id);
            if subflow.stale.window {
                let tcp = &subflow.tcp;
                view.coupled = subflow.phase == Phase::Open && participates;
                view.cwnd = tcp.cwnd();
                view.ssthresh = tcp.ssthresh();
                view.flight = tcp.flight_size();
                view.smss = tcp.smss();
                view.srtt = tcp.srtt();
                view.in_recovery = tcp.in_recovery();
                subflow.stale.window = false;
            } else if !participates {
                view.coupled = false;
            }
        }
    }

    /// As [`Self::refresh_views`], but only what tells whether a subflow has room and how fast it is.
    #[inline]
    pub(super) fn refresh_rooms(&mut self) {
        for &at in &self.live {
            let subflow = &mut self.subflows[at as usize];
            if !subflow.stale.room {
                continue;
            }
            let Some(view) = self.views.get_mut(at as usize) else { return self.refresh_views() };
            let tcp = &subflow.tcp;
            view.usable =
                subflow.phase == Phase::Open && tcp.consecutive_timeouts() < self.config.stale_loss_cnt;
            view.backup = subflow.backup_own || subflow.backup_peer;
            let room = tcp.room();
            view.pipe = room.pipe;
            view.cwnd_space = room.cwnd_space;
            view.unsent = tcp.unsent();
            view.send_space = room.send_space;
            view.smss = tcp.smss();
            view.srtt = tcp.srtt();
            view.in_timeout_recovery = tcp.in_timeout_recovery();
            subflow.stale.room = false;
        }
    }

    pub(super) fn refresh_view(&mut self, at: usize) {
        let coupled = self.scheduler.participates(SubflowId(at as u32));
        let mut view = view_of(&self.subflows[at], self.config.stale_loss_cnt, coupled);
        // Costly, and of use to some schedulers only.
        if self.scheduler.needs() == Needs::Rates {
            view.pacing_rate = self.subflows[at].tcp.pacing_rate();
            view.delivery_rate = self.subflows[at].tcp.delivery_rate();
        }
        self.subflows[at].stale = Stale::NONE;
        while self.views.len() <= at {
            let id = self.views.len();
            let filler = view_of(&self.subflows[id], self.config.stale_loss_cnt, false);
            self.views.push(filler);
        }
        self.views[at] = view;
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
            self.views[at].own_backlog = end.saturating_sub(subflow.pointer);
        }
    }

    pub(super) fn speaks(&self) -> bool {
        match self.mode {
            Mode::Opening => false,
            Mode::Multipath | Mode::Tcp => self.end.is_none(),
        }
    }
}

#[inline]
fn view_of(subflow: &Subflow, stale_loss_cnt: u32, participates: bool) -> SubflowView {
    let tcp = &subflow.tcp;
    let stats = tcp.stats();
    let open = subflow.phase == Phase::Open;
    SubflowView {
        id: SubflowId(u32::from(subflow.place)),
        path_index: subflow.path_index,
        backup: subflow.backup(),
        usable: open && tcp.consecutive_timeouts() < stale_loss_cnt,
        coupled: open && participates,
        cwnd: tcp.cwnd(),
        ssthresh: tcp.ssthresh(),
        flight: tcp.flight_size(),
        pipe: tcp.pipe(),
        cwnd_space: tcp.cwnd_space(),
        unsent: tcp.unsent(),
        send_space: tcp.send_space(),
        own_backlog: 0,
        smss: tcp.smss(),
        srtt: tcp.srtt(),
        rttvar: tcp.rttvar().unwrap_or(Duration::ZERO),
        min_rtt: tcp.min_rtt(),
        latest_rtt: tcp.latest_rtt(),
        in_slow_start: tcp.in_slow_start(),
        in_recovery: tcp.in_recovery(),
        in_timeout_recovery: tcp.in_timeout_recovery(),
        pacing_rate: Rate::from_bits_per_sec(0),
        delivery_rate: None,
        bytes_acked: stats.bytes_acked,
        segments_sent: stats.data_segments_sent,
        retransmissions: stats.retransmissions,
        loss_events: stats.fast_recoveries + stats.timeouts,
    }
}
