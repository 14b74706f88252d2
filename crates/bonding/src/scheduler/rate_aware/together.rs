//! What a loss-based flow would get of several paths.

use crate::id::{MAX_PATHS, PathId, PathSet};
use crate::outgoing::Outgoing;
use ropewalk_units::Duration;

/// A loss-based flow that meets losses for a share p of its packets has a window of about so many packets over √p (Mathis, Semke,
/// Mahdavi, Ott 1997): √(3/2) if each packet is acknowledged, √(3/4) if every second is. Ours does both, and was measured between.
const MATHIS: f64 = 1.05;
/// Bits of its packets, and octets.
const PACKET: f64 = 12_000.0;

/// What a loss-based flow would get of some paths: their rates, as far as their losses let its window grow.
#[derive(Clone, Copy, Default)]
pub(super) struct Together {
    rate: f64,
    lost: f64,
    round_trip: f64,
}

impl Together {
    /// Losses count as far as packets are full.
    pub(super) fn with(self, path: &Outgoing, fullness: f64) -> Self {
        let rate = path.rate();
        let round_trip = path.liveness.srtt.map_or(0.0, Duration::as_secs_f64);
        Self {
            rate: self.rate + rate,
            lost: self.lost + rate * path.felt_loss() * fullness,
            round_trip: self.round_trip.max(round_trip),
        }
    }

    /// Neither more than the rate nor than the losses' bound; where those meet, less than either, since a window that losses cut at
    /// random is now too small and now of no use.
    pub(super) fn goodput(self) -> f64 {
        let rate_in_bounds = self.round_trip * (self.lost * self.rate).sqrt() / (MATHIS * PACKET);
        self.rate / (1.0 + rate_in_bounds * rate_in_bounds).sqrt()
    }
}

/// Those paths, the least lossy first, and how many they are.
pub(super) fn by_losses(paths: &[Outgoing], among: PathSet) -> ([PathId; MAX_PATHS], usize) {
    let (mut order, mut count) = ([PathId(0); MAX_PATHS], 0);
    for id in among.iter() {
        order[count] = id;
        count += 1;
    }
    let loss = |id: &PathId| paths[id.index()].felt_loss();
    order[..count].sort_by(|a, b| loss(a).total_cmp(&loss(b)));
    (order, count)
}
