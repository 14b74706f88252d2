//! How the packets of a round are laid out over the paths.

use crate::config::Turns;

/// The state of a round.
pub(super) struct Round {
    turns: Turns,
    /// By rank. Spread: what a path is owed, in shares of a packet. Consecutive: packets left of
    /// its turn.
    owed: Vec<f64>,
}

impl Round {
    pub(super) fn new(turns: Turns, count: usize) -> Self {
        Self { turns, owed: vec![0.0; count] }
    }

    /// The rank whose turn it is. `shares` has ranks and their weights, cheapest first. The first
    /// weight is at least one.
    #[inline]
    pub(super) fn next(&mut self, shares: impl Iterator<Item = (usize, f64)> + Clone) -> Option<usize> {
        match self.turns {
            Turns::Spread => self.spread(shares),
            Turns::Consecutive => self.consecutive(shares),
        }
    }

    /// Each packet adds a costlier path's share to what the path is owed. Of the paths that are
    /// owed a whole packet, the one that is owed most gets it. If there is none, the first path
    /// gets it.
    #[inline]
    fn spread(&mut self, mut shares: impl Iterator<Item = (usize, f64)> + Clone) -> Option<usize> {
        let whole: f64 = shares.clone().map(|(_, share)| share).sum();
        let (first, _) = shares.next()?;
        let (mut due, mut most, mut costlier) = (first, 0.0, 0.0);
        for (rank, share) in shares {
            costlier += 1.0;
            self.owed[rank] += share;
            if self.owed[rank] >= whole && self.owed[rank] > most {
                (due, most) = (rank, self.owed[rank]);
            }
        }
        if due != first {
            // Together these paths are owed at most a packet each, unless weights have fallen: what
            // exceeds that is dropped.
            self.owed[due] = (most - whole).min(whole * costlier);
        }
        Some(due)
    }

    /// All of the first path's, then all of the next.
    fn consecutive(&mut self, mut shares: impl Iterator<Item = (usize, f64)> + Clone) -> Option<usize> {
        if shares.clone().all(|(rank, _)| self.owed[rank] < 1.0) {
            shares.clone().for_each(|(rank, share)| self.owed[rank] += share);
        }
        let (due, _) = shares.find(|&(rank, _)| self.owed[rank] >= 1.0)?;
        self.owed[due] -= 1.0;
        Some(due)
    }
}
