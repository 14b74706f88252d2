//! The Eifel response to a spurious timeout (RFC 4015).

use ropewalk_units::Duration;

/// RFC 4015 §3.2 (0): what is kept at the first timeout of a series, before cwnd and ssthresh change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimeoutMemory {
    pipe_prev: u32,
    srtt_prev: Option<Duration>,
    rttvar_prev: Duration,
}

impl TimeoutMemory {
    /// `granularity` is that of the clock (G).
    pub(crate) fn new(
        flight: u32,
        ssthresh: u32,
        srtt: Option<Duration>,
        rttvar: Duration,
        granularity: Duration,
    ) -> Self {
        // An ssthresh that is "arbitrarily high" stays so: no loss has lowered it.
        let srtt_prev = srtt.map(|srtt| srtt + granularity * 2);
        Self { pipe_prev: flight.max(ssthresh), srtt_prev, rttvar_prev: rttvar }
    }

    /// (9): (cwnd, ssthresh) after the verdict. `flight` is the FlightSize after the ACK that brought it,
    /// `newly_acked` what that ACK acknowledged. Not to be applied if that ACK carries ECN-Echo.
    pub(crate) fn window(&self, flight: u32, newly_acked: u32, initial_window: u32) -> (u32, u32) {
        (flight.saturating_add(newly_acked.min(initial_window)), self.pipe_prev)
    }

    /// (11): (SRTT, RTTVAR) at the first measurement `rtt` from data sent after the verdict; to be set in the
    /// estimator instead of the ordinary update.
    pub(crate) fn rtt(&self, rtt: Duration) -> (Duration, Duration) {
        let srtt = self.srtt_prev.map_or(rtt, |previous| previous.max(rtt));
        (srtt, self.rttvar_prev.max(rtt / 2))
    }
}
