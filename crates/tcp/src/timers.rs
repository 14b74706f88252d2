//! The deadlines of a connection.

use crate::state::TimerKind;
use ropewalk_units::Instant;

/// Absolute times; [`Instant::MAX`] is a timer that does not run. The delayed ACK's lives with its policy.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// RFC 6298; also repeats SYNs.
    pub(crate) retransmission: Instant,
    /// Tail loss probe or RACK's reordering window: whichever was set last, they exclude each other.
    pub(crate) early: Instant,
    pub(crate) early_kind: TimerKind,
    /// The next paced burst may leave. Runs after each burst, whether anything waits or not: an owner above may have more.
    pub(crate) pacing: Instant,
    /// Persist, or 2 MSL: never both.
    pub(crate) slow: Instant,
    pub(crate) slow_kind: TimerKind,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            retransmission: Instant::MAX,
            early: Instant::MAX,
            pacing: Instant::MAX,
            early_kind: TimerKind::TailLossProbe,
            slow: Instant::MAX,
            slow_kind: TimerKind::Persist,
        }
    }
}

impl Timers {
    /// The first deadline, the delayed ACK's included.
    #[inline]
    pub(crate) fn next(&self, delayed_ack: Instant) -> Option<(Instant, TimerKind)> {
        let mut next = (self.retransmission, TimerKind::Retransmission);
        if self.early < next.0 {
            next = (self.early, self.early_kind);
        }
        if self.slow < next.0 {
            next = (self.slow, self.slow_kind);
        }
        if self.pacing < next.0 {
            next = (self.pacing, TimerKind::Pacing);
        }
        if delayed_ack < next.0 {
            next = (delayed_ack, TimerKind::DelayedAck);
        }
        (next.0 != Instant::MAX).then_some(next)
    }

    /// The first deadline's time, without the delayed ACK's.
    #[inline]
    pub(crate) fn first(&self) -> Instant {
        self.retransmission.min(self.early).min(self.slow).min(self.pacing)
    }

    /// Everything about data on its way stops.
    #[inline]
    pub(crate) fn stop_sending(&mut self) {
        self.retransmission = Instant::MAX;
        self.early = Instant::MAX;
    }

    /// The persist timer stops.
    #[inline]
    pub(crate) fn stop_persist(&mut self) {
        if self.slow_kind == TimerKind::Persist {
            self.slow = Instant::MAX;
        }
    }
}
