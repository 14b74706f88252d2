//! DATA_FIN (RFC 8684 §3.3.3), the orderly end of subflows, and the other ends.

use super::{Connection, End, Finish, Mode};
use crate::event::{Event, FailureReason, SubflowCloseReason};
use crate::path_manager;
use crate::subflow::Phase;
use ropewalk_units::Instant;
use ropewalk_wire::ResetReason;

impl Connection {
    /// Ends the connection at once: MP_FASTCLOSE on a RST of every subflow (RFC 8684 §3.5), as Linux does.
    pub fn abort(&mut self) {
        if self.end.is_none() {
            self.planner.due.request_poll();
            self.subflows.for_each_live(|subflow| subflow.fast_close = true);
            self.fail(FailureReason::Aborted);
        }
    }

    /// Resets every subflow that lives.
    pub(super) fn abort_subflows(&mut self) {
        self.subflows.for_each_live(|subflow| {
            if subflow.phase != Phase::Closed {
                subflow.reset.get_or_insert(ResetReason::Unspecified);
                subflow.tcp.abort();
                subflow.touch();
            }
        });
    }

    /// No new data for a subflow, and a FIN behind what it has.
    pub(super) fn close_subflow(&mut self, at: usize) {
        self.timers.on_slow_change();
        let subflow = &mut self.subflows[at];
        match subflow.phase {
            Phase::Opening => {
                subflow.reset.get_or_insert(ResetReason::Unspecified);
                subflow.tcp.abort();
            }
            Phase::Open | Phase::Closing if !subflow.finished => {
                subflow.phase = Phase::Closing;
                subflow.finished = true;
                subflow.tcp.finish();
            }
            Phase::Open | Phase::Closing | Phase::Closed => return,
        }
        subflow.touch();
        subflow.close_by = None;
        self.planner.due.request_schedule();
    }

    /// Closes a subflow whose address is gone: what it carries may never arrive, so others carry it too.
    pub(super) fn abandon_subflow(&mut self, at: usize) {
        self.close_subflow(at);
        let place = self.subflows[at].place;
        let others = self.subflows.healthy() & !self.subflows[at].bit();
        self.sending.queue.requeue(place, others);
    }

    /// Resets a subflow, with MP_TCPRST.
    pub(super) fn reset_subflow(&mut self, now: Instant, at: usize, reason: ResetReason) {
        if self.subflows[at].phase != Phase::Closed {
            self.break_off(now, at, reason, SubflowCloseReason::Aborted(reason));
        }
    }

    /// The peer of a subflow does not answer any more.
    pub(super) fn time_out_subflow(&mut self, now: Instant, at: usize) {
        self.break_off(now, at, ResetReason::Unspecified, SubflowCloseReason::TimedOut);
    }

    /// Resets a subflow that is not over. `told` goes to the peer with MP_TCPRST, `reason` to this end's owner.
    fn break_off(&mut self, now: Instant, at: usize, told: ResetReason, reason: SubflowCloseReason) {
        let subflow = &mut self.subflows[at];
        subflow.reset = Some(told);
        subflow.tcp.abort();
        subflow.touch();
        self.subflow_closed(now, at, reason);
    }

    /// A subflow is over: others carry what it did not deliver (RFC 8684 §3.3.6).
    pub(super) fn subflow_closed(&mut self, now: Instant, at: usize, reason: SubflowCloseReason) {
        self.timers.on_slow_change();
        let healthy = self.subflows.healthy();
        let subflow = &mut self.subflows[at];
        if subflow.phase == Phase::Closed {
            return;
        }
        let was_initial_opening = subflow.phase == Phase::Opening && subflow.join.is_none();
        subflow.phase = Phase::Closed;
        self.subflows.sum_stale = true;
        let subflow = &mut self.subflows[at];
        subflow.close_by = None;
        let refused = reason == SubflowCloseReason::Refused && subflow.join.is_some();
        if let Some(join) = &mut subflow.join {
            join.third_ack_due = None;
        }
        let (id, place, path_index, path) = (subflow.id, subflow.place, subflow.path_index, subflow.path);
        let pushed = subflow.pushed;
        if pushed > 0 {
            // Nothing is reinjected for a subflow that carried nothing: a peer may open and end many of them.
            self.sending.queue.forget(place, healthy);
        }
        self.planner.renew_one(&mut self.subflows, at);
        self.planner.due.request_schedule();
        self.emit(Event::SubflowClosed { id, reason });
        if refused {
            // The peer may have lost the connection: the subflows that are open probe it.
            for at in self.subflows.open().collect::<Vec<_>>() {
                self.subflows[at].tcp.probe();
                self.subflows[at].touch();
            }
        }
        if self.subflows.living().next().is_none() {
            self.last_subflow_closed(now, reason, was_initial_opening);
        } else if self.mode == Mode::Multipath && self.subflows.carriers().next().is_none() {
            // Joins under way are no subflows yet: tried again and again, they would keep a connection for ever.
            self.timers.start_closing(now.saturating_add(self.config.close_timeout));
        }
        if !self.is_closing() {
            // RFC 8684 §3.6: what the peer calls permanent is not tried again on this path.
            let permanent = self.subflows[at].peer_reset.is_some_and(|reset| !reset.transient);
            let failed = reason.is_failure() && !permanent;
            self.notify_path_manager(now, path_manager::Event::SubflowClosed { path_index, failed, path });
        }
    }

