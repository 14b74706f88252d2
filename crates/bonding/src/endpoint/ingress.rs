//! From the LAN to the paths. Packets wait until one path may send. Then they are bound to it and
//! numbered.

use super::{Datagram, Endpoint};
use crate::clock::micros;
use crate::event::Event;
use crate::flow::{Class, FlowKey};
use crate::id::{FlowSeq, MAX_PATHS, PathId, PathSeq, PathSet};
use crate::path::{Kept, Path};
use crate::queue::{Payload, Queue};
use crate::scheduler::{self, Ask, Decision, Scheduler, View};
use crate::wire::FULL_PACKET;
use crate::wire::header::{DataHeader, Transmission};
use ropewalk_units::{Duration, Instant};

/// The latest packets of the bond in a row that went on one path alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SoloRun {
    path: PathSet,
    packets: u32,
}

impl SoloRun {
    /// The header's `solo` of a packet that goes on `paths`.
    #[inline]
    pub(super) fn note(&mut self, paths: PathSet) -> u8 {
        if paths != self.path || !paths.is_single() {
            *self = Self { path: paths, packets: 0 };
        }
        self.packets += 1;
        // The binary logarithm of the packets in the run, this one included: 15 at most.
        self.packets = self.packets.min(1 << 15);
        self.packets.ilog2() as u8
    }
}

impl<P: Payload> Endpoint<P> {
    /// A packet from the LAN side. It waits until [`Self::poll_transmit`] hands it out.
    #[inline]
    pub fn handle_packet(&mut self, now: Instant, packet: P, flow: FlowKey) {
        let now = self.tell(now);
        let before = self.backlog.dropped();
        if let Some(demands) = &mut self.demands {
            demands.note(now, flow, packet.wire_len());
        }
        self.backlog.push(now, packet, flow);
        self.note_dropped(before);
    }

    fn note_dropped(&mut self, before: u64) {
        let packets = (self.backlog.dropped() - before) as u32;
        if packets > 0 {
            self.events.push(Event::Dropped { packets });
        }
    }

    /// All paths as the scheduler sees them, and how many there are.
    #[inline]
    pub(super) fn views(&self, now: Instant) -> ([View; MAX_PATHS], usize) {
        let size = self.config.overhead + self.last_len;
        let first = self.paths[0].view(now, size);
        let mut views = [first; MAX_PATHS];
        for (view, path) in views.iter_mut().zip(&self.paths).skip(1) {
            *view = path.view(now, size);
        }
        (views, self.paths.len())
    }

    /// The next packet that a path takes.
    pub(super) fn next_data(&mut self, now: Instant) -> Option<(PathId, Datagram<P>)> {
        if let Some(copy) = self.copies.pop() {
            return Some(copy);
        }
        if self.backlog.is_empty() {
            self.note_nothing_waits();
            return None;
        }
        let (mut views, count) = self.views(now);
        let views = &mut views[..count];
        let is_crowded = self.backlog.has_acks() && self.note_crowded(views);
        let views = &*views;
        let may_send = self.usable.filter(|id| views[id.index()].may_send);
        let may_bind = !may_send.is_empty() || self.backlog.is_hurried() || is_crowded;
        let Some((packet, flow, decision)) = may_bind.then(|| self.bind(now, views)).flatten() else {
            self.note_waiting(now, may_send);
            return None;
        };
        self.last_len = packet.wire_len();
        self.last_reason = decision.reason;
        self.dispatch(now, packet, flow, decision.paths)
    }

    /// Tells the views on which paths others hold the queue. Returns whether on any of those in use.
    fn note_crowded(&self, views: &mut [View]) -> bool {
        for (view, path) in views.iter_mut().zip(&self.paths) {
            view.is_crowded = path.is_crowded();
        }
        self.usable.iter().any(|id| views[id.index()].is_crowded)
    }

    /// No packet waits.
    #[inline]
    fn note_nothing_waits(&mut self) {
        let size = self.config.overhead + self.last_len;
        self.paths.iter_mut().filter(|path| path.has_room(size)).for_each(Path::on_nothing_to_send);
    }

    /// Packets wait, and none leaves now. A path that may send but gets nothing cannot measure its
    /// rate.
    fn note_waiting(&mut self, now: Instant, may_send: PathSet) {
        let size = self.config.overhead + self.last_len;
        self.paths.iter_mut().for_each(|path| path.on_waiting(now, size));
        may_send.iter().for_each(|id| self.paths[id.index()].on_nothing_to_send());
    }

