//! Ways through the network, and what has happened on them.

use crate::stats::RouteStats;

/// A wireless route, numbered from 0 in the order in which routes are added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RouteId(pub u32);

/// From a station to the next: which radio sends, which receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    pub(crate) station: u32,
    pub(crate) sender: u32,
    pub(crate) receiver: u32,
}

/// Where packets of an entry go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Along these hops, at least one, to this station.
    Route { hops: Vec<Hop>, destination: u32 },
    /// To whoever hears this radio.
    Broadcast { radio: u32 },
}

/// One direction of a route, or a broadcast port.
pub(crate) struct Entry {
    pub(crate) way: Way,
    pub(crate) stats: RouteStats,
    pub(crate) lost_bytes: u64,
    /// Octets of copies.
    pub(crate) duplicated_bytes: u64,
}

impl Entry {
    pub(crate) fn new(way: Way) -> Self {
        Self { way, stats: RouteStats::default(), lost_bytes: 0, duplicated_bytes: 0 }
    }

    /// The hop from a station on; none when it is not on the way.
    #[inline]
    pub(crate) fn hop_from(&self, station: u32) -> Option<Hop> {
        match &self.way {
            Way::Route { hops, .. } => hops.iter().copied().find(|hop| hop.station == station),
            Way::Broadcast { .. } => None,
        }
    }

    /// Does a packet begin its way at this radio?
    pub(crate) fn begins_at(&self, radio: u32) -> bool {
        match &self.way {
            Way::Route { hops, .. } => hops.first().is_some_and(|hop| hop.sender == radio),
            Way::Broadcast { radio: own } => *own == radio,
        }
    }

    #[inline]
    pub(crate) fn ends_at(&self, station: u32) -> bool {
        matches!(self.way, Way::Route { destination, .. } if destination == station)
    }

    /// The counters, with what is still under way.
    pub(crate) fn view(&self) -> RouteStats {
        let stats = &self.stats;
        let lost = stats.lost_retries + stats.lost_queue + stats.lost_lifetime + stats.lost_route;
        RouteStats {
            queued: stats.offered + stats.duplicates - stats.delivered - lost,
            queued_bytes: stats.offered_bytes + self.duplicated_bytes
                - stats.delivered_bytes
                - self.lost_bytes,
            ..*stats
        }
    }
}