    /// RFC 8684 §3.3.3: as long as a DATA_FIN is not acknowledged, the connection ends after a timeout only, for another subflow
    /// may come up ("break before make"). As in Linux it does not matter how the last one ended.
    fn last_subflow_closed(&mut self, now: Instant, reason: SubflowCloseReason, opening: bool) {
        if self.end.is_some() {
            return;
        }
        let complete = self.sending.finish == Finish::Acknowledged && self.receiving.is_finished();
        if complete || self.plain_end(reason) {
            self.end = Some(End::Closed);
            return self.emit(Event::Closed);
        }
        if self.mode == Mode::Multipath && self.agreement.confirmed && !self.config.close_timeout.is_zero() {
            let due = now.saturating_add(self.config.close_timeout);
            self.timers.start_closing(due);
            return;
        }
        let why = match reason {
            SubflowCloseReason::Refused if opening => FailureReason::Refused,
            SubflowCloseReason::Reset(_) if self.mode == Mode::Tcp => FailureReason::PeerAborted,
            _ => FailureReason::NoSubflowLeft,
        };
        self.end = Some(End::Failed);
        self.emit(Event::Failed(why));
    }

    /// The peer has everything, our DATA_FIN (or FIN) included.
    #[cold]
    pub(super) fn finish_acknowledged(&mut self) {
        if self.sending.finish != Finish::Acknowledged {
            self.sending.finish = Finish::Acknowledged;
            self.emit(Event::FinishAcknowledged);
        }
    }

    /// The peer's DATA_FIN counts when everything before it has arrived.
    fn follow_peer_fin(&mut self, at: usize) {
        if self.receiving.reaches_fin() {
            self.subflows[at].request_ack();
            self.emit(Event::PeerFinished);
        }
    }

    /// Takes the next step of the end, if one is due.
    #[inline(never)]
    pub(super) fn progress_close(&mut self, now: Instant, at: usize) {
        self.follow_peer_fin(at);
        match self.mode {
            Mode::Opening => {}
            Mode::Tcp => self.progress_plain_close(),
            Mode::Multipath => {
                self.follow_subflow_fin(at);
                if self.sending.owes_data_fin() {
                    self.send_data_fin(now);
                }
                if self.sending.finish == Finish::Acknowledged && self.receiving.is_finished() {
                    let living: Vec<usize> = self.subflows.living().collect();
                    for at in living {
                        self.close_subflow(at);
                        let deadline = now + self.config.tcp.time_wait;
                        self.subflows[at].close_by.get_or_insert(deadline);
                    }
                }
            }
        }
    }

    fn progress_plain_close(&mut self) {
        let plain = self.plain as usize;
        if self.subflows[plain].tcp.peer_finished() && self.receiving.finish() {
            self.emit(Event::PeerFinished);
        }
        let finishing = !matches!(self.sending.finish, Finish::No);
        if finishing && self.sending.queue.unscheduled() == 0 && self.subflows[plain].phase == Phase::Open {
            self.close_subflow(plain);
        }
    }

    /// A FIN on one subflow ends that subflow only (RFC 8684 §3.3.3): we close our half too.
    pub(super) fn follow_subflow_fin(&mut self, at: usize) {
        if self.subflows[at].phase == Phase::Open && self.subflows[at].tcp.peer_finished() {
            self.close_subflow(at);
        }
    }

    /// DATA_FIN goes out on every subflow (as Linux does it), and again until it is acknowledged.
    pub(super) fn send_data_fin(&mut self, now: Instant) {
        let open: Vec<usize> = self.subflows.open().collect();
        if open.is_empty() {
            return;
        }
        self.sending.on_data_fin_sent();
        for at in open {
            self.subflows[at].data_fin_due = true;
            self.subflows[at].request_ack();
        }
        self.arm_data_timer(now);
    }
}
