//! Timeouts and probes in a row, and when the peer is given up.

/// Timeouts and probes since the peer last answered or acknowledged something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeouts {
    consecutive: u32,
    /// How many of them fell into a time of a closed window: they do not show that the peer is gone.
    excused: u32,
    /// Window probes without an answer.
    probes_unanswered: u32,
    persist_backoff: u32,
}

impl Timeouts {
    /// Timeouts since the last progress.
    pub(crate) fn consecutive(&self) -> u32 {
        self.consecutive
    }

    /// Doublings of the persist timer.
    pub(crate) fn persist_backoff(&self) -> u32 {
        self.persist_backoff
    }

    /// New data was acknowledged.
    pub(crate) fn on_progress(&mut self) {
        self.consecutive = 0;
    }

    /// The peer answers.
    pub(crate) fn on_answer(&mut self) {
        self.probes_unanswered = 0;
    }

    /// Data leaves, or the window has opened. RFC 9293 §3.8.6.1: the next time probing begins anew.
    pub(crate) fn end_persist(&mut self) {
        self.persist_backoff = 0;
    }

    /// A SYN had no answer. Returns how many in a row.
    pub(crate) fn on_syn_timeout(&mut self) -> u32 {
        self.consecutive += 1;
        self.consecutive
    }

    /// Another retransmission without progress. RFC 9293 §3.8.6.1: a peer that has closed its window over data on its way,
    /// and answers, is not dead: what is sent again is a probe then. Returns how many were in vain.
    pub(crate) fn on_timeout(&mut self, window_closed: bool) -> u32 {
        self.consecutive += 1;
        if self.consecutive == 1 {
            self.excused = 0;
        }
        if window_closed {
            self.excused = self.consecutive;
            return self.on_probe();
        }
        self.consecutive - self.excused
    }

    /// The persist timer expired.
    pub(crate) fn on_persist(&mut self) {
        self.persist_backoff += 1;
    }

    /// The peer's window is probed. Returns how many probes have no answer.
    pub(crate) fn on_probe(&mut self) -> u32 {
        self.probes_unanswered += 1;
        self.probes_unanswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_over_a_closed_window_count_only_while_nobody_answers() {
        let mut timeouts = Timeouts::default();
        assert_eq!((timeouts.on_timeout(true), timeouts.on_timeout(true)), (1, 2));
        timeouts.on_answer();
        assert_eq!(timeouts.on_timeout(true), 1);
        assert_eq!(timeouts.on_timeout(false), 1, "three were excused");
        assert_eq!(timeouts.consecutive(), 4);
        timeouts.on_progress();
        assert_eq!(timeouts.on_timeout(false), 1);
    }
}
