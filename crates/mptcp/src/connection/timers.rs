//! The connection's own timers, beside those of its subflows.

use super::{Connection, Finish, Mode};
use crate::config::ReinjectAfterTimeout;
use crate::event::{FailureReason, TimerKind};
use crate::path_manager;
use crate::subflow::Phase;
use ropewalk_tcp::State;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::ResetReason;

/// Least period of the connection-level retransmission timer.
const PERIOD_MIN: Duration = Duration::from_millis(200);
/// The period before any subflow has an RTO.
const PERIOD_INITIAL: Duration = Duration::from_secs(1);
/// Requests for a DATA_ACK before data that a subflow acknowledged is sent again.
const PROBES_FIRST: u32 = 1;
/// … as long as there is only one subflow.
const PROBES_ALONE: u32 = 6;
/// Most doublings of the period.
const BACKOFF_MAX: u32 = 10;

/// When the connection's own timers fire; [`Instant::MAX`] for those that do not run.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// Connection-level retransmission (RFC 8684 §3.3.6), DATA_FIN, window probes.
    data: Instant,
    backoff: u32,
    progress: Instant,
    /// When an idle subflow carries the oldest data again, unless a DATA_ACK comes before; out of date if the flag says so.
    idle_reinjection: Instant,
    idle_reinjection_stale: bool,
    /// When the connection is over, unless another subflow comes up before.
    closing: Option<Instant>,
    /// The first of the timers that seldom change, unless that is out of date.
    slow: (Instant, TimerKind),
    slow_stale: bool,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            data: Instant::MAX,
            backoff: 0,
            progress: Instant::ZERO,
            idle_reinjection: Instant::ZERO,
            idle_reinjection_stale: true,
            closing: None,
            slow: (Instant::MAX, TimerKind::Data),
            slow_stale: true,
        }
    }
}

impl Timers {
    /// A DATA_ACK moved. The deadline is moved when it comes, not with every ACK.
    pub(super) fn progress(&mut self, now: Instant) {
        self.progress = now;
        self.backoff = 0;
        self.idle_reinjection_stale = true;
    }

    /// A timer that seldom changes may have: that of a subflow, of an announced address, of the path manager, or of the
    /// end.
    pub(super) fn on_slow_change(&mut self) {
        self.slow_stale = true;
    }

    /// The last subflow is gone: the connection is over at `due`, unless that was set before.
    pub(super) fn start_closing(&mut self, due: Instant) {
        self.closing.get_or_insert(due);
    }

    /// A subflow has come up.
    pub(super) fn stop_closing(&mut self) {
        self.closing = None;
    }

    /// (Re)starts the connection-level timer.
    fn restart_data(&mut self, now: Instant, period: Duration) {
        self.progress = now;
        self.data = now + period;
    }
}

