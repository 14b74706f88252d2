//! Whether a subflow's peer is silent, as Linux decides it (`mptcp_pm_subflow_chk_stale`). It is looked at when the
//! connection has waited in vain for a DATA_ACK while the subflow had data on its way.

use ropewalk_units::Instant;

/// What is remembered of one subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Silence {
    /// When an acceptable segment came last.
    heard: Instant,
    /// … as it was when the silence began.
    since: Instant,
    /// Waits in vain since then.
    periods: u32,
    stale: bool,
    /// Window probes that nothing has answered, and when an acceptable segment had come before the first of them.
    probes: u32,
    probed_since: Instant,
}

impl Silence {
    /// Nothing was asked of it yet.
    pub(crate) const NONE: Self = Self {
        heard: Instant::ZERO,
        since: Instant::ZERO,
        periods: 0,
        stale: false,
        probes: 0,
        probed_since: Instant::ZERO,
    };

    /// An acceptable segment has come.
    pub(crate) fn on_heard(&mut self, now: Instant) {
        self.heard = now;
        self.stale = false;
    }

    /// The connection has waited in vain once more.
    pub(crate) fn on_wait(&mut self) {
        if self.periods == 0 {
            self.since = self.heard;
            self.periods = 1;
        } else if self.since == self.heard {
            self.periods += 1;
        } else {
            self.periods = 0;
        }
    }

    /// One more window probe is due. How many is that without an answer?
    pub(crate) fn on_probe(&mut self) -> u32 {
        if self.probed_since != self.heard {
            self.probed_since = self.heard;
            self.probes = 0;
        }
        self.probes += 1;
        self.probes
    }

    /// Waits in vain in this silence; 0: it is heard of.
    pub(crate) fn periods(&self) -> u32 {
        self.periods
    }

    /// It gets no data until it is heard of.
    pub(crate) fn make_stale(&mut self) {
        self.stale = true;
    }

    /// Does it get no data?
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn waits_count_while_nothing_is_heard() {
        let mut silence = Silence::NONE;
        silence.on_heard(at(1));
        for expected in 1..4 {
            silence.on_wait();
            assert_eq!(silence.periods(), expected);
        }
        silence.on_heard(at(2));
        silence.on_wait();
        assert_eq!(silence.periods(), 0, "the first wait after it ends the silence");
        silence.on_wait();
        assert_eq!(silence.periods(), 1);
    }

    #[test]
    fn a_stale_subflow_is_heard_of_again() {
        let mut silence = Silence::NONE;
        silence.on_heard(at(1));
        silence.on_wait();
        silence.make_stale();
        assert!(silence.is_stale());
        silence.on_heard(at(9));
        assert!(!silence.is_stale());
    }

    #[test]
    fn probes_count_while_nothing_answers_them() {
        let mut silence = Silence::NONE;
        silence.on_heard(at(1));
        assert_eq!([silence.on_probe(), silence.on_probe()], [1, 2]);
        silence.on_heard(at(5));
        assert_eq!([silence.on_probe(), silence.on_probe()], [1, 2]);
    }
}
