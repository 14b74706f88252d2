//! How much a late timer holds back: it leaves at once when the timer fires, beyond what the path itself holds.

use crate::aggregation::MaxOfRounds;

/// BBR.offload_budget of a sender whose bursts are as long as its timers are late. Octets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BurstBudget {
    most: MaxOfRounds,
    round: u64,
    round_ends: u64,
}

impl BurstBudget {
    /// So much was held back.
    pub(super) fn note(&mut self, octets: u32) {
        self.most.update(self.round, octets);
    }

    /// So much is delivered in all, and on its way.
    pub(super) fn on_delivered(&mut self, delivered: u64, inflight: u32) {
        if delivered >= self.round_ends {
            self.round_ends = delivered + u64::from(inflight);
            self.round += 1;
            self.most.update(self.round, 0);
        }
    }

    /// The most of the last rounds.
    pub(super) fn get(&self) -> u32 {
        self.most.of_all_rounds()
    }
}
