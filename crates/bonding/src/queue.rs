//! Where packets wait before they are bound to a path: one FQ-CoDel (RFC 8290) for all paths, and
//! another before it for duplicated flows.

use crate::flow::{Class, FlowKey};
use ropewalk_aqm::{Callbacks, CodelConfig, Dropped, FqCodel, FqCodelConfig, Load, QueueLimit, Queued};
use ropewalk_units::{Duration, Instant};

/// The most packets in one FQ-CoDel (RFC 8290 §5.2.3).
const LIMIT: QueueLimit = QueueLimit::Packets(10_240);

/// A packet as the driver hands it in.
pub trait Payload {
    /// Octets of the packet, with its own headers and without the tunnel's.
    fn wire_len(&self) -> u32;
    /// A copy.
    fn duplicate(&self) -> Self;
    /// Sets Congestion Experienced if the packet is ECN-capable (RFC 3168 §5). Returns whether it
    /// is.
    fn mark_ce(&mut self) -> bool;
    /// Both are acknowledgements of TCP. Does this one tell all that the `earlier` one tells, so that it need not leave any more?
    fn supersedes(&self, _earlier: &Self) -> bool {
        false
    }
}

/// A packet that waits.
pub(crate) struct Waiting<P> {
    pub(crate) packet: P,
    pub(crate) flow: FlowKey,
}

/// The octets that wait when `accept` is asked about a packet, itself included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queue {
    /// Those of the packet.
    pub(crate) size: u32,
    /// Those of its flow.
    pub(crate) own: u64,
    /// Those that leave before the last packet of its flow, that one included.
    pub(crate) waiting: u64,
    /// How long the packet has waited.
    pub(crate) waited: Duration,
}

/// One queue, and what it counts.
struct Level<P> {
    queue: FqCodel<Waiting<P>>,
    counts: Counts,
}

/// What waits, and what was dropped.
#[derive(Default)]
struct Counts {
    load: Load,
    /// Waiting packets of low-delay flows.
    hurried: u32,
    /// Waiting acknowledgements of TCP.
    acks: u32,
    full: u64,
    codel: u64,
    /// Acknowledgements that need not leave, since a later one tells all that they tell.
    superseded: u64,
}

impl<P: Payload> Callbacks<Waiting<P>> for Counts {
    fn discard(&mut self, _at: Instant, queued: Queued<Waiting<P>>, reason: Dropped) {
        self.remove(queued.bytes, queued.packet.flow);
        match reason {
            Dropped::Full => self.full += 1,
            Dropped::Codel => self.codel += 1,
        }
    }

    fn mark(&mut self, _at: Instant, packet: &mut Waiting<P>) -> bool {
        packet.packet.mark_ce()
    }

    fn flow_hash(&self, packet: &Waiting<P>) -> u32 {
        packet.flow.hash
    }
}

impl Counts {
    fn remove(&mut self, bytes: u32, flow: FlowKey) {
        self.hurried -= u32::from(flow.class == Class::LowDelay);
        self.acks -= u32::from(flow.is_ack);
        self.load.packets -= 1;
        self.load.bytes -= u64::from(bytes);
    }
}

/// CoDel's settings. The interval must not be shorter than the round trips of the flows (RFC 8289
/// §3.2). It is at least two round trips of the paths: a path's controller may need these to find
/// its rate.
fn codel(target: Duration, round_trip: Duration) -> CodelConfig {
    CodelConfig { target, interval: CodelConfig::default().interval.max(round_trip * 2), ecn: true }
}

/// All that waits.
pub(crate) struct Backlog<P> {
    /// Duplicated flows, then everything else.
    levels: [Level<P>; 2],
    /// How long packets may wait here, beyond the difference of the paths' delays.
    target: Duration,
}

impl<P: Payload> Backlog<P> {
    /// Until [`Self::set_paths`] is called, CoDel drops nothing.
    pub(crate) fn new(target: Duration) -> Self {
        let config =
            FqCodelConfig { codel: codel(Duration::MAX, Duration::ZERO), ..FqCodelConfig::default() };
        let level = || Level { queue: FqCodel::new(LIMIT, config), counts: Counts::default() };
        Self { levels: [level(), level()], target }
    }

    /// The delays of the paths in use differ by `spread`: a packet waits that long for the shortest
    /// path before a longer one is better. `round_trip` is that of the longest path.
    pub(crate) fn set_paths(&mut self, spread: Duration, round_trip: Duration) {
        self.set_codel(codel(self.target + spread, round_trip));
    }

    fn set_codel(&mut self, codel: CodelConfig) {
        self.levels.iter_mut().for_each(|level| level.queue.set_codel(codel));
    }

    /// While the rate of a path is searched, CoDel drops nothing: a queue is then no sign of
    /// congestion.
    pub(crate) fn hold_codel(&mut self) {
        self.set_codel(codel(Duration::MAX, Duration::ZERO));
    }

    /// Adds a packet. It, or others to make room, may be dropped.
    pub(crate) fn push(&mut self, now: Instant, packet: P, flow: FlowKey) {
        if flow.is_ack {
            self.drop_superseded(&packet, flow);
        }
        let bytes = packet.wire_len();
        let level = &mut self.levels[usize::from(!flow.class.is_duplicated())];
        let load = level.counts.load;
        level.counts.load.add(bytes);
        level.counts.hurried += u32::from(flow.class == Class::LowDelay);
        level.counts.acks += u32::from(flow.is_ack);
        let queued = Queued { packet: Waiting { packet, flow }, bytes, enqueued: now };
        level.queue.enqueue(now, queued, load, &mut level.counts);
    }

