//! What a path lost is asked for, and sent again.

use super::Endpoint;
use crate::clock::micros;
use crate::config::Order;
use crate::control::Missing;
use crate::flow::Class;
use crate::header::{DataHeader, Transmission};
use crate::id::{PathId, PathSeq};
use crate::outgoing::{Kept, Outgoing};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// The most packets that wait to be sent again; the driver asks for them at once.
const MOST: usize = 256;
/// What is asked for comes after a round trip, a quarter of that, and this: it may wait in a queue.
const SLACK: Duration = Duration::from_millis(10);
/// A loss on the way of a request or a repair costs about so much, in nanoseconds.
const COST_OF_LOSS: f64 = 1e9;

/// Packets that are to be sent again.
pub(super) struct Repairs {
    queue: VecDeque<Repair>,
}

/// One of them: where it was lost, as which number, what its header said, and its octets on the wire.
struct Repair {
    path: PathId,
    seq: PathSeq,
    kept: Kept,
    wire_len: u32,
}

impl Repairs {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::with_capacity(MOST) }
    }
}

impl<P> Endpoint<P> {
    /// The next packet to send again, at once: the path to send it by, and the header to put before it, whose `global_seq` tells
    /// which packet it is.
    pub fn poll_repair(&mut self, now: Instant) -> Option<(PathId, DataHeader)> {
        let Repair { path: lost_on, seq, kept, wire_len } = self.repairs.queue.pop_front()?;
        let path = self.quickest()?;
        let header = DataHeader {
            path: lost_on,
            class: Class::Normal,
            transmission: Transmission::Repair,
            solo: 0,
            bucket: kept.bucket,
            flow_seq: kept.flow_seq,
            global_seq: kept.global,
            path_seq: seq,
            timestamp: micros(now),
        };
        self.outgoing[path.index()].on_unnumbered(now, wire_len);
        Some((path, header))
    }

    /// The peer asks for what it misses.
    pub(super) fn handle_missing(&mut self, missing: &Missing) {
        let Some(path) = self.outgoing.get_mut(missing.path.index()) else { return };
        for range in missing.ranges() {
            let room = MOST - self.repairs.queue.len();
            for seq in (0..range.packets.min(room as u32)).map(|place| range.from.plus(place)) {
                let Some((kept, wire_len)) = path.repair(seq) else { continue };
                self.repairs.queue.push_back(Repair { path: missing.path, seq, kept, wire_len });
            }
        }
    }

    /// Asks for what `path` has lost.
    #[inline]
    pub(super) fn ask_for_repairs(&mut self, now: Instant, path: PathId) {
        if let Some(missing) = self.incoming[path.index()].ask(now, path) {
            self.feedback.ask(missing);
        }
    }

    /// Asks for what is overdue on any path.
    pub(super) fn check_repairs(&mut self, now: Instant) {
        let time = self.repair_time();
        for place in 0..self.incoming.len() {
            self.incoming[place].set_repair_time(time);
            self.ask_for_repairs(now, PathId(place as u8));
        }
    }

    /// How long what is asked for takes to come. None if that would help nobody, or is not known.
    fn repair_time(&self) -> Option<Duration> {
        if self.config.order == Order::Off || self.config.resequencer.timeout.is_some() {
            return None;
        }
        let round_trip = self.outgoing[self.quickest()?.index()].liveness.srtt?;
        Some(round_trip + round_trip / 4 + SLACK)
    }

    /// The path that a request or a repair takes: the shortest, unless it loses many.
    pub(super) fn quickest(&self) -> Option<PathId> {
        let cost = |path: &Outgoing| {
            let round_trip = path.liveness.srtt.map_or(i64::MAX / 2, |srtt| srtt.as_nanos() as i64);
            round_trip.saturating_add((path.random_loss() * COST_OF_LOSS) as i64)
        };
        self.usable.iter().min_by_key(|id| cost(&self.outgoing[id.index()]))
    }
}