impl Connection {
    /// The next time at which [`Connection::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Option<(Instant, TimerKind)> {
        let mut first = if self.timers.slow_stale { self.slow_timer() } else { self.timers.slow };
        let mut consider = |at: Instant, kind: TimerKind| {
            if at < first.0 {
                first = (at, kind);
            }
        };
        for subflow in self.subflows.live() {
            if let Some((at, kind)) = subflow.tcp.poll_timeout() {
                consider(at, TimerKind::Subflow(kind));
            }
        }
        if self.end.is_none() {
            consider(self.timers.data, TimerKind::Data);
        }
        (first.0 != Instant::MAX).then_some(first)
    }

    /// The time of [`Self::poll_timeout`]; [`Instant::MAX`] if there is none. Cheaper, since the kind of timer is not
    /// asked for.
    #[inline(always)]
    pub fn deadline(&self) -> Instant {
        let mut first = if self.timers.slow_stale { self.slow_timer().0 } else { self.timers.slow.0 };
        for subflow in self.subflows.live() {
            first = first.min(subflow.tcp.deadline());
        }
        if self.end.is_none() {
            first = first.min(self.timers.data);
        }
        first
    }

    /// The first of the timers that seldom change.
    #[cold]
    pub(super) fn slow_timer(&self) -> (Instant, TimerKind) {
        let mut due: Vec<(Option<Instant>, TimerKind)> = Vec::new();
        for subflow in self.subflows.live() {
            due.push((subflow.join.as_ref().and_then(|join| join.third_ack_due), TimerKind::Join));
            due.push((subflow.close_by, TimerKind::Close));
        }
        if self.end.is_none() && self.mode == Mode::Multipath {
            due.push((self.timers.closing, TimerKind::Close));
            due.push((self.addresses.next_due(), TimerKind::AddAddress));
            due.push((self.path_manager.next_tick(), TimerKind::PathManager));
        }
        let first = due.into_iter().filter_map(|(at, kind)| Some((at?, kind))).min_by_key(|(at, _)| *at);
        first.unwrap_or((Instant::MAX, TimerKind::Data))
    }

    /// Keeps the slow timers for the calls of `poll_timeout` to come.
    pub(super) fn keep_slow_timer(&mut self) {
        if self.timers.slow_stale {
            self.timers.slow = self.slow_timer();
            self.timers.slow_stale = false;
        }
    }

    /// Does what is due. Early calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.timers.on_slow_change();
        self.planner.due.request_poll();
        let mut index = 0;
        while let Some(&at) = self.subflows.live.get(index) {
            index += 1;
            self.subflow_timers(now, at as usize);
        }
        if self.end.is_some() {
            return;
        }
        if self.timers.closing.is_some_and(|due| due <= now) {
            return self.fail(FailureReason::NoSubflowLeft);
        }
        if self.timers.data <= now {
            self.data_timeout(now);
        }
        if self.mode == Mode::Multipath {
            if self.addresses.next_due().is_some_and(|due| due <= now) {
                self.send_announcements(now);
            }
            if self.path_manager.next_tick().is_some_and(|due| due <= now) {
                self.notify_path_manager(now, path_manager::Event::Tick);
            }
        }
    }

    fn subflow_timers(&mut self, now: Instant, at: usize) {
        if self.subflows[at].tcp.deadline() <= now {
            self.subflows[at].touch();
            if self.planner.is_coupled() {
                self.planner.set_coupling(&mut self.subflows, at);
            }
            let acked = self.subflows[at].tcp.stats().bytes_acked;
            self.subflows[at].tcp.handle_timeout(now);
            self.subflows[at].upkeep.on_numbers();
            if self.planner.is_coupled() {
                self.planner.after_ack(&mut self.subflows, at, acked);
            }
            self.after_timeout(now, at);
        }
        if self.subflows[at].close_by.is_some_and(|due| due <= now) {
            self.close_timeout(now, at);
        }
        self.third_ack_timeout(now, at);
    }

    /// [`Self::after_input`], out of line: that function is large and inlined on the way of every segment.
    #[inline(never)]
    fn after_timeout(&mut self, now: Instant, at: usize) {
        self.after_input(now, at);
    }

    /// The peer should have closed a subflow by now.
    fn close_timeout(&mut self, now: Instant, at: usize) {
        let subflow = &mut self.subflows[at];
        if !subflow.finished {
            return self.abandon_subflow(at);
        }
        if subflow.tcp.state() == State::FinWait2 {
            // Both directions of the connection are done, and the peer's FIN does not come (as Linux's
            // `tcp_fin_timeout`).
            return self.reset_subflow(now, at, ResetReason::Unspecified);
        }
        subflow.close_by = Some(now + self.config.tcp.time_wait);
    }

    /// RFC 8684 §3.2: the third ACK of a MP_JOIN is sent until the fourth packet comes.
    fn third_ack_timeout(&mut self, now: Instant, at: usize) {
        let subflow = &mut self.subflows[at];
        let Some(join) = &mut subflow.join else { return };
        if join.third_ack_due.is_none_or(|due| due > now) {
            return;
        }
        join.third_acks += 1;
        if join.third_acks > self.config.tcp.max_syn_retransmissions {
            return self.reset_subflow(now, at, ResetReason::Unspecified);
        }
        let period = subflow.tcp.rto().saturating_mul(1 << join.third_acks.min(BACKOFF_MAX));
        join.third_ack_due = Some(now + period.min(self.config.tcp.rto_max));
        subflow.request_ack();
    }

    /// The period of the connection-level timer: no subflow may still be waiting for its own. One that waits for nothing
    /// keeps none off by its back-off.
    fn data_period(&self) -> Duration {
        let wait = |at: usize| {
            let tcp = &self.subflows[at].tcp;
            if tcp.flight_size() > 0 { tcp.rto() } else { tcp.base_rto() }
        };
        let longest = self.subflows.open().map(wait).max().unwrap_or(PERIOD_INITIAL);
        let period = longest.max(PERIOD_MIN).saturating_mul(1 << self.timers.backoff.min(BACKOFF_MAX));
        period.min(self.config.tcp.rto_max.max(PERIOD_MIN))
    }

    /// Starts the timer if something waits for the peer and it is not running.
    pub(super) fn arm_data_timer(&mut self, now: Instant) {
        if self.timers.data == Instant::MAX && self.sending.waits_for_peer() {
            self.timers.restart_data(now, self.data_period());
            self.timers.idle_reinjection_stale = true;
        }
        let outstanding = self.sending.queue.una() < self.sending.queue.next();
        if self.timers.idle_reinjection_stale && outstanding && self.idle_subflows_reinject() {
            self.renew_idle_reinjection(now);
        }
    }

    /// A DATA_ACK has come, or the wait for one begins.
    fn renew_idle_reinjection(&mut self, now: Instant) {
        self.timers.idle_reinjection_stale = false;
        self.timers.idle_reinjection = self.idle_reinjection_due(now);
        self.timers.data = self.timers.data.min(self.timers.idle_reinjection);
    }

    fn data_timeout(&mut self, now: Instant) {
        self.timers.data = Instant::MAX;
        if !self.sending.waits_for_peer() {
            return;
        }
        let reinjects = self.idle_subflows_reinject() && self.head_is_on_its_way();
        let due = if reinjects {
            self.timers.idle_reinjection
        } else {
            self.timers.progress.saturating_add(self.data_period())
        };
        if due > now {
            self.timers.data = due;
            return;
        }
        if reinjects {
            self.reinject_by_idle_subflow();
            self.renew_idle_reinjection(now);
            self.timers.data = self.timers.idle_reinjection;
            return self.planner.due.request_schedule();
        }
        self.timers.backoff += 1;
        if self.sending.queue.una() < self.sending.queue.next() {
            self.repair_head(now);
        } else if self.sending.queue.unscheduled() > 0 {
            self.probe_window(now);
        } else {
            self.repeat_data_fin(now);
        }
        self.timers.restart_data(now, self.data_period());
        self.planner.due.request_schedule();
    }

    /// RFC 8684 §3.3.6: a subflow acknowledged the oldest data, or is gone, but no DATA_ACK came.
    fn repair_head(&mut self, now: Instant) {
        if self.mode == Mode::Tcp || self.head_is_on_its_way() {
            return;
        }
        let Some(head) = self.sending.queue.head() else { return };
        let carrier = &self.subflows[head.latest as usize];
        // Of a carrier that is gone, only its place is left, perhaps with another subflow in it.
        let carries = carrier.phase != Phase::Closed && head.carriers & carrier.bit() != 0;
        // Perhaps only the DATA_ACK was lost: ask for it. To a peer that gets no options any more, a second copy on the
        // same subflow would look like new data.
        let at = head.latest as usize;
        let has_others = self.subflows.has_others(at);
        let most_probes = if self.sending.split || has_others { PROBES_FIRST } else { PROBES_ALONE };
        let enough = if has_others { PROBES_FIRST } else { PROBES_ALONE };
        if carries && carrier.optionless && self.timers.backoff > enough {
            // RFC 8684 §3.7: the path has begun to strip options, and nothing can be DATA_ACKed there.
            self.reset_subflow(now, at, ResetReason::Middlebox);
        } else if carries && self.timers.backoff <= most_probes {
            // The answer will tell whether options come through.
            self.subflows[at].optionless = false;
            self.subflows[at].tcp.probe();
            self.subflows[at].touch();
        } else {
            self.sending.queue.requeue_head();
        }
    }

    fn repeat_data_fin(&mut self, now: Instant) {
        let Finish::Sent(times) = self.sending.finish else { return };
        if times > self.config.tcp.max_retransmissions {
            return self.fail(FailureReason::TimedOut);
        }
        if self.mode == Mode::Multipath {
            self.send_data_fin(now);
        }
    }

    /// A timeout on a subflow: others may carry what it carried.
    pub(super) fn subflow_timed_out(&mut self, at: usize) {
        self.subflows[at].timed_out = true;
        if self.reinjects_at_timeouts() {
            self.reinject_from(at);
        }
    }

    /// Is a timeout itself a reason to reinject?
    fn reinjects_at_timeouts(&self) -> bool {
        let idle = self.config.reinject_after_timeout == ReinjectAfterTimeout::Idle;
        self.config.reinjection && self.mode == Mode::Multipath && !idle
    }

    /// A subflow that had timed out is heard of again: what other timed-out ones carry is reinjected there.
    pub(super) fn look_for_recovery(&mut self, at: usize) {
        if self.subflows[at].tcp.consecutive_timeouts() == 0 {
            self.subflows[at].timed_out = false;
            self.reinject_timed_out();
        }
    }

    /// A subflow has become able to carry data: what timed-out ones carry is reinjected there.
    pub(super) fn reinject_timed_out(&mut self) {
        if !self.reinjects_at_timeouts() {
            return;
        }
        for index in 0..self.subflows.live.len() {
            let at = self.subflows.live[index] as usize;
            if self.subflows[at].timed_out && self.subflows[at].phase != Phase::Closed {
                self.reinject_from(at);
            }
        }
    }

    /// Has others carry what a timed-out subflow carries: the oldest of it, or all.
    fn reinject_from(&mut self, at: usize) {
        let healthy = self.subflows.healthy();
        let subflow = &self.subflows[at];
        let most = self.config.stale_loss_cnt;
        let stale = most > 0 && subflow.tcp.consecutive_timeouts() >= most;
        if stale || self.config.reinject_after_timeout == ReinjectAfterTimeout::All {
            self.sending.queue.requeue(subflow.place, healthy);
        } else {
            self.sending.queue.requeue_oldest(subflow.place, healthy);
        }
    }

    /// The connection-level window is closed, nothing is on its way, and its opening may have been lost
    /// (RFC 9293 §3.8.6.1).
    fn probe_window(&mut self, now: Instant) {
        if self.sending.window_left() > 0 {
            return;
        }
        // On all subflows: a dead path without data on its way would not be noticed.
        for at in self.subflows.open().collect::<Vec<_>>() {
            if self.subflows[at].optionless && self.timers.backoff > PROBES_ALONE {
                // RFC 8684 §3.7: its answers have lost their options, and the window that they tell means nothing.
                self.reset_subflow(now, at, ResetReason::Middlebox);
                continue;
            }
            if self.subflows[at].silence.on_probe() > self.config.tcp.max_retransmissions {
                // RFC 9293 §3.8.3: the peer is probed for ever as long as it answers (§3.8.6.1), no longer.
                self.time_out_subflow(now, at);
                continue;
            }
            self.stats.window_probes += 1;
            self.subflows[at].tcp.probe();
            self.subflows[at].touch();
        }
    }

    /// Events of subflows that were reset from outside any input of theirs.
    pub(super) fn collect_events(&mut self, now: Instant, at: usize) {
        while let Some(event) = self.subflows[at].tcp.poll_event() {
            self.on_tcp_event(now, at, event);
        }
    }
}
