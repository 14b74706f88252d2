//! The rates of one frame's attempts.

use crate::phy::Rate;

/// Which rate each attempt of a frame uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryChain {
    /// Rates and how often each is tried, in order.
    stages: [(Rate, u32); 4],
    len: usize,
}

impl RetryChain {
    /// A chain of one rate for this many attempts, and for any after them.
    pub const fn new(stage: (Rate, u32)) -> Self {
        Self { stages: [stage; 4], len: 1 }
    }

    /// The same chain with these stages before it. A rate that comes up a second time is left out
    /// there.
    pub(super) fn preceded_by(self, stages: [(Rate, u32); 3]) -> Self {
        let mut chain = Self { stages: self.stages, len: 0 };
        for stage in stages.into_iter().chain([self.stages[0]]) {
            if chain.stages[..chain.len].iter().all(|earlier| earlier.0 != stage.0) {
                chain.stages[chain.len] = stage;
                chain.len += 1;
            }
        }
        chain
    }

    /// Rates and how often each is tried, in order.
    pub fn stages(&self) -> &[(Rate, u32)] {
        &self.stages[..self.len]
    }

    /// The rate of an attempt, counted from 0. Attempts beyond the chain use its last rate.
    pub fn rate(&self, attempt: u32) -> Rate {
        let mut before = attempt;
        for &(rate, tries) in self.stages() {
            if before < tries {
                return rate;
            }
            before -= tries;
        }
        self.stages[self.len - 1].0
    }

    /// How many attempts the chain provides for.
    #[cfg(test)]
    pub(crate) fn attempts(&self) -> u32 {
        self.stages().iter().map(|stage| stage.1).sum()
    }
}
