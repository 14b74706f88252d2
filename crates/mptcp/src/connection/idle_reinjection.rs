//! Reinjection as Linux does it (`__mptcp_retrans`). No DATA_ACK has come for as long as the subflows' own timers run: a
//! subflow with nothing on its way carries the oldest octets. A subflow that stays silent becomes stale. Then all octets that
//! wait for a DATA_ACK are sent again.

use super::{Connection, Reinjection};
use crate::config::ReinjectAfterTimeout;
use crate::memory::piece_end;
use ropewalk_units::{Duration, Instant};

/// How long is waited when no subflow has a timer (Linux `TCP_RTO_MIN`).
const WAIT_MIN: Duration = Duration::from_millis(200);

impl Connection {
    /// Do subflows with nothing on their way carry again what others have sent?
    pub(super) fn idle_subflows_reinject(&self) -> bool {
        self.config.reinject_after_timeout == ReinjectAfterTimeout::Idle
            && self.config.reinjection
            && !self.is_plain()
    }

    /// Until when a DATA_ACK is waited for: subflows that are heard of repair their own losses first.
    pub(super) fn idle_reinjection_due(&self, now: Instant) -> Instant {
        let heard = self.subflows.open().filter(|&at| self.subflows[at].silence.periods() == 0);
        let latest = heard.filter_map(|at| self.subflows[at].tcp.repair_deadline()).max();
        latest.filter(|&at| at > now).unwrap_or(now + WAIT_MIN)
    }

    /// Is the oldest octet on its way still, as far as the subflow that carried it last knows?
    pub(super) fn head_is_on_its_way(&self) -> bool {
        self.sending.queue.head().is_some_and(|head| {
            let carrier = &self.subflows[head.latest as usize];
            let carries = !carrier.is_closed() && head.carriers & carrier.bit() != 0;
            carries && carrier.tcp.stats().bytes_acked < head.position_end
        })
    }

    /// No DATA_ACK has come: looks which subflows are silent, and has an idle one carry the oldest piece.
    pub(super) fn reinject_by_idle_subflow(&mut self) {
        let open = self.subflows.open().collect::<Vec<_>>();
        for &at in &open {
            if self.subflows[at].has_queue() {
                self.subflows[at].silence.on_wait();
                self.look_for_staleness(at, &open);
            }
        }
        if let Some(at) = self.idle_subflow(&open) {
            self.carry_oldest_piece(at);
        }
    }

    /// A subflow that has been silent for long becomes stale if the peer is heard of on another one.
    fn look_for_staleness(&mut self, at: usize, open: &[usize]) {
        let most = self.config.stale_loss_cnt;
        let silence = &self.subflows[at].silence;
        if most == 0 || silence.is_stale() || silence.periods() <= most {
            return;
        }
        // Neither this one nor a stale one: these have been silent for longer.
        let is_heard = |&other: &usize| self.subflows[other].silence.periods() < (most - 1).max(1);
        if open.iter().any(is_heard) {
            self.subflows[at].silence.make_stale();
            self.subflows[at].touch();
            self.sending.queue.requeue_everything();
        }
    }

    /// The first subflow with nothing on its way; a backup only if no other subflow makes any progress.
    fn idle_subflow(&self, open: &[usize]) -> Option<usize> {
        let is_idle = |&at: &usize| !self.subflows[at].has_queue();
        let is_backup = |&at: &usize| self.subflows[at].backup();
        let regular = open.iter().copied().find(|at| is_idle(at) && !is_backup(at));
        let busy = open.iter().filter(|&&at| self.subflows[at].has_queue());
        let all_silent =
            busy.map(|&at| self.subflows[at].silence.periods()).min().is_none_or(|least| least > 1);
        let backup = || open.iter().copied().find(|at| is_idle(at) && is_backup(at)).filter(|_| all_silent);
        regular.or_else(backup)
    }

    /// The subflow carries the oldest piece that was sent, whether its window has room or not.
    fn carry_oldest_piece(&mut self, at: usize) {
        self.planner.renew(&mut self.subflows);
        let mut data = self.sending.queue.una();
        let end = piece_end(data).min(self.sending.queue.next());
        while data < end
            && let Some(&sent) = self.sending.queue.holding(data)
        {
            let room = (end - sent.start).min(u64::from(u32::MAX)) as u32;
            self.place_again(at, &sent, room, Reinjection::Repair);
            data = sent.start + u64::from(sent.len.min(room));
        }
    }
}
