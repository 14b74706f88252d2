//! What both ends of a bond have counted since time zero, and the rows that follow.

use super::status::{OfBond, OfPath, Tunnel};
use ropewalk_scenario::plan::{BondPlan, LinkPlan, Plan};
use ropewalk_scenario::{BondEgress, BondPathSample, BondRow, BondTotals, BondTraffic};

/// One end of a bond: what its daemon told, summed over its sessions. The counts of a session begin
/// at zero. What the session before counted after the last look at it is not known.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    counts: OfBond,
    paths: Vec<OfPath>,
    overhead: u64,
    held_back_most: u64,
    held_back_most_ms: f64,
    /// Of the session that was seen last.
    held_back_ms: f64,
    last: Option<Tunnel>,
}

impl End {
    /// Begins to count, from what `tunnel` has counted.
    pub(super) fn begin(&mut self, tunnel: Option<Tunnel>, bond: &BondPlan) {
        self.paths = vec![OfPath::default(); bond.paths.len()];
        self.last = tunnel;
    }

    /// Adds what was counted since the last look.
    pub(super) fn look(&mut self, tunnel: Option<Tunnel>) {
        let last = self.last.take();
        let Some(tunnel) = tunnel else { return };
        let before = last.filter(|last| last.age_s <= tunnel.age_s);
        let had = before.as_ref().map_or_else(OfBond::default, |before| before.counts);
        self.counts = self.counts.plus(tunnel.counts.since(had));
        for (index, (sum, path)) in self.paths.iter_mut().zip(&tunnel.paths).enumerate() {
            let had = before.as_ref().and_then(|before| before.paths.get(index));
            *sum = sum.plus(path.counts.since(had.map_or_else(OfPath::default, |path| path.counts)));
        }
        self.overhead = tunnel.overhead;
        self.held_back_most = self.held_back_most.max(tunnel.held_back_most);
        self.held_back_most_ms = self.held_back_most_ms.max(tunnel.held_back_most_ms);
        self.held_back_ms = tunnel.held_back_ms;
        self.last = Some(tunnel);
    }

    /// Octets without the tunnel's headers.
    const fn plain(&self, packets: u64, octets: u64) -> u64 {
        octets.saturating_sub(packets * self.overhead)
    }
}

/// Of the whole, then of each path: what passed from one end to the other, and how much of it was
/// lost.
fn traffic(from: &End, to: &End) -> Vec<(BondTraffic, u64)> {
    let whole = BondTraffic {
        sent_packets: from.counts.offered,
        sent_bytes: from.counts.offered_bytes,
        received_packets: to.counts.delivered,
        received_bytes: to.counts.delivered_bytes,
    };
    let mut all = vec![(whole, to.counts.given_up)];
    for (sent, received) in from.paths.iter().zip(&to.paths) {
        let traffic = BondTraffic {
            sent_packets: sent.sent_packets,
            sent_bytes: from.plain(sent.sent_packets, sent.sent_bytes),
            received_packets: received.received_packets,
            received_bytes: to.plain(received.received_packets, received.received_bytes),
        };
        all.push((traffic, received.lost_received));
    }
    all
}

fn egress(from: &End, to: &End) -> BondEgress {
    BondEgress {
        late: to.counts.late,
        duplicates: to.counts.duplicates,
        depth_max: to.held_back_most,
        added_delay_mean_ms: to.held_back_ms,
        added_delay_max_ms: to.held_back_most_ms,
        unsent: from.counts.dropped_waiting,
        superseded: from.counts.superseded,
    }
}

/// The rows of a bond, as those of a simulated one.
pub(super) fn rows(plan: &Plan, (link, bond): (&LinkPlan, &BondPlan), ends: [&End; 2]) -> Vec<BondRow> {
    let mut rows = Vec::new();
    for (direction, [from, to]) in [ends, [ends[1], ends[0]]].into_iter().enumerate() {
        let name = |end: usize| &plan.nodes[link.ends[end]].name;
        let repaired = std::iter::once(from.paths.iter().map(|path| path.repaired).sum());
        let repaired = repaired.chain(from.paths.iter().map(|path| path.repaired));
        for (index, ((traffic, lost), repaired)) in traffic(from, to).into_iter().zip(repaired).enumerate() {
            let path = index.checked_sub(1).map(|path| bond.paths[path].name.clone());
            rows.push(BondRow {
                name: link.name.clone(),
                direction: format!("{}->{}", name(direction), name(1 - direction)),
                egress: path.is_none().then(|| egress(from, to)),
                path,
                traffic,
                lost,
                repaired,
            });
        }
    }
    rows
}

/// What each row of the bonds has come to.
pub(super) fn totals<'a>(bonds: impl Iterator<Item = [&'a End; 2]>) -> impl Iterator<Item = BondTotals> {
    bonds.flat_map(|[a, b]| [[a, b], [b, a]]).flat_map(|[from, to]| {
        traffic(from, to).into_iter().enumerate().map(move |(index, (traffic, lost))| {
            let path = index.checked_sub(1);
            let depth = to.last.as_ref().map(|tunnel| tunnel.held_back).filter(|_| path.is_none());
            BondTotals { traffic, lost, depth, path: path.and_then(|path| sample(from, path)) }
        })
    })
}

/// The sender's view of a path. Without a session it has none.
fn sample(from: &End, path: usize) -> Option<BondPathSample> {
    let path = from.last.as_ref()?.paths.get(path)?;
    Some(BondPathSample {
        weight: f64::from(path.weight),
        srtt_ms: path.rtt_ms,
        queueing_ms: Some(path.queueing_ms),
        state: match path.state.as_str() {
            "up" => "up",
            "suspected" => "suspected",
            _ => "down",
        },
    })
}
