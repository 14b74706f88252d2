//! Repairs: the receiver asks for what a path lost, and the sender sends it again.

use super::{Datagram, Endpoint};
use crate::clock::micros;
use crate::config::Order;
use crate::flow::Class;
use crate::id::{PathId, PathSeq};
use crate::path::{Kept, Path, RepairTerms};
use crate::queue::Payload;
use crate::wire::control::Missing;
use crate::wire::header::{DataHeader, Transmission};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// The most packets that wait to be sent again.
pub(super) const MOST: usize = 1024;

/// A packet to send again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// The path that lost it, or fell silent.
    pub(super) path: PathId,
    /// Its number there.
    pub(super) seq: PathSeq,
    /// The path fell silent; the peer has not asked for the packet.
    pub(super) is_in_doubt: bool,
}

/// Packets to send again, the next one first.
pub(super) type Repairs = VecDeque<Due>;

impl<P: Payload> Endpoint<P> {
    /// The next packet to send again, if its path may send. Repairs go before all other data.
    pub(super) fn next_repair(&mut self, now: Instant) -> Option<(PathId, Datagram<P>)> {
        if self.repairs.is_empty() {
            return None;
        }
        let size = self.config.overhead + self.last_len;
        let path = self.way_of_repairs(now, size)?;
        if !self.paths[path.index()].may_send(now, size) {
            return None;
        }
        let repair_time = self.repair_time().unwrap_or_default();
        while let Some(Due { path: lost_on, seq, is_in_doubt }) = self.repairs.pop_front() {
            let srtt = |id: PathId| self.paths[id.index()].liveness.srtt().unwrap_or_default();
            let age = self.config.resequencer.repair_timeout(repair_time) + srtt(lost_on);
            let terms = RepairTerms { is_in_doubt, age, round_trip: srtt(path) };
            let own = &mut self.paths[lost_on.index()];
            let Some((Kept { packet, global, flow_seq, bucket }, len)) = own.repair(now, seq, &terms) else {
                continue;
            };
            let header = DataHeader {
                path: lost_on,
                class: Class::Normal,
                transmission: Transmission::Repair,
                solo: 0,
                bucket: *bucket,
                flow_seq: *flow_seq,
                global_seq: *global,
                path_seq: seq,
                timestamp: micros(now),
            };
            let datagram = Datagram::Data(header, packet.duplicate());
            self.paths[path.index()].on_repair(now, len);
            return Some((path, datagram));
        }
        None
    }

    /// The peer asks for missing packets.
    pub(super) fn handle_missing(&mut self, missing: &Missing) {
        if missing.path.index() >= self.paths.len() {
            return;
        }
        for range in missing.ranges() {
            let room = MOST - self.repairs.len();
            let due = |place| Due { path: missing.path, seq: range.from.plus(place), is_in_doubt: false };
            self.repairs.extend((0..range.packets.min(room as u32)).map(due));
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
            let own = self.paths[place].base_rtt();
            self.incoming[place].set_repair_time(&self.config.resequencer, time, own);
            self.ask_for_repairs(now, PathId(place as u8));
        }
    }

    /// The time from a request until its repair comes: 1.25 round trips of the quickest path, and
    /// twice the time between reports, since it may wait in a queue. `None`: a repair would not
    /// help, or the round trip is not known.
    pub(super) fn repair_time(&self) -> Option<Duration> {
        if self.config.order == Order::Off || self.config.resequencer.timeout.is_some() {
            return None;
        }
        let round_trip = self.paths[self.quickest()?.index()].liveness.srtt()?;
        Some(round_trip + round_trip / 4 + self.config.tuning.copa.report_interval * 2)
    }

    /// The path that repairs take: the one on which a packet of `size` octets is expected to arrive first. A slow path takes
    /// one of several that are due, not all of them.
    pub(super) fn way_of_repairs(&self, now: Instant, size: u32) -> Option<PathId> {
        let interval = self.config.tuning.copa.report_interval;
        let whole = |path: &Path<P>, now| path.expected_repair(now, size, interval);
        self.usable.iter().min_by_key(|id| self.arrival(*id, whole, now))
    }

    /// The path that requests take: the one on which they are expected to arrive first. The queue on the way to the peer
    /// counts, the one on the way back does not. A path that rests is taken only if all do.
    pub(super) fn soonest(&self, now: Instant) -> Option<PathId> {
        self.usable.iter().min_by_key(|id| self.arrival(*id, Path::expected_one_way, now))
    }

    /// The path that reports take. It changes only if they surely arrive by another one before they
    /// are expected to by this one: whenever it changes, the peer's measurements do.
    pub(super) fn way_of_reports(&self, now: Instant) -> Option<PathId> {
        let surest = |id: PathId| self.arrival(id, Path::surest_one_way, now);
        let best = self.usable.iter().min_by_key(|id| surest(*id))?;
        let stays = |way: PathId| self.arrival(way, Path::expected_one_way, now) <= surest(best);
        let current = self.feedback.way().filter(|way| self.usable.contains(*way));
        current.filter(|way| stays(*way)).or(Some(best))
    }

    fn arrival(
        &self,
        id: PathId,
        one_way: impl Fn(&Path<P>, Instant) -> Option<Duration>,
        now: Instant,
    ) -> (bool, Duration) {
        let path = &self.paths[id.index()];
        (path.is_resting(), one_way(path, now).unwrap_or(Duration::MAX))
    }

    /// The path with the least expected round trip. A path that rests is taken only if all do.
    pub(super) fn quickest(&self) -> Option<PathId> {
        let round_trip =
            |path: &Path<P>| (path.is_resting(), path.expected_round_trip().unwrap_or(Duration::MAX));
        self.usable.iter().min_by_key(|id| round_trip(&self.paths[id.index()]))
    }
}