    /// Takes the first packet that the scheduler gives to a path.
    fn bind(&mut self, now: Instant, views: &[View]) -> Option<(P, FlowKey, Decision)> {
        let before = self.backlog.dropped();
        let usable = self.usable;
        let for_copies = usable.filter(|id| views[id.index()].may_copy);
        let buckets = self.config.resequencer.flow_buckets - 1;
        let early = u64::from(self.config.tuning.bond.early_packets * FULL_PACKET);
        let demands = self.demands.as_ref();
        let chosen = &mut self.scheduler;
        let mut decision = Decision::WAIT;
        let mut is_first = true;
        let taken = self.backlog.pop(now, |flow, Queue { size, own, waiting, waited }| {
            let has_turn = std::mem::replace(&mut is_first, false);
            let followers = demands.map(|demands| demands.followers(flow, size));
            decision = if flow.class.is_duplicated() {
                scheduler::copies(views, usable, for_copies, waited)
            // Only a flow with few octets waiting may leave early, and only when it has its turn: else
            // it would always be there before the others, who may not.
            } else if flow.class == Class::LowDelay && own <= early && has_turn {
                scheduler::hurried(&Ask { now, bucket: 0, size, waiting: own, followers, usable }, views)
            } else {
                let bucket = (flow.hash & buckets) as u16;
                let ask = Ask { now, bucket, size, waiting, followers, usable };
                if flow.is_ack {
                    chosen.pick(&ask, &scheduler::for_acks(views)[..views.len()])
                } else {
                    chosen.pick(&ask, views)
                }
            };
            !decision.paths.is_empty()
        });
        self.note_dropped(before);
        taken.map(|(packet, flow)| (packet, flow, decision))
    }

    /// Numbers a packet and hands it out; further copies wait to be handed out next.
    fn dispatch(
        &mut self,
        now: Instant,
        packet: P,
        flow: FlowKey,
        paths: PathSet,
    ) -> Option<(PathId, Datagram<P>)> {
        let bucket = (flow.hash & (self.config.resequencer.flow_buckets - 1)) as u16;
        // Where no path has a controller, order is as it was published.
        let class = if self.demands.is_some() { flow.packet_class() } else { flow.class };
        let is_kept = self.config.repair && class.is_ordered() && paths.is_single();
        let global = self.next_global;
        self.next_global = global.next();
        let mut flow_seq = FlowSeq::new(0);
        if class.is_ordered() {
            let seq = &mut self.flow_seqs[usize::from(bucket)];
            flow_seq = *seq;
            *seq = seq.next();
        }
        let mut header = DataHeader {
            path: PathId(0),
            class,
            transmission: if is_kept { Transmission::First } else { Transmission::Only },
            solo: self.run.note(paths),
            bucket,
            flow_seq,
            global_seq: global,
            path_seq: PathSeq::new(0),
            timestamp: micros(now),
        };
        let wire_len = packet.wire_len() + self.config.overhead;
        let mut kept = is_kept.then(|| Kept { packet: packet.duplicate(), global, flow_seq, bucket });
        for path in &mut self.paths {
            let is_chosen = paths.contains(path.id);
            path.note_share(is_chosen);
            if is_chosen {
                header.path = path.id;
                let on_sent = if flow.is_ack { Path::on_ack_sent } else { Path::on_sent };
                header.path_seq = on_sent(path, now, wire_len, kept.take());
                if !paths.is_single() {
                    self.copies.push((path.id, Datagram::Data(header, packet.duplicate())));
                }
            }
        }
        if paths.is_single() {
            return Some((header.path, Datagram::Data(header, packet)));
        }
        self.copies.reverse();
        self.copies.pop()
    }

    /// When a pacer lets a waiting packet go.
    pub(super) fn paced_until(&self) -> Option<Instant> {
        if self.backlog.is_empty() && self.repairs.is_empty() {
            return None;
        }
        let size = self.config.overhead + self.last_len;
        let held = self.usable.iter().filter_map(|id| self.paths[id.index()].next_send_time(size));
        // A path that may send now was already asked.
        held.filter(|&at| at > self.now).min()
    }

    /// Tells the queue before the paths by how much the delays of the paths in use differ, queues
    /// and repairs included. A flow may stand still for this long, and its waiting packets must
    /// last until then. While a path's rate is searched, the queue drops nothing by CoDel.
    pub(super) fn note_spread(&mut self, now: Instant) {
        let repair_time = self.repair_time().filter(|_| self.config.repair);
        let tries = self.quickest().map_or(1.0, |id| self.paths[id.index()].tries());
        self.paths.iter_mut().for_each(|path| path.set_repair_time(repair_time, tries));
        let (views, _) = self.views(now);
        let used = self.usable;
        let is_searched = |view: &View| view.is_in_use && !view.is_rate_known;
        if used.iter().any(|id| is_searched(&views[id.index()])) {
            return self.backlog.hold_codel();
        }
        let (mut least, mut most) = (i64::MAX, 0);
        for id in used.iter() {
            let view = &views[id.index()];
            let Some(one_way) = view.one_way else { continue };
            let delay = one_way + view.queue;
            let repair = repair_time.map_or(Duration::ZERO, |time| self.paths[id.index()].repair_delay(time));
            least = least.min(delay);
            most = most.max(delay + repair.as_nanos() as i64);
        }
        let spread = most.saturating_sub(least).max(0) as u64;
        // What holds reports up on the way back holds the flows' acknowledgements up, too.
        let late = used.iter().map(|id| self.paths[id.index()].lag()).max().unwrap_or_default();
        let longest = Duration::from_nanos(2 * most as u64) + late;
        self.backlog.set_paths(Duration::from_nanos(spread), longest);
    }
}
