//! The deadlines of what was sent. Only this file sets them.

use crate::state::TimerKind;
use ropewalk_units::{Duration, Instant};
use std::cmp::min_by_key;

/// Absolute times; [`Instant::MAX`] is a timer that does not run. The delayed ACK's deadline lives with the
/// receiver's policy, that of TIME-WAIT with the connection.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// RFC 6298; also repeats SYNs.
    retransmission: Instant,
    /// Tail loss probe or RACK's reordering window: whichever was set last, they exclude each other.
    early: Instant,
    early_kind: TimerKind,
    /// The next paced burst may leave. Runs after each burst, whether anything waits or not: an owner above may have more.
    pacing: Instant,
    /// RFC 9293 §3.8.6.1.
    persist: Instant,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            retransmission: Instant::MAX,
            early: Instant::MAX,
            early_kind: TimerKind::TailLossProbe,
            pacing: Instant::MAX,
            persist: Instant::MAX,
        }
    }
}

impl Timers {
    /// The first deadline, and which it is.
    pub(crate) fn next(&self) -> (Instant, TimerKind) {
        let later = [
            (self.early, self.early_kind),
            (self.persist, TimerKind::Persist),
            (self.pacing, TimerKind::Pacing),
        ];
        let retransmission = (self.retransmission, TimerKind::Retransmission);
        later.into_iter().fold(retransmission, |first, timer| min_by_key(first, timer, |(at, _)| *at))
    }

    /// The first deadline's time.
    pub(crate) fn first(&self) -> Instant {
        self.retransmission.min(self.early).min(self.persist).min(self.pacing)
    }

    /// When data on its way is looked at next: by a probe or by RACK if one of them waits, else by the retransmission timer.
    pub(crate) fn repair(&self) -> Option<Instant> {
        let at = if self.early == Instant::MAX { self.retransmission } else { self.early };
        (at != Instant::MAX).then_some(at)
    }

    /// Everything about data on its way stops (RFC 6298 §5.2).
    pub(crate) fn stop_sending(&mut self) {
        self.retransmission = Instant::MAX;
        self.early = Instant::MAX;
    }

    /// (Re)starts the retransmission timer (RFC 6298 §5.1, §5.3, §5.6).
    pub(crate) fn restart_retransmission(&mut self, now: Instant, rto: Duration) {
        self.retransmission = now.saturating_add(rto);
    }

    /// RFC 6298 §5.1: starts it if it does not run.
    pub(crate) fn start_retransmission(&mut self, now: Instant, rto: Duration) {
        if self.retransmission == Instant::MAX {
            self.restart_retransmission(now, rto);
        }
    }

    /// (Re)starts the timer of the tail loss probe. RFC 8985 §7.2: never later than the RTO.
    pub(crate) fn restart_probe(&mut self, now: Instant, timeout: Duration) {
        self.early = now.saturating_add(timeout).min(self.retransmission);
        self.early_kind = TimerKind::TailLossProbe;
    }

    /// No tail loss probe.
    pub(crate) fn stop_probe(&mut self) {
        if self.early_kind == TimerKind::TailLossProbe {
            self.early = Instant::MAX;
        }
    }

    /// RACK waits for `wait`, or no longer for anything.
    pub(crate) fn set_reordering(&mut self, now: Instant, wait: Option<Duration>) {
        if let Some(wait) = wait {
            self.early = now.saturating_add(wait.max(Duration::from_nanos(1)));
            self.early_kind = TimerKind::Reordering;
        } else if self.early_kind == TimerKind::Reordering {
            self.early = Instant::MAX;
        }
    }

    /// Neither a probe nor RACK waits.
    pub(crate) fn stop_early(&mut self) {
        self.early = Instant::MAX;
    }

    /// (Re)starts the persist timer.
    pub(crate) fn restart_persist(&mut self, now: Instant, timeout: Duration) {
        self.persist = now.saturating_add(timeout);
    }

    /// The persist timer stops.
    pub(crate) fn stop_persist(&mut self) {
        self.persist = Instant::MAX;
    }