    /// An acknowledgement comes. The one that waits before it need not leave, if it tells nothing more (RFC 3449 §5.2.1).
    fn drop_superseded(&mut self, packet: &P, flow: FlowKey) {
        let Level { queue, counts } = &mut self.levels[usize::from(!flow.class.is_duplicated())];
        let is_superseded = |last: &Waiting<P>| last.flow == flow && packet.supersedes(&last.packet);
        if let Some(queued) = queue.take_last(flow.hash, is_superseded) {
            counts.remove(queued.bytes, queued.packet.flow);
            counts.superseded += 1;
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.iter().all(|level| level.counts.load.packets == 0)
    }

    /// Does a packet of a low-delay flow wait?
    #[inline]
    pub(crate) fn is_hurried(&self) -> bool {
        self.levels[1].counts.hurried > 0
    }

    /// Does an acknowledgement of TCP wait?
    #[inline]
    pub(crate) fn has_acks(&self) -> bool {
        self.levels[1].counts.acks > 0
    }

    /// Packets dropped because there was no room, or by CoDel.
    pub(crate) fn dropped(&self) -> u64 {
        self.levels.iter().map(|level| level.counts.full + level.counts.codel).sum()
    }

    /// Acknowledgements of TCP that did not leave, since later ones told all that they told.
    pub(crate) fn superseded(&self) -> u64 {
        self.levels.iter().map(|level| level.counts.superseded).sum()
    }

    /// Takes the next packet that `accept` accepts. It is asked with the flow of a packet and what
    /// waits.
    pub(crate) fn pop(
        &mut self,
        now: Instant,
        mut accept: impl FnMut(FlowKey, Queue) -> bool,
    ) -> Option<(P, FlowKey)> {
        let mut before = 0;
        for level in &mut self.levels {
            let waiting = level.counts.load;
            if waiting.packets == 0 {
                continue;
            }
            // Flows take turns, so as many octets of every other flow leave before.
            let flows = level.queue.active_flows() as u64;
            let ask = |first: &Queued<Waiting<P>>, bytes: u64| {
                accept(
                    first.packet.flow,
                    Queue {
                        size: first.bytes,
                        own: bytes,
                        waiting: before + waiting.bytes.min(bytes * flows),
                        waited: now.saturating_since(first.enqueued),
                    },
                )
            };
            if let Some(queued) = level.queue.dequeue_if(now, &mut level.counts, ask) {
                level.counts.remove(queued.bytes, queued.packet.flow);
                return Some((queued.packet.packet, queued.packet.flow));
            }
            before += waiting.bytes;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Packet(u32, u32);

    impl Payload for Packet {
        fn wire_len(&self) -> u32 {
            self.1
        }

        fn duplicate(&self) -> Self {
            self.clone()
        }

        fn mark_ce(&mut self) -> bool {
            false
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn push(backlog: &mut Backlog<Packet>, number: u32, flow: u32, class: Class) {
        backlog.push(at(0), Packet(number, 1000), FlowKey { hash: flow, class, ..FlowKey::default() });
    }

    fn pop(backlog: &mut Backlog<Packet>, now: Instant) -> Option<u32> {
        backlog.pop(now, |_, _| true).map(|(packet, _)| packet.0)
    }

    #[test]
    fn a_thin_flow_waits_for_its_turn_only_and_copies_go_first() {
        let mut backlog = Backlog::new(Duration::from_millis(20));
        (0..10).for_each(|number| push(&mut backlog, number, 1, Class::Normal));
        push(&mut backlog, 20, 2, Class::Normal);
        push(&mut backlog, 30, 3, Class::Duplicated);
        let mut told = Vec::new();
        backlog.pop(at(1), |flow, queue| {
            told.push((flow.hash, queue.waiting));
            false
        });
        // Everything leaves before the last packet of the bulk flow. One packet of each flow leaves
        // before the thin flow's.
        assert_eq!(told, [(3, 1000), (1, 12_000), (2, 3000)]);
        let order: Vec<u32> = std::iter::from_fn(|| pop(&mut backlog, at(1))).take(4).collect();
        assert_eq!(order, [30, 0, 1, 20]);
    }

    #[test]
    fn a_queue_as_long_as_the_paths_differ_is_no_reason_to_drop() {
        let dropped = |spread: u64| {
            let mut backlog = Backlog::new(Duration::from_millis(20));
            backlog.set_paths(Duration::from_millis(spread), Duration::ZERO);
            (0..100).for_each(|number| push(&mut backlog, number, 1, Class::Normal));
            // Packets come and go each ms; each waits 100 ms.
            for now in 1..2000 {
                pop(&mut backlog, at(now));
                backlog.push(at(now), Packet(0, 1000), FlowKey::default());
                backlog.push(at(now), Packet(0, 1000), FlowKey { hash: 1, ..FlowKey::default() });
                pop(&mut backlog, at(now));
            }
            backlog.dropped()
        };
        assert!(dropped(0) > 10, "{}", dropped(0));
        assert_eq!(dropped(150), 0);
    }
}
