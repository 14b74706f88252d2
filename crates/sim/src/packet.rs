//! Packets and the arena that holds them.

/// What the engine must know of a packet. Only nodes use the rest.
pub trait Packet {
    /// Octets it takes on a link, all headers included.
    fn wire_len(&self) -> u32;
    /// Does it carry application data? [`crate::Loss::Exact`] counts only such packets.
    fn is_data(&self) -> bool;
    /// May it be marked instead of dropped (ECT(0), ECT(1) or CE; RFC 3168 §5)? No packet may, unless its type says so.
    fn ecn_capable(&self) -> bool {
        false
    }
    /// Sets Congestion Experienced in a packet that is ECN-capable.
    fn mark_ce(&mut self) {}
    /// A hash of its flow, for queues that separate flows; the same for all packets of a flow in one direction. All are of
    /// one flow, unless their type says otherwise.
    fn flow_hash(&self) -> u32 {
        0
    }
    /// A copy, for links that duplicate.
    fn duplicate(&self) -> Self;
}

/// A packet's place in the arena. It names the packet until that is taken or dropped; then the place is reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId(pub(crate) u32);

/// A place for a packet. It begins with a cache line (64 octets): a packet that fills two lines lies in no third one.
#[repr(align(64))]
struct Slot<P>(Option<P>);

/// All packets that are anywhere between two nodes.
pub(crate) struct Arena<P> {
    /// A place that is free may still hold the packet that was dropped there: the next one is written over it.
    slots: Vec<Slot<P>>,
    /// Which places are not free. Apart from the packets, which fill whole cache lines.
    held: Vec<bool>,
    free: Vec<u32>,
}

const STILL_THERE: &str = "a packet that is still there";

impl<P> Arena<P> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), held: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn insert(&mut self, packet: P) -> PacketId {
        *self.vacant() = Some(packet);
        self.claim()
    }

    /// The place of the next packet, for it to be written there before [`Self::claim`].
    pub(crate) fn vacant(&mut self) -> &mut Option<P> {
        // The place freed last: its cache lines are still warm.
        let slot = match self.free.last() {
            Some(slot) => *slot,
            None => self.grow(),
        };
        &mut self.slots[slot as usize].0
    }

    /// The packet in the place that [`Self::vacant`] gave last is there from now on.
    pub(crate) fn claim(&mut self) -> PacketId {
        let slot = self.free.pop().expect("a vacant place");
        self.held[slot as usize] = true;
        PacketId(slot)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets");
        self.slots.push(Slot(None));
        self.held.push(false);
        self.free.push(slot);
        slot
    }

    pub(crate) fn get(&self, id: PacketId) -> &P {
        // Looked at several times on every hop, and dropped once, where it is asked in every build.
        debug_assert!(self.held[id.0 as usize], "{STILL_THERE}");
        self.slots[id.0 as usize].0.as_ref().expect(STILL_THERE)
    }

    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut P {
        debug_assert!(self.held[id.0 as usize], "{STILL_THERE}");
        self.slots[id.0 as usize].0.as_mut().expect(STILL_THERE)
    }

    pub(crate) fn take(&mut self, id: PacketId) -> P {
        self.discard(id);
        self.slots[id.0 as usize].0.take().expect(STILL_THERE)
    }

    pub(crate) fn discard(&mut self, id: PacketId) {
        let held = std::mem::take(&mut self.held[id.0 as usize]);
        assert!(held, "{STILL_THERE}");
        self.free.push(id.0);
    }

    /// How many packets there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_reused_only_after_its_packet_left() {
        let mut arena = Arena::new();
        let (a, b) = (arena.insert("a"), arena.insert("b"));
        assert_eq!((*arena.get(a), *arena.get(b), arena.len()), ("a", "b", 2));
        assert_eq!(arena.take(a), "a");
        let c = arena.insert("c");
        assert_eq!((c, *arena.get(c), *arena.get(b)), (a, "c", "b"));
        arena.discard(b);
        assert_eq!(arena.len(), 1);
    }

    #[test]
    #[should_panic(expected = "still there")]
    fn a_packet_is_taken_once() {
        let mut arena = Arena::new();
        let id = arena.insert(());
        arena.take(id);
        arena.take(id);
    }
}