    /// Does the persist timer run?
    pub(crate) fn is_persisting(&self) -> bool {
        self.persist != Instant::MAX
    }

    /// The next burst leaves at `at`.
    pub(crate) fn start_pacing(&mut self, at: Instant) {
        self.pacing = at;
    }

    /// Does a burst wait for its departure time?
    pub(crate) fn is_pacing(&self) -> bool {
        self.pacing != Instant::MAX
    }

    /// Has the departure time come? Then it is over.
    pub(crate) fn expire_pacing(&mut self, now: Instant) {
        if self.pacing <= now {
            self.pacing = Instant::MAX;
        }
    }

    /// Has the timer of the probe or of RACK expired? Then it no longer runs.
    pub(crate) fn expire_early(&mut self, now: Instant) -> Option<TimerKind> {
        let expired = self.early <= now;
        if expired {
            self.early = Instant::MAX;
        }
        expired.then_some(self.early_kind)
    }

    /// Has the persist timer expired? Then it no longer runs.
    pub(crate) fn expire_persist(&mut self, now: Instant) -> bool {
        let expired = self.persist <= now;
        if expired {
            self.persist = Instant::MAX;
        }
        expired
    }

    /// Has the retransmission timer expired? Then it no longer runs.
    pub(crate) fn expire_retransmission(&mut self, now: Instant) -> bool {
        let expired = self.retransmission <= now;
        if expired {
            self.retransmission = Instant::MAX;
        }
        expired
    }
}

impl Timers {
    /// Does a timer run that repairs or gives up the data on its way?
    pub(crate) fn watches_data(&self) -> bool {
        self.retransmission != Instant::MAX || self.early != Instant::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(1_000_000_000);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_first_deadline_is_named() {
        let mut timers = Timers::default();
        assert_eq!(timers.first(), Instant::MAX);
        timers.restart_retransmission(NOW, ms(200));
        timers.restart_persist(NOW, ms(300));
        assert_eq!(timers.next(), (NOW + ms(200), TimerKind::Retransmission));
        timers.set_reordering(NOW, Some(ms(5)));
        assert_eq!(timers.next(), (NOW + ms(5), TimerKind::Reordering));
        assert_eq!(timers.repair(), Some(NOW + ms(5)));
        timers.start_pacing(NOW + ms(1));
        assert_eq!(timers.next(), (NOW + ms(1), TimerKind::Pacing));
        timers.stop_early();
        assert_eq!(timers.repair(), Some(NOW + ms(200)));
        assert_eq!(timers.first(), NOW + ms(1));
    }

    #[test]
    fn a_probe_is_never_later_than_the_rto() {
        let mut timers = Timers::default();
        timers.restart_retransmission(NOW, ms(200));
        timers.restart_probe(NOW, ms(900));
        assert_eq!(timers.expire_early(NOW + ms(199)), None);
        assert_eq!(timers.expire_early(NOW + ms(200)), Some(TimerKind::TailLossProbe));
        assert_eq!(timers.expire_early(NOW + ms(200)), None, "it expires once");
    }

    #[test]
    fn probe_and_reordering_stop_only_themselves() {
        let mut timers = Timers::default();
        timers.set_reordering(NOW, Some(ms(5)));
        timers.stop_probe();
        assert_eq!(timers.next().1, TimerKind::Reordering);
        timers.set_reordering(NOW, None);
        assert_eq!(timers.first(), Instant::MAX);
        timers.restart_probe(NOW, ms(10));
        timers.set_reordering(NOW, None);
        assert_eq!(timers.next(), (NOW + ms(10), TimerKind::TailLossProbe));
        timers.stop_probe();
        assert_eq!(timers.first(), Instant::MAX);
    }

    #[test]
    fn a_running_retransmission_timer_is_not_started_again() {
        let mut timers = Timers::default();
        timers.start_retransmission(NOW, ms(200));
        timers.start_retransmission(NOW + ms(50), ms(200));
        assert!(!timers.expire_retransmission(NOW + ms(199)));
        assert!(timers.expire_retransmission(NOW + ms(200)));
        assert_eq!(timers.first(), Instant::MAX);
    }
}
